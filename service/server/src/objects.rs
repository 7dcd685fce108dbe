//! The machine's rows as objects of the public protocol, assembled when somebody reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use synod_machine::{
    Change, EntryChange, EntryRow, HistoryAnswer, RevisionAnswer, RevisionOutcome, StateStatus,
    StorageStateRow, StorageStateView, StorageVersionRow, StorageVersionView, Told, VersionStatus,
    Written, WrittenHow,
};
use synod_model::{
    ApiVersion, ControllerRevision, GroupResource, Labels, Member, MemberId, Revision,
};
use synod_proto::{ObjectKind, v1};

/// The name under which the settings are watched.
const SETTINGS_NAME: &str = "settings";

/// A reported resource with all of its entries.
pub(crate) fn storage_version(view: &StorageVersionView) -> v1::StorageVersion {
    v1::StorageVersion {
        metadata: Some(storage_version_metadata(&view.resource, &view.row)),
        resource: Some((&view.resource).into()),
        entries: view
            .entries()
            .map(|(member, row)| entry(member, row))
            .collect(),
        status: Some(version_status(&view.row.status)),
    }
}

/// What stays of a resource.
pub(crate) fn storage_state(view: &StorageStateView) -> v1::StorageState {
    state_object(&view.resource, &view.row)
}

/// What a member is told of a resource that it reported.
pub(crate) fn told(told: &Told) -> v1::ReportedResource {
    v1::ReportedResource {
        resource: Some((&told.resource).into()),
        encoding_version: text(told.encoding.as_ref()),
        selected_version: text(told.selected.as_ref()),
        selected_revision: told.selected_revision.get(),
        adopted_revision: told.adopted_revision.map(|revision| revision.get()),
    }
}

/// What became of what a controller wants.
pub(crate) fn revision_answer(answer: &RevisionAnswer) -> v1::ControllerRevisionAnswer {
    let outcome = match answer.outcome {
        RevisionOutcome::Unchanged => v1::ControllerRevisionOutcome::Unchanged,
        RevisionOutcome::RolledBack => v1::ControllerRevisionOutcome::RolledBack,
        RevisionOutcome::Created => v1::ControllerRevisionOutcome::Created,
    };
    v1::ControllerRevisionAnswer {
        name: answer.name.to_string(),
        revision: answer.number.get(),
        outcome: outcome.into(),
        collision_count: answer.collision_count,
        history: Some(history_answer(answer.history)),
    }
}

/// What was done to a history.
pub(crate) fn history_answer(answer: HistoryAnswer) -> v1::ControllerHistoryAnswer {
    v1::ControllerHistoryAnswer {
        adopted: answer.adopted,
        deleted: answer.deleted,
        left: answer.left,
    }
}

/// What became of a collection or an object.
pub(crate) fn written(written: &Written) -> v1::OperationResult {
    v1::OperationResult {
        changed: written.how != WrittenHow::Unchanged,
        created: written.how == WrittenHow::Created,
        deleted: written.how == WrittenHow::Deleted,
        uid: written.uid.to_string(),
        resource_version: written.resource_version.get(),
    }
}

/// How many objects there are in each version.
pub(crate) fn counts(counts: &BTreeMap<ApiVersion, u64>) -> Vec<v1::EncodingCount> {
    let counts = counts.iter();
    counts
        .map(|(version, objects)| v1::EncodingCount {
            version: version.to_string(),
            objects: *objects,
        })
        .collect()
}

/// Which object changed.
pub(crate) fn kind(change: &Change) -> ObjectKind {
    match change {
        Change::Member { .. } => ObjectKind::Member,
        Change::StorageVersion { .. } => ObjectKind::StorageVersion,
        Change::StorageState { .. } => ObjectKind::StorageState,
        Change::ControllerRevision { .. } => ObjectKind::ControllerRevision,
        Change::Migration { .. } => ObjectKind::Migration,
        Change::Roster { .. } => ObjectKind::Roster,
        Change::Settings { .. } => ObjectKind::Settings,
        Change::Lease { .. } => ObjectKind::Lease,
        Change::LeaseCandidate { .. } => ObjectKind::LeaseCandidate,
        Change::Collection { .. } => ObjectKind::Collection,
        Change::Object { .. } => ObjectKind::Object,
    }
}

/// The name of the object that changed.
pub(crate) fn name(change: &Change) -> String {
    match change {
        Change::Member { id, .. } => id.to_string(),
        Change::StorageVersion { resource, .. } => resource.storage_version_name(),
        Change::ControllerRevision { key, .. } => key.name().to_owned(),
        Change::Migration { id, .. } => id.to_string(),
        Change::Roster { scope, .. } => scope.to_string(),
        Change::Settings { .. } => SETTINGS_NAME.to_owned(),
        Change::Lease { key, .. } => key.name().to_owned(),
        Change::LeaseCandidate { identity, .. } => identity.to_string(),
        Change::StorageState { resource, .. } | Change::Collection { resource, .. } => {
            resource.storage_state_name().to_owned()
        }
        Change::Object { key, .. } => key.name.name().to_owned(),
    }
}

/// The namespace of the object that changed; empty if it has none.
fn namespace(change: &Change) -> String {
    match change {
        Change::ControllerRevision { key, .. } => key.namespace().unwrap_or_default().to_owned(),
        Change::Lease { key, .. } | Change::LeaseCandidate { lease: key, .. } => {
            key.namespace().to_owned()
        }
        Change::Object { key, .. } => key.name.namespace().unwrap_or_default().to_owned(),
        Change::Collection { .. }
        | Change::Member { .. }
        | Change::StorageVersion { .. }
        | Change::StorageState { .. }
        | Change::Migration { .. }
        | Change::Roster { .. }
        | Change::Settings { .. } => String::new(),
    }
}

/// A change as an event.
pub(crate) fn event(change: &Change) -> v1::Event {
    use v1::event::Object;
    let (r#type, object) = match change {
        Change::Member { before, after, .. } => {
            happened(before, after, |member| Object::Member(member.into()))
        }
        Change::StorageVersion {
            resource,
            entries,
            before,
            after,
        } => happened(before, after, |row| {
            Object::StorageVersion(version_change(resource, entries, row))
        }),
        Change::StorageState {
            resource,
            before,
            after,
            ..
        } => happened(before, after, |row| {
            Object::StorageState(state_object(resource, row))
        }),
        Change::ControllerRevision { before, after, .. } => {
            happened(before, after, |row| Object::ControllerRevision(row.into()))
        }
        Change::Migration { before, after, .. } => happened(before, after, |migration| {
            Object::Migration(migration.into())
        }),
        Change::Roster { before, after, .. } => {
            happened(before, after, |roster| Object::Roster(roster.into()))
        }
        Change::Lease { before, after, .. } => {
            happened(before, after, |lease| Object::Lease(lease.into()))
        }
        Change::LeaseCandidate { before, after, .. } => happened(before, after, |candidate| {
            Object::LeaseCandidate(candidate.into())
        }),
        Change::Settings { before, after } => {
            let after = Some(Arc::clone(after));
            happened(before, &after, |settings| Object::Settings(settings.into()))
        }
        Change::Collection { before, after, .. } => {
            happened(before, after, |row| Object::Collection(row.into()))
        }
        Change::Object { before, after, .. } => {
            let (r#type, object) = what_happened(before.as_deref(), after.as_deref());
            return object.map_or_else(v1::Event::default, |object| object_event(r#type, object));
        }
    };
    v1::Event {
        r#type: r#type.into(),
        kind: v1::ObjectKind::from(kind(change)).into(),
        name: name(change),
        namespace: namespace(change),
        object,
        ..v1::Event::default()
    }
}

/// The event of an object of a collection.
pub(crate) fn object_event(r#type: v1::EventType, object: &synod_model::Object) -> v1::Event {
    v1::Event {
        r#type: r#type.into(),
        kind: v1::ObjectKind::Object.into(),
        name: object.key.name.name().to_owned(),
        object: Some(v1::event::Object::StoredObject(object.into())),
        namespace: object.key.name.namespace().unwrap_or_default().to_owned(),
        resource: Some((&object.key.resource).into()),
    }
}

/// The event of a member that comes into somebody's view, or leaves it, by its labels.
pub(crate) fn member_event(r#type: v1::EventType, member: &Member) -> v1::Event {
    v1::Event {
        r#type: r#type.into(),
        kind: v1::ObjectKind::Member.into(),
        name: member.id.to_string(),
        namespace: String::new(),
        object: Some(v1::event::Object::Member(member.into())),
        ..v1::Event::default()
    }
}

/// The event of a snapshot that comes into somebody's view, or leaves it, by its labels.
pub(crate) fn controller_revision_event(
    r#type: v1::EventType,
    revision: &ControllerRevision,
) -> v1::Event {
    v1::Event {
        r#type: r#type.into(),
        kind: v1::ObjectKind::ControllerRevision.into(),
        name: revision.key.name().to_owned(),
        namespace: revision.key.namespace().unwrap_or_default().to_owned(),
        object: Some(v1::event::Object::ControllerRevision(revision.into())),
        ..v1::Event::default()
    }
}

/// What happened to an object, and the object as it is said in an event.
fn happened<T>(
    before: &Option<Arc<T>>,
    after: &Option<Arc<T>>,
    say: impl FnOnce(&T) -> v1::event::Object,
) -> (v1::EventType, Option<v1::event::Object>) {
    let (r#type, object) = what_happened(before.as_deref(), after.as_deref());
    (r#type, object.map(say))
}

/// What happened to an object, and the object: as it is, or if it is gone, as it was last.
fn what_happened<'a, T>(
    before: Option<&'a T>,
    after: Option<&'a T>,
) -> (v1::EventType, Option<&'a T>) {
    let r#type = match (before, after) {
        (None, Some(_)) => v1::EventType::Added,
        (Some(_), Some(_)) => v1::EventType::Modified,
        (_, None) => v1::EventType::Removed,
    };
    (r#type, after.or(before))
}

fn version_change(
    resource: &GroupResource,
    entries: &[EntryChange],
    row: &StorageVersionRow,
) -> v1::StorageVersionChange {
    let changed = entries
        .iter()
        .filter_map(|change| Some(entry(&change.member, change.after.as_ref()?)));
    let removed = entries.iter().filter(|change| change.after.is_none());
    v1::StorageVersionChange {
        metadata: Some(storage_version_metadata(resource, row)),
        resource: Some(resource.into()),
        changed_entries: changed.collect(),
        removed_members: removed.map(|change| change.member.to_string()).collect(),
        status: Some(version_status(&row.status)),
    }
}

fn storage_version_metadata(resource: &GroupResource, row: &StorageVersionRow) -> v1::Metadata {
    v1::Metadata::of(
        resource.storage_version_name(),
        &Labels::default(),
        &row.metadata,
    )
}

fn entry(member: &MemberId, row: &EntryRow) -> v1::StorageVersionEntry {
    v1::StorageVersionEntry {
        member: member.to_string(),
        kind: row.kind.to_string(),
        decodable_versions: row.decodable.iter().map(ToString::to_string).collect(),
        served_versions: row.served.iter().map(ToString::to_string).collect(),
        preferred_version: text(row.preferred()),
        encoding_version: text(row.encoding.as_ref()),
        adopted_revision: row.adopted_revision.map(|revision| revision.get()),
        since_revision: row.since.get(),
    }
}

fn version_status(status: &VersionStatus) -> v1::StorageVersionStatus {
    v1::StorageVersionStatus {
        common_encoding_version: text(status.common.as_ref()),
        selected_version: text(status.selected.as_ref()),
        selected_revision: status.selected_revision.get(),
        agreement_revision: status.agreement_revision.get(),
        agreed_version: text(status.agreed.as_ref()),
        decodable_by_all: status
            .decodable_by_all
            .iter()
            .map(ToString::to_string)
            .collect(),
        served_by_all: status
            .served_by_all
            .iter()
            .map(ToString::to_string)
            .collect(),
        conditions: vec![(&status.all_equal).into(), (&status.decodable).into()],
    }
}

fn state_object(resource: &GroupResource, row: &StorageStateRow) -> v1::StorageState {
    let StateStatus {
        common,
        selected,
        selected_revision,
        agreement_revision,
        agreed,
        persisted,
        observation,
        contradicted,
        agreed_hash,
        absent,
        on_trust,
        // Whoever comes back is not new: nobody has to know more of it.
        heard: _,
        drains,
        hash_drains,
    } = &row.status;
    let hashes = observation.iter().flat_map(|seen| &seen.hashes);
    let kind = observation.as_ref().and_then(|seen| seen.kind.as_ref());
    let versions = drains.iter();
    let versions = versions.map(|(version, until)| v1::Drain::of(version, *until));
    let shown = hash_drains.iter();
    let shown = shown.map(|(hash, until)| v1::Drain::of_hash(*hash, *until));
    v1::StorageState {
        metadata: Some(v1::Metadata::of(
            resource.storage_state_name(),
            &Labels::default(),
            &row.metadata,
        )),
        resource: Some(resource.into()),
        selected_version: text(selected.as_ref()),
        selected_revision: selected_revision.get(),
        agreement_revision: agreement_revision.get(),
        current_version: text(agreed.as_ref()),
        persisted: persisted.iter().map(Into::into).collect(),
        drains: versions.chain(shown).collect(),
        common_encoding_version: text(common.as_ref()),
        observed_hashes: hashes.map(ToString::to_string).collect(),
        observed_kind: kind.map(ToString::to_string).unwrap_or_default(),
        observation_expired: observation.as_ref().is_some_and(|seen| seen.expired),
        contradicted: *contradicted,
        current_hash: agreed_hash.map(|hash| hash.to_string()),
        absent: (!absent.is_empty()).then(|| absent.into()),
        on_trust_since: on_trust.map_or(0, Revision::get),
    }
}

fn text(version: Option<&ApiVersion>) -> Option<String> {
    version.map(ToString::to_string)
}
