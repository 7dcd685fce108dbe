use serde_json::{Value, json};

use super::{header, list, number, resource};
use crate::{Assumed, Assumption, Danger, DangerReason, LogTime, Safety};

/// The message `StorageVersionsCheckBinaryResponse`, and that of `CheckDrop`, which is the same.
pub fn safety(safety: &Safety) -> Value {
    json!({
        "header": header(&safety.header),
        "safe": safety.is_safe(),
        "dangers": list(&safety.dangers, danger),
        "omitted": safety.omitted,
        "logTimeMs": number(safety.log_time.as_millis()),
        "assumptions": list(&safety.assumptions, assumed),
    })
}

/// The message `Assumption`.
pub fn assumed(assumed: &Assumed) -> Value {
    json!({
        "reason": assumption(Some(assumed.reason)),
        "message": assumed.message,
        "resources": list(&assumed.resources, resource),
        "omitted": assumed.omitted,
    })
}

/// The name of what is assumed.
pub(super) fn assumption(assumption: Option<Assumption>) -> &'static str {
    match assumption {
        None => "ASSUMPTION_REASON_UNSPECIFIED",
        Some(Assumption::NoRoster) => "ASSUMPTION_REASON_NO_ROSTER",
        Some(Assumption::SnapshotVersionUnknown) => "ASSUMPTION_REASON_SNAPSHOT_VERSION_UNKNOWN",
        Some(Assumption::LeftToOthers) => "ASSUMPTION_REASON_LEFT_TO_OTHERS",
    }
}

/// What a danger names, each empty where it does not.
#[derive(Default)]
struct Named {
    version: String,
    hash: String,
    member: String,
    until: Option<LogTime>,
    count: u32,
    snapshot: String,
}

/// The message `Danger`.
fn danger(danger: &Danger) -> Value {
    let mut named = Named::default();
    let reason = reason(&danger.reason, &mut named);
    json!({
        "resource": resource(&danger.resource),
        "reason": reason,
        "version": named.version,
        "hash": named.hash,
        "member": named.member,
        "untilLogTimeMs": number(named.until.unwrap_or(LogTime::ZERO).as_millis()),
        "count": named.count,
        "snapshot": named.snapshot,
        "message": danger.message,
    })
}

fn reason(reason: &DangerReason, named: &mut Named) -> &'static str {
    match reason {
        DangerReason::NoState => "DANGER_REASON_NO_STATE",
        DangerReason::PersistedUnknown => "DANGER_REASON_PERSISTED_UNKNOWN",
        DangerReason::Persisted(version) => {
            named.version = version.to_string();
            "DANGER_REASON_PERSISTED"
        }
        DangerReason::PersistedHash(hash) => {
            named.hash = hash.to_string();
            "DANGER_REASON_PERSISTED_HASH"
        }
        DangerReason::Selected(version) => {
            named.version = version.to_string();
            "DANGER_REASON_SELECTED"
        }
        DangerReason::Reported(member, version) => {
            (named.member, named.version) = (member.to_string(), version.to_string());
            "DANGER_REASON_REPORTED"
        }
        DangerReason::Voted(member, version) => {
            (named.member, named.version) = (member.to_string(), version.to_string());
            "DANGER_REASON_VOTED"
        }
        DangerReason::Draining(version, until) => {
            (named.version, named.until) = (version.to_string(), Some(*until));
            "DANGER_REASON_DRAINING"
        }
        DangerReason::DrainingHash(hash, until) => {
            (named.hash, named.until) = (hash.to_string(), Some(*until));
            "DANGER_REASON_DRAINING_HASH"
        }
        DangerReason::Observed(hash) => {
            named.hash = hash.to_string();
            "DANGER_REASON_OBSERVED"
        }
        DangerReason::ObservationExpired => "DANGER_REASON_OBSERVATION_EXPIRED",
        DangerReason::Absent(member) => {
            named.member = member.to_string();
            "DANGER_REASON_ABSENT"
        }
        DangerReason::AbsentMore(count) => {
            named.count = *count;
            "DANGER_REASON_ABSENT_MORE"
        }
        DangerReason::NotDecodable(member, version) => {
            (named.member, named.version) = (member.to_string(), version.to_string());
            "DANGER_REASON_NOT_DECODABLE"
        }
        DangerReason::Snapshot(key, version) => {
            (named.snapshot, named.version) = (key.to_string(), version.to_string());
            "DANGER_REASON_SNAPSHOT"
        }
    }
}
