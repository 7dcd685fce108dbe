//! Commands about migrations and discovery.

use synod_machine::{Command, State};
use synod_model::{
    AbortMigration, ClaimMigration, ClaimToken, CompleteMigration, ContinueToken, FailMigration,
    FailureClass, FailureReason, MigrationId, MigrationPhase, MigrationProgress, MigrationReason,
    ObserveStorage, ReportMigrationProgress, RetryMigration, Revision, StartMigration,
    StorageVersionHash, Ttl, WorkerName,
};

use super::LEGAL;
use super::entries::{kind, resource, version};
use crate::calls::{Which, Work};

pub(super) fn start(of: usize, rewrite_all: bool) -> Command {
    Command::StartMigration(StartMigration {
        resource: resource(of),
        reason: match rewrite_all {
            true => MigrationReason::RewriteAll,
            false => MigrationReason::Manual,
        },
    })
}

pub(super) fn observe(of: usize, hashes: u8) -> Command {
    let shown = (0..3).filter(|i| hashes & (1 << i) != 0);
    Command::ObserveStorage(ObserveStorage {
        resource: resource(of),
        hashes: shown
            .map(|i| StorageVersionHash::of_version(&version(i), &kind(0)))
            .collect(),
    })
}

/// One of the migrations, the one that changed last first; one that never was if there are too few.
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
    let present = migration.and_then(|migration| migration.claim.as_ref().map(|it| it.token));
    let token = match claim {
        Which::Present => present,
        Which::Earlier(_) | Which::Unheard => None,
    };
    let token = token.unwrap_or(ClaimToken::new(Revision::new(1)));
    match does {
        Work::Claim { ttl } => Command::ClaimMigration(ClaimMigration {
            id,
            worker: WorkerName::parse(&format!("worker-{ttl}")).expect(LEGAL),
            ttl: Ttl::from_millis([1_000, 5_000, 60_000][*ttl]).expect(LEGAL),
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
        Work::Fail(class) => Command::FailMigration(FailMigration {
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
        }),
        Work::Abort => Command::AbortMigration(AbortMigration { id }),
        Work::Retry => Command::RetryMigration(RetryMigration { id }),
    }
}
