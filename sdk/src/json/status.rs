use crate::{Alarm, AlarmKind, ClusterStatus, ReplicaRole, ReplicaStatus};
use serde_json::Value;

use super::{Object, header, list, number, revision};

/// The message `ClusterStatusResponse`.
pub fn cluster_status(status: &ClusterStatus) -> Value {
    Object::new()
        .with("header", header(&status.header))
        .with("clusterName", status.cluster_name.as_str())
        .with("version", status.version.as_str())
        .with("machineVersion", status.machine_version)
        .with_some("leaderId", status.leader_id.map(number))
        .with("replicas", list(&status.replicas, replica))
        .with("logTimeMs", number(status.log_time.as_millis()))
        .with("appliedIndex", number(status.applied_index))
        .with("digest", status.digest.as_str())
        .with("digestIndex", number(status.digest_index))
        .with("oldestRevision", revision(status.oldest_revision))
        .with("alarms", list(&status.alarms, alarm))
        .into()
}

fn replica(replica: &ReplicaStatus) -> Value {
    let role = match replica.role {
        ReplicaRole::Voter => "REPLICA_ROLE_VOTER",
        ReplicaRole::Learner => "REPLICA_ROLE_LEARNER",
    };
    Object::new()
        .with("replicaId", number(replica.replica_id))
        .with("peerAddress", replica.peer_address.as_str())
        .with("clientAddress", replica.client_address.as_str())
        .with("directoryId", replica.directory_id.as_str())
        .with("role", role)
        .with("version", replica.version.as_str())
        .with("machineVersion", replica.machine_version)
        .with_some("appliedIndex", replica.applied_index.map(number))
        .with_some("matchedIndex", replica.matched_index.map(number))
        .into()
}

fn alarm(alarm: &Alarm) -> Value {
    let kind = match alarm.kind {
        AlarmKind::NoQuorum => "ALARM_KIND_NO_QUORUM",
        AlarmKind::DigestMismatch => "ALARM_KIND_DIGEST_MISMATCH",
        AlarmKind::Quota => "ALARM_KIND_QUOTA",
        AlarmKind::DiskFull => "ALARM_KIND_DISK_FULL",
        AlarmKind::DamagedCheckpoint => "ALARM_KIND_DAMAGED_CHECKPOINT",
        AlarmKind::WentBack => "ALARM_KIND_WENT_BACK",
        _ => "ALARM_KIND_UNSPECIFIED",
    };
    Object::new()
        .with("kind", kind)
        .with("replicaId", number(alarm.replica_id.unwrap_or(0)))
        .with("message", alarm.message.as_str())
        .into()
}
