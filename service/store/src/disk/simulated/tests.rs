//! Tests of what the simulated disk promises to the tests that use it.

use std::collections::BTreeSet;

use super::*;

fn path(name: &str) -> PathBuf {
    Path::new("/d").join(name)
}

fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_directory(Path::new("/d")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    disk
}

/// A disk with one durable file of zeros.
fn disk_with_file(length: u64) -> (SimDisk, Arc<dyn DiskFile>) {
    let disk = disk();
    let file = disk.create(&path("f"), length).unwrap();
    file.sync_data().unwrap();
    disk.sync_directory(Path::new("/d")).unwrap();
    (disk, file)
}

#[test]
fn what_was_synced_survives_every_crash() {
    for seed in 0..100 {
        let (disk, file) = disk_with_file(2000);
        file.write_all_at(&[1; 1500], 100).unwrap();
        file.sync_data().unwrap();
        disk.crash(seed);
        let content = disk.read(&path("f")).unwrap();
        assert_eq!((content.len(), &content[100..1600]), (2000, &[1; 1500][..]));
    }
}

#[test]
fn what_was_not_synced_survives_in_whole_sectors_and_any_combination() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..500 {
        let (disk, file) = disk_with_file(2048);
        file.write_all_at(&[7; 1500], 100).unwrap();
        disk.crash(seed);
        let content = disk.read(&path("f")).unwrap();
        let written = |sector: usize| -> bool {
            let range = (sector * 512).max(100)..((sector + 1) * 512).min(1600);
            let kept = content[range.clone()]
                .iter()
                .filter(|byte| **byte == 7)
                .count();
            assert!(
                kept == 0 || kept == range.len(),
                "seed {seed}: half a sector"
            );
            kept > 0
        };
        outcomes.insert([written(0), written(1), written(2), written(3)]);
        assert!(
            content[..100]
                .iter()
                .chain(&content[1600..])
                .all(|byte| *byte == 0)
        );
    }
    assert_eq!(outcomes.len(), 16);
}

#[test]
fn names_survive_as_a_prefix_of_their_changes() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..200 {
        let (disk, _) = disk_with_file(1);
        disk.rename(&path("f"), &path("g")).unwrap();
        disk.create(&path("h"), 0).unwrap();
        disk.remove(&path("g")).unwrap();
        disk.crash(seed);
        outcomes.insert(disk.list(Path::new("/d")).unwrap());
    }
    let expected: Vec<Vec<String>> = [&["f"][..], &["g"], &["g", "h"], &["h"]]
        .iter()
        .map(|names| names.iter().map(ToString::to_string).collect())
        .collect();
    assert_eq!(outcomes, expected.into_iter().collect());
}

#[test]
fn a_directory_without_a_durable_name_can_be_lost_with_all_in_it() {
    let lost = (0..50).filter(|seed| {
        let disk = disk();
        disk.create_directory(Path::new("/d/e")).unwrap();
        let file = disk.create(Path::new("/d/e/f"), 0).unwrap();
        file.sync_data().unwrap();
        disk.sync_directory(Path::new("/d/e")).unwrap();
        disk.crash(*seed);
        disk.read(Path::new("/d/e/f")).is_err()
    });
    assert!((5..45).contains(&lost.count()));
}

#[test]
fn one_seed_gives_one_outcome() {
    let outcome = |seed| {
        let (disk, file) = disk_with_file(5000);
        (0..9).for_each(|n| file.write_all_at(&[n; 700], u64::from(n) * 400).unwrap());
        disk.crash(seed);
        disk.files()
    };
    for seed in 0..20 {
        assert_eq!(outcome(seed), outcome(seed));
    }
}

#[test]
fn a_failed_sync_loses_what_it_should_have_made_durable() {
    let (disk, file) = disk_with_file(10);
    file.write_all_at(b"lost", 0).unwrap();
    disk.fail_sync_after(0);
    assert!(file.sync_data().is_err());
    assert_eq!(&disk.read(&path("f")).unwrap()[..4], b"lost");
    file.write_all_at(b"kept", 5).unwrap();
    file.sync_data().unwrap();
    disk.crash(0);
    assert_eq!(disk.read(&path("f")).unwrap(), b"\0\0\0\0\0kept\0");
}

#[test]
fn nothing_works_without_power_and_old_handles_never_again() {
    let (disk, file) = disk_with_file(10);
    disk.cut_power_after(1);
    file.write_all_at(b"first", 0).unwrap();
    assert!(!disk.power_is_off());
    assert!(file.write_all_at(b"other", 5).is_err());
    assert!(disk.power_is_off());
    assert!(file.sync_data().is_err());
    assert!(file.length().is_err());
    assert!(disk.open(&path("f")).is_err());
    assert!(disk.list(Path::new("/d")).is_err());
    disk.crash(1);
    assert!(file.read_at(&mut [0], 0).is_err());
    assert!(disk.open(&path("f")).is_ok());
}

#[test]
fn a_kill_keeps_what_was_written_and_releases_locks() {
    let (disk, file) = disk_with_file(4);
    let lock = disk.lock(&path("LOCK")).unwrap();
    assert!(lock.is_some());
    assert!(disk.lock(&path("LOCK")).unwrap().is_none());
    file.write_all_at(b"data", 0).unwrap();
    disk.kill();
    assert_eq!(disk.read(&path("f")).unwrap(), b"data");
    assert!(file.write_all_at(b"late", 0).is_err());
    let next = disk.lock(&path("LOCK")).unwrap();
    assert!(next.is_some());
    drop(lock);
    assert!(
        disk.lock(&path("LOCK")).unwrap().is_none(),
        "the dead process releases nothing"
    );
}

#[test]
fn a_full_disk_refuses_growth_and_nothing_else() {
    let (disk, file) = disk_with_file(100);
    disk.set_capacity(Some(120));
    file.write_all_at(&[1; 100], 0).unwrap();
    file.write_all_at(&[1; 20], 100).unwrap();
    let error = file.write_all_at(&[1], 120).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    let error = disk.create(&path("g"), 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn short_transfers_are_made_whole() {
    let (disk, file) = disk_with_file(0);
    disk.limit_transfers(Some(3));
    file.write_all_at(b"0123456789", 0).unwrap();
    let mut buffer = [0; 10];
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 3);
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(&buffer, b"0123456789");
    let error = file.read_exact_at(&mut buffer, 1).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn a_removed_file_stays_readable_to_those_who_hold_it() {
    let (disk, file) = disk_with_file(3);
    file.write_all_at(b"abc", 0).unwrap();
    disk.remove(&path("f")).unwrap();
    let mut buffer = [0; 3];
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!(&buffer, b"abc");
    assert_eq!(
        disk.open(&path("f")).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}
