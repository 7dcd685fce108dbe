//! Names and sentences that a reader understands at the first reading, as `CONTRIBUTING.md` asks for them.
//!
//! Each rule counts what breaks it, by crate or by document. `language.txt` lists the counts that there are. They may only
//! fall: a count that rises fails, and so does an entry that is higher than its count.
//! `UPDATE_GOLDEN=1 cargo test -p synod-tests --test tidy language` lowers the entries.

mod names;
mod sentences;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const LIST: &str = "tests/tidy/language.txt";

/// The most findings that are shown where a count has risen.
const SHOWN_MAX: usize = 40;

/// A rule of the language, and the breaches that it finds in one file.
struct Rule {
    /// The name of the rule in the list.
    name: &'static str,
    find: fn(&Tree) -> Vec<Finding>,
}

const RULES: [Rule; 6] = [
    Rule {
        name: "first-word-of-comment",
        find: sentences::vague_comments,
    },
    Rule {
        name: "type-is-a-noun",
        find: names::types_without_noun,
    },
    Rule {
        name: "type-named-thrice",
        find: names::types_named_thrice,
    },
    Rule {
        name: "function-is-a-verb",
        find: names::functions_without_verb,
    },
    Rule {
        name: "long-sentence",
        find: sentences::long_sentences,
    },
    Rule {
        name: "first-word-of-sentence",
        find: sentences::vague_sentences,
    },
];

/// A rule and the crate or the document where it is broken.
type Place = (String, String);

#[test]
fn names_and_sentences_get_no_worse() {
    let tree = Tree::load();
    let found = found(tree);
    let list = include_str!("language.txt");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tidy/language.txt");
        fs::write(path, lowered(&found, list)).expect("the list can be written");
    } else {
        assert_none(judge(&found, list));
    }
}

/// The breaches of all rules.
fn found(tree: &Tree) -> BTreeMap<Place, Vec<Finding>> {
    let mut found: BTreeMap<Place, Vec<Finding>> = BTreeMap::new();
    let manifests = tree.texts("/Cargo.toml");
    let crates: BTreeSet<&str> = manifests
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"))
        .collect();
    for rule in &RULES {
        for finding in (rule.find)(tree) {
            let path = finding.path();
            let is_within = |folder: &&&str| {
                let rest = path.strip_prefix(**folder);
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let folder = crates.iter().filter(is_within).max_by_key(|it| it.len());
            let place = match (folder, path.split_once('/')) {
                _ if !path.ends_with(".rs") => path,
                (Some(folder), _) => folder,
                (None, Some((folder, _))) => folder,
                (None, None) => path,
            };
            let place = (rule.name.to_owned(), place.to_owned());
            found.entry(place).or_default().push(finding);
        }
    }
    found
}

/// The entries of the list, each with its line.
fn entries(list: &str) -> BTreeMap<Place, (usize, usize)> {
    let lines = (1..).zip(list.lines());
    let entries = lines.filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    let entries = entries.map(|(line, entry)| {
        let parts: Vec<&str> = entry.split(' ').collect();
        let [rule, place, count] = parts[..] else {
            panic!("{LIST}:{line}: an entry is `rule place count`");
        };
        let count = count.parse().expect("a count is a number");
        ((rule.to_owned(), place.to_owned()), (line, count))
    });
    entries.collect()
}

fn judge(found: &BTreeMap<Place, Vec<Finding>>, list: &str) -> Vec<Finding> {
    let mut entries = entries(list);
    let mut findings = Vec::new();
    for (place, breaches) in found {
        let (line, allowed) = entries.remove(place).unwrap_or_default();
        let count = breaches.len();
        if count > allowed {
            let message = format!("{} are {count}, and {allowed} are the most", place.0);
            findings.push(Finding::about(&place.1, message));
            findings.extend(breaches.iter().take(SHOWN_MAX).cloned());
        } else if count < allowed {
            let message = format!(
                "{} of {} are {count} now: lower the entry",
                place.0, place.1
            );
            findings.push(Finding::at(LIST, line, message));
        }
    }
    let gone = entries.into_iter();
    findings.extend(gone.map(|((rule, place), (line, _))| {
        let message = format!("{rule} of {place} are none now: remove the entry");
        Finding::at(LIST, line, message)
    }));
    findings
}

/// The list with each entry lowered to its count.
fn lowered(found: &BTreeMap<Place, Vec<Finding>>, list: &str) -> String {
    let comments = list.lines().filter(|line| line.starts_with('#'));
    let mut lowered: String = comments.map(|line| format!("{line}\n")).collect();
    for ((rule, place), (_, allowed)) in entries(list) {
        let key = (rule, place);
        let count = found.get(&key).map_or(0, Vec::len).min(allowed);
        if count > 0 {
            lowered += &format!("{} {} {count}\n", key.0, key.1);
        }
    }
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;

    const VAGUE: &str = "/// What it is.\nfn f() {}\n/// Where it is.\nfn g() {}\n";

    fn tree(text: &str) -> Tree {
        Tree::of(&[("a/Cargo.toml", ""), ("a/src/b.rs", text)])
    }

    #[test]
    fn a_count_may_stand_and_neither_rise_nor_stay_when_it_fell() {
        let judged = |list: &str| lines(&judge(&found(&tree(VAGUE)), list));
        assert_eq!(judged("# Why.\nfirst-word-of-comment a 2\n"), "");
        let risen = judged("first-word-of-comment a 1\n");
        assert!(risen.starts_with("a: first-word-of-comment are 2, and 1 are the most\n"));
        assert_eq!(risen.lines().count(), 3, "each of them is shown");
        assert_eq!(
            judged("first-word-of-comment a 3\nlong-sentence README.md 1\n"),
            "tests/tidy/language.txt:1: first-word-of-comment of a are 2 now: lower the entry\n\
             tests/tidy/language.txt:2: long-sentence of README.md are none now: remove the entry"
        );
    }

    #[test]
    fn entries_are_lowered_and_never_raised() {
        let list = "# Why.\nfirst-word-of-comment a 3\nlong-sentence README.md 1\n";
        let found = found(&tree(VAGUE));
        assert_eq!(lowered(&found, list), "# Why.\nfirst-word-of-comment a 2\n");
        assert_eq!(
            lowered(&found, "first-word-of-comment a 1\n"),
            "first-word-of-comment a 1\n"
        );
    }
}
