//! The kept events of a revision.

use std::sync::Arc;

use synod_machine::{
    Change, EntryChange, EntryRow, RevisionEvents, StorageStateRow, StorageVersionRow,
};
use synod_model::{
    AgreementChange, Collection, GroupResource, Lease, LeaseKey, MemberId, Object, ObjectKey,
    Revision,
};
use synod_proto::storage::v1 as pb;

use super::leases::{
    candidate_change_from_pb, candidate_change_to_pb, lease_change_from_pb, lease_change_to_pb,
};
use super::objects::{
    collection_from_pb, collection_to_pb, key_from_pb, key_to_pb, object_from_pb, object_to_pb,
};
use super::storage_states::{
    agreement_from_pb, agreement_to_pb, storage_state_from_pb, storage_state_to_pb,
};
use super::storage_versions::{
    entry_from_pb, entry_to_pb, storage_version_from_pb, storage_version_to_pb,
};
use super::values::{
    member_from_pb, member_id, member_to_pb, required, resource_from_pb, resource_to_pb,
    settings_from_pb, settings_to_pb,
};
use super::{CodecError, controller_revisions, migrations, rosters};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn events_to_pb(events: &RevisionEvents) -> pb::EventsRow {
    pb::EventsRow {
        revision: events.revision.get(),
        changes: events.changes.iter().map(change_to_pb).collect(),
    }
}

pub(super) fn events_from_pb(row: pb::EventsRow) -> Result<RevisionEvents> {
    let changes = row
        .changes
        .into_iter()
        .map(change_from_pb)
        .collect::<Result<_>>()?;
    Ok(RevisionEvents {
        revision: Revision::new(row.revision),
        changes,
    })
}

fn change_to_pb(change: &Change) -> pb::Change {
    use pb::change::Object;
    let object = match change {
        Change::Member { id, before, after } => Object::Member(pb::MemberChange {
            id: id.to_string(),
            before: before.as_deref().map(member_to_pb),
            after: after.as_deref().map(member_to_pb),
        }),
        Change::StorageVersion {
            resource,
            entries,
            before,
            after,
        } => Object::StorageVersion(version_change_to_pb(resource, entries, [before, after])),
        Change::StorageState {
            resource,
            before,
            after,
            agreement,
        } => Object::StorageState(state_change_to_pb(
            resource,
            before.as_deref(),
            after.as_deref(),
            agreement.as_deref(),
        )),
        Change::ControllerRevision { key, before, after } => Object::ControllerRevision(
            controller_revisions::change_to_pb(key, before.as_deref(), after.as_deref()),
        ),
        Change::Roster {
            scope,
            before,
            after,
        } => rosters::change_to_pb(scope, [before, after]),
        Change::Migration { id, before, after } => migrations::change_to_pb(id, [before, after]),
        Change::Settings { before, after } => Object::Settings(pb::SettingsChange {
            before: before.as_deref().map(settings_to_pb),
            after: Some(settings_to_pb(after)),
        }),
        Change::Lease { key, before, after } => lease_to_pb(key, [before, after]),
        Change::LeaseCandidate {
            lease,
            identity,
            before,
            after,
        } => Object::LeaseCandidate(candidate_change_to_pb(
            lease,
            identity,
            before.as_deref(),
            after.as_deref(),
        )),
        Change::Collection {
            resource,
            before,
            after,
        } => collection_change_to_pb(resource, before.as_deref(), after.as_deref()),
        Change::Object { key, before, after } => object_change_to_pb(key, [before, after]),
    };
    pb::Change {
        object: Some(object),
    }
}

/// The reported resource before and after, with the entries that changed under it.
fn version_change_to_pb(
    resource: &GroupResource,
    entries: &[EntryChange],
    sides: [&Option<Arc<StorageVersionRow>>; 2],
) -> pb::StorageVersionChange {
    let row = |row: &StorageVersionRow| storage_version_to_pb(resource, row);
    let [before, after] = sides.map(|side| side.as_deref().map(row));
    let entries = entries.iter();
    pb::StorageVersionChange {
        resource: Some(resource_to_pb(resource)),
        entries: entries
            .map(|entry| entry_change_to_pb(resource, entry))
            .collect(),
        before,
        after,
    }
}

fn state_change_to_pb(
    resource: &GroupResource,
    before: Option<&StorageStateRow>,
    after: Option<&StorageStateRow>,
    agreement: Option<&AgreementChange>,
) -> pb::StorageStateChange {
    pb::StorageStateChange {
        resource: Some(resource_to_pb(resource)),
        before: before.map(|row| storage_state_to_pb(resource, row)),
        after: after.map(|row| storage_state_to_pb(resource, row)),
        agreement: agreement.map(|line| agreement_to_pb(resource, line)),
    }
}

fn collection_change_to_pb(
    resource: &GroupResource,
    before: Option<&Collection>,
    after: Option<&Collection>,
) -> pb::change::Object {
    pb::change::Object::Collection(pb::CollectionChange {
        resource: Some(resource_to_pb(resource)),
        before: before.map(collection_to_pb),
        after: after.map(collection_to_pb),
    })
}

fn lease_to_pb(key: &LeaseKey, sides: [&Option<Arc<Lease>>; 2]) -> pb::change::Object {
    let [before, after] = sides.map(Option::as_deref);
    pb::change::Object::Lease(lease_change_to_pb(key, before, after))
}

/// The object before and after.
fn object_change_to_pb(key: &ObjectKey, sides: [&Option<Arc<Object>>; 2]) -> pb::change::Object {
    let [before, after] = sides.map(|side| side.as_deref().map(object_to_pb));
    pb::change::Object::StoredObject(pb::ObjectChange {
        key: Some(key_to_pb(key)),
        before,
        after,
    })
}

fn change_from_pb(change: pb::Change) -> Result<Change> {
    use pb::change::Object;
    Ok(match required("change", change.object)? {
        Object::Member(member) => Change::Member {
            id: member_id("member.id", &member.id)?,
            before: member.before.map(member_from_pb).transpose()?,
            after: member.after.map(member_from_pb).transpose()?,
        },
        Object::StorageVersion(version) => {
            let resource = resource_from_pb(version.resource)?;
            let row = |row: Option<pb::StorageVersionRow>| {
                row.map(|row| storage_version_from_pb(row).map(|(_, row)| Arc::new(row)))
                    .transpose()
            };
            let entries = version
                .entries
                .into_iter()
                .map(entry_change_from_pb)
                .collect::<Result<_>>()?;
            Change::StorageVersion {
                resource,
                entries,
                before: row(version.before)?,
                after: row(version.after)?,
            }
        }
        Object::StorageState(state) => {
            let resource = resource_from_pb(state.resource)?;
            let row = |row: Option<pb::StorageStateRow>| {
                row.map(|row| storage_state_from_pb(row).map(|(_, row)| Arc::new(row)))
                    .transpose()
            };
            let agreement = state.agreement.map(agreement_from_pb).transpose()?;
            Change::StorageState {
                resource,
                before: row(state.before)?,
                after: row(state.after)?,
                agreement: agreement.map(|(_, line)| Arc::new(line)),
            }
        }
        Object::ControllerRevision(change) => controller_revisions::change_from_pb(change)?,
        Object::Migration(change) => migrations::change_from_pb(change)?,
        Object::Settings(settings) => Change::Settings {
            before: settings
                .before
                .map(settings_from_pb)
                .transpose()?
                .map(Arc::new),
            after: Arc::new(settings_from_pb(required(
                "settings.after",
                settings.after,
            )?)?),
        },
        Object::Roster(change) => rosters::change_from_pb(change)?,
        Object::Lease(change) => lease_change_from_pb(change)?,
        Object::LeaseCandidate(change) => candidate_change_from_pb(change)?,
        Object::Collection(collection) => Change::Collection {
            resource: resource_from_pb(collection.resource)?,
            before: collection.before.map(collection_from_pb).transpose()?,
            after: collection.after.map(collection_from_pb).transpose()?,
        },
        Object::StoredObject(object) => Change::Object {
            key: key_from_pb(object.key)?,
            before: object.before.map(object_from_pb).transpose()?,
            after: object.after.map(object_from_pb).transpose()?,
        },
    })
}

fn entry_change_to_pb(resource: &GroupResource, change: &EntryChange) -> pb::EntryChange {
    let row = |row: &Option<Arc<EntryRow>>| {
        row.as_deref()
            .map(|row| entry_to_pb(resource, &change.member, row))
    };
    pb::EntryChange {
        member: change.member.to_string(),
        before: row(&change.before),
        after: row(&change.after),
    }
}

fn entry_change_from_pb(change: pb::EntryChange) -> Result<EntryChange> {
    let row = |row: Option<pb::EntryRow>| {
        row.map(|row| {
            entry_from_pb(row).map(|(_, _, row): (GroupResource, MemberId, _)| Arc::new(row))
        })
        .transpose()
    };
    Ok(EntryChange {
        member: member_id("member", &change.member)?,
        before: row(change.before)?,
        after: row(change.after)?,
    })
}
