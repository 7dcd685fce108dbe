//! Compares the answers of the machine with the truth.

use std::collections::BTreeSet;
use std::fmt;

use synod_model::Assumption;

use crate::abilities::Ability;
use crate::events::Event;
use crate::migrations::target_of;
use crate::schedule::{Action, MISSPELLED, ResourceName, VERSIONS, Version};
use crate::stores::Writer;
use crate::truth::{CauseKind, WriteCause};
use crate::workers::Completion;
use crate::world::TrueWorld;

/// An answer that is not true.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The action after which the answer was given.
    pub(crate) action: Action,
    pub(crate) answer: AnswerKind,
    /// The version that the answer excludes.
    pub(crate) version: Version,
    pub(crate) assumptions: BTreeSet<Assumption>,
    /// The reason why the version is stored, or may come to be.
    pub(crate) cause: String,
}

/// An answer by which the machine excludes a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// The version may be dropped.
    SafeToDrop,
    /// A version that no server ever named may be dropped: the operator meant version 1.
    SafeToDropMisspelled,
    /// A migration to another version was claimed: nothing may write this one behind the worker.
    Claimed,
    /// A migration to another version is complete.
    Completed,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            action,
            answer,
            version,
            assumptions,
            cause,
        } = self;
        write!(
            f,
            "after {action:?}: {answer:?} excludes version {version}, assuming {assumptions:?}, but {cause}"
        )
    }
}

impl TrueWorld {
    /// Compares every answer that the machine gives now with the truth.
    ///
    /// # Errors
    ///
    /// The first answer that is not true.
    pub(crate) fn check(
        &mut self,
        action: &Action,
        completion: Option<Completion>,
    ) -> Result<(), Fault> {
        if !self.is_raised {
            return Ok(());
        }
        let resources = [ResourceName::Widgets, ResourceName::Gadgets];
        let fault = completion
            .and_then(|it| self.fault_of_completion(&it))
            .or_else(|| resources.iter().find_map(|it| self.fault_of_claim(*it)))
            .or_else(|| resources.iter().find_map(|it| self.fault_of_drop(*it)));
        match fault {
            Some(fault) => Err(Fault {
                action: action.clone(),
                ..fault
            }),
            None => Ok(()),
        }
    }

    /// After a completion nothing is in another version, and nothing can come to be.
    fn fault_of_completion(&self, completion: &Completion) -> Option<Fault> {
        let mut others = VERSIONS.into_iter().filter(|it| *it != completion.target);
        others.find_map(|version| {
            let causes = self.causes(completion.resource, version);
            self.first_fault(
                AnswerKind::Completed,
                version,
                &completion.assumptions,
                causes,
            )
        })
    }

    /// While a claim holds, whatever is stored may be in another version, but nothing may write in one behind the worker.
    fn fault_of_claim(&self, resource: ResourceName) -> Option<Fault> {
        let running = self.machine.running_migration(resource)?;
        let status = self.machine.status(resource)?;
        let assumptions = status.on_trust.map(|_| Assumption::NoRoster);
        let assumptions: BTreeSet<_> = assumptions.into_iter().collect();
        let target = target_of(&running);
        let token = running.claim?.token;
        let is_fenced = self.workers.iter().any(|worker| {
            let claim = worker.claim.as_ref();
            claim.is_some_and(|it| it.terms.is_fenced && it.grant.token == token)
        });
        let matters = |cause: &WriteCause| match cause.kind {
            CauseKind::Stored => false,
            CauseKind::OnItsWay | CauseKind::MayRewrite => {
                !(is_fenced && matches!(cause.writer, Some(Writer::Worker(_))))
            }
            CauseKind::MayWrite => true,
        };
        let mut others = VERSIONS.into_iter().filter(|it| *it != target);
        others.find_map(|version| {
            let mut causes = self.causes(resource, version);
            causes.retain(matters);
            self.first_fault(AnswerKind::Claimed, version, &assumptions, causes)
        })
    }

    /// A version that may be dropped is stored nowhere, and cannot come to be.
    fn fault_of_drop(&mut self, resource: ResourceName) -> Option<Fault> {
        for version in VERSIONS {
            let verdict = self.machine.check_drop(resource, version);
            if !verdict.is_safe() {
                continue;
            }
            let assumptions: BTreeSet<_> = verdict.assumptions.into_keys().collect();
            self.counts.note(if assumptions.is_empty() {
                Event::SafeWithoutAssumption
            } else {
                Event::SafeUnderAssumption
            });
            let causes = self.causes(resource, version);
            let fault = self.first_fault(AnswerKind::SafeToDrop, version, &assumptions, causes);
            if fault.is_some() {
                return fault;
            }
        }
        if !self.has(Ability::Misspellings) {
            return None;
        }
        let verdict = self.machine.check_drop(resource, MISSPELLED);
        let assumptions: BTreeSet<_> = verdict.assumptions.keys().copied().collect();
        let meant = 1;
        let causes = self.causes(resource, meant);
        let answer = AnswerKind::SafeToDropMisspelled;
        let is_safe = verdict.is_safe();
        self.first_fault(answer, meant, &assumptions, causes)
            .filter(|_| is_safe)
    }

    fn first_fault(
        &self,
        answer: AnswerKind,
        version: Version,
        assumptions: &BTreeSet<Assumption>,
        causes: Vec<WriteCause>,
    ) -> Option<Fault> {
        let mut causes = causes.into_iter();
        let cause = causes.find(|cause| !self.is_excused(*cause, version, assumptions))?;
        Some(Fault {
            action: Action::Expire,
            answer,
            version,
            assumptions: assumptions.clone(),
            cause: self.explain(cause),
        })
    }
}
