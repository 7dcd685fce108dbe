//! No symbolic link is committed: it may lead out of the checkout, and on systems without links git writes a file in
//! its place.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::{Content, File, Tree};

#[test]
fn nothing_is_a_link() {
    assert_none(links(Tree::load()));
}

fn links(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .iter()
        .filter_map(|file| match &file.content {
            Content::Link(target) => {
                let message =
                    format!("a link, to `{target}`: make it where it is needed, under target/");
                Some(Finding::about(&file.path, message))
            }
            Content::Text(_) | Content::Bytes(_) => None,
        })
        .collect()
}

#[test]
fn a_link_is_found() {
    let tree = Tree::new(vec![
        File::of_bytes("a/file", b"../elsewhere".to_vec()),
        File::of_link("a/link", "../elsewhere"),
    ]);
    assert_eq!(
        lines(&links(&tree)),
        "a/link: a link, to `../elsewhere`: make it where it is needed, under target/"
    );
}
