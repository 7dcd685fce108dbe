//! Every guarantee has an id, tests carry it, and the page lists them.
//!
//! A guarantee is an item of a list in `GUARANTEES.md`, and a defence one of `THREAT_MODEL.md` outside of the sections that
//! say what is at stake and what is not defended. It begins with its id, as in `- **W-03** A hand-over …`. A test that holds it
//! has a comment with the id above its attributes: `// Guarantee: W-03, TM-07`. The list of tests at the end of each page is
//! written by `UPDATE_GOLDEN=1 cargo test -p synod-tests --test tidy guarantees`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use crate::finding::{Finding, assert_none, lines};
use crate::source::Source;
use crate::tree::Tree;

/// A page of guarantees.
struct Page {
    path: &'static str,
    /// The sections that promise nothing.
    unheld: &'static [&'static str],
}

const PAGES: [Page; 2] = [
    Page {
        path: "GUARANTEES.md",
        unheld: &["## What is not promised"],
    },
    Page {
        path: "THREAT_MODEL.md",
        unheld: &["## Assets", "## Boundaries", "## What is not defended"],
    },
];

/// The heading of the list of tests.
const TESTS: &str = "\n## Tests\n";
const MARKER: &str = "// Guarantee: ";
const COMMAND: &str = "UPDATE_GOLDEN=1 cargo test -p synod-tests --test tidy guarantees";

#[test]
fn every_guarantee_is_held_by_tests_and_its_page_lists_them() {
    let tree = Tree::load();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for page in &PAGES {
            let listed = with_tests(tree.text(page.path).unwrap_or_default(), page, &tests(tree));
            fs::write(root.join(page.path), listed).expect("the page can be written");
        }
    } else {
        assert_none(judge(tree));
    }
}

/// A test that says which guarantees it holds.
struct HoldingTest {
    ids: Vec<String>,
    path: String,
    line: usize,
    /// The name of the function; `None` if the comment stands above something else.
    name: Option<String>,
}

/// The item of a page.
struct Guarantee {
    line: usize,
    /// The id; empty if it has none.
    id: String,
}

fn judge(tree: &Tree) -> Vec<Finding> {
    let tests = tests(tree);
    let mut findings = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let held: BTreeSet<&String> = tests.iter().flat_map(|test| &test.ids).collect();
    for page in &PAGES {
        let text = tree.text(page.path).unwrap_or_default();
        let guarantees = guarantees(text, page);
        if guarantees.is_empty() {
            findings.push(Finding::about(page.path, "it is missing or empty"));
        }
        for Guarantee { line, id } in guarantees {
            let fault = if id.is_empty() {
                "this has no id, as `**W-03**`".to_owned()
            } else if !held.contains(&id) {
                format!("no test says that it holds this: write `{MARKER}{id}` above one")
            } else if !known.insert(id) {
                "another guarantee has this id".to_owned()
            } else {
                continue;
            };
            findings.push(Finding::at(page.path, line, fault));
        }
        if with_tests(text, page, &tests) != text {
            let fault = format!("its list of tests is not the present one: run `{COMMAND}`");
            findings.push(Finding::about(page.path, fault));
        }
    }
    for test in &tests {
        if test.name.is_none() {
            let fault = "this stands above no test";
            findings.push(Finding::at(&test.path, test.line, fault));
        }
        for id in test.ids.iter().filter(|id| !known.contains(*id)) {
            let fault = format!("there is no guarantee `{id}`");
            findings.push(Finding::at(&test.path, test.line, fault));
        }
    }
    findings
}

/// The items of all lists of a page outside of the sections that promise nothing.
fn guarantees(text: &str, page: &Page) -> Vec<Guarantee> {
    let mut is_left_out = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(promises(text).lines()) {
        if line.starts_with("## ") {
            is_left_out = page.unheld.contains(&line);
        }
        let Some(item) = line.strip_prefix("- ").filter(|_| !is_left_out) else {
            continue;
        };
        let id = item.strip_prefix("**").and_then(|it| it.split_once("** "));
        let id = id.map_or("", |(id, _)| id);
        let is_id = id.split_once('-').is_some_and(|(section, number)| {
            section.chars().all(|letter| letter.is_ascii_uppercase())
                && number.parse::<u32>().is_ok()
        });
        found.push(Guarantee {
            line: number,
            id: id.to_owned().split_off(if is_id { 0 } else { id.len() }),
        });
    }
    found
}

/// The page without its list of tests.
fn promises(text: &str) -> &str {
    text.split_once(TESTS)
        .map_or(text, |(promises, _)| promises)
}

/// The page with the list of its tests at the end.
fn with_tests(text: &str, page: &Page, tests: &[HoldingTest]) -> String {
    let mut listed = promises(text).trim_end().to_owned();
    listed.push('\n');
    listed.push_str(TESTS);
    listed.push_str(&format!(
        "\nWritten by `{COMMAND}`, from the ids that the tests carry.\n\n| id | tests |\n|---|---|\n"
    ));
    for Guarantee { id, .. } in guarantees(text, page) {
        let mut by_file: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for test in tests.iter().filter(|test| test.ids.contains(&id)) {
            let name = test.name.as_deref().unwrap_or_default();
            by_file.entry(&test.path).or_default().insert(name);
        }
        let files = by_file.into_iter().map(|(path, names)| {
            let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            format!("[{path}]({path}): {}", names.join(", "))
        });
        let files: Vec<String> = files.collect();
        listed.push_str(&format!("| {id} | {} |\n", files.join("; ")));
    }
    listed
}

/// The tests of the tree that say which guarantees they hold.
fn tests(tree: &Tree) -> Vec<HoldingTest> {
    tree.sources().iter().flat_map(tests_of).collect()
}

fn tests_of(source: &Source) -> Vec<HoldingTest> {
    let tests: BTreeSet<usize> = source.test_functions().collect();
    let comments = source.comments().iter();
    let marks = comments.filter_map(|comment| Some((comment, comment.text.strip_prefix(MARKER)?)));
    let marks = marks.map(|(comment, ids)| {
        let mut functions = source.positions().filter(|it| source.word(*it) == "fn");
        let function = functions.find(|it| source.line(*it) > comment.line);
        let name = function
            .map(|it| it + 1)
            .filter(|name| tests.contains(name));
        HoldingTest {
            ids: ids.split(", ").map(|id| id.trim().to_owned()).collect(),
            path: source.path().to_owned(),
            line: comment.line,
            name: name.map(|name| source.word(name).to_owned()),
        }
    });
    marks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREATS: &str =
        "# Threats\n\n## Assets\n\n- What is agreed on.\n\n## A thief\n\n- **TM-01** Steals.\n";
    const HELD: &str = "// Guarantee: W-01, TM-01\n#[test]\nfn a_torn_tail_is_cut() {}\n";

    fn judged(guarantees: &str, tests: &str) -> String {
        let draft = Tree::of(&[("service/store/src/wal/tests.rs", tests)]);
        let tests_of_draft = super::tests(&draft);
        let listed = |page: &Page, text: &str| with_tests(text, page, &tests_of_draft);
        let guarantees = listed(&PAGES[0], guarantees);
        let threats = listed(&PAGES[1], THREATS);
        let tree = Tree::of(&[
            ("GUARANTEES.md", &guarantees),
            ("THREAT_MODEL.md", &threats),
            ("service/store/src/wal/tests.rs", tests),
        ]);
        lines(&judge(&tree))
    }

    #[test]
    fn guarantees_that_tests_hold_pass() {
        assert_eq!(judged("- **W-01** Nothing is lost.\n", HELD), "");
    }

    #[test]
    fn a_guarantee_without_a_test_or_an_id_is_found() {
        let page =
            "- **W-01** Nothing is lost.\n\n- **W-01** Again.\n- **W-02** Trust me.\n- Or not.\n";
        assert_eq!(
            judged(page, HELD),
            "GUARANTEES.md:3: another guarantee has this id\n\
             GUARANTEES.md:4: no test says that it holds this: write `// Guarantee: W-02` above one\n\
             GUARANTEES.md:5: this has no id, as `**W-03**`"
        );
    }

    #[test]
    fn a_mark_without_a_guarantee_or_a_test_is_found() {
        let tests = "// Guarantee: W-01, TM-01\nfn a_helper() {}\n// Guarantee: W-09\n#[test]\nfn a_test() {}\n";
        assert_eq!(
            judged("- **W-01** Nothing is lost.\n", tests),
            "service/store/src/wal/tests.rs:1: this stands above no test\n\
             service/store/src/wal/tests.rs:3: there is no guarantee `W-09`"
        );
    }

    #[test]
    fn a_list_of_tests_that_is_not_the_present_one_is_found() {
        let tree = Tree::of(&[
            ("GUARANTEES.md", "- **W-01** Nothing is lost.\n"),
            ("THREAT_MODEL.md", THREATS),
            ("service/store/src/wal/tests.rs", HELD),
        ]);
        assert_eq!(
            lines(&judge(&tree))
                .matches("is not the present one")
                .count(),
            2
        );
    }
}
