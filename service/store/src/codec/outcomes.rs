//! Kept outcomes of sessions, and the refusals in them.

use synod_machine::{Answer, OutcomeRow, Told};
use synod_model::{ErrorKind, Refusal, Revision, Sequence, SessionId, Violation};
use synod_proto::storage::v1 as pb;

use super::leases::{ticket, token};
use super::objects::{written_from_pb, written_to_pb};
use super::values::{
    epoch, optional_version, required, resource_from_pb, resource_to_pb, sequence, session_id,
    text, ttl,
};
use super::{CodecError, controller_revisions, migrations};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn outcome_to_pb(
    session: SessionId,
    sequence: Sequence,
    row: &OutcomeRow,
) -> pb::OutcomeRow {
    let result = match &row.result {
        Ok(answer) => answer_to_pb(answer),
        Err(refusal) => pb::outcome_row::Result::Refusal(refusal_to_pb(refusal)),
    };
    pb::OutcomeRow {
        session: session.get(),
        sequence: sequence.get(),
        revision: row.revision.get(),
        changed: row.changed,
        result: Some(result),
    }
}

pub(super) fn outcome_from_pb(row: pb::OutcomeRow) -> Result<(SessionId, Sequence, OutcomeRow)> {
    let id = session_id(row.session);
    let sequence = sequence("sequence", row.sequence)?;
    let result = result_from_pb(required("result", row.result)?)?;
    Ok((
        id,
        sequence,
        OutcomeRow {
            revision: Revision::new(row.revision),
            changed: row.changed,
            result,
        },
    ))
}

fn answer_to_pb(answer: &Answer) -> pb::outcome_row::Result {
    use pb::outcome_row::Result as Pb;
    match answer {
        Answer::Done => Pb::Done(pb::Done {}),
        Answer::SessionOpened(id) => Pb::SessionOpened(id.get()),
        Answer::Joined { epoch, ttl } => Pb::Joined(pb::Joined {
            epoch: epoch.get(),
            ttl_ms: ttl.as_millis(),
        }),
        Answer::Reported(told) => Pb::Reported(pb::Reported {
            told: told.iter().map(told_to_pb).collect(),
        }),
        Answer::MigrationStarted(id) => Pb::MigrationStarted(migrations::id_to_pb(id)),
        Answer::MigrationClaimed { token, progress } => {
            Pb::MigrationClaimed(pb::MigrationClaimed {
                token: token.get(),
                progress: Some(migrations::progress_to_pb(progress)),
            })
        }
        Answer::MigrationCompleted(assumption) => Pb::MigrationCompleted(pb::MigrationCompleted {
            assumption: migrations::assumption_to_pb(*assumption).into(),
        }),
        Answer::Expired {
            members,
            sessions,
            unreported,
            leases,
            waiters,
            candidates,
            objects,
            observations,
        } => Pb::Expired(pb::Expired {
            members: *members,
            sessions: *sessions,
            unreported: *unreported,
            leases: *leases,
            waiters: *waiters,
            candidates: *candidates,
            objects: *objects,
            observations: *observations,
        }),
        Answer::Wrote(written) => Pb::Wrote(written_to_pb(written)),
        Answer::Transacted { succeeded, written } => Pb::Transacted(pb::Transacted {
            succeeded: *succeeded,
            written: written.iter().map(written_to_pb).collect(),
        }),
        Answer::Collected { steps } => Pb::Collected(pb::Collected { steps: *steps }),
        Answer::ControllerRevision(answer) => {
            Pb::ControllerRevision(controller_revisions::answer_to_pb(answer))
        }
        Answer::ControllerHistory(answer) => {
            Pb::ControllerHistory(controller_revisions::history_answer_to_pb(answer))
        }
        Answer::LeaseHeld { token, ttl } => Pb::LeaseHeld(pb::LeaseHeld {
            token: token.get(),
            ttl_ms: ttl.as_millis(),
        }),
        Answer::LeaseQueued(ticket) => Pb::LeaseQueued(ticket.get()),
    }
}

fn result_from_pb(result: pb::outcome_row::Result) -> Result<std::result::Result<Answer, Refusal>> {
    use pb::outcome_row::Result as Pb;
    Ok(Ok(match result {
        Pb::Done(pb::Done {}) => Answer::Done,
        Pb::SessionOpened(id) => Answer::SessionOpened(session_id(id)),
        Pb::Joined(joined) => Answer::Joined {
            epoch: epoch(joined.epoch),
            ttl: ttl(joined.ttl_ms)?,
        },
        Pb::Reported(reported) => Answer::Reported(
            reported
                .told
                .into_iter()
                .map(told_from_pb)
                .collect::<Result<_>>()?,
        ),
        Pb::Expired(pb::Expired {
            members,
            sessions,
            unreported,
            leases,
            waiters,
            candidates,
            objects,
            observations,
        }) => Answer::Expired {
            members,
            sessions,
            unreported,
            leases,
            waiters,
            candidates,
            objects,
            observations,
        },
        Pb::MigrationCompleted(completed) => {
            Answer::MigrationCompleted(migrations::assumption_from_pb(completed.assumption()))
        }
        Pb::Wrote(written) => Answer::Wrote(written_from_pb(written)?),
        Pb::Transacted(transacted) => Answer::Transacted {
            succeeded: transacted.succeeded,
            written: transacted
                .written
                .into_iter()
                .map(written_from_pb)
                .collect::<Result<_>>()?,
        },
        Pb::Collected(pb::Collected { steps }) => Answer::Collected { steps },
        Pb::ControllerRevision(answer) => {
            Answer::ControllerRevision(controller_revisions::answer_from_pb(answer)?)
        }
        Pb::ControllerHistory(answer) => {
            Answer::ControllerHistory(controller_revisions::history_answer_from_pb(answer))
        }
        Pb::LeaseHeld(held) => Answer::LeaseHeld {
            token: token(held.token),
            ttl: ttl(held.ttl_ms)?,
        },
        Pb::LeaseQueued(number) => Answer::LeaseQueued(ticket(number)),
        Pb::MigrationStarted(id) => Answer::MigrationStarted(migrations::id_from_pb(Some(id))?),
        Pb::MigrationClaimed(claimed) => Answer::MigrationClaimed {
            token: migrations::token(claimed.token),
            progress: migrations::progress_from_pb(claimed.progress)?,
        },
        Pb::Refusal(refusal) => return Ok(Err(refusal_from_pb(refusal)?)),
    }))
}

fn told_to_pb(told: &Told) -> pb::Told {
    pb::Told {
        resource: Some(resource_to_pb(&told.resource)),
        encoding: text(told.encoding.as_ref()),
        selected: text(told.selected.as_ref()),
        selected_revision: told.selected_revision.get(),
        adopted_revision: told.adopted_revision.map(Revision::get),
    }
}

fn told_from_pb(told: pb::Told) -> Result<Told> {
    Ok(Told {
        resource: resource_from_pb(told.resource)?,
        encoding: optional_version("told.encoding", told.encoding.as_deref())?,
        selected: optional_version("told.selected", told.selected.as_deref())?,
        selected_revision: Revision::new(told.selected_revision),
        adopted_revision: told.adopted_revision.map(Revision::new),
    })
}

fn refusal_to_pb(refusal: &Refusal) -> pb::Refusal {
    let violations = refusal.violations.iter();
    let metadata = refusal.metadata.iter();
    pb::Refusal {
        kind: kind_to_pb(refusal.kind).into(),
        message: refusal.message.clone(),
        violations: violations
            .map(|violation| pb::Violation {
                field: violation.field.clone(),
                rule: violation.rule.clone(),
            })
            .collect(),
        metadata: metadata
            .map(|(key, value)| pb::Label {
                key: key.clone(),
                value: value.clone(),
            })
            .collect(),
    }
}

fn refusal_from_pb(refusal: pb::Refusal) -> Result<Refusal> {
    let kind = kind_from_pb(refusal.kind())?;
    let violations = refusal.violations.into_iter();
    let mut stored = Refusal::new(kind, refusal.message);
    stored.violations = violations
        .map(|v| Violation {
            field: v.field,
            rule: v.rule,
        })
        .collect();
    stored.metadata = refusal
        .metadata
        .into_iter()
        .map(|label| (label.key, label.value))
        .collect();
    Ok(stored)
}

/// The one list of kinds and their stored numbers: both directions are made from it.
macro_rules! refusal_kinds {
    ($($kind:ident),* $(,)?) => {
        fn kind_to_pb(kind: ErrorKind) -> pb::RefusalKind {
            match kind {
                $(ErrorKind::$kind => pb::RefusalKind::$kind,)*
            }
        }

        fn kind_from_pb(kind: pb::RefusalKind) -> Result<ErrorKind> {
            match kind {
                pb::RefusalKind::Unspecified => Err(CodecError::new("refusal.kind", "it is not known to this build")),
                $(pb::RefusalKind::$kind => Ok(ErrorKind::$kind),)*
            }
        }
    };
}

refusal_kinds! {
    InvalidArgument, NotFound, AlreadyExists, Conflict, NotAMember, StaleEpoch, NotDecodable, EncodingNotSelected,
    Immutable, NoAgreement, Draining, RequestExpired, Compacted, FutureRevision, TooLarge, Quota, Overloaded,
    Unavailable, UnknownOutcome, DeadlineExceeded, Unauthenticated, PermissionDenied, DataLoss,
}
