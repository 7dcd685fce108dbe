//! A type is a noun, a function a verb or the noun that it returns, and one name is one thing.

use std::collections::BTreeMap;

use crate::finding::{Finding, lines};
use crate::source::Source;
use crate::tree::Tree;

/// Words that end as participles and gerunds do, and are neither, or are what the field itself says.
const EXCEPT: [&str; 26] = [
    // Nouns of the field.
    "binding",
    "bindings",
    "encoding",
    "encodings",
    "heading",
    "listing",
    "setting",
    "settings",
    "spelling",
    "string",
    "strings",
    "timing",
    "tracing", // Words that end so by chance.
    "bed",
    "embed",
    "feed",
    "need",
    "proceed",
    "ring",
    "seed",
    "shed",
    "speed",
    "succeed",
    "thing",
    // The state of a migration and of a poll.
    "pending",
    // A method of serde.
    "expecting",
];

/// Participles that do not end in `ed`, and other words that name nothing by themselves.
const BARE: &[&str] = &[
    "about",
    "after",
    "anew",
    "apart",
    "aside",
    "away",
    "before",
    "begun",
    "below",
    "beside",
    "beyond",
    "both",
    "built",
    "chosen",
    "cut",
    "done",
    "drawn",
    "driven",
    "each",
    "else",
    "everybody",
    "everything",
    "fallen",
    "felt",
    "forgotten",
    "found",
    "given",
    "gone",
    "grown",
    "heard",
    "held",
    "here",
    "hidden",
    "how",
    "inside",
    "instead",
    "itself",
    "kept",
    "known",
    "laid",
    "lately",
    "later",
    "left",
    "lent",
    "lit",
    "lost",
    "made",
    "meant",
    "met",
    "none",
    "nobody",
    "nothing",
    "now",
    "of",
    "once",
    "outside",
    "over",
    "own",
    "paid",
    "proven",
    "rather",
    "risen",
    "said",
    "seen",
    "sent",
    "shown",
    "so",
    "somebody",
    "something",
    "soon",
    "spent",
    "split",
    "spoken",
    "stood",
    "such",
    "taken",
    "that",
    "then",
    "there",
    "thought",
    "those",
    "told",
    "twice",
    "understood",
    "unless",
    "what",
    "when",
    "where",
    "who",
    "whose",
    "within",
    "written",
];

/// The words that define a type.
const DEFINING: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// More definitions of one name in a crate are one thing too many.
const NAMESAKES_MAX: usize = 2;

/// Finds types that are named by one participle, gerund, adverb, pronoun or preposition.
pub(super) fn types_without_noun(tree: &Tree) -> Vec<Finding> {
    let named = tree.sources().iter().flat_map(types);
    let bare = named.filter(|(_, name, _)| is_bare(name));
    let findings = bare.map(|(path, name, line)| {
        Finding::at(path, line, format!("type `{name}`: name it by a noun"))
    });
    findings.collect()
}

/// Finds names that a crate gives to more than two types.
pub(super) fn types_named_thrice(tree: &Tree) -> Vec<Finding> {
    let mut places: BTreeMap<(&str, &str), Vec<(&str, usize)>> = BTreeMap::new();
    for (path, name, line) in tree.sources().iter().flat_map(types) {
        if let Some((folder, _)) = path.split_once("/src/") {
            places.entry((folder, name)).or_default().push((path, line));
        }
    }
    let namesakes = places.into_iter().flat_map(|((_, name), places)| {
        let extra = places.into_iter().skip(NAMESAKES_MAX);
        extra.map(move |(path, line)| {
            let message = format!("type `{name}`: two others of this crate have that name");
            Finding::at(path, line, message)
        })
    });
    namesakes.collect()
}

/// Finds functions that are named by one participle or gerund, or `of`.
pub(super) fn functions_without_verb(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources() {
        for position in source.positions() {
            let name = source.word(position + 1);
            if source.word(position) == "fn" && is_bare(name) {
                let message =
                    format!("function `{name}`: name it by a verb, or by what it returns");
                findings.push(Finding::at(source.path(), source.line(position), message));
            }
        }
    }
    findings
}

/// The types that a file defines outside of tests: its path, the name and the line.
fn types(source: &Source) -> impl Iterator<Item = (&str, &str, usize)> {
    let defined = source.positions().filter(|position| {
        DEFINING.contains(&source.word(*position))
            && source.is_identifier(position + 1)
            && source.word(position + 1).starts_with(char::is_uppercase)
            && !source.is_test(*position)
            // An associated type has the name that its trait gives it.
            && !matches!(source.word(position + 2), "=" | ":" | ";") | (source.word(*position) != "type")
    });
    defined.map(|position| {
        (
            source.path(),
            source.word(position + 1),
            source.line(position),
        )
    })
}

/// Whether a name is one word that names nothing by itself.
fn is_bare(name: &str) -> bool {
    let is_one_word = !name.contains('_') && !name.chars().skip(1).any(char::is_uppercase);
    let word = name.to_lowercase();
    let is_inflected = (word.ends_with("ed") || word.ends_with("ing")) && word.len() > 3;
    is_one_word
        && !EXCEPT.contains(&word.as_str())
        && (is_inflected || BARE.contains(&word.as_str()))
}

#[test]
fn a_type_or_function_without_noun_or_verb_is_found() {
    let text = "struct Asked;\nenum Anew {}\nstruct AskedName;\nstruct Encoding;\nimpl Asked { type Told = u8; }\n\
                fn of() {}\nfn named() {}\nfn is_named() {}\nfn feed() {}\n#[cfg(test)]\nmod tests { struct Held; }\n";
    let tree = Tree::of(&[("a/src/b.rs", text)]);
    assert_eq!(
        lines(&types_without_noun(&tree)),
        "a/src/b.rs:1: type `Asked`: name it by a noun\na/src/b.rs:2: type `Anew`: name it by a noun"
    );
    assert_eq!(
        lines(&functions_without_verb(&tree)),
        "a/src/b.rs:6: function `of`: name it by a verb, or by what it returns\n\
         a/src/b.rs:7: function `named`: name it by a verb, or by what it returns"
    );
}

#[test]
fn the_third_type_of_a_name_is_found() {
    let file = "pub struct Spec;\n";
    let files = [
        ("a/src/b.rs", file),
        ("a/src/c.rs", file),
        ("a/src/d.rs", file),
        ("e/src/d.rs", file),
    ];
    assert_eq!(
        lines(&types_named_thrice(&Tree::of(&files))),
        "a/src/d.rs:1: type `Spec`: two others of this crate have that name"
    );
}
