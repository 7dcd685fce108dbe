//! The naive model of exactly-once sessions, as SEMANTICS has them.

use synod_machine::{Answer, Envelope, OutcomeRow, ReportedResource};
use synod_model::{ErrorKind, Refusal, Report, RequestId, Revision, WallTime};

use super::{Holder, Session, World, no};

/// The answer that a caller gets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) revision: Revision,
    pub(crate) changed: bool,
    pub(crate) result: Result<Answer, Refusal>,
}

impl World {
    /// Carries a command out, unless its session has an outcome of it already.
    pub(super) fn answer(&mut self, envelope: &Envelope, wall: WallTime) -> Told {
        let Some(request) = envelope.request else {
            return self.execute(envelope, wall);
        };
        let Some(session) = self.session(request) else {
            return self.refuse(ErrorKind::RequestExpired);
        };
        let kept = session.outcomes.iter();
        let mut kept = kept.filter(|(sequence, _)| *sequence == request.sequence);
        if let Some((_, row)) = kept.next() {
            return Told {
                revision: row.revision,
                changed: row.changed,
                result: row.result.clone(),
            };
        }
        if request.sequence < session.lowest {
            return self.refuse(ErrorKind::RequestExpired);
        }
        let unanswered = session.outcomes.iter();
        let unanswered = unanswered.filter(|(kept, _)| *kept >= request.lowest_unanswered);
        if unanswered.count() as u64 >= u64::from(self.settings.session_outcomes) {
            return self.refuse(ErrorKind::Overloaded);
        }
        let told = self.execute(envelope, wall);
        self.remember(request, &told);
        told
    }

    fn execute(&mut self, envelope: &Envelope, wall: WallTime) -> Told {
        match self.carry_out(&envelope.command, wall) {
            Ok((changed, answer)) => Told {
                revision: self.revision,
                changed,
                result: Ok(answer),
            },
            Err(refusal) => Told {
                revision: self.revision,
                changed: false,
                result: Err(refusal),
            },
        }
    }

    fn refuse(&self, kind: ErrorKind) -> Told {
        Told {
            revision: self.revision,
            changed: false,
            result: Err(no(kind)),
        }
    }

    /// Keeps the outcomes from the lowest unanswered sequence up, if the session still exists. Use renews a session.
    fn remember(&mut self, request: RequestId, told: &Told) {
        if self.session(request).is_none() {
            return;
        }
        self.prolong(Holder::Session(request.session), self.settings.session_ttl);
        let result = told.result.clone().map_err(|mut refusal| {
            refusal.current = None;
            refusal
        });
        let row = OutcomeRow {
            revision: told.revision,
            changed: told.changed,
            result,
        };
        for session in &mut self.sessions {
            if session.id == request.session {
                session.outcomes.push((request.sequence, row.clone()));
                session.lowest = session.lowest.max(request.lowest_unanswered);
                let lowest = session.lowest;
                session.outcomes.retain(|(kept, _)| *kept >= lowest);
            }
        }
    }

    fn session(&self, request: RequestId) -> Option<&Session> {
        self.sessions
            .iter()
            .find(|session| session.id == request.session)
    }
}

impl World {
    /// What a member is told of the resources that it has reported.
    pub(super) fn told_of(&self, report: &Report) -> Vec<ReportedResource> {
        let told = report.entries.iter().map(|said| {
            let entry = self.entry(&said.resource, &report.member);
            let status = &self
                .resource(&said.resource)
                .expect("it was reported")
                .status;
            ReportedResource {
                resource: said.resource.clone(),
                adopted_revision: entry.and_then(|entry| entry.row.adopted_revision),
                encoding: entry.and_then(|entry| entry.row.encoding.clone()),
                selected: status.selected.clone(),
                selected_revision: status.selected_revision,
            }
        });
        told.collect()
    }
}
