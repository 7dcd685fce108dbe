//! The fate of a batch, and how each request in it gets its answer.

use synod_machine::Outcome;
use synod_model::Refusal;
use synod_model::stored::to_bytes;

use super::intake::{Forwarded, Unit};
use super::refusals;
use super::request::Request;
use crate::consensus::{NotExecuted, Position, ProposeError, ReplicaId};
use crate::limits::FORWARDED_OBJECTS_BYTES_MAX;
use crate::peer::messages::{BatchVerdict, NotExecutedReason};

/// The fate of a batch.
pub(super) enum Fate {
    /// It was applied, on this replica too.
    Executed {
        /// The log entry that holds it.
        position: Position,
        /// The outcomes, one for each command, in order.
        outcomes: Vec<Outcome>,
    },
    /// It was certainly not executed, and another try may help: the replica asked does not lead, or will not for long.
    TryAgain {
        /// Who leads, as far as the asked replica said.
        leader: Option<ReplicaId>,
    },
    /// It was certainly not executed, because the leader can have nothing executed at present; says why. It is tried
    /// again for as long as a request waits for a leader.
    Stalled(String),
    /// It was certainly not executed, and is not tried again.
    NotExecuted(Reason),
    /// It may have been executed, or may still be.
    Unknown(String),
}

/// Why a batch was not executed.
pub(super) enum Reason {
    /// Its deadline passed.
    Deadline,
    /// The leader has too much to do.
    Overloaded,
    /// Nothing is executed before somebody has mended something; says what. To try again soon is of no use.
    Refused(String),
    /// Any other reason, in words.
    Unavailable(String),
}

impl From<ProposeError> for Fate {
    fn from(error: ProposeError) -> Self {
        match error {
            ProposeError::NotLeader { hint } => Self::TryAgain { leader: hint },
            ProposeError::NotExecuted(NotExecuted::Transferring) => Self::TryAgain { leader: None },
            // A short pause of the machine is enough to cause it, and the next heartbeat ends it.
            ProposeError::NotExecuted(why @ NotExecuted::NoQuorum) => {
                Self::Stalled(why.to_string())
            }
            ProposeError::NotExecuted(why @ NotExecuted::Doubt) => {
                Self::NotExecuted(Reason::Refused(why.to_string()))
            }
            ProposeError::Stopped => Self::NotExecuted(Reason::Unavailable(
                "this replica is shutting down".to_owned(),
            )),
            ProposeError::Unknown => {
                Self::Unknown("the leader changed before the outcome was known".to_owned())
            }
        }
    }
}

impl Fate {
    /// The fate that a leader's verdict on a batch of this many commands means.
    pub(super) fn of_verdict(verdict: BatchVerdict, commands: usize) -> Self {
        match verdict {
            BatchVerdict::Executed { at, outcomes } if outcomes.len() == commands => {
                Self::Executed {
                    position: at,
                    outcomes,
                }
            }
            BatchVerdict::Executed { outcomes, .. } => Self::Unknown(format!(
                "the leader answered with {} outcomes for {commands} commands",
                outcomes.len()
            )),
            BatchVerdict::NotExecuted {
                reason,
                leader,
                message,
            } => Self::of_refusal(reason, leader, message),
            BatchVerdict::Unknown(why) => Self::Unknown(why),
            BatchVerdict::Ended => Self::TryAgain { leader: None },
        }
    }

    fn of_refusal(reason: NotExecutedReason, leader: Option<ReplicaId>, message: String) -> Self {
        match reason {
            NotExecutedReason::NotLeader | NotExecutedReason::Shutdown => Self::TryAgain { leader },
            NotExecutedReason::Deadline => Self::NotExecuted(Reason::Deadline),
            NotExecutedReason::Overloaded => Self::NotExecuted(Reason::Overloaded),
            NotExecutedReason::Unavailable => Self::Stalled(message),
            NotExecutedReason::Invalid => Self::NotExecuted(Reason::Refused(message)),
        }
    }
}

/// Answers the callers of a batch. Returns this replica's requests that are to be tried again.
pub(super) fn settle(units: Vec<Unit>, fate: Fate) -> Vec<Request> {
    match fate {
        Fate::Executed { position, outcomes } => {
            hand_out(units, position, outcomes);
            Vec::new()
        }
        // A batch of another replica is returned to it, so that no batch is forwarded twice.
        Fate::TryAgain { leader } => units
            .into_iter()
            .filter_map(|unit| unit.own_or_tell(|| BatchVerdict::not_leader(leader)))
            .collect(),
        Fate::Stalled(why) => {
            let reason = Reason::Unavailable(why);
            units
                .into_iter()
                .filter_map(|unit| unit.own_or_tell(|| reason.verdict()))
                .collect()
        }
        Fate::NotExecuted(reason) => {
            for own in units
                .into_iter()
                .filter_map(|unit| unit.own_or_tell(|| reason.verdict()))
            {
                own.answer(Err(reason.refusal()));
            }
            Vec::new()
        }
        Fate::Unknown(why) => {
            for own in units
                .into_iter()
                .filter_map(|unit| unit.own_or_tell(|| BatchVerdict::Unknown(why.clone())))
            {
                own.answer(Err(refusals::unknown(&why)));
            }
            Vec::new()
        }
    }
}

fn hand_out(units: Vec<Unit>, position: Position, outcomes: Vec<Outcome>) {
    let mut outcomes = outcomes.into_iter();
    for unit in units {
        match unit {
            Unit::Own(request) => match outcomes.next() {
                Some(outcome) => request.answer(Ok(outcome)),
                None => request.answer(Err(refusals::unknown(
                    "the log entry has no outcome for it",
                ))),
            },
            Unit::Forwarded(Forwarded {
                commands,
                stages,
                answer,
                ..
            }) => {
                drop(stages);
                let mut outcomes: Vec<Outcome> = outcomes.by_ref().take(commands.len()).collect();
                bound_objects(&mut outcomes);
                let at = position;
                let _ = answer.send(BatchVerdict::Executed { at, outcomes });
            }
        }
    }
}

/// Leaves out objects of refusals beyond what one message may carry: many may have lost against one large object.
pub(super) fn bound_objects(outcomes: &mut [Outcome]) {
    let mut left = FORWARDED_OBJECTS_BYTES_MAX;
    let refusals = outcomes.iter_mut();
    for refusal in refusals.filter_map(|outcome| outcome.result.as_mut().err()) {
        let Some(current) = &refusal.current else {
            continue;
        };
        match left.checked_sub(to_bytes(current).len()) {
            Some(rest) => left = rest,
            None => refusal.current = None,
        }
    }
}

impl Reason {
    fn refusal(&self) -> Refusal {
        match self {
            Self::Deadline => refusals::deadline_before_proposal(),
            Self::Overloaded => refusals::leader_overloaded(),
            Self::Refused(why) | Self::Unavailable(why) => refusals::unavailable(why),
        }
    }

    fn verdict(&self) -> BatchVerdict {
        match self {
            Self::Deadline => {
                BatchVerdict::not_executed(NotExecutedReason::Deadline, "its deadline passed")
            }
            Self::Overloaded => BatchVerdict::not_executed(
                NotExecutedReason::Overloaded,
                "the leader has too much to do",
            ),
            Self::Refused(why) => BatchVerdict::not_executed(NotExecutedReason::Invalid, why),
            Self::Unavailable(why) => {
                BatchVerdict::not_executed(NotExecutedReason::Unavailable, why)
            }
        }
    }
}

impl Unit {
    /// The request if it is this replica's own; otherwise sends the verdict to the other replica.
    fn own_or_tell(self, verdict: impl FnOnce() -> BatchVerdict) -> Option<Request> {
        match self {
            Self::Own(request) => Some(request),
            Self::Forwarded(Forwarded { answer, .. }) => {
                let _ = answer.send(verdict());
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
