//! Each crate depends only on the crates that the map allows, and all crates have the same lints.
//!
//! Directions: model <- machine <- store <- server <- synod, and model <- proto <- store, server, sdk <- bindings/bound
//! <- bindings, and store <- bindings/bound. Indirect dependencies are looked up with `cargo tree`.

use std::process::Command;

use toml::{Table, Value};

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

/// The folders of our crates, and for each our crates that it may depend on, without `synod-`.
const MAP: [(&str, &[&str]); 24] = [
    ("service/model", &[]),
    ("service/machine", &["model"]),
    // These replace crates below openraft, and depend on none of ours.
    ("service/raft-display", &[]),
    ("service/raft-stats", &[]),
    ("proto", &["model"]),
    ("service/store", &["machine", "model", "proto"]),
    // Both ends of connections, so servers and clients alike depend on it, and it on none of ours.
    ("service/tls", &[]),
    // Checks tokens without knowing what their owners may do.
    ("service/tokens", &[]),
    // Decides about calls without knowing how callers are proved or what calls are.
    ("service/policy", &["model"]),
    (
        "service/server",
        &[
            "machine", "model", "policy", "proto", "store", "tls", "tokens",
        ],
    ),
    // Reads and writes texts, and knows nothing of what they say.
    ("service/yaml", &[]),
    // Translates to the calls of a replica, and knows nothing of what is behind them.
    ("service/kube", &["model", "proto", "server", "yaml"]),
    ("sdk", &["model", "proto", "tls"]),
    // Calls API servers, and knows no cluster of ours.
    ("service/apiserver", &["tls", "yaml"]),
    // For servers with a store of their own, beside the client.
    ("fence", &["client"]),
    // Shared by programs that run at a terminal.
    ("service/terminal", &["client", "model"]),
    // It uses the cluster through the client, and only the wall clock of the server.
    ("service/demo", &["client", "server", "terminal"]),
    // Names features of external crates, and has no code.
    ("tests/features", &[]),
    // The binary joins all parts.
    (
        "service/synod",
        &[
            "apiserver",
            "client",
            "demo",
            "kube",
            "model",
            "policy",
            "proto",
            "server",
            "store",
            "terminal",
            "tls",
            "yaml",
        ],
    ),
    // Shared by the bindings. Of the store it uses the form of a backup.
    ("bindings/bound", &["client", "store"]),
    ("bindings/node", &["bound", "client"]),
    ("bindings/python", &["bound", "client"]),
    ("examples", &["client", "model"]),
    // `xtask` is built first on a fresh clone, so the dependencies of tests are in `[dev-dependencies]`.
    ("tests", &[]),
];

/// Foreign crates that only some of ours may depend on.
const GUARDED: [(&str, &[&str]); 1] = [("openraft", &["service/server"])];

/// Workspaces of their own, for tests by crates that are nothing of ours: what they are made of comes into no lock file of Synod.
const FOREIGN: [&str; 1] = ["tests/kube/rust/Cargo.toml"];

/// Crates that the pure crates must not depend on, not even indirectly.
const IMPURE: [&str; 9] = [
    "chrono",
    "getrandom",
    "mio",
    "openraft",
    "prost",
    "rand",
    "tokio",
    "tonic",
    "uuid",
];

#[test]
fn dependencies_point_the_way_of_the_map() {
    assert_none(
        manifests(Tree::load())
            .iter()
            .flat_map(Manifest::misdirected)
            .collect(),
    );
}

#[test]
fn every_crate_inherits_lints_and_versions() {
    assert_none(
        manifests(Tree::load())
            .iter()
            .flat_map(Manifest::disinherited)
            .collect(),
    );
}

#[test]
fn the_pure_crates_reach_nothing_impure() {
    for package in ["synod-machine", "synod-model"] {
        let reached = reached_by(package);
        assert!(reached.contains(&package.to_owned()), "{reached:?}");
        let impure: Vec<&String> = reached
            .iter()
            .filter(|name| IMPURE.contains(&name.as_str()))
            .collect();
        assert!(
            impure.is_empty(),
            "{package} reaches {impure:?}: see `cargo tree --package {package}`"
        );
    }
}

#[test]
fn the_pure_crates_ban_all_that_the_others_ban() {
    let tree = Tree::load();
    let root = bans(tree, "clippy.toml");
    assert!(!root.is_empty());
    for folder in ["service/machine", "service/model"] {
        let own = bans(tree, &format!("{folder}/clippy.toml"));
        let missing: Vec<&String> = root.iter().filter(|ban| !own.contains(ban)).collect();
        assert!(
            missing.is_empty(),
            "{folder}/clippy.toml lacks {missing:?} of the root's"
        );
    }
}

/// A `Cargo.toml` of one of our crates.
struct Manifest {
    path: String,
    table: Table,
}

fn manifests(tree: &Tree) -> Vec<Manifest> {
    let read = |(path, text): (&str, &str)| {
        let table = text
            .parse()
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        Manifest {
            path: path.to_owned(),
            table,
        }
    };
    let is_ours = |(path, _): &(&str, &str)| !FOREIGN.contains(path);
    let texts = tree.texts("/Cargo.toml").filter(is_ours);
    texts.map(read).collect()
}

impl Manifest {
    fn folder(&self) -> &str {
        self.path.trim_end_matches("/Cargo.toml")
    }

    /// The dependencies in these sections, for every platform.
    fn dependencies(&self, sections: &[&str]) -> Vec<(&str, &Value)> {
        let platforms = self.table.get("target").and_then(Value::as_table);
        let tables = platforms
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table);
        std::iter::once(&self.table)
            .chain(tables)
            .flat_map(|table| {
                sections
                    .iter()
                    .filter_map(|section| table.get(*section)?.as_table())
            })
            .flat_map(|section| section.iter().map(|(name, value)| (name.as_str(), value)))
            .collect()
    }

    /// Dependencies that the map does not allow. Dependencies of tests are free.
    fn misdirected(&self) -> Vec<Finding> {
        let Some((_, builds_on)) = MAP.iter().find(|(folder, _)| *folder == self.folder()) else {
            let message = "a new crate needs a place on the map: see tests/tidy/manifests.rs";
            return vec![Finding::about(&self.path, message)];
        };
        let is_wrong = |name: &str| match name.strip_prefix("synod-") {
            Some(ours) => !builds_on.contains(&ours),
            None => GUARDED
                .iter()
                .any(|(guarded, folders)| name == *guarded && !folders.contains(&self.folder())),
        };
        self.dependencies(&["dependencies", "build-dependencies"])
            .into_iter()
            .filter(|(name, _)| is_wrong(name))
            .map(|(name, _)| {
                let message = format!("`{name}` is not for this crate: see ARCHITECTURE.md");
                Finding::about(&self.path, message)
            })
            .collect()
    }

    /// A crate that sets versions or lints itself. The bindings may set their own lints, because the macros that they
    /// use expand to `unsafe`.
    fn disinherited(&self) -> Vec<Finding> {
        let is_inherited =
            |value: &Value| value.get("workspace").and_then(Value::as_bool) == Some(true);
        let chosen = self
            .dependencies(&["dependencies", "build-dependencies", "dev-dependencies"])
            .into_iter()
            .filter(|(_, value)| !is_inherited(value))
            .map(|(name, _)| {
                let message = format!(
                    "`{name}` takes its version from the workspace: `{name}.workspace = true`"
                );
                Finding::about(&self.path, message)
            });
        let has_lints = self.table.get("lints").is_some_and(is_inherited);
        let lints = (!has_lints && !self.folder().starts_with("bindings/")).then(|| {
            Finding::about(
                &self.path,
                "lints come from the workspace: `[lints] workspace = true`",
            )
        });
        chosen.chain(lints).collect()
    }
}

/// The names of all packages that are linked into `package`, including itself.
fn reached_by(package: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args("tree --locked --edges normal --prefix none --format {p} --package".split(' '))
        .arg(package)
        .current_dir(synod_tests::checkout())
        .output()
        .expect("cargo runs, since it started this test");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| Some(line.split(' ').next()?.to_owned()))
        .collect()
}

/// The paths that a `clippy.toml` bans.
fn bans(tree: &Tree, path: &str) -> Vec<String> {
    let table: Table = tree
        .text(path)
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    [
        "disallowed-methods",
        "disallowed-types",
        "disallowed-macros",
    ]
    .iter()
    .filter_map(|list| table.get(*list)?.as_array())
    .flatten()
    .filter_map(|ban| Some(ban.get("path")?.as_str()?.to_owned()))
    .collect()
}

#[cfg(test)]
fn judge(path: &str, text: &str) -> String {
    let tree = Tree::of(&[(path, text)]);
    let findings: Vec<Finding> = manifests(&tree)
        .iter()
        .flat_map(|manifest| [manifest.misdirected(), manifest.disinherited()].concat())
        .collect();
    lines(&findings)
}

#[test]
fn a_dependency_against_the_map_is_found() {
    assert_eq!(
        judge(
            "service/machine/Cargo.toml",
            "lints.workspace = true\n\
             [dependencies]\n\
             synod-model.workspace = true\n\
             synod-store.workspace = true\n\
             [target.'cfg(unix)'.dependencies]\n\
             openraft.workspace = true\n\
             [dev-dependencies]\n\
             rand.workspace = true\n"
        ),
        "service/machine/Cargo.toml: `synod-store` is not for this crate: see ARCHITECTURE.md\n\
         service/machine/Cargo.toml: `openraft` is not for this crate: see ARCHITECTURE.md"
    );
    let stray = judge("service/extra/Cargo.toml", "lints.workspace = true\n");
    assert!(
        stray.starts_with("service/extra/Cargo.toml: a new crate needs a place on the map"),
        "{stray}"
    );
}

#[test]
fn a_crate_that_goes_its_own_way_is_found() {
    assert_eq!(
        judge(
            "sdk/Cargo.toml",
            "[dev-dependencies]\ntokio = \"1\"\nbytes = { workspace = true }\n"
        ),
        "sdk/Cargo.toml: `tokio` takes its version from the workspace: `tokio.workspace = true`\n\
         sdk/Cargo.toml: lints come from the workspace: `[lints] workspace = true`"
    );
}
