//! Each word means one thing, and no note about unfinished work is left without an owner.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::source::Source;

/// A word for which the project has another one, and the places where it belongs to others.
struct Foreign {
    word: &'static str,
    say: &'static str,
    except: &'static [&'static str],
}

const FOREIGN: [Foreign; 4] = [
    Foreign {
        word: "node",
        say: "`replica` for a process of Synod, `member` for an API server that joined",
        // openraft and YAML use the word, and JavaScript has a runtime of that name.
        except: &[
            "service/server/src/consensus",
            "bindings/bound",
            "bindings/node",
            "service/yaml",
        ],
    },
    Foreign {
        word: "incarnation",
        say: "`epoch`",
        except: &[],
    },
    Foreign {
        word: "ballot",
        say: "`vote`",
        // There it means a vote of Raft, as opposed to the vote of a member.
        except: &[
            "service/server/src/consensus",
            "service/server/src/peer",
            "service/store",
        ],
    },
    Foreign {
        word: "mock",
        say: "`seam` for the place, `simulated` for what stands in it",
        except: &[],
    },
];

const NOTES: [&str; 4] = ["FIXME", "HACK", "TODO", "XXX"];

const DEBUGGING: [&str; 3] = ["dbg", "todo", "unimplemented"];

#[test]
fn every_word_means_one_thing() {
    assert_none_in_sources(foreign_words);
}

#[test]
fn nothing_is_left_to_do_without_an_owner() {
    assert_none_in_sources(unfinished);
}

#[test]
fn names_carry_no_version() {
    assert_none_in_sources(versioned_names);
}

#[test]
fn sentences_name_the_tests() {
    assert_none_in_sources(prefixed_tests);
}

/// Finds foreign words in names and comments.
fn foreign_words(source: &Source) -> Vec<Finding> {
    let path = source.path();
    let names = source
        .positions()
        .filter(|&position| source.is_identifier(position))
        .map(|position| (source.line(position), source.word(position)));
    let comments = source
        .comments()
        .iter()
        .map(|comment| (comment.line, comment.text.as_str()));
    names
        .chain(comments)
        .flat_map(|(line, text)| words(text).map(move |word| (line, word)))
        .filter_map(|(line, word)| {
            let singular = word.strip_suffix('s').unwrap_or(&word);
            let foreign = FOREIGN.iter().find(|foreign| foreign.word == singular)?;
            let is_excepted = foreign.except.iter().any(|place| path.starts_with(place));
            let message = format!("`{word}` is not a word of ours: say {}", foreign.say);
            (!is_excepted).then(|| Finding::at(path, line, message))
        })
        .collect()
}

/// The words of a name or a sentence, in lower case: `ReplicaState`, `replica_state` and "a replica's state"
/// have `replica` and `state`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut previous = ' ';
    for letter in text.chars() {
        if letter.is_uppercase() && (previous.is_lowercase() || previous.is_numeric()) {
            spaced.push(' ');
        }
        spaced.push(letter);
        previous = letter;
    }
    spaced
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect::<Vec<String>>()
        .into_iter()
}

/// Finds notes about unfinished work without `(owner)` behind them, and leftovers of debugging.
fn unfinished(source: &Source) -> Vec<Finding> {
    let notes = source.comments().iter().filter_map(|comment| {
        let note = NOTES.iter().find(|note| {
            comment
                .text
                .split(|letter: char| !letter.is_alphanumeric())
                .any(|word| word == **note)
        })?;
        let has_owner = comment.text.contains(&format!("{note}("));
        let message = format!("`{note}` needs an owner: `{note}(name): …`");
        (!has_owner).then(|| Finding::at(source.path(), comment.line, message))
    });
    let macros = source.positions().filter_map(|position| {
        let name = DEBUGGING
            .into_iter()
            .find(|name| source.reads(position, &[name, "!"]))?;
        let message = format!("`{name}!` is not for what is committed");
        Some(Finding::at(source.path(), source.line(position), message))
    });
    notes.chain(macros).collect()
}

/// Finds names that contain a version. Versions are packages of the protocol, folders of format steps, or variants.
fn versioned_names(source: &Source) -> Vec<Finding> {
    source
        .positions()
        .filter(|&position| {
            matches!(
                source.word(position),
                "enum" | "mod" | "struct" | "trait" | "type" | "union"
            ) && source.is_identifier(position + 1)
        })
        .filter(|&keyword| {
            let name = source.word(keyword + 1);
            let is_package = source.path().starts_with("proto/") && is_version(name);
            !is_package && words(name).any(|word| is_version(&word))
        })
        .map(|keyword| {
            let message = format!(
                "`{}` has a version in its name: name what differs",
                source.word(keyword + 1)
            );
            Finding::at(source.path(), source.line(keyword), message)
        })
        .collect()
}

/// Whether it is a version such as `v1` or `v12`, and not a word such as `vote`.
fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn prefixed_tests(source: &Source) -> Vec<Finding> {
    source
        .test_functions()
        .filter(|&name| source.word(name).starts_with("test_"))
        .map(|name| {
            let message = format!(
                "`{}`: a test is named by the sentence that it proves",
                source.word(name)
            );
            Finding::at(source.path(), source.line(name), message)
        })
        .collect()
}

#[test]
fn a_foreign_word_is_found_in_names_and_comments() {
    let text = "// The nodes vote.\nstruct RaftNode;\nfn node_id() {}\nfn anodes() {}\n";
    let source = Source::read("a/src/sample.rs", text);
    let found: Vec<String> = foreign_words(&source)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("a/src/sample.rs:2: `node` is not a word of ours: say `replica`"));
    assert_eq!(
        foreign_words(&Source::read("service/server/src/consensus/log.rs", text)),
        []
    );
}

#[test]
fn an_open_end_is_found() {
    let text = "// TODO: later.\n// TODO(ann): later.\nfn f() { todo!() }\n";
    let source = Source::read("a/src/sample.rs", text);
    assert_eq!(
        lines(&unfinished(&source)),
        "a/src/sample.rs:1: `TODO` needs an owner: `TODO(name): …`\n\
         a/src/sample.rs:3: `todo!` is not for what is committed"
    );
}

#[test]
fn a_version_in_a_name_is_found() {
    let text = "mod v1;\nmod log_v2;\nstruct V3Header;\nenum Voter { V1 }\nstruct Ipv4;\n";
    let names = |path| -> Vec<usize> {
        let source = Source::read(path, text);
        let findings = versioned_names(&source);
        (1..=5)
            .filter(|line| lines(&findings).contains(&format!(":{line}: ")))
            .collect()
    };
    assert_eq!(names("a/src/sample.rs"), [1, 2, 3]);
    assert_eq!(names("proto/src/lib.rs"), [2, 3]);
}

#[test]
fn a_test_that_is_not_a_sentence_is_found() {
    let text = "#[test]\nfn test_join() {}\n#[test]\nfn testing_is_fun() {}\nfn test_data() {}\n";
    assert_eq!(
        lines(&prefixed_tests(&Source::read("a/src/sample.rs", text))),
        "a/src/sample.rs:2: `test_join`: a test is named by the sentence that it proves"
    );
}
