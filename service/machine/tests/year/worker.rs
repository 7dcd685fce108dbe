//! A migration that a worker of the year has claimed.

use synod_machine::Command;
use synod_model::{
    ClaimMigration, ClaimToken, CompleteMigration, ContinueToken, MigrationId, MigrationProgress,
    ReportMigrationProgress, Ttl, WorkerName,
};

use crate::agenda::Time;
use crate::store::{Resource, Version};

const LEGAL: &str = "the year uses legal names and numbers";

/// A claimed migration.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: MigrationId,
    pub(crate) token: ClaimToken,
    pub(crate) resource: Resource,
    pub(crate) target: Version,
    /// The first object of the next page.
    pub(crate) next: usize,
    /// When it sent the last report that was answered, by its own clock.
    pub(crate) said_at: Time,
}

impl Job {
    /// Whether the worker may still start a rewrite by what it has said last.
    pub(crate) fn may_rewrite(&self, now: Time) -> bool {
        now < self.said_at + Ttl::DEFAULT.as_millis() / 10 * 9
    }

    /// The report of its progress.
    pub(crate) fn progress(&self) -> Command {
        Command::ReportMigrationProgress(ReportMigrationProgress {
            id: self.id.clone(),
            token: self.token,
            progress: MigrationProgress {
                done: u64::try_from(self.next).expect(LEGAL),
                estimate: None,
                continue_token: ContinueToken::parse(&format!("after-{}", self.next)).ok(),
            },
        })
    }

    pub(crate) fn complete(&self) -> Command {
        Command::CompleteMigration(CompleteMigration {
            id: self.id.clone(),
            token: self.token,
        })
    }
}

pub(crate) fn claim(id: &MigrationId) -> Command {
    Command::ClaimMigration(ClaimMigration {
        id: id.clone(),
        worker: WorkerName::parse("worker").expect(LEGAL),
        ttl: Ttl::DEFAULT,
        fenced: false,
        walks: None,
    })
}
