//! Hashes the files of a folder, to check that none was touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Every file below a folder, with the hash of its content. Lock files are empty, held or not.
pub(crate) fn tree_hash(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut hashes = BTreeMap::new();
    collect(folder, &mut hashes);
    hashes
}

fn collect(folder: &Path, hashes: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            collect(&path, hashes);
        } else {
            let content = fs::read(&path).expect("the file can be read");
            let hash = Sha256::digest(&content);
            hashes.insert(path, format!("{} bytes, {hash:02x?}", content.len()));
        }
    }
}
