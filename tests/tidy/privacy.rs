//! No committed file depends on the machine where it was written: no text, no bytes, and no link.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::{Content, File, Tree};

/// Private folders, and hosts that a mirror may replace. The texts are assembled, so that this file does not find
/// itself.
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

/// Lock files are excepted: they have to name the registry.
const LOCK_FILES: [&str; 3] = ["Cargo.lock", "package-lock.json", "uv.lock"];

#[test]
fn nothing_names_a_private_place() {
    assert_none(private_places(Tree::load()));
}

fn private_places(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .iter()
        .filter(|file| !LOCK_FILES.iter().any(|name| file.path.ends_with(name)))
        .flat_map(private_places_in)
        .collect()
}

fn private_places_in(file: &File) -> Vec<Finding> {
    let text = String::from_utf8_lossy(file.bytes());
    let named = (1..).zip(text.lines()).filter_map(|(number, line)| {
        let place = PRIVATE.iter().find(|place| line.contains(*place))?;
        let message = format!("`{place}` exists on somebody's machine only");
        Some(Finding::at(&file.path, number, message))
    });
    // An absolute link leads out of the checkout, wherever it leads.
    let absolute = match &file.content {
        Content::Link(target) if target.starts_with('/') => Some(Finding::about(
            &file.path,
            "a link from the root of somebody's machine",
        )),
        Content::Link(_) | Content::Text(_) | Content::Bytes(_) => None,
    };
    named.chain(absolute).collect()
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

#[test]
fn a_private_place_is_found_in_bytes_and_behind_a_link() {
    let tree = Tree::new(vec![
        File::of_bytes("built", b"\xff\x00/Us\x65rs/ann/a.rs\x00".to_vec()),
        File::of_link("near", "../b"),
        File::of_link("far", "/opt/b"),
        File::of_link("private", concat!("/ho", "me/ann/b")),
    ]);
    assert_eq!(
        lines(&private_places(&tree)),
        concat!(
            "built:1: `/Us",
            "ers/` exists on somebody's machine only\n",
            "far: a link from the root of somebody's machine\n",
            "private:1: `/ho",
            "me/` exists on somebody's machine only\n",
            "private: a link from the root of somebody's machine"
        )
    );
}
