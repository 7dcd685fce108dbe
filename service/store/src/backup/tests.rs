use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use synod_machine::{Command, Envelope, Initialize, LogEntry, State};
use synod_model::stored::{put_blob, to_bytes};
use synod_model::{ClusterId, LogTime, Settings, WallTime};

use super::*;
use crate::checkpoint::RowChunks;

/// A state of a few rows.
fn state() -> State {
    let mut state = State::new();
    state.apply(&LogEntry {
        log_time: LogTime::from_millis(7),
        lift_deadlines: true,
        wall: WallTime::from_millis(8),
        commands: vec![Envelope {
            actor: None,
            request: None,
            command: Arc::new(Command::Initialize(Initialize {
                cluster: ClusterId::from_bytes([9; 16]),
                settings: Settings::default(),
            })),
        }],
    });
    state
}

fn header(state: &State) -> BackupHeader {
    BackupHeader {
        cluster: *state.cluster().unwrap(),
        cluster_name: "prod".to_owned(),
        revision: state.revision(),
        log_time: state.log_time(),
        wall: WallTime::from_millis(1_700_000_000_000),
        binary: "0.1.0".to_owned(),
        machine_version: state.machine_version(),
    }
}

fn written(header: &BackupHeader, chunks: impl IntoIterator<Item = Bytes>) -> (Vec<u8>, BackupSum) {
    let mut writer = BackupWriter::begin(Vec::new(), header).unwrap();
    for chunk in chunks {
        writer.write_chunk(&chunk).unwrap();
    }
    writer.finish().unwrap()
}

/// A small backup, in several chunks.
fn small() -> (Vec<u8>, BackupSum) {
    let state = state();
    written(&header(&state), RowChunks::new(state.rows(), 40))
}

fn refused(bytes: &[u8]) -> String {
    load(bytes).map(drop).unwrap_err().to_string()
}

#[test]
fn what_was_written_is_read_back_with_its_length_and_digest() {
    let (bytes, sum) = small();
    let loaded = load(&bytes[..]).unwrap();
    let state = state();
    assert_eq!(loaded.state.digest(), state.digest());
    assert_eq!(loaded.rows, state.rows().count());
    assert_eq!(
        (loaded.header, loaded.format),
        (header(&state), BACKUP_FORMAT)
    );
    assert_eq!((loaded.sum, sum.bytes), (sum, bytes.len() as u64));
    // The digest is of the bytes before it, as any program computes it.
    let before = &bytes[..bytes.len() - 4 - 32];
    let sha256: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(before).into();
    assert_eq!(sum.sha256, sha256);
}

// Guarantee: B-03
#[test]
fn every_flipped_byte_is_found() {
    let (bytes, _) = small();
    for at in 0..bytes.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut flipped = bytes.clone();
            flipped[at] ^= mask;
            let error = load(&flipped[..]).map(drop).unwrap_err();
            let is_told = match error {
                // A length that is too long, and a version that is not newer, are noticed where the content begins.
                BackupError::Damaged { offset, .. } => offset <= at as u64 + 12,
                BackupError::Newer { .. } => (12..16).contains(&at),
                _ => false,
            };
            assert!(is_told, "offset {at}");
        }
    }
}

// Guarantee: B-03
#[test]
fn every_shortened_file_is_found_and_a_longer_one_too() {
    let (bytes, _) = small();
    for length in 0..bytes.len() {
        assert!(
            refused(&bytes[..length]).contains("ends too early"),
            "{length}"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    let said = refused(&longer);
    assert!(
        said.contains(&format!("offset {}: something follows", bytes.len())),
        "{said}"
    );
    assert!(refused(b"a text file of another kind").contains("does not begin like a backup"));
}

#[test]
fn a_newer_format_is_named_and_nothing_else_is_said_of_it() {
    let (mut bytes, _) = small();
    bytes[8] = 7;
    bytes[12] = 5;
    assert!(refused(&bytes).contains("format 7, and this build reads up to 1"));
}

#[test]
fn chunks_that_change_places_or_are_lost_are_found() {
    let chunks: Vec<Bytes> = RowChunks::new(state().rows(), 40).collect();
    assert!(chunks.len() > 3);
    let header = header(&state());
    for order in [vec![1, 0], vec![0], vec![0, 1, 1]] {
        let some = order.iter().map(|at| chunks[*at].clone());
        // Written by somebody who knows the form, so that every checksum holds.
        let (bytes, _) = written(&header, some);
        let error = load(&bytes[..]).map(drop).unwrap_err();
        assert!(
            matches!(
                error,
                BackupError::Unusable { .. } | BackupError::Damaged { .. }
            ),
            "{order:?}: {error}"
        );
    }
}

#[test]
fn a_header_that_tells_of_another_state_is_refused() {
    let state = state();
    let other = BackupHeader {
        revision: state.revision().next(),
        ..header(&state)
    };
    let (bytes, _) = written(&other, RowChunks::new(state.rows(), 1 << 20));
    assert!(refused(&bytes).contains("its header is not that of the state"));
}

#[test]
fn chunks_and_headers_have_limits() {
    let header = header(&state());
    let long = BackupHeader {
        cluster_name: "x".repeat(5_000),
        ..header.clone()
    };
    let refused = BackupWriter::begin(Vec::new(), &long).map(drop);
    assert!(matches!(refused, Err(BackupError::BadLength { .. })));
    let mut writer = BackupWriter::begin(Vec::new(), &header).unwrap();
    for length in [0, BACKUP_CHUNK_BYTES_MAX + 1] {
        let refused = writer.write_chunk(&vec![0; length]);
        assert!(matches!(refused, Err(BackupError::BadLength { .. })));
    }
}

#[test]
fn the_chunks_of_rows_are_as_long_as_they_should_be_and_hold_all_of_them() {
    let state = state();
    let whole: Vec<u8> = state
        .rows()
        .flat_map(|row| {
            let row = to_bytes(&row);
            let mut framed = Vec::new();
            put_blob(&mut framed, &row);
            framed
        })
        .collect();
    for length in [1, 7, 40, 1 << 20] {
        let chunks: Vec<Bytes> = RowChunks::new(state.rows(), length).collect();
        assert_eq!(chunks.concat(), whole, "{length}");
        let short = chunks.iter().filter(|chunk| chunk.len() < length).count();
        assert!(short <= 1 && chunks.iter().all(|chunk| !chunk.is_empty()));
    }
}

proptest! {
    #![proptest_config(crate::cases::config(1000))]

    #[test]
    fn arbitrary_bytes_as_a_backup_never_panic(
        content in prop::collection::vec(any::<u8>(), 0..200),
        begins_well in any::<bool>(),
    ) {
        let content = if begins_well { [b"SYNODBKP\x01\0\0\0\x01\0\0\0\x20\0\0\0", content.as_slice()].concat() } else { content };
        prop_assert!(load(&content[..]).is_err());
    }
}
