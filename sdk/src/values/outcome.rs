//! The outcome of a request.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::{
    Assumption, ClaimToken, Epoch, FencingToken, MigrationId, MigrationProgress, Refusal, Revision,
    Ticket, Violations,
};
use synod_proto::v1;
use synod_proto::wire::Wire;

use super::{FromWire, Header, HistoryAnswer, OperationResult, ReportedResource, RevisionAnswer};
use crate::Error;

/// The outcome of a request, as of `header.revision`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The request has not been executed. It may still be while a try is on its way; sending it again in the same
    /// session is safe.
    NotExecuted {
        /// The replica that answered, and its revision.
        header: Header,
    },
    /// The request has been executed.
    Executed {
        /// The replica that answered, and its revision.
        header: Header,
        /// The revision of the store right after the request.
        revision: Revision,
        /// Whether the request changed anything.
        changed: bool,
        /// The answer to the request.
        answer: OutcomeAnswer,
    },
}

/// The answer to an executed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutcomeAnswer {
    /// It succeeded, and its answer has no other content.
    Done,
    /// A rule refused it.
    Refused(Error),
    /// A member joined.
    Joined {
        /// Its fencing token.
        epoch: Epoch,
        /// How long the member is kept after a renewal.
        ttl: Duration,
    },
    /// A report was acknowledged, with this state of each resource.
    Reported(Vec<ReportedResource>),
    /// What a controller wants was recorded, or a rollback made.
    ControllerRevision(RevisionAnswer),
    /// A history was changed.
    ControllerHistory(HistoryAnswer),
    /// A lease was given.
    LeaseHeld {
        /// Its fencing token.
        token: FencingToken,
        /// How long the lease is held after a renewal.
        ttl: Duration,
    },
    /// A place in the queue for a lease was given.
    LeaseQueued(Ticket),
    /// An object was written or deleted.
    Object(OperationResult),
    /// A transaction was executed.
    Transacted {
        /// Whether all comparisons held, so that the operations were executed.
        succeeded: bool,
        /// The result of each operation, in order.
        results: Vec<OperationResult>,
    },
    /// A migration was created.
    MigrationStarted(MigrationId),
    /// A migration was claimed.
    MigrationClaimed {
        /// The worker's fencing token.
        token: ClaimToken,
        /// The saved progress of the previous worker.
        progress: MigrationProgress,
    },
    /// A migration was completed, resting on these assumptions beside what is known.
    MigrationCompleted(BTreeSet<Assumption>),
}

impl FromWire<v1::SessionsGetOutcomeResponse> for Outcome {
    fn from_wire(pb: v1::SessionsGetOutcomeResponse) -> Result<Self, Violations> {
        let header = Wire::of_wire(pb.header)?;
        let Some(outcome) = pb.outcome else {
            return Ok(Self::NotExecuted { header });
        };
        Ok(Self::Executed {
            header,
            revision: Revision::new(outcome.revision),
            changed: outcome.changed,
            answer: OutcomeAnswer::from_wire(outcome.answer)?,
        })
    }
}

impl FromWire<Option<v1::recorded_outcome::Answer>> for OutcomeAnswer {
    fn from_wire(pb: Option<v1::recorded_outcome::Answer>) -> Result<Self, Violations> {
        use v1::recorded_outcome::Answer;
        Ok(match pb {
            None => Self::Done,
            Some(Answer::Refusal(refusal)) => Self::Refused(Refusal::from(refusal).into()),
            Some(Answer::Joined(joined)) => Self::Joined {
                epoch: Wire::of_wire(joined.epoch)?,
                ttl: Wire::of_wire(joined.ttl_ms)?,
            },
            Some(Answer::ControllerRevision(answer)) => {
                Self::ControllerRevision(Wire::of_wire(answer)?)
            }
            Some(Answer::ControllerHistory(answer)) => {
                Self::ControllerHistory(Wire::of_wire(answer)?)
            }
            Some(Answer::LeaseHeld(held)) => Self::LeaseHeld {
                token: Wire::of_wire(held.token)?,
                ttl: Wire::of_wire(held.ttl_ms)?,
            },
            Some(Answer::LeaseQueued(ticket)) => Self::LeaseQueued(Wire::of_wire(ticket)?),
            Some(Answer::Reported(reported)) => Self::Reported(Wire::of_wire(reported.resources)?),
            Some(Answer::Object(result)) => Self::Object(Wire::of_wire(result)?),
            Some(Answer::Transacted(transacted)) => Self::Transacted {
                succeeded: transacted.succeeded,
                results: Wire::of_wire(transacted.results)?,
            },
            Some(Answer::MigrationStarted(name)) => Self::MigrationStarted(Wire::of_wire(name)?),
            Some(Answer::MigrationClaimed(claimed)) => Self::MigrationClaimed {
                token: Wire::of_wire(claimed.token)?,
                progress: Wire::of_wire(claimed.progress)?,
            },
            Some(Answer::MigrationCompleted(completed)) => {
                // An older server says one alone.
                let one = Some(completed.assumption).filter(|number| *number != 0);
                let all = completed.assumptions.into_iter().chain(one);
                let all: Result<_, _> = all.map(Assumption::of_wire).collect();
                Self::MigrationCompleted(all?)
            }
        })
    }
}
