//! No file is larger than 512 KiB: every clone carries it for ever, even after it is deleted.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const FILE_BYTES_MAX: usize = 512 * 1024;

/// Files that may be larger, each with the reason. An entry that is not needed fails.
const LARGER: [(&str, &str); 0] = [];

#[test]
fn every_file_fits_a_clone() {
    assert_none(too_large(Tree::load(), &LARGER));
}

fn too_large(tree: &Tree, larger: &[(&str, &str)]) -> Vec<Finding> {
    let is_large = |path: &str| {
        let found = tree.files().iter().find(|file| file.path == path);
        found.is_some_and(|file| file.bytes().len() > FILE_BYTES_MAX)
    };
    let unlisted = tree
        .files()
        .iter()
        .filter(|file| is_large(&file.path) && larger.iter().all(|(path, _)| *path != file.path))
        .map(|file| {
            let size = file.bytes().len();
            let message = format!("{size} bytes, and {FILE_BYTES_MAX} are the most");
            Finding::about(&file.path, message)
        });
    let needless = larger
        .iter()
        .filter(|(path, reason)| !is_large(path) || reason.is_empty())
        .map(|(path, _)| {
            let message = "an entry is for a file that is too large, and says why it has to be";
            Finding::about(path, message)
        });
    unlisted.chain(needless).collect()
}

#[test]
fn a_file_that_is_too_large_is_found_and_one_excused_for_nothing() {
    let (fits, large) = ("a".repeat(FILE_BYTES_MAX), "a".repeat(FILE_BYTES_MAX + 1));
    let tree = Tree::of(&[("fits", &fits), ("large", &large)]);
    assert_eq!(
        lines(&too_large(&tree, &[])),
        "large: 524289 bytes, and 524288 are the most"
    );
    assert_eq!(too_large(&tree, &[("large", "it is the point of it")]), []);
    let needless = "an entry is for a file that is too large, and says why it has to be";
    assert_eq!(
        lines(&too_large(
            &tree,
            &[("large", ""), ("fits", "it does"), ("gone", "it was")]
        )),
        format!("large: {needless}\nfits: {needless}\ngone: {needless}")
    );
}
