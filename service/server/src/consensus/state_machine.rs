//! openraft's state machine on top of `synod-machine`.
//!
//! Apply owns the state. After each step it publishes a clone, which is cheap, and answers only then: a caller that was
//! answered finds the effects of its entry in the published state.

use std::io;
use std::sync::Arc;

use futures::{Stream, TryStreamExt};
use openraft::OptionalSend;
use openraft::alias::SnapshotOf;
use openraft::storage::{ApplyResponder, EntryResponder, RaftSnapshotBuilder, RaftStateMachine};
use synod_machine::{Applied, LogEntry, State};
use synod_model::known_machine_version;
use synod_model::stored::from_bytes;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::ReplicaId;
use super::checkpoints::{CheckpointData, Checkpoints};
use super::digests::Digests;
use super::log_storage::LogStorage;
use super::published::{AppliedEntry, Published, Publisher};
use super::restored::Restored;
use super::timing::{Timed, Timing};
use super::types::{
    Entry, EntryPayload, LogId, Membership, SnapshotMeta, StoredMembership, TypeConfig, position_of,
};
use crate::seams::Offload;

/// The most entries that are applied before they are published and answered together. More than this come at once only
/// when this replica has to catch up.
const STEP: usize = 64;

/// The state, and the log position that it has applied.
pub(super) struct StateMachine {
    state: State,
    applied: Option<LogId>,
    membership: StoredMembership,
    generation: u64,
    publisher: Publisher,
    digests: Digests,
    checkpoints: Checkpoints,
    log: LogStorage,
    offload: Offload,
    checkpoint_due: CheckpointDue,
    timing: Timing,
    /// Whether it is noted when the apply of an entry begins.
    is_traced: bool,
}

/// Counts the bytes applied since the last checkpoint, and requests one when they are enough.
pub(super) struct CheckpointDue {
    every_bytes: u64,
    bytes: u64,
    ask: Arc<Notify>,
}

impl CheckpointDue {
    pub(super) fn new(every_bytes: u64, ask: Arc<Notify>) -> Self {
        Self {
            every_bytes,
            bytes: 0,
            ask,
        }
    }
}

impl StateMachine {
    pub(super) fn new(
        restored: Restored,
        publisher: Publisher,
        digests: Digests,
        log: LogStorage,
        checkpoint_due: CheckpointDue,
        timing: Timing,
        is_traced: bool,
    ) -> Self {
        let Restored {
            state,
            applied,
            membership,
            is_newest: _,
        } = restored;
        let (checkpoints, offload) = (log.checkpoints.clone(), log.offload);
        Self {
            state,
            applied,
            membership,
            generation: 0,
            publisher,
            digests,
            checkpoints,
            log,
            offload,
            checkpoint_due,
            timing,
            is_traced,
        }
    }

    /// # Errors
    ///
    /// When the entry does not follow the last one, cannot be decoded, or goes on with a machine version that this build does not know. It is committed
    /// and other replicas apply it, so this one must not go on. Its log keeps the entry as it is.
    fn apply_one(&mut self, entry: Entry) -> io::Result<Arc<AppliedEntry>> {
        let apply_began = self.is_traced.then(Instant::now);
        let next = self.applied.map_or(0, |applied| applied.index + 1);
        if entry.log_id.index != next {
            let why = format!(
                "cannot apply the entry at {}: the next index to apply is {next}",
                entry.log_id.index
            );
            return Err(io::Error::other(why));
        }
        let applied = match entry.payload {
            EntryPayload::Blank => Applied::default(),
            EntryPayload::Normal(payload) => {
                self.checkpoint_due.bytes += payload.0.len() as u64;
                let commands = from_bytes::<LogEntry>(&payload.0).map_err(|error| {
                    inapplicable(&entry.log_id, &format!("it cannot be read: {error}"))
                })?;
                if let Some(version) = self.state.unknown_version_in(&commands) {
                    let known = known_machine_version();
                    let why = format!(
                        "it brings machine version {version} in force, and this build knows {known}"
                    );
                    return Err(inapplicable(&entry.log_id, &why));
                }
                self.state.apply(&commands)
            }
            EntryPayload::Membership(membership) => {
                self.change_set(entry.log_id, membership);
                Applied::default()
            }
        };
        self.applied = Some(entry.log_id);
        let position = position_of(&entry.log_id);
        self.digests.note(position, &self.state);
        Ok(Arc::new(AppliedEntry {
            position,
            applied,
            apply_began,
        }))
    }

    /// Takes over a replica set. Learners and voters that it does not have any more have left for good.
    fn change_set(&mut self, at: LogId, set: Membership) {
        let before = self.membership.membership().nodes();
        let left: Vec<ReplicaId> = before
            .map(|(id, _)| *id)
            .filter(|id| set.get_node(id).is_none())
            .collect();
        self.state.replicas_left(left);
        self.membership = StoredMembership::new(Some(at), set);
    }

    fn publish(&mut self) {
        self.publisher.publish(Published {
            state: self.state.clone(),
            applied: self.applied.as_ref().map(position_of),
            generation: self.generation,
        });
        if self.checkpoint_due.bytes >= self.checkpoint_due.every_bytes {
            self.checkpoint_due.ask.notify_one();
        }
    }

    fn publish_and_answer(
        &mut self,
        answers: &mut Vec<(ApplyResponder<TypeConfig>, Arc<AppliedEntry>)>,
    ) {
        self.publish();
        for (responder, applied) in answers.drain(..) {
            responder.send(applied);
        }
    }

    fn meta(&self) -> SnapshotMeta {
        SnapshotMeta {
            last_log_id: self.applied,
            last_membership: self.membership.clone(),
        }
    }
}

fn inapplicable(at: &LogId, why: &str) -> io::Error {
    let text = format!(
        "the committed entry at {at} cannot be applied: {why}. A newer release wrote it: run that on this replica. Nothing was \
         changed here"
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl RaftStateMachine<TypeConfig> for StateMachine {
    type SnapshotData = CheckpointData;
    type SnapshotBuilder = CheckpointBuilder;

    async fn applied_state(&mut self) -> io::Result<(Option<LogId>, StoredMembership)> {
        Ok((self.applied, self.membership.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = io::Result<EntryResponder<TypeConfig>>> + Unpin + OptionalSend,
    {
        let mut answers = Vec::new();
        let mut unpublished = 0;
        while let Some((entry, responder)) = entries.try_next().await? {
            let applied = self.apply_one(entry)?;
            answers.extend(responder.map(|responder| (responder, applied)));
            unpublished += 1;
            if unpublished == STEP {
                self.publish_and_answer(&mut answers);
                unpublished = 0;
            }
        }
        if unpublished > 0 {
            self.publish_and_answer(&mut answers);
        }
        Ok(())
    }

    async fn try_create_snapshot_builder(&mut self, force: bool) -> Option<CheckpointBuilder> {
        // Before the cluster has its id, the log has only a handful of entries.
        let worth_it = force || self.state.cluster().is_some();
        if worth_it {
            Some(self.get_snapshot_builder().await)
        } else {
            None
        }
    }

    async fn get_snapshot_builder(&mut self) -> CheckpointBuilder {
        self.checkpoint_due.bytes = 0;
        CheckpointBuilder {
            state: self.state.clone(),
            meta: self.meta(),
            checkpoints: self.checkpoints.clone(),
            offload: self.offload,
            timing: self.timing.clone(),
        }
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta,
        data: CheckpointData,
    ) -> io::Result<()> {
        // openraft has just cut conflicting entries off the log. They must be gone from the disk before the checkpoint
        // is on it: a restart that found both could not tell which is right.
        self.log.all_durable().await?;
        let (checkpoints, began) = (self.checkpoints.clone(), Instant::now());
        let state = self.offload.run(move || checkpoints.install(data)).await?;
        self.timing
            .took(Timed::CheckpointInstalled, began.elapsed());
        self.state = state;
        self.applied = meta.last_log_id;
        self.membership = meta.last_membership.clone();
        self.generation += 1;
        self.checkpoint_due.bytes = 0;
        self.publish();
        Ok(())
    }

    async fn get_current_snapshot(
        &mut self,
    ) -> io::Result<Option<SnapshotOf<TypeConfig, CheckpointData>>> {
        let newest = self.checkpoints.newest()?;
        Ok(newest.map(|(meta, data)| SnapshotOf::<TypeConfig, _> {
            meta,
            snapshot: data,
        }))
    }
}

/// Writes a checkpoint from a clone of the state, while apply goes on.
pub(super) struct CheckpointBuilder {
    state: State,
    meta: SnapshotMeta,
    checkpoints: Checkpoints,
    offload: Offload,
    timing: Timing,
}

impl RaftSnapshotBuilder<TypeConfig> for CheckpointBuilder {
    type SnapshotData = CheckpointData;

    async fn build_snapshot(&mut self) -> io::Result<SnapshotOf<TypeConfig, CheckpointData>> {
        let (state, meta, checkpoints) = (
            self.state.clone(),
            self.meta.clone(),
            self.checkpoints.clone(),
        );
        let began = Instant::now();
        let data = self
            .offload
            .run(move || checkpoints.write(&meta, &state))
            .await?;
        self.timing.took(Timed::CheckpointWritten, began.elapsed());
        Ok(SnapshotOf::<TypeConfig, _> {
            meta: self.meta.clone(),
            snapshot: data,
        })
    }
}
