//! Applies one log entry: all of its commands, in order.

use std::sync::Arc;

use synod_model::{ErrorKind, Refusal, RequestId};

use crate::command_table::command_table;
use crate::commands;
use crate::history::HistoryBounds;
use crate::sessions::{Recorded, expired};
use crate::turn::Turn;
use crate::{Answer, Applied, Command, Envelope, Holder, LogEntry, Outcome, RevisionEvents, State};

impl State {
    /// Applies one log entry. It is total and deterministic: the result depends only on the state and the entry, every
    /// command gets an outcome, and a refused command changes nothing except the record of its outcome.
    ///
    /// # Panics
    ///
    /// If an invariant of the state does not hold, or the log requires a machine version that this build does not know.
    /// A replica with a wrong state must stop rather than answer.
    pub fn apply(&mut self, entry: &LogEntry) -> Applied {
        self.log_time = self.log_time.max(entry.log_time);
        if entry.lift_deadlines {
            self.deadlines.lifted_at = self.log_time;
        }
        let mut applied = Applied::default();
        for envelope in &entry.commands {
            let (outcome, events) = self.apply_once(entry, envelope);
            applied.outcomes.push(outcome);
            applied.events.extend(events);
        }
        self.trim_history();
        applied
    }

    /// Applies a command unless its session says that it was applied before.
    fn apply_once(
        &mut self,
        entry: &LogEntry,
        envelope: &Envelope,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        let Some(request) = envelope.request else {
            return self.apply_command(entry, envelope);
        };
        if let Some(actor) = &envelope.actor
            && let Err(refusal) = self.check_session(request.session, actor)
        {
            return (self.refused(refusal), None);
        }
        match self.recorded(request.session, request.sequence) {
            Recorded::Applied(outcome) => (outcome, None),
            Recorded::Expired => (self.refused(expired(request)), None),
            Recorded::NotApplied => match self.check_room(request) {
                Err(refusal) => (self.refused(refusal), None),
                Ok(()) => self.apply_and_record(entry, request, envelope),
            },
        }
    }

    fn apply_and_record(
        &mut self,
        entry: &LogEntry,
        request: RequestId,
        envelope: &Envelope,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        let (outcome, events) = self.apply_command(entry, envelope);
        if self.sessions.contains_key(&request.session) {
            let ttl = self.settings.session_ttl;
            Turn::begin(self, entry.wall).extend_deadline(Holder::Session(request.session), ttl);
            self.record(request, &outcome);
        }
        (outcome, events)
    }

    fn apply_command(
        &mut self,
        entry: &LogEntry,
        envelope: &Envelope,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        let command = &*self.under_first_names(&envelope.command);
        if self.cluster.is_none() && !matches!(command, Command::Initialize(_)) {
            return (self.refused(not_formed()), None);
        }
        // A retry is answered before this: what it was allowed then, it may hear now.
        if let Err(refusal) = self.check_tokens(command, envelope.actor.as_deref()) {
            return (self.refused(refusal), None);
        }
        let known = self.check_machine_version(command);
        if let Err(refusal) = known.and_then(|()| self.check_switch(command)) {
            return (self.refused(refusal), None);
        }
        let mut turn = Turn::begin(self, entry.wall).by(envelope.actor.as_deref());
        let result = carry_out(&mut turn, command);
        let events = turn.end();
        assert!(
            result.is_ok() || events.is_none(),
            "a refused command changes nothing: {command:?}"
        );
        (
            Outcome {
                revision: self.revision,
                changed: events.is_some(),
                result,
            },
            events,
        )
    }

    fn refused(&self, refusal: Refusal) -> Outcome {
        Outcome {
            revision: self.revision,
            changed: false,
            result: Err(refusal),
        }
    }

    fn trim_history(&mut self) {
        let bounds = HistoryBounds {
            revisions: self.settings.history_revisions,
            bytes: self.settings.history_bytes,
            keeps_upgrade: self.keeps_upgrade_history(),
        };
        self.history.trim(bounds, &mut self.sum);
    }
}

macro_rules! carry_out {
    ($($(#[$doc:meta])* $number:literal $command:ident $lane:ident = $($apply:ident)::+;)*) => {
        fn carry_out(turn: &mut Turn<'_>, command: &Command) -> Result<Answer, Refusal> {
            match command {
                $(Command::$command(it) => commands::$($apply)::+(turn, it),)*
            }
        }
    };
}

command_table!(carry_out);

fn not_formed() -> Refusal {
    Refusal::new(
        ErrorKind::Unavailable,
        "the cluster is being formed: try again in a moment".to_owned(),
    )
    .with("not_executed", "true")
}
