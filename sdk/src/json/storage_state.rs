use crate::{Drain, Labels, Persisted, StorageState};
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

fn drain(drain: &Drain) -> Value {
    json!({
        "version": text(&drain.version),
        "untilLogTimeMs": number(drain.until.as_millis()),
    })
}
