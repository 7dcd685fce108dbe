//! What is decided for served versions alone: the date until which one is served, and what agreement makes an end of.
//!
//! Nothing is stored in a version's being served. So no migration follows an agreement: what was done before is over once
//! every member has adopted the selection and no write of a member that is gone can land any more.

use synod_model::{
    ErrorKind, GroupResource, LogTime, MemberId, Persisted, Refusal, ReportEntry, SERVED,
    ServeUntil, Topic, WITHDRAWN,
};

use super::draft::Draft;
use super::selected::Served;
use crate::{State, StateStatus};

impl Draft<'_> {
    /// Keeps the date that an entry names, if it is the latest.
    pub(super) fn promise(&mut self, entry: &ReportEntry) {
        let date = entry.serve_until.filter(|_| self.kind.is_promised_until());
        let Some(date) = date else {
            return;
        };
        let (now, wall) = (self.now, self.occasion.wall);
        let kept = self.after.serve_until;
        self.after.serve_until = Some(ServeUntil::named(kept, date, now, wall));
    }

    /// Refuses a date that nobody has named yet and that is too far away.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`.
    pub(super) fn check_date(
        &self,
        resource: &GroupResource,
        member: &MemberId,
        entry: &ReportEntry,
    ) -> Result<(), Refusal> {
        let kept = self.before.and_then(|before| before.serve_until);
        let is_new = |date| kept.is_none_or(|kept| kept.date < date);
        let date = entry.serve_until.filter(|_| self.kind.is_promised_until());
        let Some(date) = date.filter(|date| is_new(*date)) else {
            return Ok(());
        };
        ServeUntil::check(date, self.occasion.wall).map_err(|fault| {
            let topic = Topic::of(resource);
            let message = format!(
                "topic \"{topic}\": member \"{member}\" names {date}, until which the version is to be served: {}",
                fault.rule
            );
            let mut refusal = Refusal::new(ErrorKind::InvalidArgument, message)
                .with("resource", resource.storage_version_name());
            refusal.violations.push(fault.at("serveUntilMs"));
            refusal
        })
    }

    /// What counts beside the entries for whether the version is served.
    pub(super) fn beside_entries(&self, state: &State, resource: &GroupResource) -> Served {
        let absent = self.absent_by(state, &state.rosters_of(resource));
        let drained = withdrawn_until(&self.after);
        Served {
            promised: self.is_promised(),
            hindered: !absent.is_empty() || drained.is_some_and(|until| until > self.now),
        }
    }

    /// Whether the date until which the version is served has not come.
    fn is_promised(&self) -> bool {
        let kept = self.after.serve_until;
        kept.is_some_and(|kept| kept.log > self.now)
    }

    /// When a version is reported that nobody reports, and its date has come: what nobody who is gone does any more is
    /// needed by nobody, so a release without its code is let in.
    pub(super) fn forget_what_nobody_does(&mut self, nobody_speaks: bool) {
        let is_left = self.was_reported() || nobody_speaks || self.is_promised();
        if self.kind.is_stored() || is_left {
            return;
        }
        let (now, drains) = (self.now, &self.after.drains);
        self.after.persisted.retain(|kept| {
            let version = kept.version();
            version.is_none_or(|version| drains.get(version).is_some_and(|until| *until > now))
        });
    }

    /// Once members agree, and after the drains, nobody does the other thing any more. Under a roster nobody else is left,
    /// so nothing is on trust.
    pub(super) fn let_go_of_the_other(&mut self, state: &State, resource: &GroupResource) {
        let Some(agreed) = self.after.agreed.clone() else {
            return;
        };
        if self.kind.is_stored() {
            return;
        }
        let (now, strangers) = (self.now, state.strangers_write_until);
        let drains = &self.after.drains;
        self.after.persisted.retain(|kept| match kept.version() {
            Some(version) if *version == agreed => true,
            Some(version) => drains.get(version).is_some_and(|until| *until > now),
            None => strangers > now,
        });
        if state.has_roster(resource) {
            self.after.on_trust = None;
        }
    }
}

impl State {
    /// The next log time at which something passes by itself for a topic: the date until which its version is served, and
    /// what is done by members that are gone.
    pub(crate) fn passes_at(
        &self,
        resource: &GroupResource,
        status: &StateStatus,
    ) -> Option<LogTime> {
        if self.topic_kind(resource).is_stored() {
            return None;
        }
        let date = status.serve_until.map(|until| until.log);
        let agreed = status.agreed.as_ref();
        let others = status.persisted.iter().filter(|_| agreed.is_some());
        let others = others.filter(|kept| kept.version() != agreed);
        let drained = others.map(|kept| self.written_until(status, kept));
        let selected = status.selected.as_ref();
        let is_served = selected.is_some_and(|it| it.as_str() == SERVED);
        let hinders = withdrawn_until(status).filter(|_| !is_served);
        let times = drained.chain(date).chain(hinders);
        times.filter(|at| *at > self.log_time).min()
    }

    fn written_until(&self, status: &StateStatus, kept: &Persisted) -> LogTime {
        let drain = |version| status.drains.get(version).copied().unwrap_or_default();
        let version = kept.version();
        version.map_or(self.strangers_write_until, drain)
    }
}

/// Until when a member that is gone may act as if the version were withdrawn.
fn withdrawn_until(status: &StateStatus) -> Option<LogTime> {
    let mut drains = status.drains.iter();
    let drain = drains.find(|(version, _)| version.as_str() == WITHDRAWN);
    drain.map(|(_, until)| *until)
}
