//! The settings of consensus, and the configuration that openraft gets from them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openraft::{Config, SnapshotPolicy};

use super::ReplicaId;
use crate::limits::{LOG_KEPT_BYTES_MAX, RAFT_REQUESTS_MAX};

/// The settings of consensus. The defaults are for replicas in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsensusConfig {
    /// Where this replica keeps its log and its checkpoints.
    pub data_dir: PathBuf,
    /// This replica's id.
    pub replica: ReplicaId,
    /// The name of the cluster: replicas of differently named clusters refuse each other.
    pub cluster_name: String,
    /// The interval at which a leader sends heartbeats.
    pub heartbeat: Duration,
    /// The shortest time that a follower waits, after the leader's lease has run out, before it stands for election.
    pub election_timeout_min: Duration,
    /// The longest such time. It is also the leader's lease: a leader that no quorum has answered for this long takes
    /// no proposals, and no replica votes against a leader that it has heard from within this time.
    pub election_timeout_max: Duration,
    /// A checkpoint is written after this many entries.
    pub checkpoint_entries: u64,
    /// A checkpoint is written after this many bytes of entries.
    pub checkpoint_bytes: u64,
    /// The length of a segment of the log, in bytes; a longer batch gets a longer one.
    pub segment_bytes: u64,
    /// The number of log entries already covered by checkpoints that are kept for followers slightly behind: no fewer
    /// than are written while a checkpoint is being sent to a follower.
    pub kept_entries: u64,
    /// When the log takes more bytes than this, entries covered by checkpoints are purged, however few remain.
    pub log_bytes: u64,
}

impl ConsensusConfig {
    /// The default settings for a replica of the cluster with this name.
    #[must_use]
    pub fn new(data_dir: PathBuf, replica: ReplicaId, cluster_name: String) -> Self {
        Self {
            data_dir,
            replica,
            cluster_name,
            heartbeat: Duration::from_millis(75),
            election_timeout_min: Duration::from_millis(250),
            election_timeout_max: Duration::from_millis(450),
            checkpoint_entries: 20_000,
            checkpoint_bytes: 64 << 20,
            segment_bytes: 16 << 20,
            kept_entries: 5_000,
            log_bytes: LOG_KEPT_BYTES_MAX,
        }
    }

    /// # Errors
    ///
    /// [`InvalidConfig`], in openraft's words, when the settings contradict each other.
    pub(crate) fn raft(&self) -> Result<Arc<Config>, InvalidConfig> {
        let election_timeout_max = millis(self.election_timeout_max);
        let config = Config {
            cluster_name: self.cluster_name.clone(),
            heartbeat_interval: millis(self.heartbeat),
            election_timeout_min: millis(self.election_timeout_min),
            election_timeout_max,
            snapshot_policy: SnapshotPolicy::LogsSinceLast(self.checkpoint_entries),
            max_in_snapshot_log_to_keep: self.kept_entries,
            install_snapshot_timeout: millis(INSTALL_TIMEOUT),
            max_payload_entries: MAX_APPEND_ENTRIES,
            api_channel_size: Some(RAFT_REQUESTS_MAX),
            // An unreachable replica is tried again soon at first: most of them are being restarted.
            backoff: "20ms 40ms 80ms ...1s".to_owned(),
            // openraft's clocks must not suppress the heartbeats that reads ask for.
            heartbeat_min_interval: Some(0),
            // Without it, a replica that comes back from a partition with a higher term deposes a healthy leader.
            enable_pre_vote: Some(true),
            // Two phases of an old leader's heartbeats must not keep a connected quorum from electing (openraft #2080).
            quorum_loss_probe_interval: Some(2 * election_timeout_max + millis(self.heartbeat)),
            // Only an election tells a restarted leader, whose state machine lost its last steps, what is committed.
            enable_leader_restore: Some(false),
            ..Config::default()
        };
        config
            .validate()
            .map(Arc::new)
            .map_err(|error| InvalidConfig(error.to_string()))
    }
}

/// The values of a [`ConsensusConfig`] contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the timing of consensus is contradictory: {0}")]
pub struct InvalidConfig(String);

/// The longest time for sending and installing a checkpoint altogether.
pub(crate) const INSTALL_TIMEOUT: Duration = Duration::from_secs(600);

/// The most entries in one append; the log caps its bytes.
const MAX_APPEND_ENTRIES: u64 = 512;

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> ConsensusConfig {
        ConsensusConfig::new(PathBuf::new(), ReplicaId::new(1), "test".to_owned())
    }

    #[test]
    fn the_defaults_agree_with_each_other() {
        let raft = config().raft().unwrap();
        assert_eq!(raft.enable_pre_vote, Some(true));
        assert_eq!(raft.enable_leader_restore, Some(false));
        assert_eq!(raft.heartbeat_min_interval, Some(0));
    }

    #[test]
    fn an_election_timeout_below_the_heartbeat_is_refused() {
        let config = ConsensusConfig {
            election_timeout_min: Duration::from_millis(10),
            ..config()
        };
        let refused = config.raft().unwrap_err();
        assert!(refused.to_string().contains("contradictory"), "{refused}");
    }
}
