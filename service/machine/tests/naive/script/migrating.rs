//! Commands on migrations and observations.

use synod_machine::{Command, State};
use synod_model::{
    AbortMigration, ClaimMigration, ClaimToken, CompleteMigration, ContinueToken, DeleteMigration,
    FailMigration, FailureClass, FailureReason, Migration, MigrationAlias, MigrationId,
    MigrationPhase, MigrationProgress, MigrationReason, Preconditions, ReleaseMigration,
    ReportMigrationProgress, RetryMigration, Revision, StartMigration, Ttl, WorkerName, WorkerStop,
};

use super::LEGAL;
use super::entries::resource;
use crate::calls::{ALIASES, Stops, Which, Work};

pub(super) fn start(of: usize, rewrite_all: bool, alias: Option<usize>) -> Command {
    let alias = alias.map(|alias| MigrationAlias::parse(ALIASES[alias]).expect(LEGAL));
    Command::StartMigration(StartMigration {
        resource: resource(of),
        alias,
        reason: match rewrite_all {
            true => MigrationReason::RewriteAll,
            false => MigrationReason::Manual,
        },
    })
}

/// One of the migrations, the last changed first; a missing one if there are too few.
pub(super) fn migration(which: usize, state: &State) -> MigrationId {
    let mut all: Vec<_> = state.present().migrations(None).collect();
    all.sort_by_key(|migration| {
        let done = !migration.is_open() && migration.phase != MigrationPhase::Failed;
        (done, std::cmp::Reverse(migration.metadata.resource_version))
    });
    let unheard = || MigrationId::new(resource(0), Revision::new(1 << 60));
    all.get(which)
        .map_or_else(unheard, |migration| migration.id.clone())
}

pub(super) fn work(id: MigrationId, claim: Which, does: &Work, state: &State) -> Command {
    let migration = state.present().migration(&id);
    let claimed = migration
        .as_ref()
        .and_then(|migration| migration.claim.as_ref());
    let present = claimed.map(|it| it.token);
    let changed = migration
        .as_ref()
        .map_or(Revision::ZERO, |it| it.metadata.resource_version);
    // The naive model knows no uids.
    let meant = |right: bool| Preconditions {
        uid: None,
        resource_version: Some(if right { changed } else { changed.next() }),
    };
    let token = match claim {
        Which::Present => present,
        Which::Earlier(_) => draining(&id, state),
        Which::Unheard => None,
    };
    let token = token.unwrap_or(ClaimToken::new(Revision::new(1)));
    let id = under_some_name(id, migration.as_deref());
    match does {
        Work::Claim { ttl, fenced, walks } => Command::ClaimMigration(ClaimMigration {
            id,
            worker: WorkerName::parse(&format!("worker-{ttl}")).expect(LEGAL),
            ttl: Ttl::from_millis([1_000, 5_000, 60_000][*ttl]).expect(LEGAL),
            fenced: *fenced,
            walks: *walks,
        }),
        Work::Progress {
            done,
            tells_estimate,
        } => Command::ReportMigrationProgress(ReportMigrationProgress {
            id,
            token,
            progress: MigrationProgress {
                done: *done,
                estimate: tells_estimate.then_some(100),
                continue_token: ContinueToken::parse(&format!("after-{done}")).ok(),
            },
        }),
        Work::Complete => Command::CompleteMigration(CompleteMigration { id, token }),
        Work::Fail(class, stops) => Command::FailMigration(FailMigration {
            id,
            token,
            class: [
                FailureClass::Transient,
                FailureClass::Rejected,
                FailureClass::NotSupported,
                FailureClass::Forbidden,
                FailureClass::Undecodable,
            ][*class],
            reason: FailureReason::parse("it did not work").expect(LEGAL),
            stop: stop(*stops),
        }),
        Work::Release(stops) => Command::ReleaseMigration(ReleaseMigration {
            id,
            token,
            stop: stop(*stops),
        }),
        Work::Abort => Command::AbortMigration(AbortMigration { id }),
        Work::Delete { expects } => Command::DeleteMigration(DeleteMigration {
            preconditions: expects.map(meant).unwrap_or_default(),
            id,
        }),
        Work::Retry => Command::RetryMigration(RetryMigration { id }),
    }
}

/// The migration by one of the names of its store, which its number chooses.
fn under_some_name(id: MigrationId, migration: Option<&Migration>) -> MigrationId {
    let others = migration.map(|migration| &migration.equivalents);
    let other = others.and_then(|others| others.first());
    match other.filter(|_| id.number().get() % 2 == 1) {
        Some(other) => MigrationId::new(other.clone(), id.number()),
        None => id,
    }
}

fn stop(stops: Stops) -> Option<WorkerStop> {
    match stops {
        Stops::Nothing => None,
        Stops::SomeUnanswered => Some(WorkerStop::SomeUnanswered),
        Stops::AllAnswered => Some(WorkerStop::AllAnswered),
    }
}

/// A claim of the resource that has ended and drains.
fn draining(id: &MigrationId, state: &State) -> Option<ClaimToken> {
    let kept = state.present().storage_state(id.resource())?;
    kept.row.status.claim_drains.keys().next().copied()
}
