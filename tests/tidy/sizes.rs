//! Limits of size, so that a function fits a screen: 70 lines for a function, 500 for a file without its tests.
//!
//! `ratchet.txt` lists the exceptions with their sizes. It can only shrink: an entry fails if it is no longer needed,
//! or if its size is not the present one.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, assert_none, lines};
use crate::source::Source;
use crate::tree::Tree;

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 500;
/// A larger test module moves to a file of its own.
const TEST_MODULE_LINES_MAX: usize = 200;

const RATCHET: &str = "tests/tidy/ratchet.txt";

#[test]
fn everything_fits_its_size_or_is_on_the_ratchet() {
    let oversized: Vec<Oversized> = Tree::load().sources().iter().flat_map(oversized).collect();
    assert_none(judge(&oversized, include_str!("ratchet.txt")));
}

/// An element that is larger than its limit.
struct Oversized {
    /// The path of the file, followed by `::name` for a function or module.
    name: String,
    size: usize,
    size_max: usize,
}

fn oversized(source: &Source) -> Vec<Oversized> {
    let path = source.path();
    let file = Oversized {
        name: path.to_owned(),
        size: lines_of_product(source),
        size_max: FILE_LINES_MAX,
    };
    let functions = source.functions().map(|(name, end)| Oversized {
        name: format!("{path}::{}", source.word(name)),
        size: source.line(end) - source.line(name) + 1,
        size_max: FUNCTION_LINES_MAX,
    });
    let test_modules = source.positions().filter_map(|position| {
        let is_test_module = source.reads(position, &["mod"]) && source.word(position + 2) == "{";
        let end =
            (is_test_module && source.is_test(position)).then(|| source.closing(position + 2))?;
        Some(Oversized {
            name: format!("{path}::{}", source.word(position + 1)),
            size: source.line(end) - source.line(position) + 1,
            size_max: TEST_MODULE_LINES_MAX,
        })
    });
    std::iter::once(file)
        .chain(functions)
        .chain(test_modules)
        .filter(|part| part.size > part.size_max)
        .collect()
}

/// The lines of a file without those of its tests; zero for a file that has only tests.
fn lines_of_product(source: &Source) -> usize {
    if source.path().ends_with("/tests.rs")
        || source.path().contains("/src/") && source.is_test(usize::MAX)
    {
        return 0;
    }
    let tests: BTreeSet<usize> = source.test_lines().flatten().collect();
    source.lines().saturating_sub(tests.len())
}

/// The elements over their limit without an exact entry, and the entries that are not needed.
fn judge(oversized: &[Oversized], ratchet: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut excused = BTreeMap::new();
    for (line, entry) in (1..).zip(ratchet.lines()) {
        match entry
            .split_once(' ')
            .map(|(name, size)| (name, size.parse::<usize>()))
        {
            _ if entry.is_empty() || entry.starts_with('#') => {}
            Some((name, Ok(size))) => {
                excused.insert(name, (line, size));
            }
            _ => findings.push(Finding::at(RATCHET, line, "an entry is `path::name lines`")),
        }
    }
    for Oversized {
        name,
        size,
        size_max,
    } in oversized
    {
        let (line, excuse) = excused.remove(name.as_str()).unwrap_or((0, *size_max));
        if *size > excuse {
            let message = format!("{size} lines, and {size_max} are the most: take it apart");
            findings.push(Finding::about(name, message));
        } else if *size < excuse {
            let message = format!("`{name}` has come down to {size} lines: so does its entry");
            findings.push(Finding::at(RATCHET, line, message));
        }
    }
    findings.extend(excused.into_iter().map(|(name, (line, _))| {
        Finding::at(
            RATCHET,
            line,
            format!("`{name}` needs no entry any more: remove it"),
        )
    }));
    findings
}

#[test]
fn what_is_too_large_is_found() {
    let body = "\n".repeat(69);
    let text = format!(
        "fn small() {{}}\n\
         fn fits() {{{}}}\n\
         fn large() {{{body}\n}}\n\
         #[cfg(test)]\n\
         mod tests {{\n\
         fn also() {{{body}\n}}\n\
         {}}}\n",
        "\n".repeat(69),
        "\n".repeat(500),
    );
    let found: Vec<(String, usize)> = oversized(&Source::read("a/src/b.rs", &text))
        .into_iter()
        .map(|part| (part.name, part.size))
        .collect();
    assert_eq!(
        found,
        [
            ("a/src/b.rs::large".to_owned(), 71),
            ("a/src/b.rs::also".to_owned(), 71),
            ("a/src/b.rs::tests".to_owned(), 573),
        ]
    );
    let long = format!("fn a() {{}}\n{}", "\n".repeat(500));
    assert_eq!(oversized(&Source::read("a/src/b.rs", &long)).len(), 1);
    assert_eq!(oversized(&Source::read("a/src/b/tests.rs", &long)).len(), 0);
}

#[test]
fn the_ratchet_excuses_and_only_shrinks() {
    let oversized = |size| Oversized {
        name: "a.rs::f".to_owned(),
        size,
        size_max: FUNCTION_LINES_MAX,
    };
    let verdict = |size, ratchet| lines(&judge(&[oversized(size)], ratchet));
    assert_eq!(verdict(80, "# Why.\n\na.rs::f 80\n"), "");
    assert_eq!(
        verdict(81, "a.rs::f 80\n"),
        "a.rs::f: 81 lines, and 70 are the most: take it apart"
    );
    assert_eq!(
        verdict(79, "a.rs::f 80\n"),
        "tests/tidy/ratchet.txt:1: `a.rs::f` has come down to 79 lines: so does its entry"
    );
    assert_eq!(
        lines(&judge(&[], "a.rs::f 80\nb.rs eighty\n")),
        "tests/tidy/ratchet.txt:2: an entry is `path::name lines`\n\
         tests/tidy/ratchet.txt:1: `a.rs::f` needs no entry any more: remove it"
    );
}
