//! Tests of [`RealDisk`], as far as a test can observe the file system.

use super::*;

#[test]
fn files_are_written_read_renamed_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    let file = RealDisk.create(&from, 200_000).unwrap();
    assert_eq!(file.length().unwrap(), 200_000);
    file.write_all_at(b"content", 100_000).unwrap();
    file.sync_data().unwrap();
    RealDisk.rename(&from, &to).unwrap();
    RealDisk.sync_directory(directory.path()).unwrap();
    assert_eq!(RealDisk.list(directory.path()).unwrap(), ["to"]);
    let content = RealDisk.read(&to).unwrap();
    assert_eq!(&content[100_000..100_007], b"content");
    assert_eq!(content.iter().filter(|byte| **byte != 0).count(), 7);
    RealDisk.remove(&to).unwrap();
    assert_eq!(
        RealDisk.open(&to).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
}

#[test]
fn an_allocated_file_occupies_its_space() {
    use std::os::unix::fs::MetadataExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    RealDisk
        .create(&path, 1 << 20)
        .unwrap()
        .sync_data()
        .unwrap();
    let occupied = fs::metadata(&path).unwrap().blocks() * 512;
    assert!(
        occupied >= 1 << 20,
        "{occupied} bytes: a later write would have to allocate"
    );
}

#[test]
fn directories_and_files_are_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b");
    RealDisk.create_directory(&path).unwrap();
    RealDisk.create_directory(&path).unwrap();
    assert_eq!(RealDisk.directory_mode(&path).unwrap(), 0o700);
    RealDisk.create(&path.join("f"), 1).unwrap();
    let mode = fs::metadata(path.join("f")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_lock_is_held_by_one_and_released_when_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("LOCK");
    let first = RealDisk.lock(&path).unwrap();
    assert!(first.is_some());
    assert!(RealDisk.lock(&path).unwrap().is_none());
    drop(first);
    assert!(RealDisk.lock(&path).unwrap().is_some());
}

#[test]
fn a_file_created_under_a_name_that_is_taken_is_another_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    let old = RealDisk.create(&path, 3).unwrap();
    let new = RealDisk.create(&path, 3).unwrap();
    old.write_all_at(b"old", 0).unwrap();
    new.write_all_at(b"new", 0).unwrap();
    assert_eq!(RealDisk.read(&path).unwrap(), b"new");
}
