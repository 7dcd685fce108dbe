//! Backups to files, as the command line reads them.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use synod_store::backup::load;

use crate::cluster::Cluster;
use crate::{bound, call, key, parsed, widgets};

#[tokio::test(start_paused = true)]
async fn a_backup_is_a_whole_file_of_its_owner_and_replaces_another_only_if_it_is_told_to() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let content = json!({"encodingVersion": "example.io/v1", "data": "e30="});
    let create = json!({"key": key("a"), "content": content});
    let created = call(&bound, "Objects/Create", create).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.backup");
    let asked = json!({"path": path}).to_string();
    let written = parsed(&bound.back_up(&asked).await.unwrap());
    assert_eq!(written["revision"], created["header"]["revision"]);
    let loaded = load(File::open(&path).unwrap()).unwrap();
    assert_eq!(loaded.header.revision.to_string(), written["revision"]);
    assert_eq!(loaded.sum.bytes.to_string(), written["bytes"]);
    assert_eq!(loaded.counts()["object"], 1);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let refused = bound.back_up(&asked).await.unwrap_err();
    assert_eq!(refused.kind, "INVALID_ARGUMENT");
    assert!(refused.violations[0].rule.contains("already"), "{refused}");
    let again = json!({"path": path, "replace": true}).to_string();
    bound.back_up(&again).await.unwrap();
    let nowhere = json!({"path": folder.path().join("none/a.backup")}).to_string();
    let refused = bound.back_up(&nowhere).await.unwrap_err();
    assert_eq!(refused.violations[0].field, "path");
    // Nothing else is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
