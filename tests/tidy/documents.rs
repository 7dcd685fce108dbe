//! The documents that a newcomer opens first exist, and the commands in them can be run.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const DOCUMENTS: [&str; 9] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GUARANTEES.md",
    "LICENSE",
    "README.md",
    "THREAT_MODEL.md",
    "docs/OPERATIONS.md",
    "docs/start.md",
];

/// The two commands of the README: the first shows what Synod does, the second that it works.
const COMMANDS: [&str; 2] = ["cargo xtask demo", "cargo xtask test"];

/// The most lines of the README: what is longer tells features before a reader knows what the thing is.
const README_LINES_MAX: usize = 150;

#[test]
fn every_document_is_there_and_current() {
    let tree = Tree::load();
    assert_none([missing(tree), commands(tree), length(tree), unlogged(tree)].concat());
}

fn missing(tree: &Tree) -> Vec<Finding> {
    let is_missing = |path: &&&str| tree.text(path).is_none_or(|text| text.trim().is_empty());
    DOCUMENTS
        .iter()
        .filter(is_missing)
        .map(|path| Finding::about(path, "it is missing or empty"))
        .collect()
}

/// The README's code blocks have exactly these commands of cargo, so that no one has to choose.
fn commands(tree: &Tree) -> Vec<Finding> {
    let text = tree.text("README.md").unwrap_or_default();
    let found: Vec<(usize, &str)> = code_lines(text)
        .map(|(line, code)| (line, code.trim().trim_start_matches("$ ")))
        .filter(|(_, code)| code.starts_with("cargo "))
        .collect();
    let strange = found
        .iter()
        .filter(|(_, code)| !COMMANDS.contains(code))
        .map(|(line, code)| {
            let message = format!("the README has two commands of cargo, and `{code}` is neither");
            Finding::at("README.md", *line, message)
        });
    let absent = COMMANDS
        .iter()
        .filter(|command| found.iter().all(|(_, code)| code != *command));
    let absent = absent.map(|command| Finding::about("README.md", format!("it lacks `{command}`")));
    strange.chain(absent).collect()
}

/// The README is short; the rest is in `docs/`.
fn length(tree: &Tree) -> Vec<Finding> {
    let lines = tree.text("README.md").unwrap_or_default().lines().count();
    let message = format!("it has {lines} lines, and {README_LINES_MAX} are the most");
    let is_long = lines > README_LINES_MAX;
    is_long
        .then(|| Finding::about("README.md", message))
        .into_iter()
        .collect()
}

/// The changelog has a section for the coming version or for unreleased changes.
fn unlogged(tree: &Tree) -> Vec<Finding> {
    let manifest: toml::Table = tree
        .text("Cargo.toml")
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    let version = manifest["workspace"]["package"]["version"]
        .as_str()
        .unwrap_or_default();
    let text = tree.text("CHANGELOG.md").unwrap_or_default();
    let is_logged = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .any(|title| title.contains("Unreleased") || title.contains(version));
    let message = format!("it has no section `## Unreleased` or `## {version}`");
    if is_logged {
        Vec::new()
    } else {
        vec![Finding::about("CHANGELOG.md", message)]
    }
}

/// The lines inside fenced code blocks, counted from one.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        is_code && !is_fence
    })
}

#[test]
fn a_document_that_is_missing_or_out_of_date_is_found() {
    let tree = Tree::of(&[
        ("Cargo.toml", "[workspace.package]\nversion = \"0.2.0\"\n"),
        ("CHANGELOG.md", "## 0.1.0\n"),
        (
            "README.md",
            "cargo in a sentence\n```sh\n$ cargo xtask test\ncargo build\n```\n",
        ),
    ]);
    assert_eq!(lines(&missing(&tree)).lines().count(), 7);
    assert_eq!(lines(&length(&tree)), "");
    let text = "word\n".repeat(151);
    let long = Tree::of(&[("README.md", &text)]);
    assert_eq!(
        lines(&length(&long)),
        "README.md: it has 151 lines, and 150 are the most"
    );
    assert_eq!(
        lines(&commands(&tree)),
        "README.md:4: the README has two commands of cargo, and `cargo build` is neither\n\
         README.md: it lacks `cargo xtask demo`"
    );
    assert_eq!(
        lines(&unlogged(&tree)),
        "CHANGELOG.md: it has no section `## Unreleased` or `## 0.2.0`"
    );
}
