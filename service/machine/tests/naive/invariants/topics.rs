//! What holds of keys and features after every command.

use synod_machine::{State, StateStatus, check_drop};
use synod_model::{Migration, MigrationReason, Persisted, TOPICS_SINCE, TopicKind, feature_level};

/// What was reported before there were topics is no member's promise to hold a key.
pub(crate) fn hold(before: &State, after: &State, has_reports_before_topics: bool) {
    if before.machine_version() < TOPICS_SINCE {
        return;
    }
    if !has_reports_before_topics {
        everybody_holds_every_key_that_is_needed(after);
    }
    no_level_is_unlearned(before, after);
    a_key_is_dropped_only_when_nothing_needs_it(after);
    a_key_is_followed_by_a_rewrite_of_everything(before, after);
}

/// No entry lacks a key that an object may be encrypted with, or a level that may have been used.
fn everybody_holds_every_key_that_is_needed(state: &State) {
    let present = state.present();
    for version in present.storage_versions(None) {
        if TopicKind::of(&version.resource) == TopicKind::Encoding {
            continue;
        }
        let kept = present.storage_state(&version.resource);
        let kept = kept.expect("who is reported has a state");
        for (member, entry) in version.entries() {
            assert!(entry.is_voting(), "{member} votes");
            for needed in kept
                .row
                .status
                .persisted
                .iter()
                .filter_map(Persisted::version)
            {
                assert!(entry.decodable.contains(needed), "{member} reads {needed}");
            }
        }
    }
}

/// The selected level only rises, unless the state was forgotten or reset meanwhile.
fn no_level_is_unlearned(before: &State, after: &State) {
    for kept in before.present().storage_states(None) {
        if TopicKind::of(&kept.resource) != TopicKind::Feature {
            continue;
        }
        let now = after.present().storage_state(&kept.resource);
        let now = now.filter(|now| now.row.metadata.uid == kept.row.metadata.uid);
        let level = |status: &StateStatus| status.selected.as_ref().and_then(feature_level);
        if let Some(now) = now
            && let (Some(then), Some(now)) = (level(&kept.row.status), level(&now.row.status))
        {
            assert!(now >= then, "level {then} is unlearned");
        }
    }
}

/// A key is safe to drop only if nobody has it as what is written, selected or preferred, nothing may be encrypted with it,
/// and no write with it may land.
fn a_key_is_dropped_only_when_nothing_needs_it(state: &State) {
    let (present, now) = (state.present(), state.log_time());
    for kept in present.storage_states(None) {
        if TopicKind::of(&kept.resource) != TopicKind::Key {
            continue;
        }
        let status = &kept.row.status;
        for key in ["v1", "v2", "v3"] {
            let key = synod_model::ApiVersion::parse(key).expect("a legal key");
            if !check_drop(&present, now, &kept.resource, &key).is_safe() {
                continue;
            }
            assert!(!status.persisted.contains(&Persisted::Unknown));
            assert!(status.absent.is_empty(), "somebody is missing");
            let mut persisted = status.persisted.iter();
            assert!(persisted.all(|kept| kept.version() != Some(&key)), "{key}");
            assert!(status.drains.get(&key).is_none_or(|until| *until <= now));
            assert_ne!(status.selected.as_ref(), Some(&key));
            let version = present.storage_version(&kept.resource);
            let entries = version.iter().flat_map(|version| version.entries());
            for (member, entry) in entries {
                assert_ne!(entry.encoding.as_ref(), Some(&key), "{member} writes");
                assert_ne!(entry.preferred(), Some(&key), "{member} prefers");
            }
        }
    }
}

/// The migration that follows an agreement on a key rewrites everything, and none follows one on a feature.
fn a_key_is_followed_by_a_rewrite_of_everything(before: &State, after: &State) {
    let was_there = |migration: &Migration| before.present().migration(&migration.id).is_some();
    for migration in after.present().migrations(None) {
        if was_there(&migration) {
            continue;
        }
        match TopicKind::of(migration.id.resource()) {
            TopicKind::Encoding => {}
            TopicKind::Key | TopicKind::Feature => {
                assert_ne!(migration.reason, MigrationReason::Agreement);
            }
        }
    }
}
