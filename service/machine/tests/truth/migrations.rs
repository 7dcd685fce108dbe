//! The commands on migrations that workers send to the machine.

use std::collections::BTreeSet;

use synod_machine::{Answer, Command};
use synod_model::{
    Assumption, ClaimMigration, ClaimToken, CompleteMigration, ContinueToken, ErrorKind,
    FailMigration, FailureClass, FailureReason, Migration, MigrationId, MigrationPhase,
    MigrationProgress, ReleaseMigration, ReportMigrationProgress, RetryMigration, Revision, Walk,
    WorkerName, WorkerStop,
};

use crate::machine::{Machine, group_resource, hash, ttl_of};
use crate::schedule::{ClaimTerms, ResourceName, VERSIONS, Version};

const LEGAL: &str = "schedules use legal names and numbers";

/// A claim, as the machine granted it.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) id: MigrationId,
    pub(crate) token: ClaimToken,
    /// The version to rewrite everything in.
    pub(crate) target: Version,
    /// The agreement that the migration belongs to.
    pub(crate) agreement: Revision,
    /// The number of keys that an earlier claim has finished.
    pub(crate) finished: usize,
}

/// The answer to a claim.
pub(crate) enum ClaimAnswer {
    Granted(Grant),
    Draining,
    Refused,
}

impl Machine {
    /// The oldest migration of the resource that is pending or running, or that failed and can be retried.
    pub(crate) fn unfinished_migration(&self, resource: ResourceName) -> Option<Migration> {
        let resource = group_resource(resource);
        let agreement = self.state.present().storage_state(&resource)?;
        let agreement = agreement.row.status.agreement();
        let mut kept = self.state.migrations_of(&resource);
        let is_unfinished = |it: &&std::sync::Arc<Migration>| {
            let can_be_retried =
                it.phase == MigrationPhase::Failed && Some(it.agreement_revision) == agreement;
            it.is_open() || can_be_retried
        };
        kept.find(is_unfinished).map(|it| (**it).clone())
    }

    /// The claimed migration of the resource.
    pub(crate) fn running_migration(&self, resource: ResourceName) -> Option<Migration> {
        let resource = group_resource(resource);
        let mut kept = self.state.migrations_of(&resource);
        kept.find(|it| it.claim.is_some()).map(|it| (**it).clone())
    }

    /// Returns whether the claim still holds its migration.
    pub(crate) fn holds(&self, id: &MigrationId, token: ClaimToken) -> bool {
        let migration = self.state.present().migration(id);
        let claim = migration.and_then(|it| it.claim.clone());
        claim.is_some_and(|claim| claim.token == token)
    }

    /// Claims the oldest unfinished migration. A failed one is made pending again first.
    pub(crate) fn claim(
        &mut self,
        worker: &str,
        resource: ResourceName,
        terms: ClaimTerms,
        walks: Walk,
    ) -> ClaimAnswer {
        let Some(migration) = self.unfinished_migration(resource) else {
            return ClaimAnswer::Refused;
        };
        let id = migration.id.clone();
        if migration.phase == MigrationPhase::Failed {
            self.send(Command::RetryMigration(RetryMigration { id: id.clone() }));
        }
        let claim = ClaimMigration {
            id: id.clone(),
            worker: WorkerName::parse(worker).expect(LEGAL),
            ttl: ttl_of(terms.ttl),
            fenced: terms.is_fenced,
            walks: Some(walks),
        };
        match self.send(Command::ClaimMigration(claim)).result {
            Ok(Answer::MigrationClaimed { token, progress }) => {
                let finished = progress.continue_token.map_or(0, |token| {
                    let number = token.as_str().parse();
                    number.expect("workers write a number")
                });
                ClaimAnswer::Granted(Grant {
                    id,
                    token,
                    target: target_of(&migration),
                    agreement: migration.agreement_revision,
                    finished,
                })
            }
            Err(refusal) if refusal.kind == ErrorKind::Draining => ClaimAnswer::Draining,
            _ => ClaimAnswer::Refused,
        }
    }

    /// Reports the number of finished keys, and so keeps the claim. Returns whether that was accepted.
    pub(crate) fn progress(&mut self, grant: &Grant, finished: usize) -> bool {
        let report = ReportMigrationProgress {
            id: grant.id.clone(),
            token: grant.token,
            progress: MigrationProgress {
                done: finished as u64,
                estimate: None,
                continue_token: ContinueToken::parse(&finished.to_string()).ok(),
            },
        };
        let outcome = self.send(Command::ReportMigrationProgress(report));
        outcome.result.is_ok()
    }

    /// Completes the migration. Returns what the answer assumes; `None` if it was refused.
    pub(crate) fn complete(&mut self, grant: &Grant) -> Option<BTreeSet<Assumption>> {
        let complete = CompleteMigration {
            id: grant.id.clone(),
            token: grant.token,
        };
        match self.send(Command::CompleteMigration(complete)).result {
            Ok(answer) => answer.completion_assumptions(),
            _ => None,
        }
    }

    /// The worker gives up, and says this of its rewrites.
    pub(crate) fn fail(&mut self, grant: &Grant, stop: WorkerStop) {
        self.send(Command::FailMigration(FailMigration {
            id: grant.id.clone(),
            token: grant.token,
            class: FailureClass::Transient,
            reason: FailureReason::parse("the store is not reached").expect(LEGAL),
            stop: Some(stop),
        }));
    }

    /// Releases the claim with this token. Its worker says something of its rewrites, an operator does not.
    pub(crate) fn release(&mut self, id: MigrationId, token: ClaimToken, stop: Option<WorkerStop>) {
        self.send(Command::ReleaseMigration(ReleaseMigration {
            id,
            token,
            stop,
        }));
    }
}

/// The version that a migration rewrites to. The migration of a resource that is only observed has the hash alone.
pub(crate) fn target_of(migration: &Migration) -> Version {
    let mut versions = VERSIONS.into_iter();
    let target = versions.find(|version| hash(*version) == migration.target.hash);
    target.expect("only these versions are ever encoded")
}
