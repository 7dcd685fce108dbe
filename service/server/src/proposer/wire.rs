//! Verdicts on forwarded batches, as they travel between replicas.

mod controller_revisions;

use std::fmt;

use synod_machine::{Answer, Outcome, Told, Written, WrittenHow};
use synod_model::{
    ApiVersion, Assumption, ClaimToken, ContinueToken, Epoch, FencingToken, GroupResource,
    MigrationId, MigrationProgress, Refusal, Revision, SessionId, Ticket, Ttl, Uid,
};
use synod_proto::peer::v1 as pb;

use super::link::Verdict;
use crate::consensus::{Position, ReplicaId, Term};

/// A message of another replica that is not what the protocol says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The batch was executed by the entry at `position`.
pub(super) fn executed(position: Position, outcomes: &[Outcome]) -> Verdict {
    let log_id = pb::LogId {
        term: position.term.get(),
        leader: position.leader.get(),
        index: position.index,
    };
    let outcomes = outcomes.iter().map(outcome_to_wire).collect();
    Verdict::Executed(pb::ForwardExecuted {
        log_id: Some(log_id),
        outcomes,
    })
}

/// The batch was not executed.
pub(super) fn not_executed(
    reason: pb::NotExecutedReason,
    leader: Option<ReplicaId>,
    message: impl Into<String>,
) -> Verdict {
    Verdict::NotExecuted(pb::ForwardNotExecuted {
        reason: reason.into(),
        leader_id: leader.map(ReplicaId::get),
        message: message.into(),
    })
}

/// The batch was not executed: this replica does not lead.
pub(super) fn not_leader(leader: Option<ReplicaId>) -> Verdict {
    not_executed(
        pb::NotExecutedReason::NotLeader,
        leader,
        "this replica does not lead",
    )
}

/// Nobody knows what became of the batch.
pub(super) fn unknown(why: &str) -> Verdict {
    Verdict::Unknown(pb::ForwardUnknown {
        message: why.to_owned(),
    })
}

/// Where a batch of so many commands was executed, and what became of each.
pub(super) fn executed_from_wire(
    executed: pb::ForwardExecuted,
    commands: usize,
) -> Result<(Position, Vec<Outcome>), Malformed> {
    let log_id = executed.log_id.ok_or_else(|| missing("log_id"))?;
    let position = Position {
        term: Term::new(log_id.term),
        leader: ReplicaId::new(log_id.leader),
        index: log_id.index,
    };
    let outcomes: Vec<Outcome> = executed
        .outcomes
        .into_iter()
        .map(outcome_from_wire)
        .collect::<Result<_, _>>()?;
    if outcomes.len() != commands {
        return Err(Malformed(format!(
            "{} outcomes for {commands} commands",
            outcomes.len()
        )));
    }
    Ok((position, outcomes))
}

fn outcome_to_wire(outcome: &Outcome) -> pb::Outcome {
    use pb::outcome::Result as Wire;
    let result = match &outcome.result {
        Ok(Answer::Done) => Wire::Done(pb::Done {}),
        Ok(Answer::SessionOpened(session)) => Wire::SessionOpened(session.get()),
        Ok(Answer::Joined { epoch, ttl }) => Wire::Joined(pb::Joined {
            epoch: epoch.get(),
            ttl_ms: ttl.as_millis(),
        }),
        Ok(Answer::Reported(told)) => Wire::Reported(pb::Reported {
            told: told.iter().map(told_to_wire).collect(),
        }),
        Ok(Answer::MigrationCompleted(assumption)) => {
            Wire::MigrationCompleted(pb::MigrationCompleted {
                no_roster: has_no_roster(*assumption),
            })
        }
        Ok(Answer::MigrationStarted(id)) => Wire::MigrationStarted(id.to_string()),
        Ok(Answer::MigrationClaimed { token, progress }) => {
            Wire::MigrationClaimed(claimed_to_wire(*token, progress))
        }
        Ok(Answer::Expired {
            members,
            sessions,
            unreported,
            leases,
            waiters,
            candidates,
            objects,
            observations,
        }) => Wire::Expired(pb::Expired {
            members: *members,
            sessions: *sessions,
            unreported: *unreported,
            leases: *leases,
            waiters: *waiters,
            candidates: *candidates,
            objects: *objects,
            observations: *observations,
        }),
        Ok(Answer::Wrote(written)) => Wire::Wrote(written_to_wire(written)),
        Ok(Answer::Transacted { succeeded, written }) => Wire::Transacted(pb::Transacted {
            succeeded: *succeeded,
            written: written.iter().map(written_to_wire).collect(),
        }),
        Ok(Answer::Collected { steps }) => Wire::Collected(pb::Collected { steps: *steps }),
        Ok(Answer::ControllerRevision(answer)) => {
            Wire::ControllerRevision(controller_revisions::answer_to_wire(answer))
        }
        Ok(Answer::ControllerHistory(answer)) => {
            Wire::ControllerHistory(controller_revisions::history_to_wire(answer))
        }
        Ok(Answer::LeaseHeld { token, ttl }) => Wire::LeaseHeld(pb::LeaseHeld {
            token: token.get(),
            ttl_ms: ttl.as_millis(),
        }),
        Ok(Answer::LeaseQueued(ticket)) => Wire::LeaseQueued(ticket.get()),
        Err(refusal) => Wire::Refusal(refusal.into()),
    };
    pb::Outcome {
        revision: outcome.revision.get(),
        changed: outcome.changed,
        result: Some(result),
    }
}

fn outcome_from_wire(outcome: pb::Outcome) -> Result<Outcome, Malformed> {
    use pb::outcome::Result as Wire;
    let result = match outcome.result.ok_or_else(|| missing("result"))? {
        Wire::Done(pb::Done {}) => Ok(Answer::Done),
        Wire::SessionOpened(session) => Ok(Answer::SessionOpened(SessionId::new(Revision::new(
            session,
        )))),
        Wire::Joined(joined) => Ok(Answer::Joined {
            epoch: Epoch::new(Revision::new(joined.epoch)),
            ttl: Ttl::from_millis(joined.ttl_ms).map_err(malformed)?,
        }),
        Wire::Reported(reported) => {
            let told = reported.told.into_iter().map(told_from_wire);
            Ok(Answer::Reported(told.collect::<Result<_, _>>()?))
        }
        Wire::Expired(expired) => Ok(expired_from_wire(&expired)),
        Wire::MigrationCompleted(completed) => {
            Ok(Answer::MigrationCompleted(if completed.no_roster {
                Some(Assumption::NoRoster)
            } else {
                None
            }))
        }
        Wire::Wrote(written) => Ok(Answer::Wrote(written_from_wire(&written)?)),
        Wire::Transacted(transacted) => {
            let written = transacted.written.iter().map(written_from_wire);
            Ok(Answer::Transacted {
                succeeded: transacted.succeeded,
                written: written.collect::<Result<_, _>>()?,
            })
        }
        Wire::Collected(pb::Collected { steps }) => Ok(Answer::Collected { steps }),
        Wire::ControllerRevision(answer) => Ok(Answer::ControllerRevision(
            controller_revisions::answer_from_wire(&answer)?,
        )),
        Wire::ControllerHistory(answer) => Ok(Answer::ControllerHistory(
            controller_revisions::history_from_wire(answer),
        )),
        Wire::LeaseHeld(held) => Ok(Answer::LeaseHeld {
            token: FencingToken::new(Revision::new(held.token)),
            ttl: Ttl::from_millis(held.ttl_ms).map_err(malformed)?,
        }),
        Wire::LeaseQueued(ticket) => Ok(Answer::LeaseQueued(Ticket::new(Revision::new(ticket)))),
        Wire::MigrationStarted(name) => {
            let id = MigrationId::parse(&name).map_err(malformed)?;
            Ok(Answer::MigrationStarted(id))
        }
        Wire::MigrationClaimed(claimed) => Ok(claimed_from_wire(claimed)?),
        Wire::Refusal(refusal) => Err(Refusal::from(refusal)),
    };
    Ok(Outcome {
        revision: Revision::new(outcome.revision),
        changed: outcome.changed,
        result,
    })
}

/// How many of each kind went.
fn expired_from_wire(expired: &pb::Expired) -> Answer {
    let pb::Expired {
        members,
        sessions,
        unreported,
        leases,
        waiters,
        candidates,
        objects,
        observations,
    } = *expired;
    Answer::Expired {
        members,
        sessions,
        unreported,
        leases,
        waiters,
        candidates,
        objects,
        observations,
    }
}

fn written_to_wire(written: &Written) -> pb::Written {
    let how = match written.how {
        WrittenHow::Created => pb::WrittenHow::Created,
        WrittenHow::Updated => pb::WrittenHow::Updated,
        WrittenHow::Unchanged => pb::WrittenHow::Unchanged,
        WrittenHow::Deleted => pb::WrittenHow::Deleted,
        WrittenHow::Deleting => pb::WrittenHow::Deleting,
    };
    pb::Written {
        how: how.into(),
        uid: written.uid.as_bytes().to_vec().into(),
        resource_version: written.resource_version.get(),
    }
}

fn written_from_wire(written: &pb::Written) -> Result<Written, Malformed> {
    let how = match written.how() {
        pb::WrittenHow::Created => WrittenHow::Created,
        pb::WrittenHow::Updated => WrittenHow::Updated,
        pb::WrittenHow::Unchanged => WrittenHow::Unchanged,
        pb::WrittenHow::Deleted => WrittenHow::Deleted,
        pb::WrittenHow::Deleting => WrittenHow::Deleting,
        pb::WrittenHow::Unspecified => return Err(missing("written.how")),
    };
    let uid = <[u8; 16]>::try_from(&*written.uid).map_err(|_| missing("written.uid"))?;
    Ok(Written {
        how,
        uid: Uid::from_bytes(uid),
        resource_version: Revision::new(written.resource_version),
    })
}

/// Whether an end rests on there being no roster. On the others only a check rests.
fn has_no_roster(assumption: Option<Assumption>) -> bool {
    match assumption {
        Some(Assumption::NoRoster) => true,
        Some(Assumption::SnapshotVersionUnknown | Assumption::LeftToOthers) | None => false,
    }
}

fn claimed_to_wire(token: ClaimToken, progress: &MigrationProgress) -> pb::MigrationClaimed {
    pb::MigrationClaimed {
        token: token.get(),
        done: progress.done,
        estimate: progress.estimate,
        continue_token: progress.continue_token.as_ref().map(ToString::to_string),
    }
}

fn claimed_from_wire(claimed: pb::MigrationClaimed) -> Result<Answer, Malformed> {
    let token = claimed.continue_token.as_deref().map(ContinueToken::parse);
    Ok(Answer::MigrationClaimed {
        token: ClaimToken::new(Revision::new(claimed.token)),
        progress: MigrationProgress {
            done: claimed.done,
            estimate: claimed.estimate,
            continue_token: token.transpose().map_err(malformed)?,
        },
    })
}

fn told_to_wire(told: &Told) -> pb::Told {
    pb::Told {
        group: told.resource.group().to_owned(),
        resource: told.resource.resource().to_owned(),
        encoding: told.encoding.as_ref().map(ApiVersion::to_string),
        selected: told.selected.as_ref().map(ApiVersion::to_string),
        selected_revision: told.selected_revision.get(),
        adopted_revision: told.adopted_revision.map(Revision::get),
    }
}

fn told_from_wire(told: pb::Told) -> Result<Told, Malformed> {
    let version = |text: Option<String>| {
        text.map(|text| ApiVersion::parse(&text))
            .transpose()
            .map_err(malformed)
    };
    Ok(Told {
        resource: GroupResource::new(&told.group, &told.resource).map_err(malformed)?,
        encoding: version(told.encoding)?,
        selected: version(told.selected)?,
        selected_revision: Revision::new(told.selected_revision),
        adopted_revision: told.adopted_revision.map(Revision::new),
    })
}

fn missing(field: &str) -> Malformed {
    Malformed(format!("{field} is missing"))
}

fn malformed(error: impl fmt::Display) -> Malformed {
    Malformed(error.to_string())
}

#[cfg(test)]
mod tests;
