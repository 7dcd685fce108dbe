//! The commands of `cargo xtask`, each as a list of steps. To add a chore, add a step here.

use std::path::Path;

use crate::step::Step;
use crate::testing::{kube_informers, processes, test};
use crate::tools::{self, Tool};

/// A command of `cargo xtask`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Demo,
    Check,
    Fix,
    Test,
    Endure,
    Bench,
    Package,
    Tidy,
    ProtoBaseline,
}

impl Command {
    const ALL: [Self; 9] = [
        Self::Demo,
        Self::Check,
        Self::Fix,
        Self::Test,
        Self::Endure,
        Self::Bench,
        Self::Package,
        Self::Tidy,
        Self::ProtoBaseline,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Check => "check",
            Self::Fix => "fix",
            Self::Test => "test",
            Self::Endure => "endure",
            Self::Bench => "bench",
            Self::Package => "package",
            Self::Tidy => "tidy",
            Self::ProtoBaseline => "proto-baseline",
        }
    }

    const fn summary(self) -> &'static str {
        match self {
            Self::Demo => {
                "builds the program and shows what it does; `-- --dist` takes the build that is packaged"
            }
            Self::Check => "says what a reviewer would send back; never writes to the checkout",
            Self::Fix => "mends what can be mended by a program",
            Self::Test => {
                "runs all tests, after installing what they need; leaves the checkout as it was"
            }
            Self::Endure => {
                "runs some tests for longer than `test` does: faults under load, 10,000 connections, saturation, a key of 100,000 objects, lists, watches and bad requests of the Kubernetes API, more seeds of the simulation, simulated years"
            }
            Self::Bench => "runs the benchmarks",
            Self::Package => {
                "makes the static program, the Debian package, the folder of the image and the packages of Python and Node, and tries them out"
            }
            Self::Tidy => "checks the house rules alone",
            Self::ProtoBaseline => {
                "records the protocols as they are: later changes must not break them"
            }
        }
    }

    /// Whether the command may change the checkout. Any other command must leave it as it was.
    pub(crate) const fn writes(self) -> bool {
        match self {
            Self::Fix | Self::ProtoBaseline => true,
            Self::Demo
            | Self::Check
            | Self::Test
            | Self::Endure
            | Self::Bench
            | Self::Package
            | Self::Tidy => false,
        }
    }

    /// All steps. The demo and benchmarks take the `rest` of the command line.
    fn steps(self, rest: &[String]) -> Vec<Step> {
        match self {
            Self::Demo => demo(rest),
            Self::Check => check(),
            Self::Fix => fix(),
            Self::Test => test(),
            Self::Endure => endure(),
            Self::Bench => bench(
                &benchmarks(&synod_tests::checkout().join("tests/bench")),
                rest,
            ),
            Self::Package => package(),
            Self::Tidy => vec![tidy()],
            Self::ProtoBaseline => vec![record_protocols()],
        }
    }

    /// Reads `<command> [step]... [-- word...]` and returns the command with the named steps, or if none is named with all
    /// of its steps but those on demand. Words after `--` go to the demo or the benchmarks.
    ///
    /// # Errors
    ///
    /// A text for the terminal that says what is wrong, and lists the commands or steps.
    pub(crate) fn parse(words: &[String]) -> Result<(Self, Vec<Step>), String> {
        let Some((name, wanted)) = words.split_first() else {
            return Err(usage());
        };
        let found = Self::ALL.into_iter().find(|command| command.name() == name);
        let Some(command) = found else {
            return Err(format!("there is no command `{name}`\n\n{}", usage()));
        };
        let (wanted, rest) = match wanted.iter().position(|word| word == "--") {
            Some(at) if command == Self::Bench => (&wanted[..at], &wanted[at..]),
            Some(at) if command == Self::Demo => (&wanted[..at], &wanted[at + 1..]),
            Some(_) => return Err(format!("`{}` takes no words after `--`\n", command.name())),
            None => (wanted, &[][..]),
        };
        let mut steps = command.steps(rest);
        let names: Vec<&str> = steps.iter().map(Step::name).collect();
        if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(format!(
                "`{}` has no step `{unknown}`; it has: {}\n",
                command.name(),
                names.join(", ")
            ));
        }
        steps.retain(|step| match wanted.is_empty() {
            true => !step.is_on_demand(),
            false => wanted.iter().any(|name| name == step.name()),
        });
        Ok((command, steps))
    }
}

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask <command> [step]... [-- word...]\n\n");
    for command in Command::ALL {
        text += &format!("  {:15} {}\n", command.name(), command.summary());
    }
    text
}

/// The build of the demonstration. It has the features of the tests, so that those compile no crate of others again.
pub(crate) const DEMO_BUILD: &str = "cargo build --locked --workspace --bin synod";

/// Builds the program and runs its demonstration. The words `rest` go to the demonstration, but `--dist`.
fn demo(rest: &[String]) -> Vec<Step> {
    let is_dist = rest.iter().any(|word| word == "--dist");
    let (line, folder) = match is_dist {
        true => (tools::DIST_BUILD, "dist"),
        false => (DEMO_BUILD, "debug"),
    };
    let program = tools::target_folder().join(folder).join("synod");
    let told = match is_dist {
        true => {
            "the optimized build takes some 15 minutes on two cores the first time; the demonstration less than a minute"
        }
        false => {
            "the build is not optimized, and takes some 5 minutes on two cores the first time; the demonstration a minute"
        }
    };
    let words: Vec<String> = rest
        .iter()
        .filter(|word| *word != "--dist")
        .cloned()
        .collect();
    let run = Step::new("run", &format!("{} demo", program.display()));
    vec![
        Step::new("build", line).with_announcement(told).or_stop(),
        run.saying(&words),
    ]
}

/// Cheap steps come first. `--locked` everywhere, since an update of `Cargo.lock` would change the checkout.
fn check() -> Vec<Step> {
    vec![
        Step::new("fmt", "cargo fmt --all --check"),
        Step::new("deny", "cargo deny --locked check bans licenses sources")
            .needing(Tool::CargoDeny),
        Step::new(
            "clippy",
            "cargo clippy --locked --workspace --all-targets -- --deny warnings",
        ),
        Step::new(
            "doc",
            "cargo doc --locked --workspace --no-deps --document-private-items",
        )
        // Private items are documented too, so links to them work.
        .with(
            "RUSTDOCFLAGS",
            "--deny warnings --allow rustdoc::private_intra_doc_links",
        ),
        tidy(),
    ]
}

/// Formatting comes last, because Clippy's fixes are not formatted.
fn fix() -> Vec<Step> {
    vec![
        Step::new(
            "clippy",
            "cargo clippy --workspace --all-targets --fix --allow-dirty --allow-staged",
        ),
        Step::new("fmt", "cargo fmt --all"),
    ]
}

/// Tests that run as long as their variables say, each as a step.
fn endure() -> Vec<Step> {
    let released = tools::target_folder().join("dist/synod");
    let released = released.display().to_string();
    let mut steps = vec![
        Step::new("build", "cargo build --locked --workspace --bin synod").or_stop(),
        Step::new("dist", tools::DIST_BUILD).or_stop(),
        processes("counting", "counting").with("SYNOD_PROCESS_SECONDS", "60"),
        // In 100 rounds 10,000 idle connections are begun, of which as many stay as there are places, after as many halves.
        processes("connections", "half_finished_handshakes").with("SYNOD_PROCESS_ROUNDS", "100"),
        processes("rotation", "rotation").with("SYNOD_PROCESS_OBJECTS", "100000"),
        processes("saturation", "with_more_work")
            .with("SYNOD_PROCESS_SECONDS", "1800")
            .with("SYNOD_BINARY", released.clone()),
    ];
    steps.extend(endure_of_kube(&released));
    steps.extend([
        Step::new(
            "simulation",
            "cargo test --locked --workspace --test sim survival::",
        )
        .with("SYNOD_SIM_SEEDS", "20"),
        Step::new(
            "stale-leaders",
            "cargo test --locked --workspace --test sim stale_leaders::",
        )
        .with("SYNOD_SIM_SEEDS", "30"),
        Step::new(
            "sets",
            "cargo test --locked --workspace --test sim the_replica_set_survives_whatever_changes_it",
        )
        .with("SYNOD_SIM_SEEDS", "100"),
        Step::new(
            "years",
            "cargo test --locked --release --package synod-machine --test year",
        )
        .with("SYNOD_YEARS", "20"),
    ]);
    steps
}

/// Those of the Kubernetes API.
fn endure_of_kube(released: &str) -> Vec<Step> {
    vec![
        processes("kube-list", "a_long_list").with("SYNOD_PROCESS_OBJECTS", "100000"),
        // 200 informers.
        kube_informers().with("SYNOD_PROCESS_OBJECTS", "10000"),
        processes("kube-requests", "whatever_is_sent").with("SYNOD_PROCESS_SECONDS", "600"),
    ]
    .into_iter()
    .map(|step| step.with("SYNOD_BINARY", released))
    .collect()
}

/// Builds the packaged binary first: benchmarks run replicas as processes. `rest` is what is said to each benchmark.
fn bench(names: &[String], rest: &[String]) -> Vec<Step> {
    let mut steps = vec![Step::new("build", tools::DIST_BUILD).or_stop()];
    steps.extend(names.iter().map(|name| {
        let line = format!("cargo bench --locked --package synod-tests --bench {name}");
        let program = tools::target_folder().join("dist/synod");
        let step = Step::new(name.as_str(), &line)
            .with("SYNOD_BINARY", program.display().to_string())
            .saying(rest);
        match name.as_str() {
            "judge" => step.wishing([
                Tool::Etcd,
                Tool::EtcdOfPython,
                Tool::EtcdOfGo,
                Tool::ZooKeeper,
            ]),
            "instructions" => step.needing(Tool::Valgrind),
            _ => step,
        }
    }));
    steps
}

/// Builds the program for musl, which needs no library of the system, packs it, and tries out what was packed; and so the packages
/// of the clients in other languages.
fn package() -> Vec<Step> {
    let target = tools::STATIC_TARGET;
    let line = format!("{} --target {target}", tools::DIST_BUILD);
    let folder = tools::target_folder();
    let (program, out) = (
        folder.join(target).join("dist/synod"),
        folder.join("package"),
    );
    let words = [program, out].map(|path| path.display().to_string());
    let tried = words[1..].to_vec();
    vec![
        Step::new("build", &line).needing(Tool::Musl).or_stop(),
        Step::new("pack", "sh deploy/package.sh")
            .saying(&words)
            .or_stop(),
        Step::new("try", "sh deploy/try-package.sh")
            .saying(&tried)
            .wishing([Tool::Buildah, Tool::Ip]),
        Step::new("wheel", "python3 bindings/python/ci.py setup build package"),
        Step::new("npm", "node bindings/node/ci.mjs install build pack"),
    ]
}

/// The names of the benchmarks: files of `tests/bench`, each declared as a `[[bench]]` of the same name.
fn benchmarks(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    names
}

fn tidy() -> Step {
    Step::new("tidy", "cargo test --locked --workspace --test tidy")
}

fn record_protocols() -> Step {
    Step::new(
        "record",
        "cargo test --locked --workspace --test tidy -- --nocapture protocols_break_nothing_that_was_released",
    )
    .with("SYNOD_PROTO_BASELINE", "record")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(Command, Vec<String>), String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (command, steps) = Command::parse(&words)?;
        Ok((
            command,
            steps.iter().map(|step| step.name().to_owned()).collect(),
        ))
    }

    #[test]
    fn a_command_runs_all_its_steps_or_those_that_are_named() {
        let (command, steps) = parse("check").unwrap();
        assert_eq!(command, Command::Check);
        assert_eq!(steps, ["fmt", "deny", "clippy", "doc", "tidy"]);
        assert_eq!(parse("check doc fmt").unwrap().1, ["fmt", "doc"]);
    }

    #[test]
    fn a_step_on_demand_runs_only_if_it_is_named() {
        assert!(!parse("test").unwrap().1.contains(&"kube".to_owned()));
        assert_eq!(parse("test kube").unwrap().1, ["kube"]);
    }

    #[test]
    fn what_does_not_exist_is_named_beside_what_does() {
        let error = parse("chekc").unwrap_err();
        assert!(
            error.contains("`chekc`") && error.contains("  check "),
            "{error}"
        );
        let error = parse("fix doc").unwrap_err();
        assert_eq!(error, "`fix` has no step `doc`; it has: clippy, fmt\n");
    }

    #[test]
    fn words_after_two_dashes_go_to_the_demo_or_the_benchmarks_alone() {
        let words = |line: &str| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (_, steps) = Command::parse(&words("bench judge -- --rounds 1 put")).unwrap();
        let lines: Vec<String> = steps.iter().map(ToString::to_string).collect();
        let line = "cargo bench --locked --package synod-tests --bench judge -- --rounds 1 put";
        assert!(lines.len() == 1 && lines[0].ends_with(line), "{lines:?}");
        let (_, steps) = Command::parse(&words("demo -- --dist --plain")).unwrap();
        let lines: Vec<String> = steps.iter().map(ToString::to_string).collect();
        assert_eq!(lines[0], tools::DIST_BUILD);
        assert!(lines[1].ends_with("dist/synod demo --plain"), "{lines:?}");
        let error = parse("check -- put").unwrap_err();
        assert_eq!(error, "`check` takes no words after `--`\n");
    }

    #[test]
    fn no_command_lists_all_of_them() {
        let text = parse("").unwrap_err();
        for command in Command::ALL {
            assert!(text.contains(command.name()), "{text}");
        }
    }

    #[test]
    fn check_never_writes() {
        for step in check() {
            let line = step.to_string();
            assert!(!line.contains("--fix"), "{line}");
            assert!(
                line.contains("--locked") || line.contains("--check"),
                "{line}"
            );
        }
    }

    #[test]
    fn a_folder_without_benchmarks_has_none() {
        assert!(benchmarks(Path::new("no-such-folder")).is_empty());
    }
}
