//! Converts the machine's rows to objects of the public protocol.

use std::collections::BTreeMap;

use synod_machine::{
    Change, ClaimDrain, EntryChange, EntryRow, HistoryAnswer, Look, ObjectRow, ReportedResource,
    RevisionAnswer, RevisionOutcome, ShortAbsence, StateStatus, StorageStateRow, StorageStateView,
    StorageVersionRow, StorageVersionView, VersionStatus, Watched as _, Written, WrittenHow,
};
use synod_model::{
    ApiVersion, ClaimToken, Epoch, GroupResource, Labels, MemberId, ObserverName, Revision,
    WallTime,
};
use synod_proto::v1;
use synod_proto::wire::Wire as _;

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

/// The storage state of a resource, which remains when no member reports it.
pub(crate) fn storage_state(view: &StorageStateView) -> v1::StorageState {
    state_object(&view.resource, &view.row)
}

/// A resource as a member is told of it after reporting it.
pub(crate) fn told(told: &ReportedResource) -> v1::ReportedResource {
    v1::ReportedResource {
        resource: Some((&told.resource).into()),
        encoding_version: text(told.encoding.as_ref()),
        selected_version: text(told.selected.as_ref()),
        selected_revision: told.selected_revision.get(),
        adopted_revision: told.adopted_revision.map(|revision| revision.get()),
    }
}

/// The outcome of a create or a rollback of a ControllerRevision.
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

/// What a command did to a history of ControllerRevisions.
pub(crate) fn history_answer(answer: HistoryAnswer) -> v1::ControllerHistoryAnswer {
    v1::ControllerHistoryAnswer {
        adopted: answer.adopted,
        deleted: answer.deleted,
        left: answer.left,
    }
}

/// The outcome of a write to a collection or an object.
pub(crate) fn written(written: &Written) -> v1::OperationResult {
    v1::OperationResult {
        changed: written.how != WrittenHow::Unchanged,
        created: written.how == WrittenHow::Created,
        deleted: written.how == WrittenHow::Deleted,
        uid: written.uid.to_string(),
        resource_version: written.resource_version.get(),
    }
}

/// The number of objects in each version.
pub(crate) fn counts(counts: &BTreeMap<ApiVersion, u64>) -> Vec<v1::EncodingCount> {
    let counts = counts.iter();
    counts
        .map(|(version, objects)| v1::EncodingCount {
            version: version.to_string(),
            objects: *objects,
        })
        .collect()
}

/// The event of a change.
pub(crate) fn event(change: &Change) -> v1::Event {
    let (r#type, row) = match (&change.before, &change.after) {
        (None, Some(after)) => (v1::EventType::Added, Some(after)),
        (Some(_), Some(after)) => (v1::EventType::Modified, Some(after)),
        (before, None) => (v1::EventType::Removed, before.as_ref()),
    };
    event_of(change, r#type, row)
}

/// The event for a watcher whose label selector the object begins to match: `Added`, with the object as it is now.
pub(crate) fn appearance(change: &Change) -> v1::Event {
    event_of(change, v1::EventType::Added, change.after.as_ref())
}

/// The event for a watcher whose label selector the object no longer matches: `Removed`, as the object was last.
pub(crate) fn disappearance(change: &Change) -> v1::Event {
    event_of(change, v1::EventType::Removed, change.before.as_ref())
}

fn event_of(change: &Change, r#type: v1::EventType, row: Option<&ObjectRow>) -> v1::Event {
    let object = &change.object;
    let stored = object.stored();
    v1::Event {
        r#type: r#type.into(),
        kind: v1::ObjectKind::from(object.kind()).into(),
        name: object.name(),
        namespace: object.namespace().unwrap_or_default().to_owned(),
        resource: stored.map(|key| (&key.resource).into()),
        object: row.and_then(|row| object_of(change, row)),
    }
}

/// The object inside an event; `None` if the row is of another kind than the change, which cannot happen.
fn object_of(change: &Change, row: &ObjectRow) -> Option<v1::event::Object> {
    use v1::event::Object;
    Some(match row {
        ObjectRow::Member(member) => Object::Member((&**member).into()),
        ObjectRow::StorageVersion(row) => {
            let resource = StorageVersionRow::key(&change.object)?;
            Object::StorageVersion(version_change(resource, &change.entries, row))
        }
        ObjectRow::StorageState(row) => {
            let resource = StorageStateRow::key(&change.object)?;
            Object::StorageState(state_object(resource, row))
        }
        ObjectRow::Settings(settings) => Object::Settings((&**settings).into()),
        ObjectRow::Collection(row) => Object::Collection((&**row).into()),
        ObjectRow::Object(object) => Object::StoredObject((&object.unpack()).into()),
        ObjectRow::ControllerRevision(row) => Object::ControllerRevision((&**row).into()),
        ObjectRow::Lease(lease) => Object::Lease((&**lease).into()),
        ObjectRow::LeaseCandidate(candidate) => Object::LeaseCandidate((&**candidate).into()),
        ObjectRow::Migration(migration) => Object::Migration((&**migration).into()),
        ObjectRow::Roster(roster) => Object::Roster((&**roster).into()),
    })
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
        serve_until_ms: row.serve_until.map(WallTime::as_millis),
        stored: row.stored.to_wire(),
        equivalents: row.equivalents.to_wire(),
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
        // Not part of the protocol: which members were heard before matters to apply only.
        heard: _,
        drains: _,
        hash_drains: _,
        serve_until,
        claim_drains: _,
        unknown_drain: _,
        known_versions,
        known_hashes,
        concluded_before,
        said_stopped,
        ever_reported: _,
        ungated_gone,
        more_ungated_gone,
        short_absences,
        stored_outside,
        looks,
        unnamed_look: _, // part of what is observed
        equivalents,
    } = &row.status;
    let hashes = observation.iter().flat_map(|seen| &seen.hashes);
    let kind = observation.as_ref().and_then(|seen| seen.kind.as_ref());
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
        drains: all_drains(&row.status),
        common_encoding_version: text(common.as_ref()),
        observed_hashes: hashes.map(ToString::to_string).collect(),
        observed_kind: kind.map(ToString::to_string).unwrap_or_default(),
        observation_expired: observation.as_ref().is_some_and(|seen| seen.expired),
        contradicted: *contradicted,
        current_hash: agreed_hash.map(|hash| hash.to_string()),
        absent: (!absent.is_empty()).then(|| absent.into()),
        on_trust_since: on_trust.map_or(0, Revision::get),
        serve_until_ms: serve_until.map(|until| until.date.as_millis()),
        serve_until_log_time_ms: serve_until.map(|until| until.log.as_millis()),
        known_versions: known_versions.keys().map(ToString::to_string).collect(),
        known_hashes: known_hashes.keys().map(ToString::to_string).collect(),
        concluded_before: concluded_before.map_or(0, Revision::get),
        said_stopped: said_stopped.keys().map(ToString::to_string).collect(),
        short_absences: short_absences.iter().map(short_absence).collect(),
        looks: looks.iter().map(observer_look).collect(),
        ungated_gone: ungated_gone.iter().map(ungated_member).collect(),
        more_ungated_gone: *more_ungated_gone,
        stored_outside: *stored_outside,
        equivalents: equivalents.to_wire(),
    }
}

/// The drains of servers, of what discovery has shown, of claims, and of versions that nobody can name.
fn all_drains(status: &StateStatus) -> Vec<v1::Drain> {
    let versions = status.drains.iter();
    let versions = versions.map(|(version, until)| v1::Drain::of(version, *until));
    let shown = status.hash_drains.iter();
    let shown = shown.map(|(hash, until)| v1::Drain::of_hash(*hash, *until));
    let claims = status.claim_drains.iter();
    let claims = claims.map(|(token, drain)| claim_drain(*token, drain));
    let unknown = status.unknown_drain.map(v1::Drain::of_unknown);
    versions.chain(shown).chain(claims).chain(unknown).collect()
}

fn short_absence((member, absence): (&MemberId, &ShortAbsence)) -> v1::ShortAbsence {
    v1::ShortAbsence {
        member: member.to_string(),
        away_ms: u64::try_from(absence.away.as_millis()).unwrap_or(u64::MAX),
        returned_log_time_ms: absence.returned.as_millis(),
    }
}

fn observer_look((observer, look): (&ObserverName, &Look)) -> v1::ObserverLook {
    let servers = look.servers.iter();
    v1::ObserverLook {
        observer: observer.to_string(),
        servers: servers
            .map(|(server, shown)| v1::ServerLook {
                server: server.to_string(),
                hashes: shown.hashes.iter().map(ToString::to_string).collect(),
                of_member: shown.member.as_ref().map(ToString::to_string),
            })
            .collect(),
        kind: look
            .kind
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        expired: look.expired,
    }
}

fn ungated_member((member, epoch): (&MemberId, &Epoch)) -> v1::UngatedMember {
    v1::UngatedMember {
        member: member.to_string(),
        epoch: epoch.to_wire(),
    }
}

fn claim_drain(token: ClaimToken, drain: &ClaimDrain) -> v1::Drain {
    let ClaimDrain {
        worker: _,
        target,
        until,
        fenced,
        walks,
    } = drain;
    let known = match &target.version {
        Some(version) => v1::Drain::of(version, *until),
        None => v1::Drain::of_hash(target.hash, *until),
    };
    v1::Drain {
        claim_token: token.get(),
        fenced: *fenced,
        walks: walks.to_wire(),
        ..known
    }
}

fn text(version: Option<&ApiVersion>) -> Option<String> {
    version.map(ToString::to_string)
}
