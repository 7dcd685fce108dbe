use crate::{Absent, Drain, Drained, Labels, Persisted, Revision, StorageState};
use serde_json::{Value, json};

use super::{Object, list, metadata, number, resource, revision, text, version};

/// The message `StorageState`.
pub fn storage_state(state: &StorageState) -> Value {
    Object::new()
        .with(
            "metadata",
            metadata(&state.name, &state.metadata, &Labels::default()),
        )
        .with("resource", resource(&state.resource))
        .with_some("selectedVersion", version(state.selected.as_ref()))
        .with("selectedRevision", revision(state.selected_revision))
        .with("agreementRevision", revision(state.agreement_revision))
        .with_some("currentVersion", version(state.current.as_ref()))
        .with("persisted", list(&state.persisted, persisted))
        .with("drains", list(&state.drains, drain))
        .with_some("commonEncodingVersion", version(state.common.as_ref()))
        .with("observedHashes", list(&state.observed, text))
        .with(
            "observedKind",
            state
                .observed_kind
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
        )
        .with("observationExpired", state.observation_expired)
        .with("contradicted", state.contradicted)
        .with_some("currentHash", state.current_hash.as_ref().map(text))
        .with_some(
            "absent",
            (!state.absent.is_empty()).then(|| absent(&state.absent)),
        )
        .with(
            "onTrustSince",
            revision(state.on_trust_since.unwrap_or(Revision::ZERO)),
        )
        .into()
}

fn persisted(persisted: &Persisted) -> Value {
    let hash = persisted
        .hash()
        .map_or_else(String::new, |hash| hash.to_string());
    Object::new()
        .with("unknown", persisted.hash().is_none())
        .with("hash", hash)
        .with_some("version", persisted.version().map(text))
        .into()
}

/// The message `AbsentMembers`.
fn absent(absent: &Absent) -> Value {
    json!({
        "members": list(&absent.members, text),
        "unnamed": absent.unnamed,
        "short": absent.short,
        "labelSelector": absent.labels.to_string(),
        "message": absent.to_string(),
    })
}

fn drain(drain: &Drain) -> Value {
    let (version, hash) = match &drain.encoding {
        Drained::Version(version) => (version.to_string(), String::new()),
        Drained::Hash(hash) => (String::new(), hash.to_string()),
    };
    json!({
        "version": version,
        "untilLogTimeMs": number(drain.until.as_millis()),
        "hash": hash,
    })
}
