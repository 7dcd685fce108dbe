//! Files that a program makes are not committed: they can be made again, and are out of date with the next commit.
//!
//! Such a file is recognized by its name, its folder, its first bytes, or because git ignores it.

use crate::finding::{Finding, assert_none, lines};
use crate::tree::{File, Tree, git};

/// Endings of the names of built files.
const ENDINGS: [&str; 29] = [
    ".7z", ".a", ".bz2", ".class", ".crate", ".d", ".dll", ".dylib", ".egg", ".exe", ".gz", ".jar",
    ".lib", ".node", ".o", ".obj", ".pdb", ".pyc", ".pyd", ".pyo", ".rlib", ".rmeta", ".so",
    ".tar", ".tgz", ".wasm", ".whl", ".xz", ".zip",
];

/// Folders that only programs write to.
const FOLDERS: [&str; 6] = [
    "__pycache__",
    "dist",
    "node_modules",
    "site-packages",
    "target",
    "venv",
];

/// The first bytes of built files: programs and libraries of each system, and archives.
const BEGINNINGS: [(&[u8], &str); 9] = [
    (b"\x7fELF", "a program or library"),
    (b"\xca\xfe\xba\xbe", "a program, a library or a class"),
    (b"\xcf\xfa\xed\xfe", "a program or library"),
    (b"MZ", "a program or library"),
    (b"\0asm", "a module of WebAssembly"),
    (b"!<arch>\n", "a library"),
    (b"PK\x03\x04", "an archive"),
    (b"\x1f\x8b", "an archive"),
    (b"\x28\xb5\x2f\xfd", "an archive"),
];

#[test]
fn nothing_that_was_built_is_committed() {
    let tree = Tree::load();
    let ignored = git(&[
        "ls-files",
        "-z",
        "--cached",
        "--ignored",
        "--exclude-standard",
    ]);
    assert_none([built(tree), committed_although_ignored(&ignored)].concat());
}

fn built(tree: &Tree) -> Vec<Finding> {
    let finding = |file: &File| Some(Finding::about(&file.path, trace_of_a_build(file)?));
    tree.files().iter().filter_map(finding).collect()
}

/// Why the file counts as built, if it does.
fn trace_of_a_build(file: &File) -> Option<String> {
    let (folders, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    // A library's version may follow its ending.
    if ENDINGS.iter().any(|ending| name.ends_with(ending)) || name.contains(".so.") {
        return Some(
            "a file of this name is built: it is made again, and not committed".to_owned(),
        );
    }
    if let Some(folder) = folders.split('/').find(|part| FOLDERS.contains(part)) {
        return Some(format!("only programs write to a folder `{folder}`"));
    }
    let is_text = file.text().is_some();
    let (_, kind) = BEGINNINGS
        .iter()
        .find(|(beginning, _)| !is_text && file.bytes().starts_with(beginning))?;
    Some(format!(
        "it begins as {kind} does: it is made again, and not committed"
    ))
}

/// `listing` has paths, each followed by a zero byte.
fn committed_although_ignored(listing: &str) -> Vec<Finding> {
    let message = "git ignores it and has it nevertheless: `git rm --cached`";
    listing
        .split_terminator('\0')
        .map(|path| Finding::about(path, message))
        .collect()
}

#[test]
fn a_built_file_is_found_by_its_name_its_folder_and_its_beginning() {
    let tree = Tree::new(vec![
        File::of_bytes("a/_synod.abi3.so", b"".to_vec()),
        File::of_bytes("a/libsynod.so.1.2", b"".to_vec()),
        File::of_bytes("a/node_modules/b/index.js", b"let a;".to_vec()),
        File::of_bytes("a/synod", b"\x7fELF\x02\xff".to_vec()),
        File::of_bytes("a/disk", b"\x00\xff of ours".to_vec()),
        File::of_bytes("a/notes.md", b"MZ is how they begin".to_vec()),
        File::of_bytes("a/distance.rs", b"".to_vec()),
    ]);
    assert_eq!(
        lines(&built(&tree)),
        "a/_synod.abi3.so: a file of this name is built: it is made again, and not committed\n\
         a/libsynod.so.1.2: a file of this name is built: it is made again, and not committed\n\
         a/node_modules/b/index.js: only programs write to a folder `node_modules`\n\
         a/synod: it begins as a program or library does: it is made again, and not committed"
    );
}

#[test]
fn what_is_committed_although_it_is_ignored_is_found() {
    assert_eq!(committed_although_ignored(""), []);
    assert_eq!(
        lines(&committed_although_ignored("a/b.log\0c\0")),
        "a/b.log: git ignores it and has it nevertheless: `git rm --cached`\n\
         c: git ignores it and has it nevertheless: `git rm --cached`"
    );
}
