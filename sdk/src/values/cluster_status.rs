//! The status of the cluster.

use synod_model::{LogTime, Revision, Violations};
use synod_proto::{messages, v1, wire_enums};

use super::{Header, ReplicaVitals};

/// The status of the cluster, as one replica sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// The replica that answered, and its own revision.
    pub header: Header,
    /// The name that the replicas were started with.
    pub cluster_name: String,
    /// The version of the replica's program.
    pub version: String,
    /// The version of the rules of apply that is in force.
    pub machine_version: u32,
    /// The leader, if the replica knows one.
    pub leader_id: Option<u64>,
    /// The replica set, ordered by id.
    pub replicas: Vec<ReplicaStatus>,
    /// The replica's log time.
    pub log_time: LogTime,
    /// The last log index that the replica has applied.
    pub applied_index: u64,
    /// The digest of the replica's state, in lower-case hexadecimal digits.
    pub digest: String,
    /// The log index at which `digest` was taken: at equal indexes all replicas must have equal digests.
    pub digest_index: u64,
    /// The oldest revision from which a watch of all kinds can begin.
    pub oldest_revision: Revision,
    /// The oldest revision from which a watch can begin that names only kinds of the upgrade history:
    /// [`ObjectKind::is_in_upgrade_history`](crate::ObjectKind::is_in_upgrade_history). Zero if the replica's release has none.
    pub oldest_upgrade_revision: Revision,
    /// What an operator must look at; empty if all is well.
    pub alarms: Vec<Alarm>,
    /// What the replica tells of its host and of the size of its state; `None`: its release does not tell.
    pub vitals: Option<ReplicaVitals>,
}

/// One replica of the replica set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Its number.
    pub replica_id: u64,
    /// The address at which the other replicas reach it.
    pub peer_address: String,
    /// The address at which clients reach it; empty if it has not announced itself yet.
    pub client_address: String,
    /// The identity of its data directory, as 32 lower-case hexadecimal digits.
    pub directory_id: String,
    /// Its role in the replica set.
    pub role: ReplicaRole,
    /// The version of its program; empty if it has not announced itself yet.
    pub version: String,
    /// The highest machine version that it has announced; 0 if it has not announced itself yet.
    pub machine_version: u32,
    /// The last log index that it has applied, if the replica that answers knows.
    pub applied_index: Option<u64>,
    /// The last log index that it has stored, if the replica that answers knows: the leader does.
    pub matched_index: Option<u64>,
}

/// The role of a replica in the replica set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaRole {
    /// It votes in Raft and counts for the quorum.
    Voter,
    /// It follows the log, and does not count for the quorum.
    Learner,
}

impl ReplicaRole {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Voter => "voter",
            Self::Learner => "learner",
        }
    }
}

/// Something that an operator must look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// The kind of the alarm.
    pub kind: AlarmKind,
    /// The replica that the alarm is about; `None` if it is about the cluster.
    pub replica_id: Option<u64>,
    /// What is wrong and what to do, as a sentence for people.
    pub message: String,
}

/// The kind of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlarmKind {
    /// No leader is known, or the leader gets no answer from a quorum.
    NoQuorum,
    /// The digests of the replicas differ and no majority is right: all refuse writes.
    DigestMismatch,
    /// The state is at its quota.
    Quota,
    /// The replica's disk is nearly full.
    DiskFull,
    /// A checkpoint of the replica failed its check and was put aside, or one that a leader sent it was refused.
    DamagedCheckpoint,
    /// The replica's data directory went back in time: it is refused and does not vote.
    WentBack,
    /// A certificate, a key or a CA bundle of the replica expires soon or has expired, or its file was replaced by one that
    /// cannot be used.
    Certificate,
    /// The file of the replica's policy was replaced by one that cannot be used, so that the policy read before stays in use.
    Policy,
    /// Lines of the replica's audit log were lost within the last hour.
    Audit,
    /// The end of the replica's log was cut off, and may have been acknowledged: it does not vote before it has caught up with a
    /// leader.
    NotVoting,
    /// A feature is switched off by a setting.
    SwitchedOff,
    /// An alarm that this client does not know.
    Other,
}

impl AlarmKind {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoQuorum => "no-quorum",
            Self::DigestMismatch => "digest-mismatch",
            Self::Quota => "quota",
            Self::DiskFull => "disk-full",
            Self::DamagedCheckpoint => "damaged-checkpoint",
            Self::WentBack => "went-back",
            Self::Certificate => "certificate",
            Self::Policy => "policy",
            Self::Audit => "audit",
            Self::NotVoting => "not-voting",
            Self::SwitchedOff => "switched-off",
            Self::Other => "other",
        }
    }
}

wire_enums! {
    v1::ReplicaRole = ReplicaRole { Voter = Voter, Learner = Learner }
}

messages! {
    v1::ClusterStatusResponse = ClusterStatus {
        header = header,
        cluster_name = cluster_name,
        version = version,
        machine_version = machine_version,
        leader_id = leader_id,
        replicas = replicas,
        log_time = log_time_ms,
        applied_index = applied_index,
        digest = digest,
        digest_index = digest_index,
        oldest_revision = oldest_revision,
        oldest_upgrade_revision = oldest_upgrade_revision,
        alarms = alarms,
        vitals = vitals,
    }
    v1::ReplicaStatus = ReplicaStatus {
        replica_id = replica_id,
        peer_address = peer_address,
        client_address = client_address,
        directory_id = directory_id,
        role = role,
        version = version,
        machine_version = machine_version,
        applied_index = applied_index,
        matched_index = matched_index,
    }
    v1::Alarm = Alarm {
        kind = kind by lenient,
        replica_id = replica_id by unless_zero,
        message = message,
    }
}

/// The kind of an alarm: a kind that this release does not know is [`AlarmKind::Other`].
mod lenient {
    use super::*;

    const KNOWN: [(AlarmKind, v1::AlarmKind); 11] = [
        (AlarmKind::NoQuorum, v1::AlarmKind::NoQuorum),
        (AlarmKind::DigestMismatch, v1::AlarmKind::DigestMismatch),
        (AlarmKind::Quota, v1::AlarmKind::Quota),
        (AlarmKind::DiskFull, v1::AlarmKind::DiskFull),
        (
            AlarmKind::DamagedCheckpoint,
            v1::AlarmKind::DamagedCheckpoint,
        ),
        (AlarmKind::WentBack, v1::AlarmKind::WentBack),
        (AlarmKind::Certificate, v1::AlarmKind::Certificate),
        (AlarmKind::Policy, v1::AlarmKind::Policy),
        (AlarmKind::Audit, v1::AlarmKind::Audit),
        (AlarmKind::NotVoting, v1::AlarmKind::NotVoting),
        (AlarmKind::SwitchedOff, v1::AlarmKind::SwitchedOff),
    ];

    pub(super) fn write(kind: &AlarmKind) -> i32 {
        let known = KNOWN.iter().find(|(known, _)| known == kind);
        known.map_or(0, |(_, sent)| (*sent).into())
    }

    pub(super) fn read(pb: i32) -> Result<AlarmKind, Violations> {
        let known = KNOWN.iter().find(|(_, sent)| i32::from(*sent) == pb);
        Ok(known.map_or(AlarmKind::Other, |(kind, _)| *kind))
    }
}

/// The number of a replica; zero stands for none.
mod unless_zero {
    use super::*;

    pub(super) fn write(replica: &Option<u64>) -> u64 {
        replica.unwrap_or(0)
    }

    pub(super) fn read(pb: u64) -> Result<Option<u64>, Violations> {
        Ok((pb > 0).then_some(pb))
    }
}
