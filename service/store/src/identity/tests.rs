//! Tests of the identity of a data directory, on simulated and real disks.

use std::collections::BTreeMap;

use super::*;
use crate::disk::{RealDisk, SimDisk};
use crate::log_id::LogId;
use crate::{LogConfig, Vote, VoteFile};

fn path() -> &'static Path {
    Path::new("/data")
}

fn claim() -> Claim {
    Claim {
        cluster_name: "prod".to_owned(),
        replica_id: 2,
        directory_id: *b"directory no one",
    }
}

fn open(disk: &SimDisk) -> Result<DataDirectory, IdentityError> {
    DataDirectory::open(Arc::new(disk.clone()), path(), &claim())
}

fn formatted() -> SimDisk {
    let disk = SimDisk::new();
    assert!(open(&disk).unwrap().formatted());
    disk
}

/// All files except the lock, whose content means nothing.
fn files(disk: &SimDisk) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = disk.files();
    files.remove(&path().join(LOCK_NAME));
    files
}

#[test]
fn an_empty_directory_is_formatted_once() {
    let disk = formatted();
    let before = files(&disk);
    let other_id = Claim {
        directory_id: [0; 16],
        ..claim()
    };
    let directory = DataDirectory::open(Arc::new(disk.clone()), path(), &other_id).unwrap();
    assert!(!directory.formatted());
    let expected = Identity {
        format: 1,
        min_reader: 1,
        cluster_name: "prod".to_owned(),
        replica_id: 2,
        directory_id: claim().directory_id,
        cluster_id: None,
    };
    assert_eq!(*directory.identity(), expected);
    assert_eq!(files(&disk), before);
}

#[test]
fn a_formatted_directory_has_a_log_and_a_vote_that_open() {
    let disk = formatted();
    let directory = open(&disk).unwrap();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let config = LogConfig::new(directory.identity().directory_id);
    let (log, _) = Log::open(Arc::clone(&shared), &directory.wal_path(), config).unwrap();
    assert_eq!(log.last_log_id(), None::<LogId>);
    let vote = VoteFile::open(shared, directory.path()).unwrap();
    assert_eq!(vote.read(), None::<Vote>);
    assert_eq!(
        disk.list(&directory.checkpoints_path()).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn formatting_that_was_interrupted_anywhere_is_done_again() {
    let mut interrupted = 0;
    for operations in 0.. {
        for seed in 0..30 {
            let disk = SimDisk::new();
            disk.cut_power_after(operations);
            let first = open(&disk).map(drop);
            if first.is_ok() && !disk.power_is_off() {
                assert!(interrupted > 300);
                return;
            }
            interrupted += 1;
            disk.crash(seed);
            check_all_opens(&disk, &format!("{operations} operations, seed {seed}"));
        }
    }
}

/// Checks that a directory with an identity has a vote and a log as well.
fn check_all_opens(disk: &SimDisk, case: &str) {
    let directory = open(disk).unwrap_or_else(|e| panic!("{case}: {e}"));
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    VoteFile::open(Arc::clone(&shared), path()).unwrap_or_else(|e| panic!("{case}: {e}"));
    let config = LogConfig::new(directory.identity().directory_id);
    Log::open(shared, &directory.wal_path(), config).unwrap_or_else(|e| panic!("{case}: {e}"));
}

#[test]
fn a_formatted_directory_survives_every_crash() {
    for seed in 0..50 {
        let disk = formatted();
        let mut directory = open(&disk).unwrap();
        directory.record_cluster([9; 16]).unwrap();
        disk.crash(seed);
        let directory = open(&disk).unwrap();
        assert!(!directory.formatted());
        assert_eq!(directory.identity().cluster_id, Some([9; 16]));
    }
}

#[test]
fn the_cluster_id_is_recorded_once() {
    let disk = formatted();
    let mut directory = open(&disk).unwrap();
    directory.record_cluster([1; 16]).unwrap();
    directory.record_cluster([1; 16]).unwrap();
    let before = files(&disk);
    let error = directory.record_cluster([2; 16]).unwrap_err();
    assert!(matches!(error, IdentityError::OtherClusterId { .. }));
    assert!(
        error
            .to_string()
            .contains("01010101010101010101010101010101"),
        "{error}"
    );
    assert_eq!(files(&disk), before);
}

#[test]
fn another_cluster_or_replica_is_refused_and_its_files_left_alone() {
    let disk = formatted();
    let before = disk.files();
    let cluster = Claim {
        cluster_name: "test".to_owned(),
        ..claim()
    };
    let error = DataDirectory::open(Arc::new(disk.clone()), path(), &cluster).unwrap_err();
    assert!(matches!(&error, IdentityError::OtherCluster { found, .. } if found == "prod"));
    assert!(
        error
            .to_string()
            .contains("correct the cluster name or the path"),
        "{error}"
    );
    let replica = Claim {
        replica_id: 3,
        ..claim()
    };
    let error = DataDirectory::open(Arc::new(disk.clone()), path(), &replica).unwrap_err();
    assert!(matches!(
        error,
        IdentityError::OtherReplica {
            found: 2,
            expected: 3,
            ..
        }
    ));
    assert_eq!(disk.files(), before);
}

#[test]
fn a_second_process_is_kept_out() {
    let disk = formatted();
    let first = open(&disk).unwrap();
    let error = open(&disk).unwrap_err();
    assert!(matches!(error, IdentityError::Locked { .. }));
    assert!(error.to_string().contains("/data is in use"), "{error}");
    drop(first);
    open(&disk).unwrap();
}

#[test]
fn a_second_process_is_kept_out_of_a_real_directory() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("deep/data");
    let open = || DataDirectory::open(Arc::new(RealDisk), &path, &claim());
    let first = open().unwrap();
    assert!(matches!(open(), Err(IdentityError::Locked { .. })));
    drop(first);
    assert!(!open().unwrap().formatted());
}

#[test]
fn a_real_directory_open_to_others_is_made_private_and_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("data");
    std::fs::create_dir(&path).unwrap();
    let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
    mode(0o777).unwrap();
    let directory = DataDirectory::open(Arc::new(RealDisk), &path, &claim()).unwrap();
    assert_eq!(directory.tightened_from(), Some(0o777));
    let mode_of = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode_of(&path), 0o700);
    assert_eq!(mode_of(&directory.wal_path()), 0o700);
    assert_eq!(mode_of(&path.join(FILE_NAME)), 0o600);
    drop(directory);
    let again = DataDirectory::open(Arc::new(RealDisk), &path, &claim()).unwrap();
    assert_eq!(again.tightened_from(), None);
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let disk = formatted();
    let newer = "synod-data-directory\nformat 8\nmin-reader 7\nwhatever follows\n";
    let mut files = disk.files();
    files.insert(path().join(FILE_NAME), newer.as_bytes().to_vec());
    let disk = SimDisk::with_files(&files);
    let error = open(&disk).unwrap_err();
    assert!(
        matches!(
            error,
            IdentityError::Newer {
                found: 8,
                needed: 7,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(disk.files(), files);
}

#[test]
fn a_newer_format_that_older_builds_can_read_keeps_its_unknown_lines() {
    let disk = formatted();
    let text = String::from_utf8(disk.files()[&path().join(FILE_NAME)].clone()).unwrap();
    let covered = text.replace("format 1", "format 2");
    let covered = covered.replace("cluster-id -\n", "cluster-id -\nfavourite-colour blue\n");
    let covered = &covered[..covered.len() - "crc32c 00000000\n".len()];
    let newer = format!(
        "{covered}crc32c {:08x}\n",
        crc32c::crc32c(covered.as_bytes())
    );
    let mut files = disk.files();
    files.insert(path().join(FILE_NAME), newer.into_bytes());
    let disk = SimDisk::with_files(&files);
    let mut directory = open(&disk).unwrap();
    assert_eq!(directory.identity().format, 2);
    directory.record_cluster([5; 16]).unwrap();
    let text = String::from_utf8(disk.files()[&path().join(FILE_NAME)].clone()).unwrap();
    assert!(
        text.contains("format 2\n") && text.contains("favourite-colour blue\n"),
        "{text}"
    );
}

#[test]
fn any_damaged_byte_of_the_identity_is_refused_and_left_alone() {
    let disk = formatted();
    let file = path().join(FILE_NAME);
    let files = disk.files();
    for (offset, byte) in files[&file].iter().enumerate() {
        for damaged in [byte ^ 1, 0x00, 0xFF, byte ^ 0x20] {
            if damaged == *byte {
                continue;
            }
            let disk = SimDisk::with_files(&files);
            disk.corrupt(&file, offset as u64, |_| damaged).unwrap();
            let before = disk.files();
            let error = open(&disk).expect_err("damage must be noticed");
            let refused = matches!(
                error,
                IdentityError::Damaged { .. } | IdentityError::Newer { .. }
            );
            assert!(refused, "offset {offset}: {error}");
            assert_eq!(disk.files(), before, "offset {offset}");
        }
    }
}

#[test]
fn a_directory_of_something_else_is_refused_and_left_alone() {
    for name in ["notes.txt", "wal.bak", "VOTE"] {
        let mut files = BTreeMap::new();
        files.insert(path().join(name), b"mine".to_vec());
        let disk = SimDisk::with_files(&files);
        let error = open(&disk).unwrap_err();
        assert!(
            matches!(&error, IdentityError::Foreign { found, .. } if found == name),
            "{error}"
        );
        assert_eq!(disk.files(), files);
    }
}

#[test]
fn a_data_directory_that_lost_its_identity_is_not_formatted_over() {
    let disk = formatted();
    let directory = open(&disk).unwrap();
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let vote = VoteFile::open(shared, path()).unwrap();
    vote.save(Vote {
        term: 1,
        leader: 1,
        committed: false,
    })
    .unwrap();
    drop(directory);
    disk.remove(&path().join(FILE_NAME)).unwrap();
    assert!(matches!(open(&disk), Err(IdentityError::Foreign { .. })));
}

#[test]
fn a_name_that_does_not_fit_a_line_is_refused() {
    for name in ["", "two words", "two\nlines", "naïve", &"x".repeat(254)] {
        let claim = Claim {
            cluster_name: name.to_owned(),
            ..claim()
        };
        let refused = DataDirectory::open(Arc::new(SimDisk::new()), path(), &claim);
        assert!(
            matches!(refused, Err(IdentityError::BadClusterName { .. })),
            "{name:?}"
        );
    }
}
