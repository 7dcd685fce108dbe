//! Doubts what is stored when a member speaks of a resource that it may have written while nobody knew of it.

use std::sync::Arc;

use synod_model::limits::{SHORT_ABSENCES_MAX, UNGATED_GONE_MAX};
use synod_model::{
    EVIDENCE_SINCE, Epoch, GroupResource, LogTime, MemberId, MigrationReason, Persisted,
};

use super::decision::Said;
use super::draft::Draft;
use super::drains::{may_write, raise_drains};
use crate::{EntryRow, ShortAbsence, State};

impl Draft<'_> {
    /// Follows what members report after their entries are taken.
    pub(super) fn doubt_returns(
        &mut self,
        state: &State,
        resource: &GroupResource,
        said: &[(&MemberId, Said<'_>)],
    ) {
        if state.machine_version < EVIDENCE_SINCE {
            return;
        }
        for (member, said) in said {
            let (Said::Reports { .. }, Some(before)) = (said, self.touched.get(*member).cloned())
            else {
                continue;
            };
            match before {
                Some(before) => self.drain_ungated_change(state, member, &before),
                None => self.doubt_return(state, resource, member),
            }
        }
    }

    /// Drains what a member without a gate wrote before its report.
    fn drain_ungated_change(&mut self, state: &State, member: &MemberId, before: &Arc<EntryRow>) {
        let is_same = self
            .whole
            .entries
            .get(member)
            .is_some_and(|row| row.encoding == before.encoding);
        if !is_same && !state.is_gated(member) {
            let versions: Vec<_> = may_write(before, &self.after)
                .into_iter()
                .cloned()
                .collect();
            raise_drains(&mut self.after, &versions, state.write_grace_ends());
        }
    }

    /// A member that had no entry may have written before: what it wrote still lands until `write_grace` after it came
    /// behind its gate, and after an absence nobody knows what it wrote.
    fn doubt_return(&mut self, state: &State, resource: &GroupResource, member: &MemberId) {
        let row = state.memberships.get(member);
        self.forget_ungated_gone(member);
        // Of a collection that counts its objects, the count is the truth.
        if !self.is_rewritten() || self.is_counted(state, resource) {
            return;
        }
        let grace = state.settings.write_grace;
        let gated_since = row.and_then(|row| row.gated_since);
        let until = gated_since.map_or(state.write_grace_ends(), |since| since.after(grace));
        self.raise_unknown_drain(state, resource, until);
        let rosters = state.rosters_over(resource, self.after.ever_reported);
        if rosters.is_empty() {
            return;
        }
        let mut rules = rosters.iter().map(|roster| &roster.rule);
        let is_named = rules.any(|rule| rule.members.contains(member));
        let was_heard = self.after.heard.contains(member);
        let was_remembered = row.is_some_and(|row| row.away.is_some());
        // A roster that names a member has settled its trust only if the member had reported before: it is forgotten since.
        let was_forgotten = !was_remembered && (is_named || was_heard);
        if row.is_some_and(|row| row.was_long_away()) || was_forgotten {
            self.doubt_after_absence();
        } else if let Some(away) = row.and_then(|row| row.short_absence()) {
            let returned = row.map_or(self.now, |row| row.joined);
            self.note_short_absence(member, ShortAbsence { returned, away });
        }
    }

    /// Whether it is known what is persisted, and that nobody else has written it.
    fn is_settled(&self) -> bool {
        self.after.on_trust.is_none() && !self.after.persisted.contains(&Persisted::Unknown)
    }

    /// Puts what is persisted on trust anew, and in doubt until the next completion. Where it is on trust or unknown already, that
    /// completion is still to come, and begins at the first key.
    pub(super) fn doubt_after_absence(&mut self) {
        if self.is_settled() {
            self.after.on_trust = Some(self.occasion.revision);
            self.after.persisted.insert(Persisted::Unknown);
        }
    }

    /// Writes in versions that nobody can name may land until then. Whoever has walked the store may have missed them.
    pub(super) fn raise_unknown_drain(
        &mut self,
        state: &State,
        resource: &GroupResource,
        until: LogTime,
    ) {
        let is_raised =
            until > self.now && self.after.unknown_drain.is_none_or(|kept| kept < until);
        // A collection counts its objects by encoding, so a write behind the worker is noticed.
        if is_raised && self.is_rewritten() && !self.is_counted(state, resource) {
            self.after.unknown_drain = Some(until);
            self.restarts_walks = true;
        }
    }

    /// Whether workers rewrite what is stored of the topic: of others nothing is known that a completion could settle.
    pub(super) fn is_rewritten(&self) -> bool {
        MigrationReason::of_agreement_on(self.kind).is_some()
    }

    fn note_short_absence(&mut self, member: &MemberId, absence: ShortAbsence) {
        let kept = &mut self.after.short_absences;
        kept.insert(member.clone(), absence);
        if kept.len() > SHORT_ABSENCES_MAX {
            // Those that returned later are named for longer.
            let earliest = kept.iter().min_by_key(|(_, absence)| absence.returned);
            let earliest = earliest.map(|(member, _)| member.clone());
            kept.remove(&earliest.expect("there are more than the bound"));
        }
    }

    /// Notes a member without a gate that goes without saying so: its process may go on writing.
    pub(super) fn note_ungated_gone(&mut self, member: &MemberId, epoch: Epoch) {
        let kept = &mut self.after.ungated_gone;
        if kept.len() < UNGATED_GONE_MAX || kept.contains_key(member) {
            kept.insert(member.clone(), epoch);
        } else {
            self.after.more_ungated_gone = true;
        }
    }

    /// Takes back that the process of the member may go on writing.
    pub(super) fn forget_ungated_gone(&mut self, member: &MemberId) -> bool {
        self.after.ungated_gone.remove(member).is_some()
    }
}
