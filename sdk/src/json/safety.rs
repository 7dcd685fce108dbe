use crate::{ApiVersion, Danger, DangerReason, LogTime, MemberId, Safety};
use serde_json::{Value, json};

use super::{header, list, number, resource, text};

/// The message `StorageVersionsCheckBinaryResponse`, and that of `CheckDrop`, which is the same.
pub fn safety(safety: &Safety) -> Value {
    json!({
        "header": header(&safety.header),
        "safe": safety.is_safe(),
        "dangers": list(&safety.dangers, danger),
        "omitted": safety.omitted,
        "logTimeMs": number(safety.log_time.as_millis()),
    })
}

/// The message `Danger`.
fn danger(danger: &Danger) -> Value {
    let (mut version, mut hash, mut member) = (None::<&ApiVersion>, None, None::<&MemberId>);
    let mut until = LogTime::ZERO;
    let reason = match &danger.reason {
        DangerReason::NoState => "DANGER_REASON_NO_STATE",
        DangerReason::PersistedUnknown => "DANGER_REASON_PERSISTED_UNKNOWN",
        DangerReason::Persisted(stored) => {
            version = Some(stored);
            "DANGER_REASON_PERSISTED"
        }
        DangerReason::PersistedHash(stored) => {
            hash = Some(stored);
            "DANGER_REASON_PERSISTED_HASH"
        }
        DangerReason::Selected(selected) => {
            version = Some(selected);
            "DANGER_REASON_SELECTED"
        }
        DangerReason::Reported(who, encoded) => {
            (member, version) = (Some(who), Some(encoded));
            "DANGER_REASON_REPORTED"
        }
        DangerReason::Voted(who, preferred) => {
            (member, version) = (Some(who), Some(preferred));
            "DANGER_REASON_VOTED"
        }
        DangerReason::Draining(draining, at) => {
            (version, until) = (Some(draining), *at);
            "DANGER_REASON_DRAINING"
        }
    };
    json!({
        "resource": resource(&danger.resource),
        "reason": reason,
        "version": version.map(text).unwrap_or_default(),
        "hash": hash.map(text).unwrap_or_default(),
        "member": member.map(text).unwrap_or_default(),
        "untilLogTimeMs": number(until.as_millis()),
    })
}
