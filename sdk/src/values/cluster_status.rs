//! How the cluster does.

use synod_model::{LogTime, Revision, Violation, Violations};
use synod_proto::v1;

use super::wire::list;
use super::{FromWire, Header};

/// How the cluster does, as one replica sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterStatus {
    /// Who answered, and its own revision.
    pub header: Header,
    /// The name that the replicas were started with.
    pub cluster_name: String,
    /// The version of the replica's program.
    pub version: String,
    /// The behaviour of apply that is in force.
    pub machine_version: u32,
    /// The leader, if the replica knows one.
    pub leader_id: Option<u64>,
    /// The replica set, ordered by id.
    pub replicas: Vec<ReplicaStatus>,
    /// The replica's log time.
    pub log_time: LogTime,
    /// The last log index that the replica has applied.
    pub applied_index: u64,
    /// The digest of its state, in lower-case hexadecimal digits.
    pub digest: String,
    /// The log index at which `digest` was taken: at equal indexes all replicas must have equal digests.
    pub digest_index: u64,
    /// The oldest revision from which a watch can begin.
    pub oldest_revision: Revision,
    /// What an operator must look at; empty if all is well.
    pub alarms: Vec<Alarm>,
}

/// One replica of the replica set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaStatus {
    /// Its number.
    pub replica_id: u64,
    /// Where the other replicas reach it.
    pub peer_address: String,
    /// Where clients reach it; empty if it has not announced itself yet.
    pub client_address: String,
    /// The identity of its data directory, as 32 lower-case hexadecimal digits.
    pub directory_id: String,
    /// What it is in the replica set.
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

/// What a replica is in the replica set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaRole {
    /// It votes and counts for the quorum.
    Voter,
    /// It follows the log and does not count.
    Learner,
}

impl ReplicaRole {
    /// The word for it in tables and JSON.
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
    /// What is wrong.
    pub kind: AlarmKind,
    /// The replica that it is about; `None` if it is about the cluster.
    pub replica_id: Option<u64>,
    /// What is wrong and what to do, as a sentence for people.
    pub message: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlarmKind {
    /// No leader is known, or it is not answered by a quorum.
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
    /// An alarm that this client does not know.
    Other,
}

impl AlarmKind {
    /// The word for it in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoQuorum => "no-quorum",
            Self::DigestMismatch => "digest-mismatch",
            Self::Quota => "quota",
            Self::DiskFull => "disk-full",
            Self::DamagedCheckpoint => "damaged-checkpoint",
            Self::WentBack => "went-back",
            Self::Other => "other",
        }
    }
}

impl FromWire<v1::ClusterStatusResponse> for ClusterStatus {
    fn from_wire(pb: v1::ClusterStatusResponse) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let header = found.parsed("", Header::from_wire(pb.header));
        let replicas = found.parsed("replicas", list(pb.replicas, ReplicaStatus::read));
        let (Some(header), Some(replicas)) = (header, replicas) else {
            return Err(found);
        };
        Ok(Self {
            header,
            cluster_name: pb.cluster_name,
            version: pb.version,
            machine_version: pb.machine_version,
            leader_id: pb.leader_id,
            replicas,
            log_time: LogTime::from_millis(pb.log_time_ms),
            applied_index: pb.applied_index,
            digest: pb.digest,
            digest_index: pb.digest_index,
            oldest_revision: Revision::new(pb.oldest_revision),
            alarms: pb.alarms.into_iter().map(Alarm::read).collect(),
        })
    }
}

impl ReplicaStatus {
    fn read(pb: v1::ReplicaStatus) -> Result<Self, Violation> {
        let role = match pb.role() {
            v1::ReplicaRole::Voter => ReplicaRole::Voter,
            v1::ReplicaRole::Learner => ReplicaRole::Learner,
            v1::ReplicaRole::Unspecified => {
                return Err(Violation::required("must be a role that is known here").at("role"));
            }
        };
        Ok(Self {
            replica_id: pb.replica_id,
            peer_address: pb.peer_address,
            client_address: pb.client_address,
            directory_id: pb.directory_id,
            role,
            version: pb.version,
            machine_version: pb.machine_version,
            applied_index: pb.applied_index,
            matched_index: pb.matched_index,
        })
    }
}

impl Alarm {
    fn read(pb: v1::Alarm) -> Self {
        let kind = match pb.kind() {
            v1::AlarmKind::NoQuorum => AlarmKind::NoQuorum,
            v1::AlarmKind::DigestMismatch => AlarmKind::DigestMismatch,
            v1::AlarmKind::Quota => AlarmKind::Quota,
            v1::AlarmKind::DiskFull => AlarmKind::DiskFull,
            v1::AlarmKind::DamagedCheckpoint => AlarmKind::DamagedCheckpoint,
            v1::AlarmKind::WentBack => AlarmKind::WentBack,
            v1::AlarmKind::Unspecified => AlarmKind::Other,
        };
        Self {
            kind,
            replica_id: (pb.replica_id > 0).then_some(pb.replica_id),
            message: pb.message,
        }
    }
}
