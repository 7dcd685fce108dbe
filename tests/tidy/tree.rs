//! The checkout as the rules see it: every file that is committed or not yet added, but not ignored.

use std::process::Command;
use std::sync::OnceLock;

use crate::source::Source;

/// The files of the checkout, except those that git ignores.
pub(crate) struct Tree {
    files: Vec<File>,
    /// Parsed when the first rule needs them, once for all rules.
    sources: OnceLock<Vec<Source>>,
}

/// A file and its content.
pub(crate) struct File {
    /// Relative to the root of the checkout, with `/` between folders.
    pub(crate) path: String,
    pub(crate) content: Content,
}

/// The content of a file.
pub(crate) enum Content {
    Text(String),
    /// Not UTF-8.
    Bytes(Vec<u8>),
    /// A symbolic link, with its target.
    Link(String),
}

impl File {
    /// A file of these bytes.
    pub(crate) fn of_bytes(path: &str, bytes: Vec<u8>) -> Self {
        let content = match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text),
            Err(error) => Content::Bytes(error.into_bytes()),
        };
        Self {
            path: path.to_owned(),
            content,
        }
    }

    /// A link that leads to `target`.
    pub(crate) fn of_link(path: &str, target: &str) -> Self {
        Self {
            path: path.to_owned(),
            content: Content::Link(target.to_owned()),
        }
    }

    /// The text of the file; `None` for bytes and links.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Bytes(_) | Content::Link(_) => None,
        }
    }

    /// The bytes that git stores: for a link its target.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) | Content::Link(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }
}

impl Tree {
    /// The checkout at the time of the first call.
    pub(crate) fn load() -> &'static Self {
        static CHECKOUT: OnceLock<Tree> = OnceLock::new();
        CHECKOUT.get_or_init(Self::read)
    }

    fn read() -> Self {
        let tracked = git(&["ls-files", "-z", "--stage"]);
        // Each entry is `<mode> <object> <stage>`, a tab and the path.
        let tracked = tracked
            .split_terminator('\0')
            .filter_map(|entry| entry.split_once('\t'))
            .map(|(stage, path)| (stage.starts_with(LINK), path));
        let untracked = git(&["ls-files", "-z", "--others", "--exclude-standard"]);
        let untracked = untracked.split_terminator('\0').map(|path| (false, path));
        Self::new(tracked.chain(untracked).filter_map(read_file).collect())
    }

    /// A tree of samples, for the tests of a rule.
    pub(crate) fn of(samples: &[(&str, &str)]) -> Self {
        let files = samples
            .iter()
            .map(|&(path, text)| File::of_bytes(path, text.as_bytes().to_vec()));
        Self::new(files.collect())
    }

    pub(crate) fn new(files: Vec<File>) -> Self {
        Self {
            files,
            sources: OnceLock::new(),
        }
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// The text of the file at `path`, if there is one.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text()
    }

    /// Every text file whose path ends with `suffix`, as path and text.
    pub(crate) fn texts(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(suffix))
            .filter_map(|file| Some((file.path.as_str(), file.text()?)))
    }

    /// Every Rust file, read as tokens.
    ///
    /// A module that its parent declares under `#[cfg(test)]` is marked as test code, with everything below it.
    pub(crate) fn sources(&self) -> &[Source] {
        self.sources.get_or_init(|| self.read_sources())
    }

    fn read_sources(&self) -> Vec<Source> {
        let mut sources: Vec<Source> = self
            .texts(".rs")
            .map(|(path, text)| Source::read(path, text))
            .collect();
        let modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
        for source in &mut sources {
            let in_test = |module: &String| {
                let rest = source.path().strip_prefix(module.as_str());
                rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if modules.iter().any(in_test) {
                source.mark_as_test();
            }
        }
        sources
    }
}

/// The mode by which git marks a link.
const LINK: &str = "120000";

/// The output of a git command in the checkout.
pub(crate) fn git(words: &[&str]) -> String {
    let output = Command::new("git")
        .args(words)
        .current_dir(synod_tests::checkout())
        .output()
        .expect("tidy asks git which files are part of the checkout");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("paths are UTF-8")
}

/// Reads a file as git would: a link is not followed, even if it is not committed yet.
fn read_file((is_link, path): (bool, &str)) -> Option<File> {
    let place = synod_tests::checkout().join(path);
    if let Ok(target) = std::fs::read_link(&place) {
        return Some(File::of_link(path, &target.to_string_lossy()));
    }
    // A file that was deleted and is not committed as deleted is still listed.
    let bytes = std::fs::read(&place).ok()?;
    if is_link {
        // On systems without links, git writes a file with the target in its place.
        return Some(File::of_link(path, &String::from_utf8_lossy(&bytes)));
    }
    Some(File::of_bytes(path, bytes))
}

#[test]
fn the_checkout_is_read() {
    let tree = Tree::load();
    assert!(
        tree.text("Cargo.toml")
            .is_some_and(|text| text.contains("[workspace]"))
    );
    assert!(
        tree.sources()
            .iter()
            .any(|source| source.path() == "tests/tidy/tree.rs")
    );
}

#[test]
fn a_module_declared_for_tests_is_test_code_with_all_below_it() {
    let tree = Tree::of(&[
        ("a/src/lib.rs", "mod product;\n#[cfg(test)]\nmod naive;\n"),
        ("a/src/naive.rs", "mod inner;\n"),
        ("a/src/naive/inner.rs", "fn f() {}\n"),
        ("a/src/product.rs", "fn f() {}\n#[cfg(test)]\nmod checks;\n"),
        ("a/src/product/checks.rs", "fn f() {}\n"),
        ("a/src/naive_product.rs", "fn f() {}\n"),
    ]);
    let tests: Vec<String> = tree
        .sources()
        .iter()
        .filter(|source| source.is_test(0))
        .map(|source| source.path().to_owned())
        .collect();
    assert_eq!(
        tests,
        [
            "a/src/naive.rs",
            "a/src/naive/inner.rs",
            "a/src/product/checks.rs"
        ]
    );
}
