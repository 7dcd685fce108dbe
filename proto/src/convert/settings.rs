use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::{GroupResource, Revision, Settings, SettingsPatch, Violations};

use crate::fields::{list, millis, sound};
use crate::v1;

impl From<&Settings> for v1::Settings {
    fn from(settings: &Settings) -> Self {
        Self {
            resource_version: settings.revision.get(),
            history_revisions: settings.history_revisions,
            history_bytes: settings.history_bytes,
            write_grace_ms: millis(settings.write_grace),
            unreported_grace_ms: millis(settings.unreported_grace),
            session_ttl_ms: millis(settings.session_ttl),
            session_outcomes: settings.session_outcomes,
            sessions_max: settings.sessions_max,
            members_max: settings.members_max,
            report_entries_max: settings.report_entries_max,
            agreements_kept: settings.agreements_kept,
            state_quota_bytes: settings.state_quota_bytes,
            migrations_kept: settings.migrations_kept,
            discovery_period_ms: millis(settings.discovery_period),
            enforce_persisted: settings.enforce_persisted.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Settings> for Settings {
    type Error = Violations;

    fn try_from(pb: v1::Settings) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let settings = Self {
            history_revisions: pb.history_revisions,
            history_bytes: pb.history_bytes,
            write_grace: Duration::from_millis(pb.write_grace_ms),
            unreported_grace: Duration::from_millis(pb.unreported_grace_ms),
            session_ttl: Duration::from_millis(pb.session_ttl_ms),
            session_outcomes: pb.session_outcomes,
            sessions_max: pb.sessions_max,
            members_max: pb.members_max,
            report_entries_max: pb.report_entries_max,
            agreements_kept: pb.agreements_kept,
            state_quota_bytes: pb.state_quota_bytes,
            migrations_kept: pb.migrations_kept,
            discovery_period: Duration::from_millis(pb.discovery_period_ms),
            enforce_persisted: resources(pb.enforce_persisted, "enforcePersisted", &mut found),
            revision: Revision::new(pb.resource_version),
        };
        found.extend_at("", settings.check());
        sound(settings, found)
    }
}

impl From<&SettingsPatch> for v1::SettingsPatch {
    fn from(patch: &SettingsPatch) -> Self {
        Self {
            history_revisions: patch.history_revisions,
            history_bytes: patch.history_bytes,
            write_grace_ms: patch.write_grace.map(millis),
            unreported_grace_ms: patch.unreported_grace.map(millis),
            session_ttl_ms: patch.session_ttl.map(millis),
            session_outcomes: patch.session_outcomes,
            sessions_max: patch.sessions_max,
            members_max: patch.members_max,
            report_entries_max: patch.report_entries_max,
            agreements_kept: patch.agreements_kept,
            state_quota_bytes: patch.state_quota_bytes,
            migrations_kept: patch.migrations_kept,
            discovery_period_ms: patch.discovery_period.map(millis),
            enforce_persisted: patch.enforce_persisted.as_ref().map(|resources| {
                v1::GroupResourceList {
                    items: resources.iter().map(Into::into).collect(),
                }
            }),
        }
    }
}

impl TryFrom<v1::SettingsPatch> for SettingsPatch {
    type Error = Violations;

    fn try_from(pb: v1::SettingsPatch) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let enforced = pb
            .enforce_persisted
            .map(|list| resources(list.items, "enforcePersisted.items", &mut found));
        let patch = Self {
            history_revisions: pb.history_revisions,
            history_bytes: pb.history_bytes,
            write_grace: pb.write_grace_ms.map(Duration::from_millis),
            unreported_grace: pb.unreported_grace_ms.map(Duration::from_millis),
            session_ttl: pb.session_ttl_ms.map(Duration::from_millis),
            session_outcomes: pb.session_outcomes,
            sessions_max: pb.sessions_max,
            members_max: pb.members_max,
            report_entries_max: pb.report_entries_max,
            agreements_kept: pb.agreements_kept,
            state_quota_bytes: pb.state_quota_bytes,
            migrations_kept: pb.migrations_kept,
            discovery_period: pb.discovery_period_ms.map(Duration::from_millis),
            enforce_persisted: enforced,
        };
        found.extend_at("", patch.check());
        sound(patch, found)
    }
}

fn resources(
    items: Vec<v1::GroupResource>,
    path: &str,
    found: &mut Violations,
) -> BTreeSet<GroupResource> {
    found
        .parsed(path, list(items, GroupResource::try_from))
        .unwrap_or_default()
}
