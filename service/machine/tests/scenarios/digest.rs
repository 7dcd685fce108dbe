//! Every field of every row is part of the digest, so two replicas that differ in one field get different digests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    Answer, Change, Deadline, EntryRow, Heartbeat, Holder, ObjectRef, Observation, OutcomeRow,
    ProgressRow, ReplicaId, ReplicaRow, RevisionEvents, Row, State, StateStatus, StatementHash,
    StatementRow, StorageStateRow, StorageVersionRow, VersionStatus,
};
use synod_model::{
    AbortCause, AgreementChange, Assumption, BinaryVersion, Claim, ClaimToken, Condition,
    ConditionStatus, Endpoint, Epoch, FailureClass, FailureReason, HolderIdentity, InstanceId,
    Kind, LabelSelector, Labels, LogTime, Member, MemberId, Metadata, Migration, MigrationAlias,
    MigrationFailure, MigrationId, MigrationPhase, MigrationReason, Persisted, Phase,
    ResourceScope, Revision, Settings, Stance, StorageVersionHash, Ttl, Uid, WallTime, WorkerName,
};

use crate::checkpoint::rich;
use crate::entry::{resource, version};
use crate::shelf::widget;

pub(crate) type Changes<T> = Vec<fn(&mut T)>;

pub(crate) const OTHER: Revision = Revision::new(987_654);

/// Changes one field at a time, and checks every changed row against the digest.
pub(crate) fn every_field_counts<T: Clone>(
    found: impl Fn(&Row) -> Option<T>,
    with: impl Fn(&Row, T) -> Row,
    changes: &[fn(&mut T)],
) {
    let rows: Vec<Row> = rich().rows().collect();
    let of_kind: Vec<usize> = (0..rows.len())
        .filter(|i| found(&rows[*i]).is_some())
        .collect();
    assert!(!of_kind.is_empty(), "the rich state has every kind of row");
    for (number, change) in changes.iter().enumerate() {
        let mut changed_some = false;
        for i in &of_kind {
            let mut value = found(&rows[*i]).expect("it is of this kind");
            change(&mut value);
            let row = with(&rows[*i], value);
            if row == rows[*i] {
                continue;
            }
            changed_some = true;
            let mut changed = rows.clone();
            changed[*i] = row;
            let fault = State::from_rows(changed)
                .map(|_| ())
                .expect_err("it is another state");
            let fault = fault.to_string();
            assert!(
                fault.contains("its digest is"),
                "change {number} of {:?}: {fault}",
                rows[*i]
            );
        }
        assert!(changed_some, "change {number} changed nothing");
    }
}

pub(crate) fn metadata() -> Changes<Metadata> {
    vec![
        |it| it.uid = Uid::from_bytes([1; 16]),
        |it| it.resource_version = OTHER,
        |it| it.create_revision = OTHER,
        |it| it.generation += 1,
        |it| it.created = WallTime::from_millis(1),
    ]
}

fn conditions() -> Changes<Condition> {
    vec![
        |it| it.kind.push('x'),
        |it| it.status = ConditionStatus::Unknown,
        |it| it.reason.push('x'),
        |it| it.message.push('x'),
        |it| it.observed_generation += 1,
        |it| it.transition = WallTime::from_millis(1),
        |it| it.transition_revision = OTHER,
    ]
}

fn members() -> Changes<Member> {
    vec![
        |it| it.instance = InstanceId::parse("other").expect("legal"),
        |it| it.epoch = Epoch::new(OTHER),
        |it| it.ttl = Ttl::MAX,
        |it| it.labels = Labels::parse([("a", "b")]).expect("legal"),
        |it| it.version = BinaryVersion::parse("other").expect("legal"),
        |it| it.endpoint = Endpoint::parse("other").expect("legal"),
        |it| it.phase = Phase::Ready,
        |it| it.reported = !it.reported,
    ]
}

fn entries() -> Changes<EntryRow> {
    vec![
        |it| it.kind = Kind::parse("Other").expect("legal"),
        |it| it.decodable = ["v1", "v2", "v9"].into_iter().map(version).collect(),
        |it| it.served = [version("v9")].into_iter().collect(),
        |it| {
            it.stance = Stance::Voting {
                preferred: version("v9"),
            };
        },
        |it| {
            let preferred = it.stance.version().clone();
            it.stance = Stance::Voting { preferred };
        },
        |it| it.encoding = Some(version("v9")),
        |it| it.encoding = None,
        |it| it.adopted_revision = Some(OTHER),
        |it| it.adopted_revision = None,
        |it| it.since = OTHER,
    ]
}

fn versions() -> Changes<VersionStatus> {
    vec![
        |it| it.common = Some(version("v9")),
        |it| it.selected = Some(version("v9")),
        |it| it.selected_revision = OTHER,
        |it| it.agreement_revision = OTHER,
        |it| it.agreed = Some(version("v9")),
        |it| it.decodable_by_all = [version("v9")].into(),
        |it| it.served_by_all = [version("v9")].into(),
    ]
}

fn states() -> Changes<StateStatus> {
    vec![
        |it| it.common = Some(version("v9")),
        |it| it.selected = Some(version("v9")),
        |it| it.selected_revision = OTHER,
        |it| it.agreement_revision = OTHER,
        |it| it.agreed = Some(version("v9")),
        |it| {
            it.persisted.remove(&Persisted::Unknown);
        },
        |it| {
            let hashes: BTreeSet<Persisted> = it
                .persisted
                .iter()
                .filter_map(Persisted::hash)
                .map(|hash| Persisted::Version {
                    hash,
                    version: None,
                })
                .collect();
            it.persisted = hashes;
        },
        |it| it.observation = Some(observation([hash()].into(), None, false)),
        |it| {
            let kind = Kind::parse("Widget").ok();
            it.observation = Some(observation([hash()].into(), kind, false));
        },
        |it| it.observation = Some(observation([hash()].into(), None, true)),
        |it| {
            let seen = observation([hash()].into(), None, false);
            it.observation = Some(Observation {
                overtaken: true,
                ..seen
            });
        },
        |it| it.contradicted = true,
        |it| it.agreed_hash = Some(hash()),
        |it| it.on_trust = Some(OTHER),
        |it| {
            it.heard.insert(MemberId::parse("a").expect("a legal id"));
        },
        |it| it.absent.short = 1,
        |it| it.absent.labels = LabelSelector::parse("tier").expect("legal"),
        |it| it.absent.unnamed = 1,
        |it| {
            it.absent
                .members
                .insert(MemberId::parse("a").expect("a legal id"));
        },
        |it| {
            it.hash_drains.insert(hash(), LogTime::ZERO);
        },
        |it| {
            it.drains.insert(version("v9"), LogTime::ZERO);
        },
        |it| {
            it.drains = BTreeMap::from_iter(it.drains.keys().cloned().map(|v| (v, LogTime::ZERO)));
        },
    ]
}

fn agreements() -> Changes<AgreementChange> {
    vec![
        |it| it.from = Some(version("v9")),
        |it| it.to = Some(version("v9")),
        |it| it.revision = OTHER,
        |it| it.at = WallTime::from_millis(1),
        |it| it.cause = None,
    ]
}

#[test]
fn of_settings() {
    let changes: Changes<Settings> = vec![
        |it| it.history_revisions += 1,
        |it| it.history_bytes += 1,
        |it| it.write_grace += Duration::from_millis(1),
        |it| it.unreported_grace += Duration::from_millis(1),
        |it| it.session_ttl += Duration::from_millis(1),
        |it| it.session_outcomes += 1,
        |it| it.sessions_max += 1,
        |it| it.members_max += 1,
        |it| it.report_entries_max += 1,
        |it| it.agreements_kept += 1,
        |it| it.state_quota_bytes += 1,
        |it| it.migrations_kept += 1,
        |it| it.discovery_period += Duration::from_millis(1),
        |it| it.enforce_persisted.clear(),
        |it| it.revision = OTHER,
    ];
    let found = |row: &Row| match row {
        Row::Settings(settings) => Some((**settings).clone()),
        _ => None,
    };
    every_field_counts(
        found,
        |_, settings| Row::Settings(Arc::new(settings)),
        &changes,
    );
}

#[test]
fn of_replicas() {
    let changes: Changes<(ReplicaId, ReplicaRow)> = vec![
        |it| it.0 = ReplicaId::new(9),
        |it| it.1.directory = synod_machine::DirectoryId::from_bytes([9; 16]),
        |it| it.1.client_endpoint.push('x'),
        |it| it.1.binary.push('x'),
        |it| it.1.machine_version += 1,
        |it| it.1.disk_is_low = true,
    ];
    let found = |row: &Row| match row {
        Row::Replica(id, row) => Some((*id, row.clone())),
        _ => None,
    };
    every_field_counts(found, |_, (id, row)| Row::Replica(id, row), &changes);
}

#[test]
fn of_members() {
    let found = |row: &Row| match row {
        Row::Member(member) => Some((**member).clone()),
        _ => None,
    };
    every_field_counts(found, |_, member| Row::Member(Arc::new(member)), &members());
    let metadata_of = |row: &Row| found(row).map(|member| member.metadata);
    let with = |row: &Row, metadata: Metadata| match row {
        Row::Member(member) => Row::Member(Arc::new(Member {
            metadata,
            ..(**member).clone()
        })),
        other => other.clone(),
    };
    every_field_counts(metadata_of, with, &metadata());
}

#[test]
fn of_statements() {
    let changes: Changes<(MemberId, StatementRow)> = vec![
        |it| it.0 = MemberId::parse("labelled").expect("legal"),
        |it| it.1.number = it.1.number.next().expect("there are more"),
        |it| it.1.content = StatementHash::from_bytes([9; 16]),
    ];
    let found = |row: &Row| match row {
        Row::Statement(id, said) => Some((id.clone(), *said)),
        _ => None,
    };
    every_field_counts(found, |_, (id, said)| Row::Statement(id, said), &changes);
}

#[test]
fn of_deadlines() {
    let changes: Changes<(Holder, Deadline)> = vec![
        |it| it.0 = Holder::Member(MemberId::parse("nobody").expect("legal")),
        |it| it.0 = Holder::Unreported(MemberId::parse("nobody").expect("legal")),
        |it| it.0 = Holder::Session(synod_model::SessionId::new(OTHER)),
        |it| it.0 = Holder::Claim(id()),
        |it| it.0 = Holder::Retry(id()),
        |it| it.1.at = LogTime::from_millis(1),
        |it| it.1.ttl += Duration::from_millis(1),
    ];
    let found = |row: &Row| match row {
        Row::Deadline(holder, deadline) => Some((holder.clone(), *deadline)),
        _ => None,
    };
    every_field_counts(
        found,
        |_, (holder, deadline)| Row::Deadline(holder, deadline),
        &changes,
    );
}

#[test]
fn of_sessions_and_outcomes() {
    let lowest = |row: &Row| match row {
        Row::Session(_, lowest, _) => Some(*lowest),
        _ => None,
    };
    let with = |row: &Row, lowest| match row {
        Row::Session(id, _, owner) => Row::Session(*id, lowest, owner.clone()),
        other => other.clone(),
    };
    every_field_counts(lowest, with, &[|it| *it = it.next()]);

    let found = |row: &Row| match row {
        Row::Outcome(_, _, row) => Some((**row).clone()),
        _ => None,
    };
    let with = |row: &Row, outcome| match row {
        Row::Outcome(id, sequence, _) => Row::Outcome(*id, *sequence, Arc::new(outcome)),
        other => other.clone(),
    };
    every_field_counts(found, with, &outcomes());
}

fn outcomes() -> Changes<OutcomeRow> {
    let mut all: Changes<OutcomeRow> = vec![
        |it| it.revision = OTHER,
        |it| it.changed = !it.changed,
        |it| it.result = Ok(Answer::Done),
        |it| {
            if let Ok(Answer::Joined { epoch, .. }) = &mut it.result {
                *epoch = Epoch::new(OTHER);
            }
        },
        |it| {
            if let Ok(Answer::Joined { ttl, .. }) = &mut it.result {
                *ttl = Ttl::MAX;
            }
        },
        |it| {
            if let Ok(Answer::SessionOpened(id)) = &mut it.result {
                *id = synod_model::SessionId::new(OTHER);
            }
        },
        |it| {
            if let Ok(Answer::Expired { members, .. }) = &mut it.result {
                *members += 1;
            }
        },
        |it| {
            if let Ok(Answer::Expired { sessions, .. }) = &mut it.result {
                *sessions += 1;
            }
        },
        |it| {
            if let Ok(Answer::Expired { unreported, .. }) = &mut it.result {
                *unreported += 1;
            }
        },
        |it| {
            if let Ok(Answer::Expired { objects, .. }) = &mut it.result {
                *objects += 1;
            }
        },
        |it| each_told(it, |told| told.resource = resource("batch.jobs")),
        |it| each_told(it, |told| told.encoding = None),
        |it| each_told(it, |told| told.selected = None),
        |it| each_told(it, |told| told.selected_revision = OTHER),
        |it| each_told(it, |told| told.adopted_revision = Some(OTHER)),
        |it| {
            if let Err(refusal) = &mut it.result {
                refusal.kind = synod_model::ErrorKind::DataLoss;
            }
        },
        |it| {
            if let Err(refusal) = &mut it.result {
                refusal.message.push('x');
            }
        },
        |it| {
            if let Err(refusal) = &mut it.result {
                refusal.metadata.clear();
            }
        },
        |it| {
            if let Err(refusal) = &mut it.result {
                let violation = synod_model::Violation::required("something");
                refusal.violations.push(violation);
            }
        },
    ];
    all.extend(outcomes_of_migrations());
    all
}

fn outcomes_of_migrations() -> Changes<OutcomeRow> {
    vec![
        |it| {
            if let Ok(Answer::MigrationStarted(id)) = &mut it.result {
                *id = self::id();
            }
        },
        |it| {
            if let Ok(Answer::MigrationClaimed { token, .. }) = &mut it.result {
                *token = ClaimToken::new(OTHER);
            }
        },
        |it| {
            if let Ok(Answer::MigrationClaimed { progress, .. }) = &mut it.result {
                progress.done += 1;
            }
        },
    ]
}

fn each_told(outcome: &mut OutcomeRow, change: fn(&mut synod_machine::ReportedResource)) {
    if let Ok(Answer::Reported(told)) = &mut outcome.result {
        told.iter_mut().for_each(change);
    }
}

#[test]
fn of_entries() {
    let found = |row: &Row| match row {
        Row::Entry(_, _, row) => Some((**row).clone()),
        _ => None,
    };
    let with = |row: &Row, entry| match row {
        Row::Entry(resource, member, _) => {
            Row::Entry(resource.clone(), member.clone(), Arc::new(entry))
        }
        other => other.clone(),
    };
    every_field_counts(found, with, &entries());
}

fn version_row(row: &Row) -> Option<StorageVersionRow> {
    match row {
        Row::StorageVersion(_, row) => Some((**row).clone()),
        _ => None,
    }
}

fn with_version(row: &Row, change: impl Fn(&mut StorageVersionRow)) -> Row {
    match row {
        Row::StorageVersion(resource, row) => {
            let mut row = (**row).clone();
            change(&mut row);
            Row::StorageVersion(resource.clone(), Arc::new(row))
        }
        other => other.clone(),
    }
}

#[test]
fn of_storage_versions() {
    every_field_counts(
        |row| version_row(row).map(|row| row.status),
        |row, status: VersionStatus| with_version(row, |it| it.status = status.clone()),
        &versions(),
    );
    every_field_counts(
        |row| version_row(row).map(|row| row.metadata),
        |row, metadata: Metadata| with_version(row, |it| it.metadata = metadata.clone()),
        &metadata(),
    );
    every_field_counts(
        |row| version_row(row).map(|row| row.status.all_equal),
        |row, condition: Condition| with_version(row, |it| it.status.all_equal = condition.clone()),
        &conditions(),
    );
    every_field_counts(
        |row| version_row(row).map(|row| row.status.decodable),
        |row, condition: Condition| with_version(row, |it| it.status.decodable = condition.clone()),
        &conditions(),
    );
}

#[test]
fn of_storage_states_and_agreements() {
    let found = |row: &Row| match row {
        Row::StorageState(_, row) => Some((**row).clone()),
        _ => None,
    };
    let with = |row: &Row, change: &dyn Fn(&mut StorageStateRow)| match row {
        Row::StorageState(resource, row) => {
            let mut row = (**row).clone();
            change(&mut row);
            Row::StorageState(resource.clone(), Arc::new(row))
        }
        other => other.clone(),
    };
    every_field_counts(
        |row| found(row).map(|row| row.status),
        |row, status: StateStatus| with(row, &|it| it.status = status.clone()),
        &states(),
    );
    every_field_counts(
        |row| found(row).map(|row| row.metadata),
        |row, metadata: Metadata| with(row, &|it| it.metadata = metadata.clone()),
        &metadata(),
    );
    let line = |row: &Row| match row {
        Row::Agreement(_, line) => Some((**line).clone()),
        _ => None,
    };
    let with_line = |row: &Row, line| match row {
        Row::Agreement(resource, _) => Row::Agreement(resource.clone(), Arc::new(line)),
        other => other.clone(),
    };
    every_field_counts(line, with_line, &agreements());
}

#[test]
fn of_events() {
    let changes: Changes<RevisionEvents> = vec![
        |it| it.changes.clear(),
        |it| it.changes.reverse(),
        |it| it.changes.iter_mut().for_each(swap),
        |it| it.changes.iter_mut().for_each(drop_detail),
        |it| it.changes.iter_mut().for_each(rename),
    ];
    let found = |row: &Row| match row {
        Row::Events(events) => Some((**events).clone()),
        _ => None,
    };
    every_field_counts(found, |_, events| Row::Events(Arc::new(events)), &changes);
}

/// Swaps the rows before and after the change.
fn swap(change: &mut Change) {
    std::mem::swap(&mut change.before, &mut change.after);
}

fn drop_detail(change: &mut Change) {
    change.entries.clear();
    change.agreement = None;
}

fn rename(change: &mut Change) {
    change.object = match &change.object {
        ObjectRef::Member(_) => ObjectRef::Member(MemberId::parse("nobody").expect("a legal id")),
        ObjectRef::StorageVersion(_) => ObjectRef::StorageVersion(resource("batch.jobs")),
        ObjectRef::StorageState(_) => ObjectRef::StorageState(resource("batch.jobs")),
        ObjectRef::Collection(_) => ObjectRef::Collection(resource("batch.jobs")),
        ObjectRef::Object(_) => ObjectRef::Object(widget("nowhere/nothing")),
        ObjectRef::ControllerRevision(_) => ObjectRef::Settings(()),
        ObjectRef::Lease(key) => {
            let other = HolderIdentity::parse("other").expect("a legal identity");
            ObjectRef::LeaseCandidate((key.clone(), other))
        }
        ObjectRef::LeaseCandidate((key, _)) => ObjectRef::Lease(key.clone()),
        ObjectRef::Migration(_) => ObjectRef::Migration(id()),
        ObjectRef::Settings(()) | ObjectRef::Roster(_) => ObjectRef::Roster(ResourceScope::All),
    };
}

fn hash() -> StorageVersionHash {
    StorageVersionHash::from_bytes([7; 8])
}

fn id() -> MigrationId {
    MigrationId::new(resource("batch.jobs"), OTHER)
}

fn migrations() -> Changes<Migration> {
    vec![
        |it| it.id = id(),
        |it| it.target.hash = hash(),
        |it| it.target.version = None,
        |it| it.agreement_revision = OTHER,
        |it| it.reason = MigrationReason::RewriteAll,
        |it| it.phase = MigrationPhase::Succeeded,
        |it| it.claim = None,
        |it| each_claim(it, |claim| claim.token = ClaimToken::new(OTHER)),
        |it| each_claim(it, |claim| claim.ttl = Ttl::MAX),
        |it| {
            each_claim(it, |claim| {
                claim.worker = WorkerName::parse("w").expect("legal")
            })
        },
        |it| it.failures += 1,
        |it| it.failure = None,
        |it| each_failure(it, |failure| failure.class = FailureClass::Undecodable),
        |it| each_failure(it, |failure| failure.reason = FailureReason::default()),
        |it| it.aborted = Some(AbortCause::Requested),
        |it| it.done += 1,
        |it| it.estimate = Some(987),
        |it| it.ended = Some(WallTime::from_millis(1)),
        |it| it.assumption = Some(Assumption::NoRoster),
        |it| it.alias = MigrationAlias::parse("mine").ok(),
    ]
}

fn each_claim(migration: &mut Migration, change: fn(&mut Claim)) {
    migration.claim.iter_mut().for_each(change);
}

fn each_failure(migration: &mut Migration, change: fn(&mut MigrationFailure)) {
    migration.failure.iter_mut().for_each(change);
}

#[test]
fn of_migrations() {
    let found = |row: &Row| match row {
        Row::Migration(migration) => Some((**migration).clone()),
        _ => None,
    };
    // A migration under another name leaves its progress row orphaned, which is another fault than a different digest.
    let with = |row: &Row, migration: Migration| match row {
        Row::Migration(_) => Row::Migration(Arc::new(migration)),
        other => other.clone(),
    };
    every_field_counts(found, with, &migrations()[1..]);
    let metadata_of = |row: &Row| found(row).map(|migration| migration.metadata);
    let with = |row: &Row, metadata: Metadata| match row {
        Row::Migration(migration) => Row::Migration(Arc::new(Migration {
            metadata,
            ..(**migration).clone()
        })),
        other => other.clone(),
    };
    every_field_counts(metadata_of, with, &metadata());
}

#[test]
fn of_progress_and_heartbeats() {
    let changes: Changes<ProgressRow> = vec![
        |it| it.progress.done += 1,
        |it| it.progress.estimate = None,
        |it| it.progress.continue_token = None,
        |it| it.shown_at = LogTime::from_millis(1),
    ];
    let found = |row: &Row| match row {
        Row::MigrationProgress(_, row) => Some((**row).clone()),
        _ => None,
    };
    let with = |row: &Row, progress| match row {
        Row::MigrationProgress(id, _) => Row::MigrationProgress(id.clone(), Arc::new(progress)),
        other => other.clone(),
    };
    every_field_counts(found, with, &changes);
    let changes: Changes<Heartbeat> = vec![|it| it.at = LogTime::from_millis(1), |it| {
        it.wall = WallTime::from_millis(1)
    }];
    let found = |row: &Row| match row {
        Row::Heartbeat(_, heartbeat) => Some(*heartbeat),
        _ => None,
    };
    let with = |row: &Row, heartbeat| match row {
        Row::Heartbeat(resource, _) => Row::Heartbeat(resource.clone(), heartbeat),
        other => other.clone(),
    };
    every_field_counts(found, with, &changes);
}

fn observation(
    hashes: BTreeSet<StorageVersionHash>,
    kind: Option<Kind>,
    expired: bool,
) -> Observation {
    Observation {
        hashes,
        kind,
        expired,
        overtaken: false,
    }
}
