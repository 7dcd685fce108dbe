//! Backups through pipes and other programs, above all through Debian's `age`.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Lone, document, listed, refused, run, text};
use crate::cluster::NAME;
use crate::commands;
use crate::process::Process;
use crate::program::synod;
use crate::waiting::{eventually, within};
use synod_tests::free_address;

/// A pair of keys of age.
const PUBLIC: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";
const PRIVATE: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";

/// A cluster of one replica, beside a folder for its backups and the file of a private key.
struct Place {
    lone: Lone,
    endpoint: String,
    backups: PathBuf,
    folder: TempDir,
}

impl Place {
    async fn prepare() -> Self {
        let folder = TempDir::with_prefix_in("pipes-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let path = |name: &str| folder.path().join(name);
        let ports: [SocketAddr; 3] = [free_address(), free_address(), free_address()];
        let lone = Lone::start(1, &path("data"), ports, &path("log")).await;
        let backups = path("backups");
        fs::create_dir(&backups).expect("it can be made");
        fs::write(path("key.txt"), PRIVATE).expect("it can be written");
        Self {
            lone,
            endpoint: ports[0].to_string(),
            backups,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The arguments that write a backup into the folder, through a command if there is one.
    fn arguments<'a>(&'a self, keep: &'a str, through: Option<&'a str>) -> Vec<&'a str> {
        let mut arguments = vec!["backup", "create", text(&self.backups), "--keep", keep];
        arguments.extend(["--endpoints", &self.endpoint, "-o", "json"]);
        arguments.extend(
            through
                .into_iter()
                .flat_map(|command| ["--through", command]),
        );
        arguments
    }

    /// Writes a backup into the folder, and returns its name and the names that were removed.
    async fn create(&self, keep: &str, through: Option<&str>) -> (String, Vec<String>) {
        let output = commands::run(&self.arguments(keep, through)).await;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{through:?}: {errors}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("it is a document");
        let file = Path::new(document["file"].as_str().expect("it says where it is"));
        let name = file.file_name().expect("it has a name").to_string_lossy();
        let removed = document["removed"].as_array().expect("it is a list");
        let removed = removed
            .iter()
            .map(|name| name.as_str().expect("it is a name"));
        (name.into_owned(), removed.map(str::to_owned).collect())
    }

    /// Runs a line of a shell in the place, in which `synod` is the program.
    async fn shell(&self, line: &str) -> Output {
        let program = synod().parent().expect("a program is in a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = tokio::process::Command::new("bash");
        shell
            .args(["-euo", "pipefail", "-c", line])
            .env_clear()
            .env("PATH", format!("{}:{path}", program.display()))
            .env("SYNOD_ENDPOINTS", &self.endpoint)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let ended = within(line, shell.output()).await;
        ended.expect("there is a shell")
    }

    /// Runs a line of a shell that must succeed, and returns what it printed.
    async fn obey(&self, line: &str) -> String {
        let output = self.shell(line).await;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_age_encrypts_is_read_through_age_alone() {
    let place = Place::prepare().await;
    let create = format!("synod backup create - | age -r {PUBLIC} > some.backup.age");
    place.obey(&create).await;
    let file = place.path("some.backup.age");
    let bytes = fs::read(&file).expect("it was written");
    let shows = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(shows(b"age-encryption.org/v1") && !shows(b"SYNODBKP") && !shows(NAME.as_bytes()));

    let data = place.path("restored");
    let restore = format!(
        "--data-dir {} --replica-id 9 --peer 127.0.0.1:1",
        text(&data)
    );
    for (line, advice) in [
        ("verify", "age -d -i key.txt FILE | synod backup verify -"),
        ("restore", "age -d -i key.txt FILE | synod backup restore -"),
    ] {
        let flags = if line == "restore" { &*restore } else { "" };
        let said = refused(&format!("backup {line} {} {flags}", text(&file))).await;
        assert!(
            said.contains("is encrypted") && said.contains(advice),
            "{said}"
        );
        let piped = place
            .shell(&format!("synod backup {line} - {flags} < some.backup.age"))
            .await;
        assert_eq!(piped.status.code(), Some(1));
        let said = String::from_utf8_lossy(&piped.stderr);
        assert!(
            said.contains("standard input is encrypted") && said.contains(advice),
            "{said}"
        );
    }
    assert!(!data.exists());

    let decrypt = "age -d -i key.txt some.backup.age | synod backup";
    let verified = place.obey(&format!("{decrypt} verify - -o json")).await;
    let verified: Value = serde_json::from_str(&verified).expect("it is a document");
    assert_eq!(verified["clusterName"], NAME);
    place.obey(&format!("{decrypt} restore - {restore}")).await;
    assert!(data.exists());
    place.lone.finish().await;
}

// Guarantee: B-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_backup_of_a_folder_goes_through_the_command_and_counts_for_keep() {
    let place = Place::prepare().await;
    let through = format!("age -r {PUBLIC}");
    let (first, _) = place.create("9", None).await;
    let (encrypted, removed) = place.create("9", Some(&through)).await;
    assert_eq!(removed, [""; 0]);
    assert!(encrypted.ends_with(".backup.age"), "{encrypted}");
    let decrypt = format!("age -d -i key.txt backups/{encrypted} | synod backup verify -");
    place.obey(&decrypt).await;
    let (compressed, removed) = place.create("2", Some("gzip")).await;
    assert_eq!(removed, [first]);
    assert!(compressed.ends_with(".backup.through"), "{compressed}");
    let unpack = format!("gzip -dc < backups/{compressed} | synod backup verify -");
    place.obey(&unpack).await;
    // What a command does not change is a plain backup.
    let (copied, removed) = place.create("2", Some("cat")).await;
    assert_eq!(removed, [encrypted]);
    assert!(copied.ends_with(".backup"), "{copied}");
    document(&format!(
        "backup verify {}",
        text(&place.backups.join(&copied))
    ))
    .await;
    let (last, mut removed) = place.create("1", Some(&through)).await;
    removed.sort();
    let mut old = [compressed, copied];
    old.sort();
    assert_eq!(removed, old);
    assert_eq!(listed(&place.backups), [last]);
    place.lone.finish().await;
}

// Guarantee: B-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_fails_leaves_no_file_and_removes_none() {
    let place = Place::prepare().await;
    let (old, _) = place.create("9", None).await;
    let flood = "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo last >&2; exit 1";
    for (command, parts) in [
        (
            "age -r age1nobody",
            &[
                "`age -r age1nobody` failed with exit status: 1",
                "recipient",
            ][..],
        ),
        (
            "cat; echo no-room >&2; exit 3",
            &["exit status: 3", "to standard error: no-room"],
        ),
        ("kill -9 $$", &["signal: 9", "nothing to standard error"]),
        ("head -c 10", &["before it had read the whole backup"]),
        ("cat >/dev/null", &["wrote nothing to its standard output"]),
        ("no-such-program-of-synod", &["exit status: 127"]),
        (flood, &["exit status: 1", "eeeelast"]),
    ] {
        let output = commands::run(&place.arguments("1", Some(command))).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        for part in parts.iter().chain(&["no file was written"]) {
            assert!(said.contains(part), "{command}: {said}");
        }
        assert!(said.len() < 4_000, "{command}: {}", said.len());
        assert_eq!(listed(&place.backups), [&*old], "{command}");
    }
    let piped = run(&format!(
        "backup create - --through cat --endpoints {}",
        place.endpoint
    ))
    .await;
    assert_eq!(piped.status.code(), Some(2));
    place.lone.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_the_command_and_leaves_no_file() {
    let place = Place::prepare().await;
    let marker = place.path("marker");
    let command = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; tail -f /dev/null",
        text(&marker)
    );
    let log = place.path("create.log");
    let arguments = place.arguments("1", Some(&command));
    let create = Process::start("the command that backs up", &arguments, &log);
    let id = eventually("the command of --through to run", async || {
        fs::read_to_string(&marker).map_err(|error| error.to_string())
    })
    .await;
    assert_eq!(listed(&place.backups).len(), 1, "it is being written");
    assert_eq!(create.terminate().await.code(), Some(1));
    let said = fs::read_to_string(&log).expect("it can be read");
    assert!(said.contains("interrupted by SIGTERM"), "{said}");
    assert_eq!(listed(&place.backups), [""; 0]);
    eventually("the command of --through to be killed", async || {
        // It is gone, or waits for a parent that asks how it ended.
        let state = fs::read_to_string(format!("/proc/{}/stat", id.trim()));
        let is_gone = state.is_err() || state.as_ref().is_ok_and(|state| state.contains(") Z "));
        is_gone.then_some(()).ok_or_else(|| format!("{state:?}"))
    })
    .await;
    place.lone.finish().await;
}
