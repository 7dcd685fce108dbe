//! Opens the released data directories, and makes the one of this build.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use synod_model::{Revision, SessionId};

use crate::facts::{compare, facts};
use crate::history::{join_another, live, request};
use crate::replica::Alone;

fn folder() -> PathBuf {
    synod_tests::checkout().join("tests/compat")
}

/// The releases that have a data directory, by name.
fn releases() -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut names: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

// Guarantee: D-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_disk_of_every_release_opens_and_holds_what_it_held() {
    let releases = releases();
    assert!(!releases.is_empty());
    for release in releases {
        let written = fs::read(folder().join(&release).join("facts.json")).unwrap();
        let written: Value = serde_json::from_slice(&written).unwrap();
        let data = tempfile::tempdir().unwrap();
        copy(&folder().join(&release).join("disk"), data.path());

        let replica = Alone::start(data.path()).await;
        let opened = replica.published();
        let session = written["session"].as_u64().unwrap();
        let session = SessionId::new(Revision::new(session));
        let again = request(&replica, session).await;
        let found = facts(&opened, session, &again);
        compare(&release, &found, &written);
        // The replica can go on from there, and start again with what was added.
        assert!(join_another(&replica).await.changed);
        let added = replica.published().state.digest();
        replica.stop().await;
        let replica = Alone::start(data.path()).await;
        assert_eq!(replica.published().state.digest(), added);
        replica.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes the disk of this release into the checkout: CONTRIBUTING.md says when"]
async fn make_the_disk_of_this_release() {
    let version = env!("CARGO_PKG_VERSION");
    let (release, _) = version.rsplit_once('.').unwrap();
    let folder = folder().join(release);
    assert!(
        !folder.exists(),
        "a disk that was released is never written again; one that was not must be removed first"
    );
    let made = tempfile::tempdir().unwrap();
    let replica = Alone::start(made.path()).await;
    let session = live(&replica).await;
    let answered = request(&replica, session).await;
    let facts = facts(&replica.published(), session, &answered);
    replica.stop().await;
    copy(made.path(), &folder.join("disk"));
    let text = serde_json::to_string_pretty(&facts).unwrap();
    fs::write(folder.join("facts.json"), text + "\n").unwrap();
}

/// Copies a replica's data directory, except the files that only say that it runs.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to);
        } else if from.extension().is_none_or(|extension| extension != "tmp") {
            fs::copy(&from, &to).unwrap();
        }
    }
}
