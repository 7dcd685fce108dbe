//! Nothing that is committed depends on the machine where it was written.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

/// Folders of somebody's machine, and hosts that a mirror may stand in for. Assembled, so that this file
/// does not find itself.
const PRIVATE: [&str; 10] = [
    concat!("/wo", "rk/"),
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("../sha", "red"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("registry.npmjs", ".org"),
    concat!("artifact", "ory"),
];

/// Lock files name the registry, because the registry is what they lock.
const LOCK_FILES: [&str; 3] = ["Cargo.lock", "package-lock.json", "uv.lock"];

#[test]
fn nothing_names_a_private_place() {
    assert_none(private_places(Tree::load()));
}

fn private_places(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .iter()
        .filter(|file| !LOCK_FILES.iter().any(|name| file.path.ends_with(name)))
        .flat_map(|file| {
            let text = file.text.as_deref().unwrap_or_default();
            (1..).zip(text.lines()).filter_map(|(number, line)| {
                let place = PRIVATE.iter().find(|place| line.contains(*place))?;
                let message = format!("`{place}` exists on somebody's machine only");
                Some(Finding::at(&file.path, number, message))
            })
        })
        .collect()
}

#[test]
fn a_private_place_is_found() {
    let tree = Tree::of(&[
        ("a.md", concat!("fine\n", "see /ho", "me/ann/notes\n")),
        (
            "bindings/node/package-lock.json",
            concat!("https://registry.npmjs", ".org/a\n"),
        ),
    ]);
    assert_eq!(
        lines(&private_places(&tree)),
        concat!("a.md:2: `/ho", "me/` exists on somebody's machine only")
    );
}
