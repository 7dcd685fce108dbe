//! No files of a crate import each other in a ring: what both sides need belongs in a file below both.
//!
//! To understand one file of a ring one has to read all of them, and none can be taken out, tested or replaced alone. A
//! file depends on the one that defines what it imports, through any number of re-exports. A re-export itself is not a
//! dependency, nor is code that is compiled for tests alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, assert_none, lines};
use crate::references::{Import, Reference, imports, paths};
use crate::source::Source;
use crate::tree::Tree;

/// A module, by its path from the crate's root.
type Path = Vec<String>;

/// The keywords that define an item.
const DEFINING: [&str; 9] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "union",
    "macro_rules",
];

/// The rings that there still are, each in a line: the paths of its files, in order.
const LIST: &str = "tests/tidy/circles.txt";

/// Longer chains of re-exports than this are circular.
const HOPS_MAX: usize = 12;

#[test]
fn no_files_import_each_other_in_a_ring() {
    assert_none(judge(rings(Tree::load()), include_str!("circles.txt")));
}

/// Files that import each other in a ring.
#[derive(Default)]
struct Ring {
    files: BTreeSet<String>,
    /// A finding for each path that is part of the ring.
    findings: Vec<Finding>,
}

impl Ring {
    /// Joins the rings that have one of these files.
    fn add(rings: &mut Vec<Self>, files: BTreeSet<String>, finding: Finding) {
        let mut joined = Self::default();
        for ring in rings.extract_if(.., |ring| !ring.files.is_disjoint(&files)) {
            joined.files.extend(ring.files);
            joined.findings.extend(ring.findings);
        }
        joined.files.extend(files);
        joined.findings.push(finding);
        rings.push(joined);
    }

    /// The ring as it stands in the list.
    fn entry(&self) -> String {
        let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
        files.join(" ")
    }
}

/// The findings of each ring that is not in the list, and the entries of the list that are not rings.
fn judge(rings: Vec<Ring>, list: &str) -> Vec<Finding> {
    let mut entries: BTreeMap<&str, usize> = (1..)
        .zip(list.lines())
        .filter(|(_, entry)| !entry.starts_with('#'))
        .map(|(line, entry)| (entry, line))
        .collect();
    let mut findings = Vec::new();
    for ring in rings {
        if entries.remove(ring.entry().as_str()).is_none() {
            findings.extend(ring.findings);
        }
    }
    let stale = entries.into_values();
    findings.extend(
        stale.map(|line| Finding::at(LIST, line, "these files are no ring: remove the entry")),
    );
    findings
}

/// Every ring of the tree.
fn rings(tree: &Tree) -> Vec<Ring> {
    let mut crates: BTreeMap<&str, Modules<'_>> = BTreeMap::new();
    for source in tree.sources() {
        if let Some((folder, file)) = source.path().split_once("/src/")
            && !source.is_test(0)
            && let Some(path) = path_of(file)
        {
            let module = Module::of(source);
            crates.entry(folder).or_default().0.insert(path, module);
        }
    }
    crates.values().flat_map(Modules::rings).collect()
}

/// The module that a file is; `None` for a program in `bin/`.
fn path_of(file: &str) -> Option<Path> {
    let name = file.strip_suffix(".rs")?;
    if name == "lib" || name == "main" {
        return Some(Path::new());
    }
    let name = name.strip_suffix("/mod").unwrap_or(name);
    (!name.starts_with("bin/")).then(|| name.split('/').map(str::to_owned).collect())
}

/// A file of the product.
struct Module<'a> {
    source: &'a Source,
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// The paths outside of the imports.
    paths: Vec<Reference>,
}

impl<'a> Module<'a> {
    fn of(source: &'a Source) -> Self {
        let defines = source.positions().filter(|position| {
            DEFINING.contains(&source.word(*position)) && !source.is_test(*position)
        });
        let name = |position: usize| {
            let skipped = usize::from(source.word(position + 1) == "!");
            source.word(position + 1 + skipped).to_owned()
        };
        let imports = imports(source).into_iter();
        let paths = paths(source).into_iter();
        Self {
            source,
            defines: defines.map(name).collect(),
            imports: imports
                .filter(|import| !source.is_test(import.position()))
                .collect(),
            paths: paths
                .filter(|path| !source.is_test(path.position))
                .collect(),
        }
    }

    /// The paths that the file names, as written, each with its position: imports for itself, and every other path.
    fn named(&self) -> impl Iterator<Item = (&[String], usize)> {
        let imports = self.imports.iter().filter(|import| !import.is_reexport);
        let imports = imports.map(|import| (import.segments(), import.position()));
        let paths = self.paths.iter();
        imports.chain(paths.map(|path| (path.segments(), path.position)))
    }
}

/// The files of a crate.
#[derive(Default)]
struct Modules<'a>(BTreeMap<Path, Module<'a>>);

impl Modules<'_> {
    /// Every set of files that import each other in a ring, each with what its files name of each other.
    fn rings(&self) -> Vec<Ring> {
        let mut uses: BTreeMap<&Path, BTreeMap<Path, (&[String], usize)>> = BTreeMap::new();
        for (path, module) in &self.0 {
            for (item, position) in module.named() {
                for used in self.used(path, item) {
                    let uses = uses.entry(path).or_default();
                    uses.entry(used).or_insert((item, position));
                }
            }
        }
        let next = |path: &Path| uses.get(path).into_iter().flat_map(BTreeMap::keys);
        let mut rings: Vec<Ring> = Vec::new();
        for (path, used) in &uses {
            for (other, (item, position)) in used {
                let Some(back) = way(other, path, next) else {
                    continue;
                };
                let names: Vec<String> = back.iter().map(|path| name(path)).collect();
                let source = self.0[*path].source;
                let message = format!(
                    "names `{}`, and that leads back here: {}",
                    item.join("::"),
                    names.join(" -> ")
                );
                let finding = Finding::at(source.path(), source.line(*position), message);
                let files = back
                    .iter()
                    .map(|path| self.0[*path].source.path().to_owned());
                Ring::add(&mut rings, files.collect(), finding);
            }
        }
        rings
    }

    /// The other files that define what a path names.
    fn used(&self, from: &Path, path: &[String]) -> BTreeSet<Path> {
        let Some(item) = self.absolute(from, path) else {
            return BTreeSet::new();
        };
        let mut found = BTreeSet::new();
        match item.split_last() {
            Some((last, module)) if last == "*" => {
                if let Some(module) = self.0.get(module) {
                    let source = self.0[from].source;
                    let words = source.positions().map(|position| source.word(position));
                    for word in words.collect::<BTreeSet<_>>() {
                        let is_there = module.defines.contains(word)
                            || module.imports.iter().any(|import| import.name == word);
                        if is_there {
                            let item = [&item[..item.len() - 1], &[word.to_owned()]].concat();
                            self.define(&item, 0, &mut found);
                        }
                    }
                }
            }
            _ => self.define(&item, 0, &mut found),
        }
        found.remove(from);
        found
    }

    /// Adds the files that define an item, following re-exports.
    fn define(&self, item: &[String], hops: usize, found: &mut BTreeSet<Path>) {
        if hops > HOPS_MAX || self.0.contains_key(item) {
            return;
        }
        let inner = (0..item.len()).rev();
        let Some(end) = inner
            .into_iter()
            .find(|end| self.0.contains_key(&item[..*end]))
        else {
            return;
        };
        let (path, name) = (&item[..end], &item[end]);
        let module = &self.0[path];
        if module.defines.contains(name) {
            found.insert(path.to_vec());
            return;
        }
        for import in &module.imports {
            let segments = import.segments();
            let (is_it, short) = match segments.split_last() {
                Some((last, rest)) if last == "*" => (true, rest),
                _ => (import.name == *name, segments),
            };
            let Some(mut other) = self.absolute(path, short).filter(|_| is_it) else {
                continue;
            };
            let is_glob = short.len() < segments.len();
            let after = if is_glob { end } else { end + 1 };
            other.extend_from_slice(&item[after..]);
            if other != item {
                self.define(&other, hops + 1, found);
            }
        }
    }

    /// A path from the crate's root; `None` if it is of another crate.
    fn absolute(&self, from: &[String], path: &[String]) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([from, rest].concat()),
            "super" => {
                let (_, parent) = from.split_last()?;
                if rest.first().is_some_and(|next| next == "super") {
                    return self.absolute(parent, rest);
                }
                Some([parent, rest].concat())
            }
            _ => {
                let child = [from, std::slice::from_ref(first)].concat();
                self.0.contains_key(&child).then(|| [from, path].concat())
            }
        }
    }
}

/// The shortest path from one file to another, both included.
fn way<'a, N: Iterator<Item = &'a Path>>(
    from: &'a Path,
    to: &Path,
    next: impl Fn(&Path) -> N,
) -> Option<Vec<&'a Path>> {
    let mut came: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut open = vec![from];
    while let Some(path) = open.first().copied() {
        open.remove(0);
        if path == to {
            let mut back = vec![path];
            while let Some(before) = came.get(back[back.len() - 1]).filter(|_| back.len() < 99) {
                back.push(before);
                if *before == from {
                    break;
                }
            }
            back.reverse();
            return Some(back);
        }
        for other in next(path) {
            if other != from && !came.contains_key(other) {
                came.insert(other, path);
                open.push(other);
            }
        }
    }
    None
}

fn name(path: &Path) -> String {
    match path.as_slice() {
        [] => "the root".to_owned(),
        path => path.join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> String {
        lines(&judge(rings(&Tree::of(files)), ""))
    }

    #[test]
    fn a_ring_is_found_also_through_re_exports() {
        let files = [
            (
                "a/src/lib.rs",
                "mod one;\nmod two;\npub use one::One;\npub use two::*;\n",
            ),
            ("a/src/one.rs", "use crate::Two;\npub struct One(Two);\n"),
            (
                "a/src/two.rs",
                "use crate::One;\npub struct Two;\nfn f(_: One) {}\n",
            ),
        ];
        assert_eq!(
            found(&files),
            "a/src/one.rs:1: names `crate::Two`, and that leads back here: two -> one\n\
             a/src/two.rs:1: names `crate::One`, and that leads back here: one -> two"
        );
    }

    #[test]
    fn a_ring_may_be_in_the_list_as_it_is_and_no_longer_than_it_is_one() {
        let files = [
            ("a/src/lib.rs", "mod one;\nmod two;\n"),
            (
                "a/src/one.rs",
                "use crate::two::Two;\npub struct One(Two);\n",
            ),
            (
                "a/src/two.rs",
                "use crate::one::One;\npub struct Two(One);\n",
            ),
        ];
        let judged = |list: &str| lines(&judge(rings(&Tree::of(&files)), list));
        assert_eq!(judged("# Why.\na/src/one.rs a/src/two.rs\n"), "");
        let grown = judged("a/src/one.rs a/src/three.rs\n");
        assert_eq!(grown.lines().count(), 3, "{grown}");
        assert!(grown.ends_with("circles.txt:1: these files are no ring: remove the entry"));
    }

    #[test]
    fn a_ring_of_a_file_and_one_below_it_is_found() {
        let files = [
            ("a/src/lib.rs", "mod one;\n"),
            (
                "a/src/one.rs",
                "mod below;\nuse below::Below;\npub struct One(Below);\n",
            ),
            (
                "a/src/one/below.rs",
                "use super::One;\npub struct Below;\nimpl One {}\n",
            ),
        ];
        assert_eq!(found(&files).lines().count(), 2, "{}", found(&files));
    }

    #[test]
    fn a_ring_is_found_where_an_import_is_a_module() {
        let files = [
            ("a/src/lib.rs", "mod one;\nmod two;\n"),
            (
                "a/src/one.rs",
                "use crate::two;\npub const ONE: u8 = two::TWO;\n",
            ),
            (
                "a/src/two.rs",
                "use super::one;\npub const TWO: u8 = one::ONE;\n",
            ),
        ];
        assert_eq!(
            found(&files),
            "a/src/one.rs:2: names `crate::two::TWO`, and that leads back here: two -> one\n\
             a/src/two.rs:2: names `super::one::ONE`, and that leads back here: one -> two"
        );
    }

    #[test]
    fn a_ring_is_found_through_paths_that_no_import_shortens() {
        let files = [
            ("a/src/lib.rs", "mod one;\nmod two;\n"),
            ("a/src/one.rs", "pub const ONE: u8 = crate::two::TWO;\n"),
            (
                "a/src/two.rs",
                "pub const TWO: u8 = f::<super::one::ONE>();\n",
            ),
        ];
        assert_eq!(
            found(&files),
            "a/src/one.rs:1: names `crate::two::TWO`, and that leads back here: two -> one\n\
             a/src/two.rs:1: names `super::one::ONE`, and that leads back here: one -> two"
        );
    }

    #[test]
    fn re_exports_and_tests_make_no_ring() {
        let files = [
            (
                "a/src/lib.rs",
                "mod one;\npub use one::One;\npub struct Root;\n",
            ),
            (
                "a/src/one.rs",
                "use crate::Root;\npub struct One(Root);\n#[cfg(test)]\nmod tests {\n    use crate::one::One;\n}\n",
            ),
        ];
        assert_eq!(found(&files), "");
    }
}
