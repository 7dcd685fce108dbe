//! Tests of the vote file, on the simulated disk.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::disk::SimDisk;

const DIRECTORY: &str = "/data";

fn formatted() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_directory(Path::new(DIRECTORY)).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    format(&disk, Path::new(DIRECTORY)).unwrap();
    disk
}

fn open(disk: &SimDisk) -> Result<VoteFile, VoteError> {
    VoteFile::open(Arc::new(disk.clone()), Path::new(DIRECTORY))
}

fn vote(term: u64, committed: bool) -> Vote {
    Vote {
        term,
        leader: 3,
        committed,
    }
}

fn file() -> PathBuf {
    Path::new(DIRECTORY).join(FILE_NAME)
}

#[test]
fn a_new_replica_never_voted() {
    assert_eq!(open(&formatted()).unwrap().read(), None);
}

#[test]
fn a_saved_vote_survives_every_crash() {
    let disk = formatted();
    for term in 1..50 {
        let file = open(&disk).unwrap();
        file.save(vote(term, term % 2 == 0)).unwrap();
        assert_eq!(file.read(), Some(vote(term, term % 2 == 0)));
        disk.crash(term);
        assert_eq!(open(&disk).unwrap().read(), Some(vote(term, term % 2 == 0)));
    }
}

#[test]
fn a_power_cut_during_a_save_leaves_the_old_vote_or_the_new() {
    let mut seen = [false, false];
    for operations in 0..8 {
        for seed in 0..40 {
            let disk = formatted();
            open(&disk).unwrap().save(vote(1, true)).unwrap();
            disk.cut_power_after(operations);
            let saved = open(&disk).unwrap().save(vote(2, false));
            disk.crash(seed);
            let found = open(&disk).unwrap().read();
            if saved.is_ok() {
                assert_eq!(
                    found,
                    Some(vote(2, false)),
                    "{operations} operations, seed {seed}"
                );
            }
            assert!(found == Some(vote(1, true)) || found == Some(vote(2, false)));
            seen[usize::from(found == Some(vote(2, false)))] = true;
        }
    }
    assert_eq!(seen, [true, true]);
}

#[test]
fn any_damaged_byte_is_refused_and_left_alone() {
    let disk = formatted();
    open(&disk).unwrap().save(vote(7, true)).unwrap();
    let files = disk.files();
    for (offset, byte) in files[&file()].iter().enumerate() {
        for damaged in [byte ^ 1, 0x00, 0xFF] {
            let disk = SimDisk::with_files(&files);
            disk.corrupt(&file(), offset as u64, |_| damaged).unwrap();
            let before = disk.files();
            match open(&disk) {
                Ok(file) => {
                    assert_eq!(damaged, *byte);
                    assert_eq!(file.read(), Some(vote(7, true)));
                }
                Err(VoteError::Damaged { .. } | VoteError::Newer { .. }) => {}
                Err(other) => panic!("{other}"),
            }
            assert_eq!(disk.files(), before);
        }
    }
}

#[test]
fn any_shortened_or_lengthened_file_is_refused() {
    let original = formatted().files();
    let content = original[&file()].clone();
    let lengthened = content.iter().copied().chain([0]).collect();
    let shortened = (0..content.len()).map(|length| content[..length].to_vec());
    for content in shortened.chain([lengthened]) {
        let mut files = original.clone();
        files.insert(file(), content);
        let error = open(&SimDisk::with_files(&files)).unwrap_err();
        assert!(matches!(error, VoteError::Damaged { .. }), "{error}");
    }
}

#[test]
fn a_missing_vote_is_refused() {
    let disk = formatted();
    disk.remove(&file()).unwrap();
    let error = open(&disk).unwrap_err();
    assert!(matches!(error, VoteError::Missing { .. }));
    assert!(
        error.to_string().contains("/data/VOTE is missing"),
        "{error}"
    );
}

#[test]
fn a_vote_of_an_earlier_term_is_refused() {
    let disk = formatted();
    let file = open(&disk).unwrap();
    file.save(vote(5, false)).unwrap();
    let error = file.save(vote(4, true)).unwrap_err();
    assert!(
        matches!(
            error,
            VoteError::Backwards {
                saved: 5,
                offered: 4,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(open(&disk).unwrap().read(), Some(vote(5, false)));
    file.save(vote(5, true)).unwrap();
}

#[test]
fn after_a_failed_save_nothing_is_saved_any_more() {
    let disk = formatted();
    let file = open(&disk).unwrap();
    file.save(vote(1, false)).unwrap();
    disk.fail_sync_after(0);
    assert!(matches!(file.save(vote(2, false)), Err(VoteError::Io(_))));
    assert!(matches!(
        file.save(vote(2, false)),
        Err(VoteError::Poisoned { .. })
    ));
    assert_eq!(file.read(), Some(vote(1, false)));
    disk.kill();
    assert_eq!(open(&disk).unwrap().read(), Some(vote(1, false)));
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let disk = formatted();
    disk.corrupt(&file(), 8, |_| 3).unwrap();
    disk.corrupt(&file(), 12, |_| 2).unwrap();
    let error = open(&disk).unwrap_err();
    assert!(
        matches!(error, VoteError::Newer { found: 3, .. }),
        "{error}"
    );
}
