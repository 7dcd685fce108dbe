//! Settings of a process: typed, in the environment, in a file; and invalid ones, refused before anything is touched.

use std::path::Path;

use tempfile::TempDir;

use crate::cluster::is_untouched;
use crate::program::{Printed, finish, run, synod};
use crate::stand_in::{StandIn, fixture};

/// A directory with a settings file; the data directory named in it does not exist.
struct Folder(TempDir);

impl Folder {
    fn new(settings: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.0.path().join("synod.toml"), settings).unwrap();
        folder
    }

    fn config(&self) -> String {
        self.0.path().join("synod.toml").display().to_string()
    }

    fn data_dir(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }
}

const SOUND: &str = "replica_id = 1\nreplicas = \"1=127.0.0.1:1,2=127.0.0.1:2,3=127.0.0.1:3\"\n";

/// What `serve` prints about settings that it refuses.
async fn refused(folder: &Folder, more: &[&str], environment: &[(&str, &str)]) -> String {
    let (config, data_dir) = (folder.config(), folder.data_dir());
    let data_dir_text = data_dir.display().to_string();
    let words = ["serve", "--config", &config, "--data-dir", &data_dir_text];
    let mut command = synod(&[&words[..], more].concat());
    command.envs(environment.iter().copied());
    let Printed { code, out, err } = finish(command).await;
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(is_untouched(&data_dir), "the data directory was touched");
    assert!(err.starts_with("error: "), "{err}");
    err.replace(&config, "synod.toml")
}

#[tokio::test]
async fn an_unknown_key_is_refused_before_the_data_directory_is_touched() {
    let folder = Folder::new(&format!("{SOUND}replica_ids = 1\n"));
    let told = refused(&folder, &[], &[]).await;
    assert!(
        told.contains("\n  synod.toml:3: replica_ids: no setting has this name; there are: "),
        "{told}"
    );
}

#[tokio::test]
async fn an_impossible_value_is_refused_before_the_data_directory_is_touched() {
    let folder = Folder::new(&format!("{SOUND}heartbeat_interval = \"soon\"\n"));
    let told = refused(&folder, &[], &[]).await;
    assert!(
        told.contains("\n  synod.toml:3: heartbeat_interval: Invalid value: \"soon\": "),
        "{told}"
    );

    let folder = Folder::new(SOUND);
    let told = refused(&folder, &["--listen-client=0.0.0.0:0"], &[]).await;
    assert!(
        told.contains("\n  --listen-client: Invalid value: \"0.0.0.0:0\": must be a loopback"),
        "{told}"
    );

    let told = refused(&folder, &[], &[("SYNOD_REPLICA_ID", "4")]).await;
    assert!(
        told.contains("\n  SYNOD_REPLICA_ID: Invalid value: 4: must be one of the replicas"),
        "{told}"
    );

    let told = refused(&folder, &["--replicas=1=127.0.0.1:1,2"], &[]).await;
    assert!(
        told.contains("\n  --replicas: Invalid value: \"1=127.0.0.1:1,2\": item 2, \"2\": "),
        "{told}"
    );
}

#[tokio::test]
async fn a_file_that_is_not_there_is_a_fault() {
    let words = ["serve", "--config", "no-such-file.toml"];
    let Printed { code, err, .. } = run(&words).await;
    assert_eq!(code, 2);
    assert!(err.contains("no-such-file.toml"), "{err}");
    assert!(is_untouched(Path::new("no-such-file.toml")));
}

#[tokio::test]
async fn commands_refuse_unknown_keys_too() {
    let folder = Folder::new("endpoint = \"127.0.0.1:1\"\n");
    let config = folder.config();
    let Printed { code, err, .. } = run(&["status", "--config", &config]).await;
    assert_eq!(code, 2);
    assert!(
        err.contains(":1: endpoint: no setting has this name"),
        "{err}"
    );
}

/// Whether a command reaches the stand-in within this time with these endpoints, typed, in the environment and in the file.
async fn reaches(within: &str, typed: Option<&str>, environment: Option<&str>, file: &str) -> bool {
    let folder = Folder::new(&format!(
        "endpoints = [\"{file}\"]\ntimeout = \"{within}\"\n"
    ));
    let mut words = vec!["members".to_owned(), "--config".to_owned(), folder.config()];
    words.extend(typed.map(|endpoint| format!("--endpoints={endpoint}")));
    let mut command = synod(&words.iter().map(String::as_str).collect::<Vec<_>>());
    command.envs(environment.map(|endpoint| ("SYNOD_ENDPOINTS", endpoint)));
    match finish(command).await.code {
        0 => true,
        // On a busy machine the time may pass before it is found that nobody serves there.
        5 | 6 => false,
        code => panic!("ended with {code}"),
    }
}

#[tokio::test]
async fn a_flag_goes_before_the_environment_and_that_before_the_file() {
    let stand_in = StandIn::start(fixture::part()).await;
    let (here, nowhere) = (stand_in.endpoint(), fixture::UNREACHABLE);
    assert!(reaches("10s", None, None, &here).await);
    assert!(!reaches("1s", None, None, nowhere).await);
    assert!(reaches("10s", None, Some(&here), nowhere).await);
    assert!(!reaches("1s", None, Some(nowhere), &here).await);
    assert!(reaches("10s", Some(&here), Some(nowhere), nowhere).await);
    assert!(!reaches("1s", Some(nowhere), Some(&here), &here).await);
}

#[tokio::test]
async fn the_environment_names_the_file() {
    let stand_in = StandIn::start(fixture::part()).await;
    let folder = Folder::new(&format!("endpoints = [\"{}\"]\n", stand_in.endpoint()));
    let mut command = synod(&["members", "-o", "name"]);
    command.env("SYNOD_CONFIG", folder.config());
    let printed = finish(command).await;
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
}
