//! Finds or builds the program under test.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The variable with the path of the program to test, relative to the root of the checkout.
pub(crate) const VARIABLE: &str = "SYNOD_BINARY";

/// The path of the program. It is looked up, or built, once.
pub(crate) fn synod() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| match env::var_os(VARIABLE) {
        Some(path) => synod_tests::checkout().join(path),
        None => aside(&built(&PRESENT, "synod"), "synod-under-test"),
    })
}

/// What cargo builds for the program.
pub(crate) const PRESENT: [&str; 4] = ["--package", "synod", "--bin", "synod"];

/// Gives a program that was just built a name of its own beside it, which outlasts the next build.
pub(crate) fn aside(program: &Path, name: &str) -> PathBuf {
    let aside = program.with_file_name(name);
    let _ = std::fs::remove_file(&aside);
    std::fs::hard_link(program, &aside).expect("a program can have another name");
    aside
}

/// Has cargo build a program, in this test's profile and target folder, so that it is never older than its source.
pub(crate) fn built(which: &[&str], name: &str) -> PathBuf {
    let this = env::current_exe().expect("this test is a file");
    // <target>/<folder of the profile>/deps/<this>
    let folder = this
        .ancestors()
        .nth(2)
        .expect("cargo puts tests into folders");
    let target = folder
        .parent()
        .expect("a profile has a folder below the target");
    let profile = match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let built = Command::new(cargo)
        .args(["build", "--locked"])
        .args(which)
        .args([
            "--message-format",
            "json-render-diagnostics",
            "--profile",
            profile,
            "--target-dir",
        ])
        .arg(target)
        .current_dir(synod_tests::checkout())
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo can be run");
    assert!(
        built.status.success(),
        "cargo could not build {name}: {}",
        built.status
    );
    let messages = String::from_utf8_lossy(&built.stdout);
    let program = messages
        .lines()
        .filter_map(|line| executable(line, name))
        .next_back();
    program.expect("cargo names the program that it built")
}

/// The path of the program with this name, if this line of cargo's messages reports it as built.
fn executable(line: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let is_it = message["reason"] == "compiler-artifact" && message["target"]["name"] == name;
    let path = message["executable"].as_str().filter(|_| is_it)?;
    Some(PathBuf::from(path))
}
