//! The product uses every item that it has: an item that only tests call is a feature without users, and its tests
//! protect nothing.
//!
//! A visible item's name is searched in its crate and in those that depend on it. Tests, definitions, `use` lines and
//! items that are unused themselves do not count as uses. Items that the SDK publishes are used by its users, and what
//! a binding exports is used by another language.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use toml::Table;

use crate::finding::{Finding, assert_none, lines};
use crate::source::Source;
use crate::tree::Tree;

/// Crates whose visible items are called from outside the workspace.
const PUBLISHED: [(&str, &str); 5] = [
    ("bindings/node", "Node loads it"),
    ("bindings/python", "Python loads it"),
    (
        "fence",
        "servers with a store of their own are built with it",
    ),
    ("sdk", "programs of its users are built with it"),
    ("service/raft-stats", "openraft is built with it"),
];

/// Items that exist for tests or documents, with the reason: a file without `.rs` and its folder, or `file::item`. An
/// entry that is not needed fails.
const EXCUSED: [(&str, &str); 10] = [
    (
        "bindings/bound/src/generate",
        "it writes the sources of Python and Node, which a test holds against those that are committed",
    ),
    (
        "proto/src/limits.rs::LIMITS",
        "docs/LIMITS.md is written from it",
    ),
    (
        "proto/src/status",
        "the facts of errors by their names, as errors.proto lists them: the machine writes some, and cannot see this crate",
    ),
    (
        "service/model/src/limits/table.rs::LIMITS",
        "docs/LIMITS.md is written from it",
    ),
    ("service/server/src/limits/bound", "the words of that table"),
    (
        "service/server/src/limits/bounds.rs::BOUNDS",
        "docs/LIMITS.md is written from it",
    ),
    (
        "service/server/src/limits/connections.rs::CONNECTIONS",
        "docs/LIMITS.md is written from it",
    ),
    (
        "service/server/src/replica.rs::handle",
        "the simulation asks each replica what it holds",
    ),
    (
        "service/server/src/seams/random.rs::seed_this_thread",
        "the simulation needs the same random numbers again",
    ),
    (
        "service/store/src/disk/simulated",
        "it is the disk of the simulation, beside the trait that both disks have",
    ),
];

#[test]
fn the_product_uses_all_that_it_has() {
    assert_none(idle(Tree::load(), &PUBLISHED, &EXCUSED));
}

/// A visible item of the product.
struct Item {
    source: usize,
    /// The position of its name.
    name: usize,
    kind: Kind,
    /// The tokens of the whole item.
    body: RangeInclusive<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Called on a value or a type: `.name(` or `Type::name`.
    Method,
    Function,
    /// A type, a trait or a constant.
    Other,
}

fn idle(tree: &Tree, published: &[(&str, &str)], excused: &[(&str, &str)]) -> Vec<Finding> {
    let users = users(tree);
    let product: Vec<(&Source, &str)> = tree
        .sources()
        .iter()
        .filter_map(|source| Some((source, source.path().split_once("/src/")?.0)))
        .filter(|(_, folder)| users.contains_key(*folder))
        .collect();
    let words = words(&product);
    let exported = exported(&product, published);
    // The compiler finds unused items that are visible in such a crate only.
    let is_free = |item: &Item| {
        let (source, folder) = product[item.source];
        published.iter().any(|(free, _)| *free == folder)
            || exported.contains(source.word(item.name))
    };
    let mut open: Vec<Item> = (0..product.len())
        .flat_map(|source| items(source, product[source].0))
        .filter(|item| !is_free(item))
        .collect();
    let mut idle: Vec<Item> = Vec::new();
    loop {
        let is_used = |item: &Item| {
            let (source, folder) = product[item.source];
            let uses = words.get(source.word(item.name)).into_iter().flatten();
            uses.filter(|(by, _)| users[folder].contains(product[*by].1))
                .filter(|(by, position)| is_use(product[*by].0, *position, item.kind))
                .any(|(by, position)| {
                    let is_within =
                        |idle: &Item| idle.source == *by && idle.body.contains(position);
                    !is_within(item) && !idle.iter().any(is_within)
                })
        };
        let (used, unused): (Vec<Item>, Vec<Item>) = open.into_iter().partition(is_used);
        open = used;
        if unused.is_empty() {
            break;
        }
        idle.extend(unused);
    }
    judge(&product, &idle, excused)
}

/// For each crate's folder, the crates that can name its items: itself, and those that depend on it.
fn users(tree: &Tree) -> BTreeMap<String, BTreeSet<String>> {
    let manifests: BTreeMap<&str, Table> = tree
        .texts("/Cargo.toml")
        .filter_map(|(path, text)| Some((path.strip_suffix("/Cargo.toml")?, text.parse().ok()?)))
        .filter(|(folder, _)| *folder != "tests")
        .collect();
    let name = |manifest: &Table| Some(manifest.get("package")?.get("name")?.as_str()?.to_owned());
    let depends = |manifest: &Table, on: &BTreeSet<String>| {
        let dependencies = manifest.get("dependencies").and_then(|it| it.as_table());
        let mut names = dependencies.into_iter().flat_map(Table::keys);
        names.any(|dependency| on.contains(dependency))
    };
    let mut users = BTreeMap::new();
    for (folder, manifest) in &manifests {
        let mut names: BTreeSet<String> = name(manifest).into_iter().collect();
        let mut folders = BTreeSet::from([(*folder).to_owned()]);
        loop {
            let more = manifests.iter().find(|(folder, manifest)| {
                !folders.contains(**folder) && depends(manifest, &names)
            });
            let Some((folder, manifest)) = more else {
                break;
            };
            folders.insert((*folder).to_owned());
            names.extend(name(manifest));
        }
        users.insert((*folder).to_owned(), folders);
    }
    users
}

/// The positions of each word in the product, without `use` lines.
fn words<'a>(product: &[(&'a Source, &str)]) -> BTreeMap<&'a str, Vec<(usize, usize)>> {
    let mut words: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (number, (source, _)) in product.iter().enumerate() {
        let mut position = 0;
        while position < source.positions().end {
            if source.word(position) == "use" && !source.reads(position + 1, &["<"]) {
                position = source.end_of_item(position);
            } else if source.is_identifier(position) && !source.is_test(position) {
                let places = words.entry(source.word(position)).or_default();
                places.push((number, position));
            }
            position += 1;
        }
    }
    words
}

/// The names that a published crate re-exports.
fn exported<'a>(product: &[(&'a Source, &str)], published: &[(&str, &str)]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (source, folder) in product {
        if !published.iter().any(|(free, _)| free == folder) {
            continue;
        }
        let lines = source
            .positions()
            .filter(|&it| source.reads(it, &["pub", "use"]));
        for line in lines {
            let range = line + 2..source.end_of_item(line + 1);
            names.extend(range.map(|position| source.word(position)));
        }
    }
    names
}

const KEYWORDS: [&str; 8] = [
    "fn", "const", "static", "struct", "enum", "union", "type", "trait",
];

/// The visible items of a file.
fn items(number: usize, source: &Source) -> Vec<Item> {
    let is_item = |keyword: &usize| {
        KEYWORDS.contains(&source.word(*keyword))
            && source.is_identifier(keyword + 1)
            && !matches!(
                source.word(keyword + 1),
                "fn" | "unsafe" | "async" | "extern"
            )
            && source.word(visibility(source, keyword + 1)) == "pub"
            && !source.is_test(*keyword)
    };
    let item = |keyword: usize| {
        let kind = match source.word(keyword) {
            "fn" if takes_self(source, keyword) => Kind::Method,
            "fn" => Kind::Function,
            _ => Kind::Other,
        };
        Item {
            source: number,
            name: keyword + 1,
            kind,
            body: keyword..=source.end_of_item(keyword),
        }
    };
    source.positions().filter(is_item).map(item).collect()
}

/// The position where the item's visibility begins, or its keyword if it has none.
fn visibility(source: &Source, name: usize) -> usize {
    let mut position = name - 1;
    while position > 0 && matches!(source.word(position - 1), "const" | "async" | "unsafe") {
        position -= 1;
    }
    let before = |steps: usize| position.checked_sub(steps);
    match before(1).map(|before| source.word(before)) {
        Some("pub") => position - 1,
        // `pub(crate)`, or another path in the parentheses.
        Some(")") => (2..8)
            .filter_map(before)
            .find(|&before| source.reads(before, &["pub", "("]))
            .unwrap_or(position),
        _ => position,
    }
}

fn takes_self(source: &Source, keyword: usize) -> bool {
    let end = source.end_of_item(keyword);
    let open = (keyword..end).find(|&position| source.word(position) == "(");
    open.is_some_and(|open| {
        let mut words = (open + 1..source.closing(open)).map(|position| source.word(position));
        loop {
            match words.next() {
                Some("&" | "mut") => {}
                // A lifetime; its name is skipped.
                Some("'") => {
                    words.next();
                }
                first => return first == Some("self"),
            }
        }
    })
}

/// Whether a word at this position can refer to an item of this kind and name.
fn is_use(source: &Source, position: usize, kind: Kind) -> bool {
    let before = position.checked_sub(1).map_or("", |it| source.word(it));
    let after = source.word(position + 1);
    let is_path = before == "::";
    let is_call = matches!(after, "(" | "::");
    match kind {
        _ if KEYWORDS.contains(&before) => false,
        Kind::Method => is_path || before == "." && is_call,
        // A function may be passed by name; a field or an argument of that name is followed by its type or value.
        Kind::Function => {
            is_path || is_call && before != "." || !matches!(before, "." | "let") && after != ":"
        }
        Kind::Other => before != ".",
    }
}

/// The unused items without an excuse, and the excuses that are not needed.
fn judge(product: &[(&Source, &str)], idle: &[Item], excused: &[(&str, &str)]) -> Vec<Finding> {
    let mut needed = BTreeSet::new();
    let mut findings = Vec::new();
    for item in idle {
        let source = product[item.source].0;
        let (path, name) = (source.path(), source.word(item.name));
        let full = format!("{path}::{name}");
        let is_at = |place: &str| {
            let below = path.strip_prefix(place);
            place == full || below.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        let excuse = excused.iter().find(|(place, _)| is_at(place));
        match excuse {
            Some((place, _)) => {
                needed.insert(*place);
            }
            None => {
                let message =
                    format!("only tests use `{name}`, if anybody does: use it or remove it");
                findings.push(Finding::at(path, source.line(item.name), message));
            }
        }
    }
    let needless = excused
        .iter()
        .filter(|(place, reason)| !needed.contains(place) || reason.is_empty())
        .map(|(place, _)| {
            Finding::about(
                place,
                "nothing here needs an excuse any more, or it has no reason",
            )
        });
    findings.extend(needless);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "[package]\nname = \"model\"\n";
    const SDK: &str = "[package]\nname = \"sdk\"\n[dependencies]\nmodel = \"1\"\n";

    fn found(model: &str, sdk: &str, excused: &[(&str, &str)]) -> String {
        let tree = Tree::of(&[
            ("model/Cargo.toml", MODEL),
            ("model/src/a.rs", model),
            ("sdk/Cargo.toml", SDK),
            ("sdk/src/b.rs", sdk),
            ("tests/Cargo.toml", "[package]\nname = \"tests\"\n"),
            ("tests/src/c.rs", "fn f() { called_by_a_test(); }"),
            ("model/tests/d.rs", "fn f() { called_by_a_test(); }"),
        ]);
        lines(&idle(&tree, &[("sdk", "its users")], excused))
    }

    fn only(name: &str, line: usize) -> String {
        format!(
            "model/src/a.rs:{line}: only tests use `{name}`, if anybody does: use it or remove it"
        )
    }

    #[test]
    fn what_only_tests_call_is_found() {
        let model = "pub fn called_by_a_test() {}\n\
                     pub(crate) const fn used() {}\n\
                     pub const LIMIT: u8 = 1;\n\
                     #[cfg(test)]\nmod tests { fn f() { called_by_a_test(); } }\n";
        let sdk = "use model::{LIMIT, called_by_a_test};\npub fn free() { model::used(); }\n";
        let expected = [only("called_by_a_test", 1), only("LIMIT", 3)].join("\n");
        assert_eq!(found(model, sdk, &[]), expected);
    }

    #[test]
    fn what_only_idle_items_use_is_idle_too() {
        let model = "pub fn outer() { inner(); }\npub fn inner() { inner(); }\n";
        assert_eq!(found(model, "", &[]).lines().count(), 2);
        assert_eq!(found(model, "fn f() { outer() }", &[]), "");
    }

    #[test]
    fn a_field_or_a_namesake_elsewhere_is_no_use_of_a_method() {
        let model = "impl A { pub fn count(&self) {} }\n";
        assert_eq!(
            found(model, "fn f(count: u8) { a.count; B { count: 1 } }", &[]),
            only("count", 1)
        );
        assert_eq!(found(model, "fn count() {}", &[]), only("count", 1));
        assert_eq!(found(model, "fn f() { a.count() }", &[]), "");
        assert_eq!(found(model, "fn f() { all.map(A::count) }", &[]), "");
    }

    #[test]
    fn what_is_published_is_used() {
        assert_eq!(
            found(
                "pub fn a() {}\npub struct B;\n",
                "pub use model::{B, a};",
                &[]
            ),
            ""
        );
        assert_eq!(found("", "pub fn anything() {}\n", &[]), "");
    }

    #[test]
    fn an_excuse_needs_a_reason_and_somebody_who_needs_it() {
        let model = "pub fn a() {}\n";
        assert_eq!(found(model, "", &[("model/src/a", "it is for users")]), "");
        assert_eq!(
            found(model, "", &[("model/src/a.rs::a", "it is for users")]),
            ""
        );
        let needless = "nothing here needs an excuse any more, or it has no reason";
        assert_eq!(
            found(model, "fn f() { a() }", &[("model/src/a.rs::a", "why")]),
            format!("model/src/a.rs::a: {needless}")
        );
        assert_eq!(
            found(model, "", &[("model/src/a", "")]),
            format!("model/src/a: {needless}")
        );
    }
}
