//! What operators are told who change the replica set, take backups and found clusters, in each format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use synod_model::{ClusterId, LogTime, Revision, WallTime};
use synod_server::consensus::ReplicaId;
use synod_server::offline::{Founded, Founder, Survivor};
use synod_store::backup::{BackupHeader, BackupSum};
use synod_store::{Disk, RealDisk};

use super::output::{check, stand_in};
use super::stand_in::fixture;
use crate::settings::Contexts;
use crate::views;

#[tokio::test]
async fn changes_of_the_replica_set_in_every_form() {
    let (_stand_in, client) = stand_in().await;
    let added = client.add_replica(4, "10.0.0.4:4610").await.unwrap();
    check("cluster-add", &views::replica_changed(&added, 4));
    let promoted = client.promote_replica(4, None).await.unwrap();
    check("cluster-promote", &views::replica_changed(&promoted, 4));
    // `synod cluster replace` prints what has come of its last step, with the new one.
    let replaced = client.promote_replica(4, Some(2)).await.unwrap();
    check("cluster-replace", &views::replica_changed(&replaced, 4));
    let removed = client.remove_replica(2).await.unwrap();
    check("cluster-remove", &views::replica_changed(&removed, 2));
    let handed = client.transfer_leader(None).await.unwrap();
    check("cluster-transfer-leader", &views::leader_changed(&handed));
    let written = client.checkpoint().await.unwrap();
    check("cluster-checkpoint", &views::checkpoints(&[written]));
}

const CLUSTER: ClusterId = ClusterId::from_bytes([7; 16]);

#[test]
fn backups_in_every_form() {
    let header = BackupHeader {
        cluster: CLUSTER,
        cluster_name: "prod".to_owned(),
        revision: Revision::new(47),
        log_time: LogTime::from_millis(9_000),
        wall: WallTime::from_millis(fixture::NOW_MS),
        binary: "0.1.0".to_owned(),
        machine_version: 1,
    };
    let sum = BackupSum {
        bytes: 5_120,
        rows_bytes: 4_096,
        sha256: [0xab; 32],
    };
    check("backup-create", &views::backup(&header, 1, &sum, None));
    let counts = BTreeMap::from([("collection", 2), ("object", 40)]);
    let verified = views::backup(&header, 1, &sum, Some(counts));
    check("backup-verify", &verified);
}

/// What a release has left on a disk is the survivor: its bytes are always the same.
#[test]
fn what_is_founded_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old");
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compat/0.1/disk");
    copy(&kept, &old);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let survivor = Survivor::read(Arc::clone(&disk), &old).unwrap();
    let lost = views::may_be_lost(&survivor);
    check("cluster-force-new", &views::survivor(&survivor, &lost));

    let founder = |data_dir: &Path| Founder {
        data_dir: data_dir.to_owned(),
        cluster_name: "prod".to_owned(),
        replica: ReplicaId::new(5),
        peer: "10.0.0.1:4610".to_owned(),
        wall: WallTime::from_millis(fixture::NOW_MS),
    };
    let founded = founder(&folder.path().join("new")).found(&disk, survivor.state);
    // The ids are random.
    let founded = Founded {
        cluster: CLUSTER,
        ..founded.unwrap()
    };
    let mut document = views::founded(&founder(Path::new("/var/lib/synod")), &founded);
    document.value["directoryId"] = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b".into();
    check("backup-restore", &document);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn contexts_in_every_form() {
    let contexts = Contexts {
        current: Some("prod".to_owned()),
        all: vec![
            (
                "prod".to_owned(),
                "https://10.0.0.1:4600,https://10.0.0.2:4600".to_owned(),
            ),
            ("test".to_owned(), String::new()),
        ],
    };
    check("config-get-contexts", &views::contexts(&contexts));
}
