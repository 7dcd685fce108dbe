//! The checkout as the rules see it: every file that is committed or about to be.

use std::process::Command;
use std::sync::OnceLock;

use crate::source::Source;

/// The files of the checkout, those that git ignores left out.
pub(crate) struct Tree {
    files: Vec<File>,
    /// Read when the first rule asks, and once for all of them.
    sources: OnceLock<Vec<Source>>,
}

/// A file and what is in it.
pub(crate) struct File {
    /// From the root of the checkout, with `/` between folders.
    pub(crate) path: String,
    /// Nothing when it is not UTF-8, so not for reading.
    pub(crate) text: Option<String>,
}

impl Tree {
    /// The checkout as it was when the first rule asked.
    pub(crate) fn load() -> &'static Self {
        static CHECKOUT: OnceLock<Tree> = OnceLock::new();
        CHECKOUT.get_or_init(Self::read)
    }

    fn read() -> Self {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
                "--deduplicate",
            ])
            .current_dir(synod_tests::checkout())
            .output()
            .expect("tidy asks git which files are part of the checkout");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let listing = String::from_utf8(output.stdout).expect("paths are UTF-8");
        let files = listing
            .split_terminator('\0')
            .filter_map(|path| {
                // A file that was removed and not yet committed is still listed.
                let bytes = std::fs::read(synod_tests::checkout().join(path)).ok()?;
                Some(File {
                    path: path.to_owned(),
                    text: String::from_utf8(bytes).ok(),
                })
            })
            .collect();
        Self::new(files)
    }

    /// A tree of samples, to test a rule.
    pub(crate) fn of(samples: &[(&str, &str)]) -> Self {
        let files = samples
            .iter()
            .map(|&(path, text)| File {
                path: path.to_owned(),
                text: Some(text.to_owned()),
            })
            .collect();
        Self::new(files)
    }

    fn new(files: Vec<File>) -> Self {
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
        self.files
            .iter()
            .find(|file| file.path == path)?
            .text
            .as_deref()
    }

    /// Every text file whose name ends with `suffix`, as path and text.
    pub(crate) fn texts(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(suffix))
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// Every Rust file, read as tokens.
    ///
    /// A module that its parent declares under `#[cfg(test)]` is marked as test code, and so is
    /// everything below it.
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
