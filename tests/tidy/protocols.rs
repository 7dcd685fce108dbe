//! The protocols are documented, follow one set of conventions, and never break what was released.

mod compatibility;
mod conventions;
mod documentation;
mod elements;
mod tables;

use std::collections::BTreeMap;

use prost_types::FileDescriptorProto;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use crate::finding::assert_none;
use crate::tree::Tree;
use elements::Version;

/// The folder of the sources; its folders are the packages.
const ROOT: &str = "proto/proto/";
/// The package that clients speak.
const PUBLIC: &str = "synod.v1";

#[test]
fn everything_public_says_what_it_is_and_since_when() {
    let tree = Tree::load();
    assert_none(documentation::faults(
        &elements::of(&compile(tree)),
        Version::of_workspace(tree),
    ));
}

#[test]
fn the_protocols_follow_the_conventions() {
    assert_none(conventions::faults(&compile(Tree::load())));
}

#[test]
fn protocols_break_nothing_that_was_released() {
    let tree = Tree::load();
    let current = compile(tree);
    if std::env::var("SYNOD_PROTO_BASELINE").is_ok_and(|order| order == "record") {
        compatibility::record(&current);
        tables::record();
    }
    assert_none(compatibility::faults(&current, Version::of_workspace(tree)));
    assert_none(tables::faults());
}

/// The compiled protocols of a tree, ordered by file, with their comments.
fn compile(tree: &Tree) -> Vec<FileDescriptorProto> {
    let texts: BTreeMap<String, String> = tree
        .texts(".proto")
        .filter_map(|(path, text)| Some((path.strip_prefix(ROOT)?.to_owned(), text.to_owned())))
        .collect();
    let names: Vec<String> = texts.keys().cloned().collect();
    let mut resolver = ChainFileResolver::new();
    resolver.add(Texts(texts));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_source_info(true);
    for name in names {
        if let Err(error) = compiler.open_file(&name) {
            panic!("{ROOT}{name} does not compile: {error:?}");
        }
    }
    compiler.file_descriptor_set().file
}

/// Sources by name.
struct Texts(BTreeMap<String, String>);

impl FileResolver for Texts {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let text = self
            .0
            .get(name)
            .ok_or_else(|| protox::Error::file_not_found(name))?;
        File::from_source(name, text)
    }
}

/// A protocol of one file, for the tests of a rule.
#[cfg(test)]
fn sample(name: &str, body: &str) -> Vec<FileDescriptorProto> {
    let (folder, _) = name
        .rsplit_once('/')
        .expect("a sample lies in the folder of its package");
    let text = format!(
        "syntax = \"proto3\";\npackage {};\n{body}",
        folder.replace('/', ".")
    );
    compile(&Tree::of(&[(&format!("{ROOT}{name}"), &text)]))
}
