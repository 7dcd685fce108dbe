//! Checkpoints: the state as rows in a file, written here or received from a leader.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use synod_machine::State;
use synod_model::stored::{from_bytes, to_bytes};
use synod_store::checkpoint::{CHUNK_BYTES_TARGET, CheckpointHeader, RowChunks, Rows, read_state};
use synod_store::payload::CheckpointMeta;
use synod_store::{CheckpointReader, CheckpointStore, CheckpointWriter, Disk, LogId};

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
    /// Loads the newest undamaged checkpoint of a directory. Those that it has stay as they are.
    ///
    /// # Errors
    ///
    /// When a checkpoint is sound and its state is not, or the disk fails.
    pub(super) fn load(
        disk: &Arc<dyn Disk>,
        path: &Path,
        cluster: Option<[u8; 16]>,
    ) -> io::Result<(Self, Restored)> {
        let (store, loaded) = CheckpointStore::open(Arc::clone(disk), path, cluster)?;
        let is_newest = loaded.skipped.is_empty() && store.aside().is_none();
        for damaged in loaded.skipped {
            tracing::error!(%damaged, "skipped a damaged checkpoint");
        }
        let restored = match loaded.reader {
            None => Restored {
                state: State::new(),
                applied: None,
                membership: StoredMembership::default(),
                is_newest,
            },
            Some(mut reader) => {
                let meta = decode_meta(reader.header())?;
                let state = read_state(&mut reader).map_err(|error| {
                    let file = reader.path().display();
                    let text = format!(
                        "the checkpoint {file} cannot be used, and was left as it is: {error}"
                    );
                    io::Error::new(error.kind(), text)
                })?;
                tracing::info!(file = %reader.path().display(), revision = %state.revision(), "loaded a checkpoint");
                Restored {
                    state,
                    applied: meta.last_log_id,
                    membership: meta.last_membership,
                    is_newest,
                }
            }
        };
        let damage = Damage::default();
        Ok((Self { store, damage }, restored))
    }

    /// Puts damaged checkpoints aside once the log was found to go on from the one that was loaded. `purged` says up to
    /// where the log was purged: the checkpoint must reach at least that far.
    ///
    /// # Errors
    ///
    /// When checkpoint and log together do not hold the whole state, or the disk fails.
    pub(super) fn join(&self, purged: Option<LogId>) -> io::Result<()> {
        self.store.check_covers(purged)?;
        Ok(self.store.put_skipped_aside()?)
    }

    /// Writes `state` as of `meta`. Computes its digest anew first, so that a state damaged in memory is not passed on.
    ///
    /// # Errors
    ///
    /// When the digest differs from the one kept, or the disk fails.
    pub(super) fn write(&self, meta: &SnapshotMeta, state: &State) -> io::Result<CheckpointData> {
        state
            .check_memory()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let cluster = state
            .cluster()
            .ok_or_else(|| io::Error::other("the cluster has no id yet"))?;
        let mut writer = self.begin(meta, *cluster.as_bytes())?;
        for chunk in RowChunks::new(state.rows(), CHUNK_BYTES_TARGET) {
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
        self.rows.read(chunk).map_err(malformed)?;
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
        let state = self.rows.state().map_err(malformed)?;
        Ok((
            self.meta,
            CheckpointData::Received(self.writer, Box::new(state)),
        ))
    }
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
