//! A file is named for the one thing it holds.
//!
//! A file `utils` collects whatever had no place, and a `manager` whatever had no owner. A module is `foo.rs` with its
//! children in `foo/`, so that no two open files are called `mod.rs`.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const SHAPELESS: [&str; 8] = [
    "common",
    "helper",
    "helpers",
    "manager",
    "misc",
    "util",
    "utilities",
    "utils",
];

#[test]
fn every_file_is_named_for_what_it_holds() {
    assert_none(badly_named(Tree::load()));
}

fn badly_named(tree: &Tree) -> Vec<Finding> {
    tree.texts(".rs")
        .filter_map(|(path, _)| Some(Finding::about(path, fault(path)?)))
        .collect()
}

fn fault(path: &str) -> Option<String> {
    if path.ends_with("/mod.rs") {
        return Some(
            "a module is `foo.rs` with its children in `foo/`, not `foo/mod.rs`".to_owned(),
        );
    }
    let parts = path.trim_end_matches(".rs").split('/');
    let shapeless = parts.into_iter().find(|part| {
        SHAPELESS.contains(part)
            || part
                .split('_')
                .any(|word| word == "manager" || word == "utils")
    })?;
    Some(format!(
        "`{shapeless}` says nothing of what is inside: name the one thing it holds"
    ))
}

#[test]
fn a_file_for_whatever_has_no_place_is_found() {
    let tree = Tree::of(&[
        ("a/src/mod.rs", ""),
        ("a/src/utils/time.rs", ""),
        ("a/src/lease_manager.rs", ""),
        ("a/src/commonality.rs", ""),
    ]);
    assert_eq!(
        lines(&badly_named(&tree)),
        "a/src/mod.rs: a module is `foo.rs` with its children in `foo/`, not `foo/mod.rs`\n\
         a/src/utils/time.rs: `utils` says nothing of what is inside: name the one thing it holds\n\
         a/src/lease_manager.rs: `lease_manager` says nothing of what is inside: \
         name the one thing it holds"
    );
}
