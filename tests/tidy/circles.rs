//! No files of a crate import each other in a ring: what both sides need belongs in a file below both.
//!
//! To understand one file of a ring one has to read all of them, and none can be taken out, tested or replaced alone. A
//! file depends on the one that defines what it imports, through any number of re-exports. A re-export itself is not a
//! dependency, nor is code that is compiled for tests alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, assert_none, lines};
use crate::references::{Import, imports};
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

/// Longer chains of re-exports than this are circular.
const HOPS_MAX: usize = 12;

#[test]
fn no_files_import_each_other_in_a_ring() {
    assert_none(rings(Tree::load()));
}

/// One finding for each import that is part of a ring.
fn rings(tree: &Tree) -> Vec<Finding> {
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
        Self {
            source,
            defines: defines.map(name).collect(),
            imports: imports
                .filter(|import| !source.is_test(import.position()))
                .collect(),
        }
    }
}

/// The files of a crate.
#[derive(Default)]
struct Modules<'a>(BTreeMap<Path, Module<'a>>);

impl Modules<'_> {
    fn rings(&self) -> Vec<Finding> {
        let mut uses: BTreeMap<&Path, BTreeMap<Path, &Import>> = BTreeMap::new();
        for (path, module) in &self.0 {
            for import in module.imports.iter().filter(|import| !import.is_reexport) {
                for used in self.used(path, import) {
                    uses.entry(path).or_default().insert(used, import);
                }
            }
        }
        let next = |path: &Path| uses.get(path).into_iter().flat_map(BTreeMap::keys);
        let mut found = Vec::new();
        for (path, used) in &uses {
            for (other, import) in used {
                if let Some(back) = way(other, path, next) {
                    let names: Vec<String> = back.iter().map(|path| name(path)).collect();
                    let message = format!(
                        "imports `{}`, and that leads back here: {}",
                        import.segments().join("::"),
                        names.join(" -> ")
                    );
                    let source = self.0[*path].source;
                    let line = source.line(import.position());
                    found.push(Finding::at(source.path(), line, message));
                }
            }
        }
        found
    }

    /// The other files whose items an import brings in.
    fn used(&self, from: &Path, import: &Import) -> BTreeSet<Path> {
        let Some(item) = self.absolute(from, import.segments()) else {
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
        lines(&rings(&Tree::of(files)))
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
            "a/src/one.rs:1: imports `crate::Two`, and that leads back here: two -> one\n\
             a/src/two.rs:1: imports `crate::One`, and that leads back here: one -> two"
        );
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
