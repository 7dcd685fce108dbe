//! The reasons for which a replica must end its process, and the alarm that ends it.

use crate::seams::watch;

/// Why this process must end. Each of these means that going on could lose or invent data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fatal {
    /// The disk failed, or an entry could not be applied: openraft has stopped.
    #[error("this replica cannot go on: {0}")]
    Storage(String),
    /// Raft's task panicked.
    #[error("this replica cannot go on: consensus panicked; the log above says where")]
    Panicked,
    /// The replica set knows this replica's id with another data directory.
    #[error(
        "the data directory of replica {replica} is not the one that the replica set knows ({detail}); its votes and its log are \
         lost, so it must never come back under this id: remove it from the replica set and add a replica with a fresh id"
    )]
    WrongDirectory {
        /// This replica's id.
        replica: super::ReplicaId,
        /// Which replica said so, and which directory it knows.
        detail: String,
    },
    /// The replica set has let this replica go.
    #[error(
        "replica {replica} has left the replica set, as replica {by} says: it is not needed any more. Disable its service, \
         then its data directory can be deleted. To take part again it needs an empty one and an id that no replica has had (`synod cluster add`)"
    )]
    Left {
        /// This replica's id.
        replica: super::ReplicaId,
        /// The replica that said so.
        by: super::ReplicaId,
    },
    /// Another replica remembers more of this one's log than its data directory holds.
    #[error(
        "the data directory of replica {replica} went back in time: replica {by} remembers an entry that it had acknowledged \
         and that lies beyond the end of its log. Votes and acknowledged entries are lost with it, so it must not take part \
         again; its files are as they were. Keep them, and replace this replica by a fresh one (`synod cluster replace`)"
    )]
    WentBack {
        /// This replica's id.
        replica: super::ReplicaId,
        /// The replica that remembers the entry.
        by: super::ReplicaId,
    },
    /// The leader would replace entries that this replica knows to be committed.
    #[error(
        "the leader's log lacks entries that are committed here ({detail}): data directories of other replicas went back in \
         time, or were exchanged. This replica has stopped instead of cutting its log, and its files are as they were; it may \
         be the only one that holds acknowledged writes. Keep its data directory, stop the others, find out whose directories \
         are old, and replace those (`synod cluster replace`) before this one starts again"
    )]
    Contradicted {
        /// What is committed here, and what the leader has in its place.
        detail: String,
    },
    /// The states of the replicas differ, and this one is in the minority.
    #[error(
        "this replica's state differs from the others' at log index {index}: its memory or disk is probably faulty; \
         keep its data directory and check the hardware"
    )]
    Diverged {
        /// The log index at which the digests were compared.
        index: u64,
    },
}

/// The alarm that ends the process. Later alarms are dropped: the first one stays.
#[derive(Clone, Debug)]
pub(crate) struct Alarm(watch::Sender<Option<Fatal>>);

impl Alarm {
    pub(crate) fn new() -> Self {
        Self(watch::channel(None).0)
    }

    pub(crate) fn raise(&self, fatal: Fatal) {
        self.0.send_if_modified(|raised| {
            if raised.is_some() {
                return false;
            }
            tracing::error!(%fatal, "this replica must end");
            *raised = Some(fatal);
            true
        });
    }

    /// Resolves once the alarm is raised.
    pub(crate) async fn raised(&self) -> Fatal {
        let mut receiver = self.0.subscribe();
        match receiver.wait_for(Option::is_some).await {
            Ok(Some(fatal)) => fatal,
            // `self` keeps a sender, so the channel cannot close while this waits.
            Ok(None) | Err(watch::Closed) => std::future::pending().await,
        }
    }
}
