//! Checkpoints: the state as rows in a file, written here or received from a leader.

use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use synod_machine::{Row, State};
use synod_model::stored::{from_bytes, put_number, to_bytes};
use synod_store::checkpoint::{CHUNK_BYTES_TARGET, CheckpointHeader};
use synod_store::payload::CheckpointMeta;
use synod_store::{
    CheckpointReader, CheckpointStore, CheckpointWriter, DataDirectory, Disk, LogId,
};

use super::damage::Damage;
use super::record::{checkpoint_meta, of_store_id, snapshot_meta, to_store_id};
use super::restored::Restored;
use super::types::{SnapshotMeta, StoredMembership};

/// The checkpoints of this replica. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Checkpoints {
    pub(super) store: CheckpointStore,
    pub(super) damage: Damage,
}

/// A checkpoint as openraft passes it around.
#[derive(Debug)]
pub(crate) enum CheckpointData {
    /// In its file, and positioned at the first chunk.
    Stored(CheckpointReader),
    /// Received and verified, in a file that has no name yet, together with its state.
    Received(CheckpointWriter, Box<State>),
    /// Still being written, to replace a damaged one.
    Awaited,
}

impl Checkpoints {
    /// Opens the checkpoints of a data directory and loads the newest undamaged one. `purged` says up to where the log
    /// was purged: the checkpoint must reach at least that far.
    ///
    /// # Errors
    ///
    /// When no checkpoint and log together hold the whole state, or the disk fails.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        directory: &DataDirectory,
        purged: Option<LogId>,
    ) -> io::Result<(Self, Restored)> {
        let cluster = directory.identity().cluster_id;
        let (store, loaded) =
            CheckpointStore::open(Arc::clone(disk), &directory.checkpoints_path(), cluster)?;
        for damaged in loaded.skipped {
            tracing::error!(%damaged, "skipped a damaged checkpoint");
        }
        store.check_covers(purged)?;
        store.put_skipped_aside()?;
        let restored = match loaded.reader {
            None => Restored {
                state: State::new(),
                applied: None,
                membership: StoredMembership::default(),
            },
            Some(mut reader) => {
                let meta = decode_meta(reader.header())?;
                let state = read_state(&mut reader)?;
                tracing::info!(file = %reader.path().display(), revision = %state.revision(), "loaded a checkpoint");
                Restored {
                    state,
                    applied: meta.last_log_id,
                    membership: meta.last_membership,
                }
            }
        };
        let damage = Damage::default();
        Ok((Self { store, damage }, restored))
    }

    /// Writes `state` as of `meta`. Computes its digest anew first, so that a state damaged in memory is not passed on.
    ///
    /// # Errors
    ///
    /// When the digest differs from the one kept, or the disk fails.
    pub(super) fn write(&self, meta: &SnapshotMeta, state: &State) -> io::Result<CheckpointData> {
        let (kept, computed) = (state.digest(), state.recompute_digest());
        if kept != computed {
            let text = format!(
                "the state's digest is {computed}, and should be {kept}: its memory is damaged"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let cluster = state
            .cluster()
            .ok_or_else(|| io::Error::other("the cluster has no id yet"))?;
        let mut writer = self.begin(meta, *cluster.as_bytes())?;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES_TARGET);
        for row in state.rows() {
            let row = to_bytes(&row);
            put_number(&mut chunk, row.len() as u64);
            let mut rest = &row[..];
            // The changes of one revision are one row, however long: a row can continue in the next chunk.
            while chunk.len() + rest.len() >= CHUNK_BYTES_TARGET {
                let (fits, beyond) = rest.split_at(CHUNK_BYTES_TARGET.saturating_sub(chunk.len()));
                chunk.extend_from_slice(fits);
                writer.write_chunk(&chunk)?;
                chunk.clear();
                rest = beyond;
            }
            chunk.extend_from_slice(rest);
        }
        if !chunk.is_empty() {
            writer.write_chunk(&chunk)?;
        }
        writer.finish()?;
        match self.store.read_newest()? {
            Some(reader) => Ok(CheckpointData::Stored(reader)),
            // A damaged checkpoint was put aside after this one was begun.
            None if self.store.awaits_another() => Ok(CheckpointData::Awaited),
            None => Err(io::Error::other("the checkpoint just written is gone")),
        }
    }

    /// Begins to receive the checkpoint of `meta`.
    ///
    /// # Errors
    ///
    /// When `meta` covers no entry, or the disk fails.
    pub(super) fn receive(
        &self,
        meta: SnapshotMeta,
        cluster_id: [u8; 16],
    ) -> io::Result<Receiving> {
        let writer = self.begin(&meta, cluster_id)?;
        Ok(Receiving {
            writer,
            meta,
            rows: Rows::default(),
            length: 0,
        })
    }

    /// Installs a checkpoint: durably the newest one when this returns. Returns its state.
    ///
    /// # Errors
    ///
    /// When it is damaged, or the disk fails.
    pub(super) fn install(&self, data: CheckpointData) -> io::Result<State> {
        match data {
            CheckpointData::Received(writer, state) => {
                writer.finish()?;
                self.damage.nothing_refused();
                Ok(*state)
            }
            CheckpointData::Stored(mut reader) => read_state(&mut reader),
            CheckpointData::Awaited => Err(malformed("it is not written yet")),
        }
    }

    /// The newest checkpoint, if there is one. One that cannot be opened is put aside and another one is requested;
    /// until it is written, the answer is [`CheckpointData::Awaited`].
    ///
    /// # Errors
    ///
    /// When the damaged file cannot be put aside.
    pub(super) fn newest(&self) -> io::Result<Option<(SnapshotMeta, CheckpointData)>> {
        let awaited = || Some((SnapshotMeta::default(), CheckpointData::Awaited));
        match self.store.read_newest() {
            Ok(Some(reader)) => Ok(Some((
                decode_meta(reader.header())?,
                CheckpointData::Stored(reader),
            ))),
            Ok(None) if self.store.awaits_another() => Ok(awaited()),
            Ok(None) => Ok(None),
            Err(error) if self.store.awaits_another() => {
                self.damage.found(&error);
                Ok(awaited())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Up to where the log may be purged so that the older checkpoint and the log still give the whole state.
    pub(super) fn purge_bound(&self) -> Option<LogId> {
        self.store.purge_bound()
    }

    fn begin(&self, meta: &SnapshotMeta, cluster_id: [u8; 16]) -> io::Result<CheckpointWriter> {
        let last = meta
            .last_log_id
            .as_ref()
            .ok_or_else(|| io::Error::other("the checkpoint holds no entry"))?;
        Ok(self.store.begin(CheckpointHeader {
            cluster_id,
            last: to_store_id(last),
            meta: to_bytes(&checkpoint_meta(meta)),
        })?)
    }
}

/// A checkpoint that is being received.
pub(super) struct Receiving {
    writer: CheckpointWriter,
    meta: SnapshotMeta,
    rows: Rows,
    length: u64,
}

impl Receiving {
    /// Takes the chunk that begins at `offset`.
    ///
    /// # Errors
    ///
    /// When the chunk does not follow the previous one or holds no valid rows, or the disk fails.
    pub(super) fn take(&mut self, offset: u64, chunk: &Bytes) -> io::Result<()> {
        if offset != self.length {
            return Err(malformed(format!(
                "a chunk at {offset} where one at {} was due",
                self.length
            )));
        }
        self.rows.read(chunk)?;
        self.writer.write_chunk(chunk)?;
        self.length += chunk.len() as u64;
        Ok(())
    }

    /// The whole checkpoint, once `length` bytes have arrived. It takes effect only when it is installed.
    ///
    /// # Errors
    ///
    /// When bytes are missing, or the rows do not have the recorded digest.
    pub(super) fn finish(self, length: u64) -> io::Result<(SnapshotMeta, CheckpointData)> {
        if length != self.length {
            return Err(malformed(format!(
                "it has {} bytes and should have {length}",
                self.length
            )));
        }
        let state = self.rows.state()?;
        Ok((
            self.meta,
            CheckpointData::Received(self.writer, Box::new(state)),
        ))
    }
}

fn read_state(reader: &mut CheckpointReader) -> io::Result<State> {
    let mut rows = Rows::default();
    while let Some(chunk) = reader.next_chunk()? {
        rows.read(&chunk)?;
    }
    rows.state()
}

/// The rows of a checkpoint, read chunk by chunk.
#[derive(Default)]
pub(super) struct Rows {
    whole: Vec<Row>,
    /// The beginning of a row that continues in the next chunk.
    begun: BytesMut,
}

impl Rows {
    /// # Errors
    ///
    /// When the chunk holds something that is no row.
    pub(super) fn read(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.begun.extend_from_slice(chunk);
        loop {
            let mut ahead = &self.begun[..];
            let Some(length) = length_of_row(&mut ahead)? else {
                return Ok(());
            };
            if ahead.len() < length {
                return Ok(());
            }
            self.begun.advance(self.begun.len() - ahead.len());
            // A buffer of its own: what is loaded from the row may share it, and would keep the whole chunk in memory.
            let row = Bytes::copy_from_slice(&self.begun[..length]);
            self.begun.advance(length);
            self.whole.push(from_bytes(&row).map_err(malformed)?);
        }
    }

    /// # Errors
    ///
    /// When a row is incomplete, or the rows do not have the recorded digest.
    pub(super) fn state(self) -> io::Result<State> {
        if !self.begun.is_empty() {
            return Err(malformed("its last row ends after it"));
        }
        State::from_rows(self.whole).map_err(malformed)
    }
}

/// Reads the length that stands before a row; `None` if its bytes have not all arrived.
fn length_of_row(bytes: &mut &[u8]) -> io::Result<Option<usize>> {
    /// The longest encoding of a 64-bit number.
    const VARINT_BYTES_MAX: usize = 10;

    let mut ahead = bytes.iter().take(VARINT_BYTES_MAX);
    match ahead.position(|byte| *byte < 0x80) {
        None if bytes.len() < VARINT_BYTES_MAX => return Ok(None),
        // As everywhere in the stored form, so that equal states have equal bytes.
        Some(last @ 1..) if bytes[last] == 0 => {
            return Err(malformed("the length of a row has leading zeros"));
        }
        Some(_) | None => {}
    }
    prost::decode_length_delimiter(bytes)
        .map(Some)
        .map_err(malformed)
}

fn decode_meta(header: &CheckpointHeader) -> io::Result<SnapshotMeta> {
    let stored: CheckpointMeta = from_bytes(&header.meta).map_err(malformed)?;
    let meta = snapshot_meta(stored).map_err(malformed)?;
    Ok(SnapshotMeta {
        last_log_id: Some(of_store_id(&header.last)),
        ..meta
    })
}

fn malformed(what: impl fmt::Display) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the checkpoint cannot be used: {what}"),
    )
}
