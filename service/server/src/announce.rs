//! What a replica says of itself in the log: where it serves clients, and which behaviours of apply it knows.
//!
//! The first is what clients are sent to when it leads. The second lets the leader raise the behaviour of apply once
//! every replica has said that it knows the new one.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    AnnounceReplica, Command, Envelope, MACHINE_VERSION, RaiseMachineVersion, ReplicaRow, State,
};
use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::limits::DEADLINE_DEFAULT;
use crate::proposer::Proposer;
use crate::stop::Stop;

/// How long to wait before trying again, and between looks at the machine version.
const PAUSE: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_secs(10);

/// See the module.
pub(crate) struct Announcer {
    pub(crate) consensus: Consensus,
    pub(crate) proposer: Proposer,
    /// Where clients reach this replica.
    pub(crate) client_endpoint: String,
}

impl Announcer {
    /// Announces this replica, and then raises the machine version whenever it can be raised, until `stop`.
    pub(crate) async fn run(self, stop: Stop) {
        let work = async {
            self.announce().await;
            loop {
                self.raise().await;
                tokio::time::sleep(PERIOD).await;
            }
        };
        tokio::select! {
            biased;
            () = stop.requested() => {}
            () = work => {}
        }
    }

    async fn announce(&self) {
        let identity = self.consensus.identity();
        let announcement = AnnounceReplica {
            replica: identity.replica,
            directory: identity.directory,
            client_endpoint: self.client_endpoint.clone(),
            binary: env!("CARGO_PKG_VERSION").to_owned(),
            machine_version: MACHINE_VERSION,
        };
        let mut progress = self.consensus.subscribe();
        loop {
            let published = self.consensus.published();
            if is_known(&published.state, &announcement) {
                return;
            }
            if published.state.cluster().is_some() {
                self.propose(Command::AnnounceReplica(announcement.clone()))
                    .await;
            }
            // Something new was applied, or some time went by: look again.
            let _ = tokio::time::timeout(PAUSE, progress.changed()).await;
        }
    }

    /// Raises the machine version to what every replica knows, if this one leads.
    async fn raise(&self) {
        if !self.consensus.leadership().borrow().is_me {
            return;
        }
        let published = self.consensus.published();
        let replicas = self.consensus.replicas();
        let known = |id| {
            published
                .state
                .replicas()
                .find(|(other, _)| *other == id)
                .map(|(_, row)| row.machine_version)
        };
        let lowest = replicas.keys().map(|id| known(*id).unwrap_or(0)).min();
        let Some(to) = lowest else { return };
        if to > published.state.machine_version() {
            self.propose(Command::RaiseMachineVersion(RaiseMachineVersion {
                to,
                replicas: replicas.into_keys().collect(),
            }))
            .await;
        }
    }

    async fn propose(&self, command: Command) {
        let envelope = Envelope {
            request: None,
            command: Arc::new(command),
        };
        let deadline = Instant::now() + DEADLINE_DEFAULT;
        let outcome = self
            .proposer
            .execute(&envelope, deadline, Arc::from("announcement"))
            .await;
        match outcome.map(|outcome| outcome.result) {
            Ok(Ok(_)) => {}
            Ok(Err(refusal)) | Err(refusal) => tracing::debug!(%refusal, "not announced yet"),
        }
    }
}

fn is_known(state: &State, announcement: &AnnounceReplica) -> bool {
    let row = ReplicaRow {
        directory: announcement.directory,
        client_endpoint: announcement.client_endpoint.clone(),
        binary: announcement.binary.clone(),
        machine_version: announcement.machine_version,
    };
    state
        .replicas()
        .any(|(id, known)| id == announcement.replica && *known == row)
}
