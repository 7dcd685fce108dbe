//! Tools that are not part of the Rust toolchain: installed once, under the target folder, each at a
//! fixed version.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// A tool that a step needs.
pub(crate) enum Tool {
    /// Checks licences, sources and duplicates of the dependencies against `deny.toml`.
    CargoDeny,
}

impl Tool {
    const fn name(&self) -> &'static str {
        match self {
            Self::CargoDeny => "cargo-deny",
        }
    }

    const fn version(&self) -> &'static str {
        match self {
            Self::CargoDeny => "0.20.2",
        }
    }

    /// Installs the tool unless that very version is there.
    ///
    /// From crates.io by `cargo install`: the wheel on PyPI is too old to read the `cargo metadata`
    /// of today. Unoptimized, since that takes half a minute to build and a second to run.
    ///
    /// # Errors
    ///
    /// When `cargo install` fails; its own output has said why.
    pub(crate) fn install(&self) -> Result<(), String> {
        let (name, version) = (self.name(), self.version());
        if self
            .installed_version()
            .is_some_and(|found| found == version)
        {
            return Ok(());
        }
        eprintln!(
            "    installing {name} {version} into {}",
            folder().display()
        );
        let status = Command::new("cargo")
            .args(["install", "--quiet", "--locked", "--debug", "--no-default-features"])
            .args(["--version", version, "--root"])
            .arg(folder())
            .arg(name)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // Otherwise the tool's build would fill the folder that is shared with ours.
            .env_remove("CARGO_TARGET_DIR")
            .status()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("{name} {version} could not be installed: {status}"))
        }
    }

    fn installed_version(&self) -> Option<String> {
        let program = folder().join("bin").join(self.name());
        let output = Command::new(program).arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_whitespace().nth(1).map(str::to_owned)
    }
}

/// `PATH` with the installed tools in front.
///
/// # Errors
///
/// When the folder of the tools has a name that `PATH` cannot hold.
pub(crate) fn search_path() -> Result<OsString, String> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder().join("bin")).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).map_err(|error| error.to_string())
}

/// `tools` in the target folder, so that it is ignored by git and cached with the builds.
fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    synod_tests::checkout().join(target).join("tools")
}
