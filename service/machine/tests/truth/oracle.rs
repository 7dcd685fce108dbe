//! Compares the answers of the machine with the truth.

use std::collections::BTreeSet;
use std::fmt;

use synod_model::Assumption;

use crate::events::Event;
use crate::migrations::target_of;
use crate::schedule::{Action, MISSPELLED, OF_OTHER_GROUP, ResourceName, VERSIONS, Version};
use crate::stores::Writer;
use crate::truth::{CauseKind, WriteCause};
use crate::workers::Completion;
use crate::world::TrueWorld;

/// An untrue answer, and the action after which the machine gave it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    action: Action,
    answer: UntrueAnswer,
}

/// An answer that is not true.
#[derive(Clone, Debug)]
struct UntrueAnswer {
    kind: AnswerKind,
    /// The version that the answer excludes.
    version: Version,
    assumptions: BTreeSet<Assumption>,
    /// The reason why the version is stored, or may come to be.
    cause: String,
}

/// An answer by which the machine excludes a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKind {
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
        let UntrueAnswer {
            kind,
            version,
            assumptions,
            cause,
        } = &self.answer;
        write!(
            f,
            "after {:?}: {kind:?} excludes version {version}, assuming {assumptions:?}, but {cause}",
            self.action
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
        let untrue = completion
            .and_then(|it| self.untrue_completion(&it))
            .or_else(|| resources.iter().find_map(|it| self.untrue_claim(*it)))
            .or_else(|| resources.iter().find_map(|it| self.untrue_drop(*it)))
            .or_else(|| resources.iter().find_map(|it| self.untrue_misspelling(*it)));
        match untrue {
            Some(answer) => Err(Fault {
                action: action.clone(),
                answer,
            }),
            None => Ok(()),
        }
    }

    /// After a completion nothing is in another version, and nothing can come to be.
    fn untrue_completion(&self, completion: &Completion) -> Option<UntrueAnswer> {
        let mut others = VERSIONS.into_iter().filter(|it| *it != completion.target);
        others.find_map(|version| {
            let causes = self.causes(completion.resource, version);
            self.find_untrue(
                AnswerKind::Completed,
                version,
                &completion.assumptions,
                causes,
            )
        })
    }

    /// While a claim holds, whatever is stored may be in another version, but nothing may write in one behind the worker.
    fn untrue_claim(&self, resource: ResourceName) -> Option<UntrueAnswer> {
        let running = self.machine.running_migration(resource)?;
        let target = target_of(&running);
        // An answer names the assumptions that a completion would rest on, even if it is not safe.
        let verdict = self.machine.check_drop(resource, target);
        let assumptions: BTreeSet<_> = verdict.assumptions.into_keys().collect();
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
            self.find_untrue(AnswerKind::Claimed, version, &assumptions, causes)
        })
    }

    /// A version that may be dropped is stored nowhere, and cannot come to be.
    fn untrue_drop(&mut self, resource: ResourceName) -> Option<UntrueAnswer> {
        for version in VERSIONS.into_iter().chain([OF_OTHER_GROUP]) {
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
            let untrue = self.find_untrue(AnswerKind::SafeToDrop, version, &assumptions, causes);
            if untrue.is_some() {
                return untrue;
            }
        }
        None
    }

    /// An operator who misspells version 1 drops that, so it is stored nowhere either.
    fn untrue_misspelling(&self, resource: ResourceName) -> Option<UntrueAnswer> {
        let verdict = self.machine.check_drop(resource, MISSPELLED);
        if !verdict.is_safe() {
            return None;
        }
        let assumptions: BTreeSet<_> = verdict.assumptions.into_keys().collect();
        let meant = 1;
        let causes = self.causes(resource, meant);
        let kind = AnswerKind::SafeToDropMisspelled;
        self.find_untrue(kind, meant, &assumptions, causes)
    }

    /// The answer is untrue if any cause is not excused.
    fn find_untrue(
        &self,
        kind: AnswerKind,
        version: Version,
        assumptions: &BTreeSet<Assumption>,
        causes: Vec<WriteCause>,
    ) -> Option<UntrueAnswer> {
        let mut causes = causes.into_iter();
        let cause = causes.find(|cause| !self.is_excused(*cause, version, assumptions))?;
        Some(UntrueAnswer {
            kind,
            version,
            assumptions: assumptions.clone(),
            cause: self.explain(cause),
        })
    }
}
