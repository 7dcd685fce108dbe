//! The canonical form of each row.
//!
//! A field that is added to a row is added here in the same change: a row that two replicas hold differently must have
//! two hashes. Destructuring without `..` makes the compiler ask.

mod answers;
mod leases;
pub(super) mod migrations;
mod rosters;
mod statements;
mod storage_states;
pub(super) mod values;

use std::sync::Arc;

pub(crate) use leases::{lease_candidate_hash, lease_hash, lease_waiter_hash};
pub(crate) use rosters::roster_hash;
pub(crate) use statements::{said_by_adoption, said_by_report, statement_hash};
use synod_model::{
    AgreementChange, Condition, ConditionStatus, GroupResource, Member, MemberId, Phase, Sequence,
    SessionId, Settings,
};

use self::answers::{fold_answer, fold_refusal};
use self::leases::{fold_lease, fold_lease_candidate};
use self::statements::fold_stance;
use self::storage_states::{fold_agreement, fold_storage_state};
use self::values::{fold_both, fold_metadata, fold_resource, fold_version, fold_versions};
use super::objects::{fold_collection_change, fold_object_change, fold_object_key};
use super::revisions::{fold_live_mark, fold_revision_change};
use super::{RowHash, RowHasher};
use crate::{
    Change, Deadline, EntryChange, EntryRow, Holder, OutcomeRow, ReplicaId, ReplicaRow,
    RevisionEvents, StorageStateRow, StorageVersionRow, VersionStatus,
};

pub(crate) fn replica_hash(id: ReplicaId, row: &ReplicaRow) -> RowHash {
    let ReplicaRow {
        directory,
        client_endpoint,
        binary,
        machine_version,
        disk_is_low,
    } = row;
    let mut to = RowHasher::new(1);
    to.number(id.get());
    to.raw(directory.as_bytes());
    to.text(client_endpoint);
    to.text(binary);
    to.number(u64::from(*machine_version));
    if *disk_is_low {
        to.number(1);
    }
    to.finish()
}

pub(crate) fn member_hash(member: &Member) -> RowHash {
    let mut to = RowHasher::new(2);
    fold_member(&mut to, member);
    to.finish()
}

pub(crate) fn deadline_hash(holder: &Holder, deadline: &Deadline) -> RowHash {
    let Deadline { at, ttl } = deadline;
    let mut to = RowHasher::new(3);
    match holder {
        Holder::Member(id) => {
            to.number(1);
            to.text(id.as_str());
        }
        Holder::Session(id) => {
            to.number(2);
            to.number(id.get());
        }
        Holder::Unreported(id) => {
            to.number(3);
            to.text(id.as_str());
        }
        Holder::Lease(key) => {
            to.number(12);
            to.text(key.as_str());
        }
        Holder::LeaseWaiter(key, ticket) => {
            to.number(13);
            to.text(key.as_str());
            to.number(ticket.get());
        }
        Holder::LeaseCandidate(key, identity) => {
            to.number(14);
            to.text(key.as_str());
            to.text(identity.as_str());
        }
        Holder::Object(key) => {
            to.number(10);
            fold_object_key(&mut to, key);
        }
        Holder::Claim(id) => migrations::fold_holder(&mut to, 15, id),
        Holder::Retry(id) => migrations::fold_holder(&mut to, 16, id),
        Holder::Observation(resource) => {
            to.number(17);
            fold_resource(&mut to, resource);
        }
        Holder::Mark(key, mark) => {
            to.number(30);
            to.text(&key.to_string());
            fold_live_mark(&mut to, mark);
        }
    }
    to.number(at.as_millis());
    to.number(millis(*ttl));
    to.finish()
}

pub(crate) fn session_hash(id: SessionId, lowest: Sequence) -> RowHash {
    let mut to = RowHasher::new(4);
    to.number(id.get());
    to.number(lowest.get());
    to.finish()
}

pub(crate) fn outcome_hash(id: SessionId, sequence: Sequence, row: &OutcomeRow) -> RowHash {
    let OutcomeRow {
        revision,
        changed,
        result,
    } = row;
    let mut to = RowHasher::new(5);
    to.number(id.get());
    to.number(sequence.get());
    to.number(revision.get());
    to.flag(*changed);
    match result {
        Ok(answer) => {
            to.number(1);
            fold_answer(&mut to, answer);
        }
        Err(refusal) => {
            to.flag(false);
            fold_refusal(&mut to, refusal);
        }
    }
    to.finish()
}

pub(crate) fn entry_hash(resource: &GroupResource, member: &MemberId, row: &EntryRow) -> RowHash {
    let mut to = RowHasher::new(6);
    fold_resource(&mut to, resource);
    to.text(member.as_str());
    fold_entry(&mut to, row);
    to.finish()
}

pub(crate) fn storage_version_hash(resource: &GroupResource, row: &StorageVersionRow) -> RowHash {
    let mut to = RowHasher::new(7);
    fold_resource(&mut to, resource);
    fold_storage_version(&mut to, row);
    to.finish()
}

pub(crate) fn storage_state_hash(resource: &GroupResource, row: &StorageStateRow) -> RowHash {
    let mut to = RowHasher::new(8);
    fold_resource(&mut to, resource);
    fold_storage_state(&mut to, row);
    to.finish()
}

pub(crate) fn agreement_hash(resource: &GroupResource, line: &AgreementChange) -> RowHash {
    let mut to = RowHasher::new(9);
    fold_resource(&mut to, resource);
    fold_agreement(&mut to, line);
    to.finish()
}

pub(crate) fn settings_hash(settings: &Settings) -> RowHash {
    let mut to = RowHasher::new(10);
    fold_settings(&mut to, settings);
    to.finish()
}

pub(crate) fn events_hash(events: &RevisionEvents) -> RowHash {
    let RevisionEvents { revision, changes } = events;
    let mut to = RowHasher::new(11);
    to.number(revision.get());
    to.list(changes.iter(), fold_change);
    to.finish()
}

fn fold_change(to: &mut RowHasher, change: &Change) {
    match change {
        Change::Member { id, before, after } => {
            to.number(1);
            to.text(id.as_str());
            fold_both(to, before, after, fold_member);
        }
        Change::StorageVersion {
            resource,
            entries,
            before,
            after,
        } => fold_version_change(to, resource, entries, [before, after]),
        Change::StorageState {
            resource,
            before,
            after,
            agreement,
        } => fold_state_change(to, resource, [before, after], agreement.as_deref()),
        Change::ControllerRevision { key, before, after } => {
            to.number(15);
            fold_revision_change(to, key, before.as_deref(), after.as_deref());
        }
        Change::Migration { id, before, after } => migrations::fold_change(to, id, before, after),
        Change::Roster {
            scope,
            before,
            after,
        } => rosters::fold_change(to, scope, before, after),
        Change::Settings { before, after } => {
            to.number(4);
            to.option(before.as_ref(), |to, settings| fold_settings(to, settings));
            fold_settings(to, after);
        }
        Change::Lease { key, before, after } => {
            to.number(20);
            to.text(key.as_str());
            fold_both(to, before, after, fold_lease);
        }
        Change::LeaseCandidate {
            lease,
            identity,
            before,
            after,
        } => {
            to.number(21);
            to.text(lease.as_str());
            to.text(identity.as_str());
            fold_both(to, before, after, fold_lease_candidate);
        }
        Change::Collection {
            resource,
            before,
            after,
        } => {
            to.number(10);
            fold_collection_change(to, resource, before.as_deref(), after.as_deref());
        }
        Change::Object { key, before, after } => {
            to.number(11);
            fold_object_change(to, key, before.as_deref(), after.as_deref());
        }
    }
}

/// A reported resource, with the entries that changed under it.
fn fold_version_change(
    to: &mut RowHasher,
    resource: &GroupResource,
    entries: &[EntryChange],
    [before, after]: [&Option<Arc<StorageVersionRow>>; 2],
) {
    to.number(2);
    fold_resource(to, resource);
    to.list(entries.iter(), fold_entry_change);
    fold_both(to, before, after, fold_storage_version);
}

/// What stays of a resource, with the line that its history got.
fn fold_state_change(
    to: &mut RowHasher,
    resource: &GroupResource,
    [before, after]: [&Option<Arc<StorageStateRow>>; 2],
    agreement: Option<&AgreementChange>,
) {
    to.number(3);
    fold_resource(to, resource);
    fold_both(to, before, after, fold_storage_state);
    to.option(agreement, fold_agreement);
}

fn fold_entry_change(to: &mut RowHasher, entry: &EntryChange) {
    to.text(entry.member.as_str());
    fold_both(to, &entry.before, &entry.after, fold_entry);
}

fn fold_member(to: &mut RowHasher, member: &Member) {
    let Member {
        id,
        instance,
        epoch,
        ttl,
        labels,
        version,
        endpoint,
        phase,
        metadata,
        reported,
    } = member;
    to.text(id.as_str());
    to.text(instance.as_str());
    to.number(epoch.get());
    to.number(ttl.as_millis());
    to.list(labels.iter(), |to, (key, value)| {
        to.text(key);
        to.text(value);
    });
    to.text(version.as_str());
    to.text(endpoint.as_str());
    to.number(match phase {
        Phase::Joining => 1,
        Phase::Ready => 2,
    });
    fold_metadata(to, metadata);
    to.flag(*reported);
}

fn fold_entry(to: &mut RowHasher, row: &EntryRow) {
    let EntryRow {
        kind,
        decodable,
        served,
        stance,
        encoding,
        adopted_revision,
        since,
    } = row;
    to.text(kind.as_str());
    fold_versions(to, decodable);
    fold_versions(to, served);
    fold_stance(to, stance);
    to.option(encoding.as_ref(), fold_version);
    to.option(*adopted_revision, |to, revision| to.number(revision.get()));
    to.number(since.get());
}

fn fold_storage_version(to: &mut RowHasher, row: &StorageVersionRow) {
    let StorageVersionRow { metadata, status } = row;
    let VersionStatus {
        common,
        selected,
        selected_revision,
        agreement_revision,
        agreed,
        decodable_by_all,
        served_by_all,
        all_equal,
        decodable,
    } = status;
    fold_metadata(to, metadata);
    to.option(common.as_ref(), fold_version);
    to.option(selected.as_ref(), fold_version);
    to.number(selected_revision.get());
    to.number(agreement_revision.get());
    to.option(agreed.as_ref(), fold_version);
    to.list(decodable_by_all.iter(), fold_version);
    to.list(served_by_all.iter(), fold_version);
    fold_condition(to, all_equal);
    fold_condition(to, decodable);
}

fn fold_condition(to: &mut RowHasher, condition: &Condition) {
    let Condition {
        kind,
        status,
        reason,
        message,
        observed_generation,
        transition,
        transition_revision,
    } = condition;
    to.text(kind);
    to.number(match status {
        ConditionStatus::True => 1,
        ConditionStatus::False => 2,
        ConditionStatus::Unknown => 3,
    });
    to.text(reason);
    to.text(message);
    to.number(*observed_generation);
    to.number(transition.as_millis());
    to.number(transition_revision.get());
}

fn fold_settings(to: &mut RowHasher, settings: &Settings) {
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
        revision,
    } = settings;
    to.number(*history_revisions);
    to.number(*history_bytes);
    to.number(millis(*write_grace));
    to.number(millis(*unreported_grace));
    to.number(millis(*session_ttl));
    for limit in [
        session_outcomes,
        sessions_max,
        members_max,
        report_entries_max,
        agreements_kept,
    ] {
        to.number(u64::from(*limit));
    }
    to.number(*state_quota_bytes);
    to.number(u64::from(*migrations_kept));
    to.number(millis(*discovery_period));
    to.list(enforce_persisted.iter(), fold_resource);
    to.number(revision.get());
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
