//! Exactly-once sessions: the outcomes that a session keeps, and what a repeated request gets.

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{ErrorKind, Identity, Refusal, RequestId, Sequence, SessionId};

use crate::hashes::{outcome_hash, session_hash};
use crate::state::{Session, State};
use crate::turn::Turn;
use crate::{Holder, Outcome, OutcomeRow};

/// What is known of a request of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It was applied with this outcome.
    Applied(Outcome),
    /// It was not applied up to here, and the session would still accept it.
    NotApplied,
    /// Its session is unknown, or its sequence number is below the kept range. It will never be executed, but an
    /// earlier attempt may have been.
    Expired,
}

impl State {
    /// What is known of a request at this position of the log.
    #[must_use]
    pub fn recorded(&self, session: SessionId, sequence: Sequence) -> Recorded {
        let Some(kept) = self.sessions.get(&session) else {
            return Recorded::Expired;
        };
        match kept.outcomes.get(&sequence) {
            Some(row) => Recorded::Applied(row.to_outcome()),
            None if sequence < kept.lowest => Recorded::Expired,
            None => Recorded::NotApplied,
        }
    }

    /// Whether a request was executed, or may have been. Another attempt executes nothing, so no rule of today refuses it.
    #[must_use]
    pub fn may_have_executed(&self, request: Option<RequestId>) -> bool {
        request.is_some_and(|request| {
            let recorded = self.recorded(request.session, request.sequence);
            !matches!(recorded, Recorded::NotApplied)
        })
    }

    /// Keeps the outcome of a request that was just applied, and drops the outcomes that the caller has seen.
    pub(crate) fn record(&mut self, request: RequestId, outcome: &Outcome) {
        // The request may have closed its own session.
        let Some(session) = self.sessions.get(&request.session) else {
            return;
        };
        let id = request.session;
        let mut session = session.clone();
        let seen = session.lowest.max(request.lowest_unanswered);
        if seen != session.lowest {
            self.sum
                .subtract(session_hash(id, session.lowest, &session.owner));
            self.sum.add(session_hash(id, seen, &session.owner));
            session.lowest = seen;
        }
        let row = Arc::new(OutcomeRow::of(outcome));
        self.sum.add(outcome_hash(id, request.sequence, &row));
        session.outcomes.insert(request.sequence, row);
        while let Some((oldest, row)) = session
            .outcomes
            .get_min()
            .filter(|(oldest, _)| *oldest < seen)
            .cloned()
        {
            session.outcomes.remove(&oldest);
            self.sum.subtract(outcome_hash(id, oldest, &row));
        }
        self.sessions.insert(id, session);
    }

    pub(crate) fn remove_session(&mut self, id: SessionId) {
        let session = self
            .sessions
            .remove(&id)
            .expect("the command found the session");
        self.sum
            .subtract(session_hash(id, session.lowest, &session.owner));
        for (sequence, row) in &session.outcomes {
            self.sum.subtract(outcome_hash(id, *sequence, row));
        }
    }

    /// Whether the session has room for one more unanswered request.
    pub(crate) fn check_room(&self, request: RequestId) -> Result<(), Refusal> {
        let Some(session) = self.sessions.get(&request.session) else {
            return Ok(());
        };
        // Outcomes that the request itself declares seen are dropped when it is recorded, so they are not counted here.
        let seen = session.outcomes.range(..request.lowest_unanswered).count();
        let unanswered = session.outcomes.len() - seen;
        let most = self.settings.session_outcomes;
        if (unanswered as u64) < u64::from(most) {
            return Ok(());
        }
        Err(Refusal::new(
            ErrorKind::Overloaded,
            format!(
                "session {} already keeps the maximum of {most} outcomes, from sequence {}: raise lowest_unanswered \
                 above the requests whose answers you have",
                request.session, request.lowest_unanswered
            ),
        ))
    }
}

impl Turn<'_> {
    /// Opens a session whose id is this command's revision.
    pub(crate) fn open_session(&mut self, owner: Option<Identity>) -> SessionId {
        let id = SessionId::new(self.revision());
        let ttl = self.state().settings.session_ttl;
        self.put_session(
            id,
            Session {
                lowest: Sequence::FIRST,
                owner,
                outcomes: OrdMap::new(),
            },
        );
        self.set_deadline(Holder::Session(id), ttl);
        id
    }
}

impl OutcomeRow {
    /// The row of an outcome. The object that a refusal carries is not kept.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        let result = outcome.result.clone().map_err(|refusal| Refusal {
            current: None,
            ..refusal
        });
        Self {
            revision: outcome.revision,
            changed: outcome.changed,
            result,
        }
    }

    /// The outcome that this row keeps.
    #[must_use]
    pub fn to_outcome(&self) -> Outcome {
        Outcome {
            revision: self.revision,
            changed: self.changed,
            result: self.result.clone(),
        }
    }
}

/// The refusal of a request that will never be executed.
pub(crate) fn expired(request: RequestId) -> Refusal {
    Refusal::new(
        ErrorKind::RequestExpired,
        format!(
            "session {} does not know sequence {} any more, so it is not executed: if an earlier attempt was sent, its \
             outcome is unknown; else open a new session and send again",
            request.session, request.sequence
        ),
    )
}
