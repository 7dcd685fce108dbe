mod objects;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    AnnounceReplica, Answer, Command, DirectoryId, Envelope, Expire, Holder, Initialize, LogEntry,
    OutcomeRow, RaiseMachineVersion, ReplicaId, Restore, State,
};
use bytes::Bytes;
use proptest::prelude::*;
use synod_model::stored::{from_bytes, to_bytes};
use synod_model::{
    AbortMigration, AcquireLease, Adopt, ApiVersion, Assumption, BinaryVersion, ClaimMigration,
    ClaimToken, CloseSession, ClusterId, CompleteMigration, ContinueToken, DeleteLease,
    DeleteMigration, DeleteRoster, DismissLooks, Endpoint, Epoch, FailMigration, FailureClass,
    FailureReason, FencingToken, ForgetResource, GroupResource, HolderIdentity, InstanceId, Join,
    Kind, LabelSelector, Labels, LeaseKey, Leave, LogTime, MarkReady, MemberId, MigrationAlias,
    MigrationId, MigrationProgress, MigrationReason, ObserveStorage, ObservedServer, ObserverName,
    OpenSession, Preconditions, PutLeaseCandidate, ReleaseLease, ReleaseMigration, Renew,
    RenewLease, RenewLeaseCandidate, Report, ReportEntry, ReportMigrationProgress, RequestId,
    ResetStorageStates, ResourceScope, RetryMigration, Revision, RosterRule, SemanticVersion,
    Sequence, ServerLook, SessionId, SetRoster, Settings, SettingsPatch, Stance, StartMigration,
    StatementNumber, StorageVersionHash, StoredIn, Strategy, Ticket, Ttl, Uid, UpdateSettings,
    VersionSet, WallTime, WithdrawLeaseCandidate, WorkerName, WorkerStop,
};

use super::*;
use objects::object_key;
use served::log_of_a_version;

mod controller_revisions;
mod selectors;
mod served;

fn member(id: &str) -> MemberId {
    MemberId::parse(id).unwrap()
}

fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).unwrap()
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("example.io", name).unwrap()
}

fn epoch(number: u64) -> Epoch {
    Epoch::new(Revision::new(number))
}

fn join(id: &str) -> Command {
    Command::Join(Join {
        id: member(id),
        instance: InstanceId::parse("one").unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::parse([("zone", "a"), ("example.io/tier", "front")]).unwrap(),
        version: BinaryVersion::parse("1.2.3").unwrap(),
        endpoint: Endpoint::parse("https://10.0.0.1:6443").unwrap(),
        lost_epoch: None,
        gated: true,
    })
}

fn entry(name: &str, stance: Stance) -> ReportEntry {
    let versions = ["example.io/v1", "example.io/v2"];
    ReportEntry {
        resource: resource(name),
        kind: Kind::parse("Widget").unwrap(),
        decodable: versions.iter().map(|text| version(text)).collect(),
        served: versions[..1].iter().map(|text| version(text)).collect(),
        stance,
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

fn report(id: &str, at: u64, entries: Vec<ReportEntry>) -> Command {
    report_numbered(id, at, StatementNumber::FIRST, entries)
}

fn report_numbered(
    id: &str,
    at: u64,
    number: StatementNumber,
    entries: Vec<ReportEntry>,
) -> Command {
    Command::Report(Report {
        member: member(id),
        epoch: epoch(at),
        number,
        entries,
        replace: true,
    })
}

fn lease(name: &str) -> LeaseKey {
    LeaseKey::new("default", name).unwrap()
}

fn holder(identity: &str) -> HolderIdentity {
    HolderIdentity::parse(identity).unwrap()
}

fn acquire(name: &str, identity: &str, wait: Option<Ttl>) -> Command {
    Command::AcquireLease(AcquireLease {
        key: lease(name),
        holder: holder(identity),
        ttl: Ttl::DEFAULT,
        wait,
        if_member: Some((member("a"), epoch(4))),
    })
}

fn stands(name: &str, identity: &str) -> Command {
    Command::PutLeaseCandidate(PutLeaseCandidate {
        key: lease(name),
        identity: holder(identity),
        binary_version: SemanticVersion::parse("v1.33.2").unwrap(),
        emulation_version: Some(SemanticVersion::parse("1.32").unwrap()),
        strategy: Strategy::OldestEmulationVersion,
        ttl: Ttl::DEFAULT,
    })
}

/// One of each command. Applying them in order leaves a row of each kind.
fn every_command() -> Vec<Command> {
    let fixed = |text: &str| Stance::Fixed {
        encoding: version(text),
    };
    let voting = |text: &str| Stance::Voting {
        preferred: version(text),
    };
    [
        Command::Initialize(Initialize {
            cluster: ClusterId::from_bytes([7; 16]),
            settings: Settings::default(),
        }),
        announce(false),
        Command::RaiseMachineVersion(RaiseMachineVersion {
            to: 1,
            replicas: [1, 3].map(ReplicaId::new).into(),
        }),
        Command::OpenSession(OpenSession {}),
        join("a"),
        join("b"),
        report(
            "a",
            4,
            vec![
                entry("widgets", voting("example.io/v1")),
                entry("gears", fixed("example.io/v2")),
            ],
        ),
        report("b", 5, vec![entry("widgets", voting("example.io/v2"))]),
        report_numbered(
            "a",
            4,
            StatementNumber::new(2).unwrap(),
            vec![entry("widgets", voting("example.io/v2"))],
        ),
        Command::Adopt(Adopt {
            member: member("a"),
            epoch: epoch(4),
            number: StatementNumber::new(u64::MAX).unwrap(),
            resource: resource("widgets"),
            selected_revision: Revision::new(8),
        }),
        Command::MarkReady(MarkReady {
            member: member("a"),
            epoch: epoch(4),
        }),
        Command::Renew(Renew {
            member: member("a"),
            epoch: epoch(4),
        }),
        Command::UpdateSettings(UpdateSettings {
            patch: SettingsPatch {
                write_grace: Some(Duration::from_secs(9)),
                enforce_persisted: Some(BTreeSet::from([resource("widgets")])),
                ..SettingsPatch::default()
            },
            if_revision: Some(Revision::new(1)),
        }),
    ]
    .into_iter()
    .chain(lease_commands())
    .chain(controller_revisions::every_command())
    .chain(endings())
    .chain(objects::commands())
    .chain([announce(true)])
    .collect()
}

fn announce(disk_is_low: bool) -> Command {
    Command::AnnounceReplica(AnnounceReplica {
        replica: ReplicaId::new(1),
        directory: DirectoryId::from_bytes([9; 16]),
        client_endpoint: "http://127.0.0.1:4600".to_owned(),
        binary: "0.1.0".to_owned(),
        machine_version: 1,
        disk_is_low,
    })
}

/// Commands on leases for a member whose epoch is 4, when 13 is the next revision.
fn lease_commands() -> Vec<Command> {
    vec![
        acquire("lock", "x", None),
        acquire("lock", "y", Some(Ttl::DEFAULT)),
        acquire("other", "x", None),
        stands("elected", "c1"),
        stands("elected", "c2"),
        Command::RenewLease(RenewLease {
            key: lease("lock"),
            token: FencingToken::new(Revision::new(13)),
        }),
        Command::RenewLeaseCandidate(RenewLeaseCandidate {
            key: lease("elected"),
            identity: holder("c2"),
        }),
        Command::ReleaseLease(ReleaseLease {
            key: lease("other"),
            holder: holder("x"),
            token: Some(FencingToken::new(Revision::new(15))),
        }),
        Command::DeleteLease(DeleteLease {
            key: lease("other"),
            preconditions: Preconditions {
                uid: None,
                resource_version: Some(Revision::new(15)),
            },
        }),
        Command::WithdrawLeaseCandidate(WithdrawLeaseCandidate {
            key: lease("elected"),
            identity: holder("c1"),
        }),
    ]
}

/// Commands that remove what the others left.
fn endings() -> [Command; 4] {
    [
        Command::ForgetResource(ForgetResource {
            resource: resource("widgets"),
            if_revision: Some(Revision::new(9)),
        }),
        Command::Leave(Leave {
            member: member("b"),
            epoch: epoch(5),
            drained: false,
            instance: None,
            stopped: true,
        }),
        Command::Expire(Expire {
            members: BTreeSet::from([(member("a"), epoch(4))]),
            sessions: BTreeSet::from([SessionId::new(Revision::new(3))]),
            unreported: BTreeSet::from([(member("a"), epoch(4))]),
            leases: BTreeSet::from([(lease("lock"), Revision::new(13))]),
            lease_waiters: BTreeSet::from([(lease("lock"), Ticket::new(Revision::new(14)))]),
            lease_candidates: BTreeSet::from([(lease("elected"), holder("c2"))]),
            objects: BTreeSet::from([object_key("doomed")]),
            claims: BTreeSet::from([(id(21), token(22))]),
            retries: BTreeSet::from([id(21)]),
            marks: controller_revisions::every_mark(),
            observations: BTreeSet::from([resource("bolts")]),
            topics: BTreeSet::from([resource("bolts")]),
            looks: BTreeSet::from([(resource("bolts"), observer("east"))]),
        }),
        Command::CloseSession(CloseSession {
            session: SessionId::new(Revision::new(99)),
        }),
    ]
}

/// One of each command on migrations.
fn migrating() -> Vec<Command> {
    let progress = MigrationProgress {
        done: 7,
        estimate: Some(9),
        continue_token: Some(ContinueToken::parse("after-7").unwrap()),
    };
    let claim = |number| {
        Command::ClaimMigration(ClaimMigration {
            id: id(number),
            worker: WorkerName::parse("one").unwrap(),
            ttl: Ttl::DEFAULT,
            fenced: true,
            walks: None,
        })
    };
    let report = |number, at| {
        Command::ReportMigrationProgress(ReportMigrationProgress {
            id: id(number),
            token: token(at),
            progress: progress.clone(),
        })
    };
    vec![
        // Each command that changes something has the next revision.
        observe(3),
        claim(2),
        report(2, 3),
        Command::FailMigration(FailMigration {
            id: id(2),
            token: token(3),
            class: FailureClass::Transient,
            reason: FailureReason::parse("busy").unwrap(),
            stop: Some(WorkerStop::SomeUnanswered),
        }),
        Command::RetryMigration(RetryMigration { id: id(2) }),
        claim(2),
        report(2, 7),
        Command::CompleteMigration(CompleteMigration {
            id: id(2),
            token: token(7),
        }),
        Command::ResetStorageStates(ResetStorageStates {
            resource: Some(resource("bolts")),
        }),
        Command::ResetStorageStates(ResetStorageStates { resource: None }),
        Command::AbortMigration(AbortMigration { id: id(9) }),
        Command::StartMigration(StartMigration {
            resource: resource("bolts"),
            reason: MigrationReason::RewriteAll,
            alias: None,
        }),
        claim(10),
        // Refused, since machine version 1 is in force: the revision stays.
        Command::ReleaseMigration(ReleaseMigration {
            id: id(10),
            token: token(11),
            stop: Some(WorkerStop::AllAnswered),
        }),
    ]
}

fn observe(hash: u8) -> Command {
    Command::ObserveStorage(ObserveStorage {
        kind: Some(Kind::parse("Bolt").unwrap()),
        ..ObserveStorage::unnamed(
            resource("bolts"),
            BTreeSet::from([StorageVersionHash::from_bytes([hash; 8])]),
        )
    })
}

/// A look of a named observer, with every field set.
fn look(hash: u8) -> Command {
    let shown = ServerLook {
        hashes: BTreeSet::from([StorageVersionHash::from_bytes([hash; 8])]),
        member: Some(member("a")),
    };
    Command::ObserveStorage(ObserveStorage {
        observer: Some(observer("east")),
        servers: [(server(), shown)].into(),
        if_revision: Some(Revision::new(9)),
        ..ObserveStorage::unnamed(resource("bolts"), BTreeSet::new())
    })
}

fn observer(name: &str) -> ObserverName {
    ObserverName::parse(name).unwrap()
}

fn server() -> ObservedServer {
    ObservedServer::parse("https://10.0.0.1:6443").unwrap()
}

/// The rest of them, and rosters.
fn deleting() -> Vec<Command> {
    vec![
        Command::DeleteMigration(DeleteMigration {
            id: id(10),
            preconditions: Preconditions {
                uid: Some(Uid::from_bytes([5; 16])),
                resource_version: Some(Revision::new(10)),
            },
        }),
        Command::StartMigration(StartMigration {
            resource: resource("bolts"),
            reason: MigrationReason::Manual,
            alias: Some(MigrationAlias::parse("mine").unwrap()),
        }),
        observe(4),
        // Refused, since machine version 1 is in force.
        look(5),
        Command::DismissLooks(DismissLooks {
            resource: resource("bolts"),
            observer: Some(observer("east")),
            server: Some(server()),
        }),
        Command::SetRoster(roster("example.io.bolts", 3)),
        Command::SetRoster(roster("*", 2)),
        Command::DeleteRoster(DeleteRoster {
            scope: ResourceScope::All,
            if_revision: Some(Revision::new(14)),
        }),
    ]
}

/// A roster with every field set.
fn roster(scope: &str, least: u32) -> SetRoster {
    SetRoster {
        scope: ResourceScope::parse(scope).unwrap(),
        rule: RosterRule {
            members: BTreeSet::from([member("a"), member("b")]),
            labels: LabelSelector::parse("tier in (front),zone=a").unwrap(),
            least,
            complete: false,
            exempts_observed: false,
        },
        if_revision: Some(Revision::ZERO),
    }
}

fn id(number: u64) -> MigrationId {
    MigrationId::new(resource("bolts"), Revision::new(number))
}

fn token(number: u64) -> ClaimToken {
    ClaimToken::new(Revision::new(number))
}

/// The first command of a cluster, and the commands on migrations.
fn log_of_migrations() -> Vec<LogEntry> {
    let first = every_command().into_iter().take(1);
    one_by_one(first.chain(migrating()).chain(deleting()))
}

/// Each command as an entry of its own, without a request id.
fn one_by_one(commands: impl Iterator<Item = Command>) -> Vec<LogEntry> {
    let commands = commands.enumerate();
    commands
        .map(|(at, command)| LogEntry {
            log_time: LogTime::from_millis(100 * at as u64),
            lift_deadlines: at == 0,
            wall: WallTime::from_millis(1_000_000 + at as u64),
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(command),
            }],
        })
        .collect()
}

/// The commands as log entries. All but the first three have a request id of the session that is opened.
fn log() -> Vec<LogEntry> {
    let request = |sequence: u64| RequestId {
        session: SessionId::new(Revision::new(3)),
        sequence: Sequence::new(sequence).unwrap(),
        lowest_unanswered: Sequence::FIRST,
    };
    let commands = every_command().into_iter().enumerate();
    commands
        .map(|(at, command)| LogEntry {
            log_time: LogTime::from_millis(100 * at as u64),
            lift_deadlines: at == 2,
            wall: WallTime::from_millis(1_000_000 + at as u64),
            commands: vec![Envelope {
                actor: None,
                request: (at > 3).then(|| request(at as u64)),
                command: Arc::new(command),
            }],
        })
        .collect()
}

/// The log of [`log`], after which the state is restored as another cluster.
fn log_of_a_restore() -> Vec<LogEntry> {
    let mut entries = log();
    let mut last = entries.last().expect("there are some").clone();
    last.commands[0].command = Arc::new(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([8; 16]),
    }));
    entries.push(last);
    entries
}

fn state_after(entries: &[LogEntry]) -> State {
    let mut state = State::new();
    for entry in entries {
        state.apply(entry);
    }
    state
}

#[test]
fn every_command_reads_back_as_it_was_written() {
    let logs = [log_of_a_restore(), log_of_migrations(), log_of_a_version()];
    for entry in logs.into_iter().flatten() {
        let bytes = to_bytes(&entry);
        assert_eq!(from_bytes::<LogEntry>(&bytes).unwrap(), entry);
        let envelope = &entry.commands[0];
        assert_eq!(
            from_bytes::<Envelope>(&to_bytes(envelope)).unwrap(),
            *envelope
        );
    }
}

#[test]
fn a_state_of_every_kind_of_row_reads_back_with_its_digest() {
    for entries in [log_of_a_restore(), log_of_migrations(), log_of_a_version()] {
        for length in 0..=entries.len() {
            let state = state_after(&entries[..length]);
            let rows: Vec<Row> = state.rows().collect();
            let read = rows
                .iter()
                .map(|row| from_bytes::<Row>(&to_bytes(row)).unwrap());
            assert_eq!(
                State::from_rows(read).unwrap().digest(),
                state.digest(),
                "after {length} entries"
            );
        }
    }
}

#[test]
fn the_log_of_the_test_leaves_a_row_of_every_kind() {
    let rows: Vec<Row> = state_after(&log()).rows().collect();
    let has = |wanted: fn(&Row) -> bool| rows.iter().any(wanted);
    assert!(has(|row| matches!(row, Row::Header { .. })));
    assert!(has(|row| matches!(row, Row::Settings(_))));
    assert!(has(|row| matches!(row, Row::Replica(..))));
    assert!(has(|row| matches!(row, Row::Member(_))));
    assert!(has(|row| matches!(row, Row::Deadline(..))));
    assert!(has(|row| matches!(row, Row::Session(..))));
    assert!(has(|row| matches!(row, Row::Outcome(..))));
    assert!(has(|row| matches!(row, Row::StorageVersion(..))));
    assert!(has(|row| matches!(row, Row::Entry(..))));
    assert!(has(|row| matches!(row, Row::StorageState(..))));
    assert!(has(|row| matches!(row, Row::Agreement(..))));
    assert!(has(|row| matches!(row, Row::Collection(_))));
    assert!(has(|row| matches!(row, Row::Object(_))));
    assert!(has(|row| matches!(row, Row::ControllerRevision(_))));
    assert!(has(|row| matches!(row, Row::Deadline(Holder::Mark(..), _))));
    assert!(has(|row| matches!(row, Row::Lease(_))));
    assert!(has(|row| matches!(row, Row::LeaseWaiter(..))));
    assert!(has(|row| matches!(row, Row::LeaseCandidate(_))));
    assert!(has(|row| matches!(row, Row::Events(_))));
    let mut entries = log_of_migrations();
    let rows: Vec<Row> = state_after(&entries).rows().collect();
    let has = |wanted: fn(&Row) -> bool| rows.iter().any(wanted);
    assert!(has(|row| matches!(row, Row::Heartbeat(..))));
    assert!(has(|row| matches!(row, Row::Migration(_))));
    assert!(has(|row| matches!(row, Row::MigrationProgress(..))));
    assert!(has(|row| matches!(row, Row::Roster(_))));
    assert!(has(|row| matches!(
        row,
        Row::Deadline(Holder::Observation(_), _)
    )));
    assert!(has(
        |row| matches!(row, Row::StorageState(_, state) if !state.status.hash_drains.is_empty())
    ));
    assert!(has(
        |row| matches!(row, Row::StorageState(_, state) if !state.status.absent.is_empty())
    ));
    let claimed: Vec<Row> = state_after(&entries[..14]).rows().collect();
    let has = |wanted: fn(&Row) -> bool| claimed.iter().any(wanted);
    assert!(has(|row| matches!(row, Row::Deadline(Holder::Claim(_), _))));
    entries.truncate(5);
    let rows: Vec<Row> = state_after(&entries).rows().collect();
    let has = |wanted: fn(&Row) -> bool| rows.iter().any(wanted);
    assert!(has(|row| matches!(row, Row::Deadline(Holder::Retry(_), _))));
}

#[test]
fn what_is_kept_of_the_end_of_a_migration_says_what_it_rests_on() {
    for assumption in [
        None,
        Some(Assumption::NoRoster),
        Some(Assumption::SnapshotVersionUnknown),
        Some(Assumption::LeftToOthers),
    ] {
        let outcome = OutcomeRow {
            revision: Revision::new(9),
            changed: true,
            result: Ok(Answer::MigrationCompleted(assumption)),
        };
        let session = SessionId::new(Revision::new(3));
        let row = Row::Outcome(session, Sequence::FIRST, Arc::new(outcome));
        assert_eq!(from_bytes::<Row>(&to_bytes(&row)).unwrap(), row);
    }
}

#[test]
fn a_command_that_this_build_does_not_know_is_an_error_and_not_skipped() {
    // Two fields: no request, and the command 99.
    let error = from_bytes::<Envelope>(&Bytes::from_static(&[2, 0, 99])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "command: Command has no variant 99: a newer build has written it, or it is damaged"
    );
}

#[test]
fn a_fault_names_the_field_that_holds_it() {
    let bytes = to_bytes(&Envelope {
        actor: None,
        request: None,
        command: Arc::new(join("name")),
    });
    let name = bytes.windows(4).position(|four| four == b"name").unwrap();
    let mut bytes = bytes.to_vec();
    bytes[name] = b' ';
    let error = from_bytes::<Envelope>(&bytes.into())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("command.Join.id: "), "{error}");
}

/// The bytes of every command, row and entry that the logs of these tests have.
fn every_form() -> Vec<Bytes> {
    let logs = [
        log(),
        log_of_migrations(),
        log_of_a_restore(),
        log_of_a_version(),
    ];
    let entries = logs.iter().flatten().map(to_bytes);
    let rows = logs.iter().flat_map(|log| {
        let state = state_after(log);
        state.rows().map(|row| to_bytes(&row)).collect::<Vec<_>>()
    });
    entries.chain(rows).collect()
}

#[test]
fn every_value_has_one_form() {
    for bytes in every_form() {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.to_vec();
                other[at] ^= 1 << bit;
                let other = Bytes::from(other);
                // A value that can be read has exactly these bytes.
                if let Ok(entry) = from_bytes::<LogEntry>(&other) {
                    assert_eq!(to_bytes(&entry), other);
                }
                if let Ok(row) = from_bytes::<Row>(&other) {
                    assert_eq!(to_bytes(&row), other);
                }
            }
        }
        for end in 0..bytes.len() {
            let cut = bytes.slice(..end);
            for again in [
                from_bytes::<LogEntry>(&cut).map(|entry| to_bytes(&entry)),
                from_bytes::<Row>(&cut).map(|row| to_bytes(&row)),
            ] {
                assert!(again.is_err() || again == Ok(cut.clone()));
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_decoding_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        let bytes = Bytes::from(bytes);
        let _ = from_bytes::<LogEntry>(&bytes);
        let _ = from_bytes::<Envelope>(&bytes);
        let _ = from_bytes::<Row>(&bytes);
    }
}

#[test]
fn a_request_that_no_client_makes_is_not_read() {
    let request = RequestId {
        session: SessionId::new(Revision::new(3)),
        sequence: Sequence::new(5).unwrap(),
        lowest_unanswered: Sequence::new(9).unwrap(),
    };
    let envelope = Envelope {
        actor: None,
        request: Some(request),
        command: Arc::new(Command::OpenSession(OpenSession {})),
    };
    let refused = from_bytes::<Envelope>(&to_bytes(&envelope)).unwrap_err();
    assert!(refused.to_string().starts_with("request: "), "{refused}");
}

#[test]
fn versions_keep_the_order_in_which_they_were_given_and_each_is_there_once() {
    let set = |texts: [&str; 3]| VersionSet::from_iter(texts.map(version));
    let given = set(["v2", "v1", "v3"]);
    assert_eq!(from_bytes::<VersionSet>(&to_bytes(&given)), Ok(given));
    let twice = to_bytes(&vec![version("v1"), version("v1")]);
    assert!(from_bytes::<VersionSet>(&twice).is_err());
}
