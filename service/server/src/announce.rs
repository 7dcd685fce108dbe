//! Announces this replica in the log: where it serves clients, which version of the rules of apply it knows, and
//! whether its disk is low.
//!
//! Clients are sent to the leader's announced endpoint. The announced machine versions let the leader raise the
//! cluster's machine version once every replica knows the new one.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{AnnounceReplica, Command, Envelope, RaiseMachineVersion, ReplicaRow, State};
use synod_model::known_machine_version;
use tokio::time::Instant;

use crate::consensus::{Consensus, ReplicaId};
use crate::limits::{DEADLINE_DEFAULT, LOW_AND_SILENT_MAX};
use crate::proposer::Proposer;
use crate::room::Room;
use crate::stop::Stop;
use crate::traces::Span;

/// The pause before a failed announcement is tried again, and between looks at the disk.
const PAUSE: Duration = Duration::from_secs(1);
/// The time between two looks of the leader for stale low-disk rows.
const PERIOD: Duration = Duration::from_secs(10);

/// The task that keeps this replica's announcement up to date.
pub(crate) struct Announcer {
    pub(crate) consensus: Consensus,
    pub(crate) proposer: Proposer,
    /// The address at which clients reach this replica.
    pub(crate) client_endpoint: String,
    pub(crate) room: Room,
}

impl Announcer {
    /// Until `stop`: announces this replica whenever its announced row is out of date, and does the leader's tasks.
    pub(crate) async fn run(mut self, stop: Stop) {
        let work = async {
            let mut looked = None;
            loop {
                let is_announced = self.announce().await;
                self.raise().await;
                if looked.is_none_or(|at: Instant| at.elapsed() >= PERIOD) {
                    looked = Some(Instant::now());
                    self.excuse().await;
                }
                self.pause(is_announced).await;
            }
        };
        tokio::select! {
            biased;
            () = stop.requested() => {}
            () = work => {}
        }
    }

    /// Proposes this replica's announcement if the state holds a different one. Returns whether it was up to date.
    async fn announce(&mut self) -> bool {
        let disk_is_low = self.room.look().await;
        let identity = self.consensus.identity();
        let announcement = AnnounceReplica {
            replica: identity.replica,
            directory: identity.directory,
            client_endpoint: self.client_endpoint.clone(),
            binary: env!("CARGO_PKG_VERSION").to_owned(),
            machine_version: known_machine_version(),
            disk_is_low,
        };
        let published = self.consensus.published();
        if is_known(&published.state, &announcement) {
            return true;
        }
        if published.state.cluster().is_some() {
            self.propose(Command::AnnounceReplica(announcement)).await;
        }
        false
    }

    /// Waits for the next look. If an announcement was just proposed, a newly applied entry ends the wait early, and so does
    /// the announcement that lets this replica raise the machine version.
    async fn pause(&self, is_announced: bool) {
        let until = Instant::now() + PAUSE;
        let mut progress = self.consensus.subscribe();
        let may_raise =
            || self.consensus.published().state.machine_version() < known_machine_version();
        while !is_announced || may_raise() {
            match tokio::time::timeout_at(until, progress.changed()).await {
                Ok(Ok(())) if !is_announced || self.raisable().is_some() => return,
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
        tokio::time::sleep_until(until).await;
    }

    /// If this replica leads: clears the low-disk mark of replicas that have not answered for `LOW_AND_SILENT_MAX`. A
    /// replica that is gone must not keep writes refused; when it is back, it announces its disk again.
    async fn excuse(&self) {
        let published = self.consensus.published();
        for (replica, row) in published.state.replicas() {
            let silence = self.consensus.silence(replica);
            let is_gone = silence.is_some_and(|silence| silence >= LOW_AND_SILENT_MAX);
            let is_me = replica == self.consensus.replica();
            if is_me || !row.disk_is_low || !is_gone {
                continue;
            }
            self.propose(Command::AnnounceReplica(AnnounceReplica {
                replica,
                directory: row.directory,
                client_endpoint: row.client_endpoint.clone(),
                binary: row.binary.clone(),
                machine_version: row.machine_version,
                disk_is_low: false,
            }))
            .await;
        }
    }

    /// If this replica leads: raises the machine version to the highest one that every replica knows.
    async fn raise(&self) {
        if let Some(raise) = self.raisable() {
            self.propose(Command::RaiseMachineVersion(raise)).await;
        }
    }

    /// The raise that is due, if this replica leads.
    fn raisable(&self) -> Option<RaiseMachineVersion> {
        if !self.consensus.leadership().borrow().is_me {
            return None;
        }
        let published = self.consensus.published();
        let replicas = self.consensus.replicas();
        let known = |id| announced(&published.state, id).unwrap_or(0);
        let to = replicas.keys().map(|id| known(*id)).min()?;
        // A version that others brought and this build does not know is theirs to raise.
        let to = to.min(known_machine_version());
        (to > published.state.machine_version()).then(|| RaiseMachineVersion {
            to,
            replicas: replicas.into_keys().collect(),
        })
    }

    async fn propose(&self, command: Command) {
        let envelope = Envelope {
            actor: None,
            request: None,
            command: Arc::new(command),
        };
        let deadline = Instant::now() + DEADLINE_DEFAULT;
        let outcome = self
            .proposer
            .execute(
                &envelope,
                deadline,
                Arc::from("announcement"),
                &Span::default(),
            )
            .await;
        match outcome.map(|outcome| outcome.result) {
            Ok(Ok(_)) => {}
            Ok(Err(refusal)) | Err(refusal) => tracing::debug!(%refusal, "not announced yet"),
        }
    }
}

/// Whether the machine version of this build is about to be in force: it is not yet, and no replica has said that it does
/// not know it.
pub(crate) fn is_rising(consensus: &Consensus) -> bool {
    let state = &consensus.published().state;
    let replicas = consensus.replicas();
    let mut known = replicas.keys().map(|id| announced(state, *id));
    state.machine_version() < known_machine_version()
        && known.all(|version| version.is_none_or(|version| version >= known_machine_version()))
}

/// The machine version that a replica has announced.
fn announced(state: &State, replica: ReplicaId) -> Option<u32> {
    let mut rows = state.replicas();
    let row = rows.find(|(id, _)| *id == replica);
    row.map(|(_, row)| row.machine_version)
}

fn is_known(state: &State, announcement: &AnnounceReplica) -> bool {
    let row = ReplicaRow {
        directory: announcement.directory,
        client_endpoint: announcement.client_endpoint.clone(),
        binary: announcement.binary.clone(),
        machine_version: announcement.machine_version,
        disk_is_low: announcement.disk_is_low,
    };
    state
        .replicas()
        .any(|(id, known)| id == announcement.replica && *known == row)
}
