//! Checks of what holds in every state.

pub(crate) mod topics;

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{Holder, Past, Row, State, StateStatus, StorageStateView};
use synod_model::{
    Absent, GroupResource, LabelSelector, MemberId, Metadata, MigrationAlias, MigrationPhase,
    Persisted, Revision, StatementNumber, StorageVersionHash, Switch, TopicKind, Uid,
};

use crate::calls::ALIASES;

/// The agreements whose migrations somebody deleted.
pub(crate) type Deleted = BTreeSet<(GroupResource, Revision)>;

pub(crate) fn hold(before: &State, after: &State, deleted: &Deleted) {
    selected_is_decodable_by_every_entry(after);
    persisted_holds_all_that_may_be_stored(after);
    persisted_holds_what_is_stored(after);
    indexes_are_what_the_objects_say(&after.present());
    assert!(
        !after.has_garbage(),
        "there are too few objects to leave any"
    );
    drains_are_only_raised(before, after);
    nothing_is_taken_back_within_an_epoch(before, after);
    migrations_go_with_their_agreement(after, deleted);
    aliases_name_one_migration_each(&after.present());
    uids_are_unique_and_stay(before, after);
    assert_eq!(after.digest(), after.recompute_digest());
    assert!(after.log_time() >= before.log_time());
    assert!(after.history().floor() >= before.history().floor());
    assert!(after.history().len() as u64 <= after.settings().history_revisions);
    pages_are_whole(&after.present());
}

fn selected_is_decodable_by_every_entry(state: &State) {
    for version in state.present().storage_versions(None) {
        if let Some(selected) = &version.row.status.selected {
            for (member, entry) in version.entries() {
                assert!(
                    entry.decodable.contains(selected),
                    "{member} decodes {selected}"
                );
            }
        }
    }
}

fn persisted_holds_all_that_may_be_stored(state: &State) {
    let present = state.present();
    for version in present.storage_versions(None) {
        let kept = present.storage_state(&version.resource);
        let kept = &kept.expect("who is reported has a state").row.status;
        for (_, entry) in version.entries() {
            if let Some(encoding) = &entry.encoding {
                assert!(
                    kept.persisted
                        .contains(&Persisted::of(encoding, &entry.kind))
                );
            }
        }
        let known: Vec<_> = kept
            .persisted
            .iter()
            .filter_map(Persisted::version)
            .collect();
        assert!(
            version
                .row
                .status
                .selected
                .iter()
                .all(|selected| known.contains(&selected))
        );
    }
}

/// What is derived from the objects equals what a walk over them finds.
pub(crate) fn indexes_are_what_the_objects_say(past: &Past<'_>) {
    for collection in past.collections(None) {
        let resource = &collection.resource;
        let all = LabelSelector::default();
        let objects: Vec<_> = past.objects(resource, None, &all, None).collect();
        let mut counts = BTreeMap::new();
        for object in &objects {
            *counts.entry(object.content.encoding.clone()).or_insert(0) += 1;
            assert_eq!(past.object(&object.key).as_ref(), Some(object));
        }
        assert_eq!(past.object_counts(resource), counts);
        for text in ["b=1", "b in (0,1),c=1", "b", "!b", "b,c!=0"] {
            let selector = LabelSelector::parse(text).expect("it is legal");
            let found = past.objects(resource, None, &selector, None);
            let looked = objects.iter();
            let looked = looked.filter(|object| selector.matches(&object.attributes.labels));
            assert!(found.eq(looked.cloned()), "{text}");
        }
    }
}

/// No two migrations have the same alias, and each is found by its own.
pub(crate) fn aliases_name_one_migration_each(past: &Past<'_>) {
    for text in ALIASES {
        let alias = MigrationAlias::parse(text).expect("it is legal");
        let mut named = past
            .migrations(None)
            .filter(|migration| migration.alias.as_ref() == Some(&alias));
        assert_eq!(past.migration_of(&alias), named.next(), "{alias}");
        assert_eq!(named.next(), None, "{alias}");
    }
}

/// Reading one object at a revision equals reading the whole state there.
pub(crate) fn one_object_is_what_the_whole_state_has(state: &State, past: &Past<'_>) {
    let all = LabelSelector::default();
    for at in [past, &state.present()] {
        let collections = at.collections(None);
        for collection in collections {
            for object in at.objects(&collection.resource, None, &all, None) {
                let alone = state.object_at(&object.key, past.revision());
                assert_eq!(alone, Ok(past.object(&object.key)));
            }
        }
    }
}

fn persisted_holds_what_is_stored(state: &State) {
    let present = state.present();
    for collection in present.collections(None) {
        let kept = present.storage_state(&collection.resource);
        let persisted = &kept.expect("a collection has a state").row.status.persisted;
        for encoding in present.object_counts(&collection.resource).keys() {
            let is_kept = |kept: &Persisted| kept.version() == Some(encoding);
            assert!(persisted.iter().any(is_kept), "{encoding} is stored");
        }
    }
}

/// No migration is open without its own agreement, at most one of a resource runs, and only the end of a migration or a
/// reset removes anything from `persisted`.
fn migrations_go_with_their_agreement(state: &State, deleted: &Deleted) {
    let present = state.present();
    for kept in present.storage_states(None) {
        let agreement = kept.row.status.agreement();
        let open = state.migrations_of(&kept.resource).filter(|m| m.is_open());
        let mut running = 0;
        for migration in open {
            assert_eq!(Some(migration.agreement_revision), agreement);
            let runs = migration.phase == MigrationPhase::Running;
            assert_eq!(migration.claim.is_some(), runs);
            running += usize::from(runs);
        }
        assert!(running <= 1, "{}: one runs at a time", kept.resource);
        let status = &kept.row.status;
        let is_missed = status.absent != Absent::default();
        assert!(agreement.is_none() || !(status.contradicted || is_missed));
        let is_of_it = |name: &GroupResource| present.storage_state(name).map(|it| it.resource);
        let mut reported = present.storage_versions(None);
        let is_reported =
            reported.any(|it| is_of_it(&it.resource).as_ref() == Some(&kept.resource));
        assert!(!(is_reported && status.agreed_hash.is_some()));
        assert!(is_reported || !status.contradicted);
        // Nothing is rewritten for a feature.
        let kind = TopicKind::of(&kept.resource);
        let is_migrated = kind != TopicKind::Feature && kind != TopicKind::Served;
        let are_on = state.settings().migrations == Switch::On;
        let is_unknown = status.persisted.contains(&Persisted::Unknown);
        if are_on && agreement.is_some() && is_migrated && is_unknown {
            let mut migrations = state.migrations_of(&kept.resource);
            let stands = migrations.any(|m| Some(m.agreement_revision) == agreement);
            let was_deleted =
                agreement.is_some_and(|at| deleted.contains(&(kept.resource.clone(), at)));
            assert!(
                stands || was_deleted,
                "{}: something has to be migrated",
                kept.resource
            );
        }
    }
}

fn drains_are_only_raised(before: &State, after: &State) {
    let now_at = after.log_time();
    let restored = before.cluster() != after.cluster();
    let (before, after) = (before.present(), after.present());
    for kept in before.storage_states(None) {
        let now = after.storage_state(&kept.resource);
        // A resource that was forgotten, and perhaps reported anew, had nothing to drain.
        // What was known of a name that is one of several now is kept under the first.
        let is_it = |now: &StorageStateView| {
            now.resource != kept.resource || now.row.metadata.uid == kept.row.metadata.uid
        };
        let Some(now) = now.filter(is_it) else {
            let drains = kept.row.status.drains.values();
            let mut drains = drains.chain(kept.row.status.hash_drains.values());
            assert!(drains.all(|until| *until <= now_at), "nothing drains");
            continue;
        };
        let is_joined = now.resource != kept.resource;
        let now = &now.row.status;
        // An ended drain may be removed.
        for (version, until) in &kept.row.status.drains {
            let drains = now.drains.get(version) >= Some(until);
            assert!(drains || *until <= now_at, "{version} drains");
        }
        for (hash, until) in &kept.row.status.hash_drains {
            let drains = now.hash_drains.get(hash) >= Some(until);
            assert!(drains || *until <= now_at, "{hash} drains");
        }
        // What was shown is still shown, drains, or was lost in a restore, after which anything may land for a day.
        let seen = |status: &StateStatus| -> BTreeSet<StorageVersionHash> {
            let seen = status.observation.iter();
            seen.flat_map(|seen| seen.hashes.clone()).collect()
        };
        let shown = seen(now);
        for hash in seen(&kept.row.status).difference(&shown) {
            let drains = now.hash_drains.get(hash) > Some(&now_at);
            assert!(drains || restored, "{hash} drains");
        }
        assert!(is_joined || now.selected_revision >= kept.row.status.selected_revision);
        assert!(now.agreement_revision >= kept.row.status.agreement_revision);
    }
}

/// A member keeps the latest deadline that it was promised, and its statements stay in their order.
fn nothing_is_taken_back_within_an_epoch(before: &State, after: &State) {
    let said = |state: &State| -> BTreeMap<MemberId, StatementNumber> {
        let rows = state.rows();
        let said = rows.filter_map(|row| match row {
            Row::Statement(id, said) => Some((id, said.number)),
            _ => None,
        });
        said.collect()
    };
    let (said_before, said_after) = (said(before), said(after));
    for member in before.present().members(None) {
        let id = &member.id;
        let now = after.present().member(id);
        if now.is_some_and(|now| now.epoch == member.epoch) {
            let holder = Holder::Member(id.clone());
            assert!(after.deadline(&holder) >= before.deadline(&holder));
            assert!(said_after.get(id) >= said_before.get(id));
        }
    }
}

fn uids_are_unique_and_stay(before: &State, after: &State) {
    let (before, after) = (uids(before), uids(after));
    let unique: BTreeSet<&Uid> = after.values().map(|(uid, _)| uid).collect();
    assert_eq!(unique.len(), after.len(), "no two objects have one uid");
    for (object, (uid, created)) in &before {
        if let Some((now, created_now)) = after.get(object) {
            assert_eq!(
                uid == now,
                created == created_now,
                "a uid is of one creation"
            );
        }
    }
}

fn uids(state: &State) -> BTreeMap<String, (Uid, Revision)> {
    let present = state.present();
    let of = |metadata: &Metadata| (metadata.uid, metadata.create_revision);
    let members = present.members(None);
    let members = members.map(|member| (format!("member {}", member.id), of(&member.metadata)));
    let versions = present.storage_versions(None);
    let versions =
        versions.map(|kept| (format!("version {}", kept.resource), of(&kept.row.metadata)));
    let states = present.storage_states(None);
    let states = states.map(|kept| (format!("state {}", kept.resource), of(&kept.row.metadata)));
    let migrations = present.migrations(None);
    let migrations = migrations.map(|kept| (format!("migration {}", kept.id), of(&kept.metadata)));
    let rosters = present.rosters(None);
    let rosters = rosters.map(|kept| (format!("roster {}", kept.scope), of(&kept.metadata)));
    members
        .chain(rosters)
        .chain(versions)
        .chain(states)
        .chain(migrations)
        .collect()
}

/// A list read in pages equals the whole list, and every name in it can be read.
pub(crate) fn pages_are_whole(past: &Past<'_>) {
    let members: Vec<_> = past.members(None).collect();
    for (i, member) in members.iter().enumerate() {
        assert_eq!(past.member(&member.id).as_ref(), Some(member));
        assert!(
            past.members(Some(&member.id))
                .eq(members[i + 1..].iter().cloned())
        );
    }
    let versions: Vec<_> = past.storage_versions(None).collect();
    for (i, version) in versions.iter().enumerate() {
        assert_eq!(
            past.storage_version(&version.resource).as_ref(),
            Some(version)
        );
        let rest = past.storage_versions(Some(&version.resource));
        assert!(rest.eq(versions[i + 1..].iter().cloned()));
    }
    let migrations: Vec<_> = past.migrations(None).collect();
    for (i, migration) in migrations.iter().enumerate() {
        assert_eq!(past.migration(&migration.id).as_ref(), Some(migration));
        let rest = past.migrations(Some(&migration.id));
        assert!(rest.eq(migrations[i + 1..].iter().cloned()));
    }
    let rosters: Vec<_> = past.rosters(None).collect();
    for (i, roster) in rosters.iter().enumerate() {
        assert_eq!(past.roster(&roster.scope).as_ref(), Some(roster));
        let rest = past.rosters(Some(&roster.scope));
        assert!(rest.eq(rosters[i + 1..].iter().cloned()));
    }
    let states: Vec<_> = past.storage_states(None).collect();
    for (i, state) in states.iter().enumerate() {
        assert_eq!(past.storage_state(&state.resource).as_ref(), Some(state));
        let rest = past.storage_states(Some(&state.resource));
        assert!(rest.eq(states[i + 1..].iter().cloned()));
    }
}
