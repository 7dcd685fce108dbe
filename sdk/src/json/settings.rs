use crate::{Settings, SettingsView};
use serde_json::{Value, json};

use super::{Object, header, list, millis, number, resource, revision};

/// The message `Settings`.
pub fn settings(settings: &Settings) -> Value {
    // Named one by one, so that a new setting cannot be forgotten here.
    let Settings {
        history_revisions,
        history_bytes,
        write_grace,
        unreported_grace,
        session_ttl,
        session_outcomes,
        sessions_max,
        members_max,
        report_entries_max,
        agreements_kept,
        state_quota_bytes,
        migrations_kept,
        discovery_period,
        enforce_persisted,
        revision: changed,
    } = settings;
    Object::new()
        .with("resourceVersion", revision(*changed))
        .with("historyRevisions", number(*history_revisions))
        .with("historyBytes", number(*history_bytes))
        .with("writeGraceMs", millis(*write_grace))
        .with("unreportedGraceMs", millis(*unreported_grace))
        .with("sessionTtlMs", millis(*session_ttl))
        .with("sessionOutcomes", *session_outcomes)
        .with("sessionsMax", *sessions_max)
        .with("membersMax", *members_max)
        .with("reportEntriesMax", *report_entries_max)
        .with("agreementsKept", *agreements_kept)
        .with("stateQuotaBytes", number(*state_quota_bytes))
        .with("enforcePersisted", list(enforce_persisted, resource))
        .with("migrationsKept", *migrations_kept)
        .with("discoveryPeriodMs", millis(*discovery_period))
        .into()
}

/// The message `ClusterGetSettingsResponse`.
pub fn settings_view(view: &SettingsView) -> Value {
    json!({"header": header(&view.header), "settings": settings(&view.settings)})
}
