//! What holds of keys and features after every command.

use std::collections::BTreeSet;

use synod_machine::{Holder, State, StateStatus, StorageStateView, check_drop};
use synod_model::{
    ApiVersion, GroupResource, Migration, MigrationPhase, MigrationReason, Persisted, Switch,
    TOPICS_SINCE, TopicKind, feature_level,
};

/// What was reported before there were topics is no member's promise to hold a key, until it reports again.
pub(crate) fn hold(before: &State, after: &State, has_reports_before_topics: bool) {
    if before.machine_version() < TOPICS_SINCE {
        return;
    }
    everybody_holds_every_key_that_is_needed(before, after, has_reports_before_topics);
    no_level_is_unlearned(before, after);
    a_key_is_dropped_only_when_nothing_needs_it(after);
    a_key_is_followed_by_a_rewrite_of_everything(before, after);
    versions_are_served_as_their_members_can_and_were_promised(before, after);
    what_time_decides_is_due_until_it_is_looked_at(after);
}

/// Where nothing but time has kept a version from being withdrawn, served or let go of, the leader finds it due.
fn what_time_decides_is_due_until_it_is_looked_at(state: &State) {
    let (present, now) = (state.present(), state.log_time());
    for version in present.storage_versions(None) {
        if TopicKind::of(&version.resource) != TopicKind::Served
            || state.settings().votes == Switch::Off
        {
            continue;
        }
        let kept = present.storage_state(&version.resource);
        let kept = kept.expect("who is reported has a state");
        let status = &kept.row.status;
        let value = |text: &str| ApiVersion::parse(text).expect("a legal value");
        let [served, withdrawn] = ["served", "withdrawn"].map(value);
        let all_prefer = |value: &ApiVersion| {
            let mut entries = version.entries();
            entries.all(|(_, entry)| entry.preferred() == Some(value))
        };
        let drains = |value: &ApiVersion| status.drains.get(value).is_some_and(|it| *it > now);
        let is_promised = status.serve_until.is_some_and(|date| date.log > now);
        let is_open = if status.selected.as_ref() == Some(&served) {
            all_prefer(&withdrawn) && !is_promised
        } else {
            all_prefer(&served) && status.absent.is_empty() && !drains(&withdrawn)
        };
        let agreed = status.agreed.as_ref();
        let mut others = named(status).into_iter();
        let is_left = others.any(|it| agreed.is_some_and(|agreed| *agreed != it) && !drains(&it));
        let deadline = state.deadline(&Holder::Topic(version.resource.clone()));
        let is_due = deadline.is_some_and(|at| at <= now);
        assert!(is_due || !(is_open || is_left), "nobody looks at it");
    }
}

/// No version is served that a member cannot serve. None is withdrawn before its date, or while a member prefers that it is
/// served; and that it may be served is not forgotten before all agree, or nobody is left, and nobody who is gone can go on.
fn versions_are_served_as_their_members_can_and_were_promised(before: &State, after: &State) {
    let now = after.log_time();
    let is = |status: &StateStatus, value: &str| {
        let selected = status.selected.as_ref();
        selected.is_some_and(|selected| selected.as_str() == value)
    };
    for kept in after.present().storage_states(None) {
        if TopicKind::of(&kept.resource) != TopicKind::Served {
            continue;
        }
        let status = &kept.row.status;
        let version = after.present().storage_version(&kept.resource);
        let entries = version.iter().flat_map(|version| version.entries());
        let entries: Vec<_> = entries.collect();
        for (member, entry) in &entries {
            let mut can = entry.decodable.iter();
            let can = can.any(|value| value.as_str() == "served");
            assert!(can || !is(status, "served"), "{member} cannot serve it");
        }
        let then = before.present().storage_state(&kept.resource);
        let Some(then) = then.filter(|then| is_same(then, &kept)) else {
            continue;
        };
        let was = &then.row.status;
        if let Some(promised) = was.serve_until {
            let date = status.serve_until.expect("a date stays");
            assert!(
                date.date >= promised.date && date.log >= promised.log,
                "a date is moved back"
            );
        }
        if is(was, "served") && !is(status, "served") {
            let date = status.serve_until;
            assert!(
                date.is_none_or(|date| date.log <= now),
                "it is withdrawn before its date"
            );
            for (member, entry) in &entries {
                let preferred = entry.preferred().map(ApiVersion::as_str);
                assert_eq!(
                    preferred,
                    Some("withdrawn"),
                    "{member} would have it served"
                );
            }
        }
        // Who begins when nobody is left agrees with nobody, and a roster may keep it from agreeing by itself.
        let nobody_was_left = before
            .present()
            .storage_version(&kept.resource)
            .is_none_or(|version| version.entries().next().is_none());
        let may_begin = nobody_was_left && was.serve_until.is_none_or(|date| date.log <= now);
        for lost in named(was).difference(&named(status)) {
            let drain = was.drains.get(lost).filter(|until| **until > now);
            assert!(
                (status.agreed.is_some() || may_begin) && drain.is_none(),
                "{lost} may still be done"
            );
        }
    }
}

/// No entry lacks a key that an object may be encrypted with, or a level that may have been used. What is needed is needed
/// until everything is rewritten, whatever else happens to the state of the topic.
fn everybody_holds_every_key_that_is_needed(before: &State, after: &State, only_if_new: bool) {
    let (then, now) = (before.present(), after.present());
    for version in now.storage_versions(None) {
        let resource = &version.resource;
        if TopicKind::of(resource) == TopicKind::Encoding {
            continue;
        }
        let kept = now.storage_state(resource);
        let kept = kept.expect("who is reported has a state");
        let was = then
            .storage_state(resource)
            .filter(|was| is_same(was, &kept));
        let mut needed = named(&kept.row.status);
        let is_stored = TopicKind::of(resource) != TopicKind::Served;
        if is_stored && !was_rewritten(before, after, resource) {
            needed.extend(was.iter().flat_map(|was| named(&was.row.status)));
        }
        for needed in &needed {
            let kept = named(&kept.row.status);
            assert!(kept.contains(needed), "{needed} is needed and forgotten");
        }
        let reported = then.storage_version(resource);
        for (member, entry) in version.entries() {
            let said = reported.as_ref().and_then(|version| version.entry(member));
            if only_if_new && said.is_some_and(|said| said.decodable == entry.decodable) {
                continue;
            }
            assert!(entry.is_voting(), "{member} votes");
            for needed in &needed {
                assert!(entry.decodable.contains(needed), "{member} reads {needed}");
            }
        }
    }
}

/// Whether it is the state of one knowledge: it was not forgotten meanwhile.
fn is_same(was: &StorageStateView, now: &StorageStateView) -> bool {
    was.row.metadata.uid == now.row.metadata.uid
}

fn named(status: &StateStatus) -> BTreeSet<ApiVersion> {
    let persisted = status.persisted.iter();
    persisted.filter_map(Persisted::version).cloned().collect()
}

/// Whether a migration has ended in between.
fn was_rewritten(before: &State, after: &State, resource: &GroupResource) -> bool {
    let is_over = |one: &Migration| one.phase == MigrationPhase::Succeeded;
    let mut over = after.migrations_of(resource).filter(|one| is_over(one));
    over.any(|one| {
        let then = before.present().migration(&one.id);
        !then.is_some_and(|then| is_over(&then))
    })
}

/// The selected level only rises, and stays when nobody reports it, unless the state was forgotten meanwhile.
fn no_level_is_unlearned(before: &State, after: &State) {
    for kept in before.present().storage_states(None) {
        if TopicKind::of(&kept.resource) != TopicKind::Feature {
            continue;
        }
        let now = after.present().storage_state(&kept.resource);
        let Some(now) = now.filter(|now| is_same(&kept, now)) else {
            continue;
        };
        let level = |status: &StateStatus| status.selected.as_ref().and_then(feature_level);
        let (then, now) = (level(&kept.row.status), level(&now.row.status));
        assert!(now >= then, "level {then:?} is unlearned");
    }
}

/// A key is safe to drop only if nobody has it as what is written, selected or preferred, nothing may be encrypted with it,
/// and no write with it may land.
fn a_key_is_dropped_only_when_nothing_needs_it(state: &State) {
    let (present, now) = (state.present(), state.log_time());
    for kept in present.storage_states(None) {
        let values = match TopicKind::of(&kept.resource) {
            TopicKind::Encoding | TopicKind::Feature => continue,
            TopicKind::Key => ["v1", "v2", "v3"].as_slice(),
            TopicKind::Served => &["served"],
        };
        let status = &kept.row.status;
        for key in values {
            let key = ApiVersion::parse(key).expect("a legal key");
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
            TopicKind::Key | TopicKind::Feature | TopicKind::Served => {
                assert_ne!(migration.reason, MigrationReason::Agreement);
            }
        }
    }
}
