//! The service `synod.v1.Sessions`.

use synod_machine::{Answer, Command, Outcome, Recorded};
use synod_model::{ErrorKind, Refusal};
use synod_proto::wire::Wire as _;
use synod_proto::{Change, Consistency, GetOutcome, v1};

use super::calls::calls;
use super::{typed, unexpected};
use crate::handle::{Asking, Handle};
use crate::objects;

calls! {
    open: SessionsOpenRequest => SessionsOpenResponse;
    close: SessionsCloseRequest => SessionsCloseResponse by CloseSession, changed;
    get_outcome: SessionsGetOutcomeRequest => SessionsGetOutcomeResponse;
}

async fn open(
    handle: &Handle,
    asking: &Asking,
    message: v1::SessionsOpenRequest,
) -> Result<v1::SessionsOpenResponse, Refusal> {
    let done = handle
        .change(asking, Change::from(message), Command::OpenSession)
        .await?;
    let Answer::SessionOpened(session) = done.answer else {
        return Err(unexpected(&done.answer));
    };
    let published = handle.consensus().published();
    let settings = published.state.settings();
    Ok(v1::SessionsOpenResponse {
        header: Some(handle.header(done.revision)),
        session: session.get(),
        ttl_ms: u64::try_from(settings.session_ttl.as_millis()).unwrap_or(u64::MAX),
        outcomes_max: settings.session_outcomes,
    })
}

async fn get_outcome(
    handle: &Handle,
    asking: &Asking,
    message: v1::SessionsGetOutcomeRequest,
) -> Result<v1::SessionsGetOutcomeResponse, Refusal> {
    let asked: GetOutcome = typed(message)?;
    let reading = handle.read(asking, Consistency::Linearizable).await?;
    asked.check_cluster(handle.cluster()?)?;
    if let Some(actor) = asking.standing.actor() {
        let state = &reading.published().state;
        state.check_session(asked.session, &actor)?;
    }
    let outcome = match reading
        .published()
        .state
        .recorded(asked.session, asked.sequence)
    {
        Recorded::Applied(outcome) => Some(recorded(outcome)),
        Recorded::NotApplied => None,
        Recorded::Expired => return Err(forgotten(&asked)),
    };
    Ok(v1::SessionsGetOutcomeResponse {
        header: Some(handle.header_of(&reading)),
        outcome,
    })
}

fn recorded(outcome: Outcome) -> v1::RecordedOutcome {
    use v1::recorded_outcome::Answer as Kept;
    let answer = match outcome.result {
        Ok(Answer::Joined { epoch, ttl }) => Some(Kept::Joined(v1::JoinedAnswer {
            epoch: epoch.get(),
            ttl_ms: ttl.as_millis(),
        })),
        Ok(Answer::Reported(told)) => Some(Kept::Reported(v1::ReportedAnswer {
            resources: told.iter().map(objects::told).collect(),
        })),
        // `Done` has no content. Sessions are opened outside of any session, and only replicas expire and collect.
        Ok(
            Answer::Done
            | Answer::SessionOpened(_)
            | Answer::Expired { .. }
            | Answer::Collected { .. },
        ) => None,
        Ok(Answer::ControllerRevision(answer)) => {
            Some(Kept::ControllerRevision(objects::revision_answer(&answer)))
        }
        Ok(Answer::ControllerHistory(answer)) => {
            Some(Kept::ControllerHistory(objects::history_answer(answer)))
        }
        Ok(Answer::LeaseHeld { token, ttl }) => Some(Kept::LeaseHeld(v1::LeaseHeld {
            token: token.get(),
            ttl_ms: ttl.as_millis(),
        })),
        Ok(Answer::LeaseQueued(ticket)) => Some(Kept::LeaseQueued(ticket.get())),
        Ok(Answer::Wrote(written)) => Some(Kept::Object(objects::written(&written))),
        Ok(Answer::Transacted { succeeded, written }) => {
            Some(Kept::Transacted(v1::TransactedAnswer {
                succeeded,
                results: written.iter().map(objects::written).collect(),
            }))
        }
        Ok(Answer::MigrationStarted(id)) => Some(Kept::MigrationStarted(id.to_string())),
        Ok(Answer::MigrationClaimed { token, progress }) => {
            Some(Kept::MigrationClaimed(v1::ClaimedAnswer {
                token: token.get(),
                progress: Some((&progress).into()),
            }))
        }
        Ok(answer @ (Answer::MigrationCompleted(_) | Answer::MigrationSucceeded { .. })) => {
            let assumptions = answer.completion_assumptions().unwrap_or_default();
            Some(Kept::MigrationCompleted(v1::CompletedAnswer {
                assumption: assumptions.first().copied().to_wire(),
                assumptions: assumptions.to_wire(),
            }))
        }
        Err(refusal) => Some(Kept::Refusal((&refusal).into())),
    };
    v1::RecordedOutcome {
        revision: outcome.revision.get(),
        changed: outcome.changed,
        answer,
    }
}

fn forgotten(asked: &GetOutcome) -> Refusal {
    Refusal::new(
        ErrorKind::RequestExpired,
        format!(
            "session {} does not know sequence {} any more: nobody can tell what became of the request",
            asked.session, asked.sequence
        ),
    )
}
