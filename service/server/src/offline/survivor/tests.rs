use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use synod_machine::{Command, Envelope, Initialize};
use synod_model::stored::to_bytes;
use synod_model::{ClusterId, LogTime, Settings, SettingsPatch, UpdateSettings};
use synod_store::SimDisk;
use synod_store::identity::Claim;
use synod_store::peers::{Peers, Remembered};

use super::*;
use crate::consensus::{DirectoryId, ReplicaAddress};

const CLUSTER: [u8; 16] = [3; 16];

fn data() -> &'static Path {
    Path::new("/data")
}

fn claim() -> Claim {
    Claim {
        cluster_name: "prod".to_owned(),
        replica_id: 1,
        directory_id: [1; 16],
    }
}

fn at(index: u64) -> LogId {
    LogId {
        term: 2,
        leader: 1,
        index,
    }
}

fn commands(wall: u64, command: Command) -> Bytes {
    let entry = LogEntry {
        log_time: LogTime::from_millis(wall),
        lift_deadlines: false,
        wall: WallTime::from_millis(wall),
        commands: vec![Envelope {
            actor: None,
            request: None,
            command: Arc::new(command),
        }],
    };
    to_bytes(&LogPayload::Commands(to_bytes(&entry)))
}

fn set() -> Bytes {
    let address = |replica: u8| ReplicaAddress {
        peer: format!("10.0.0.{replica}:4610"),
        directory: DirectoryId::from_bytes([replica; 16]),
    };
    let ids = [1, 2, 3].map(ReplicaId::new);
    to_bytes(&LogPayload::ReplicaSet(ReplicaSet {
        configs: vec![BTreeSet::from(ids)],
        replicas: BTreeMap::from([1, 2, 3].map(|id| (ReplicaId::new(id.into()), address(id)))),
    }))
}

/// A directory with four entries, of which three are known to be committed, and what replica 2 had.
fn prepared(beyond: u64) -> SimDisk {
    let disk = SimDisk::new();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut directory = DataDirectory::open(Arc::clone(&shared), data(), &claim()).unwrap();
    directory.record_cluster(CLUSTER).unwrap();
    let config = LogConfig {
        segment_bytes: 16 << 10,
        ..LogConfig::new(directory.identity().directory_id)
    };
    let (log, _) = Log::open(Arc::clone(&shared), &directory.wal_path(), config).unwrap();
    let initialize = Command::Initialize(Initialize {
        cluster: ClusterId::from_bytes(CLUSTER),
        settings: Settings::default(),
    });
    let update = |value| {
        Command::UpdateSettings(UpdateSettings {
            patch: SettingsPatch {
                members_max: Some(value),
                ..SettingsPatch::default()
            },
            if_revision: None,
        })
    };
    let payloads = [
        set(),
        commands(10, initialize),
        commands(20, update(11)),
        commands(30, update(12)),
    ];
    let records = (0..).zip(payloads).map(|(index, payload)| LogRecord {
        id: at(index),
        payload,
    });
    log.enqueue_append(records.collect(), Box::new(|done| done.unwrap()))
        .unwrap();
    log.save_committed(at(2)).unwrap();
    log.seal().unwrap();
    let remembered = |replica, index| Remembered {
        replica,
        held: at(index),
        went_back: false,
    };
    let peers = Peers::from([
        ([2; 16], remembered(2, beyond)),
        ([3; 16], remembered(3, 1)),
    ]);
    PeersFile::new(shared, data()).save(&peers).unwrap();
    disk
}

fn read(disk: &SimDisk) -> Result<Survivor, SurvivorError> {
    Survivor::read(Arc::new(disk.clone()), data())
}

// Guarantee: B-05
#[test]
fn the_whole_log_counts_and_it_is_said_what_of_it_is_not_known_to_be_committed() {
    let disk = prepared(3);
    let before = disk.files();
    let survivor = read(&disk).unwrap();
    assert_eq!(disk.files(), before);
    assert_eq!(survivor.last, at(3));
    assert_eq!(survivor.committed, Some(at(2)));
    assert_eq!(survivor.uncommitted(), 1);
    assert_eq!(survivor.state.settings().members_max, 12);
    assert_eq!(survivor.last_written, Some(WallTime::from_millis(30)));
    assert_eq!(survivor.replica_set.unwrap().replicas.len(), 3);
    assert_eq!((survivor.checkpoint, survivor.damage), (None, vec![]));
    // Replica 2 had no more than this one.
    assert_eq!(survivor.ahead, vec![]);
}

// Guarantee: B-05, TM-33
#[test]
fn a_replica_that_had_come_further_is_named_with_how_far() {
    let survivor = read(&prepared(9)).unwrap();
    let unheard = Unheard {
        replica: ReplicaId::new(2),
        held: at(9),
    };
    assert_eq!(survivor.ahead, vec![unheard]);
}

#[test]
fn a_directory_that_is_none_or_in_use_or_of_no_cluster_is_refused() {
    let disk = prepared(3);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let held = DataDirectory::open(Arc::clone(&shared), data(), &claim()).unwrap();
    let refused = read(&disk).unwrap_err();
    assert!(
        matches!(
            refused,
            SurvivorError::Directory(IdentityError::Locked { .. })
        ),
        "{refused}"
    );
    drop(held);
    let empty = SimDisk::new();
    empty.create_directory(data()).unwrap();
    let refused = read(&empty).unwrap_err();
    assert!(
        matches!(
            refused,
            SurvivorError::Directory(IdentityError::NoIdentity { .. })
        ),
        "{refused}"
    );
    assert!(empty.files().is_empty());
    let shared: Arc<dyn Disk> = Arc::new(empty.clone());
    drop(DataDirectory::open(shared, data(), &claim()).unwrap());
    let refused = read(&empty).unwrap_err();
    assert!(
        matches!(refused, SurvivorError::Unformed { .. }),
        "{refused}"
    );
}
