//! The naive model of absences: who comes back after what, and what that puts in doubt.

use std::time::Duration;

use synod_machine::{Holder, MembershipRow, ShortAbsence};
use synod_model::{
    ErrorKind, GroupResource, Join, Leave, LogTime, Member, MemberId, MigrationPhase, Persisted,
    Refusal, Report,
};

use super::late_writes::ClaimEnd;
use super::{Entry, World, no};

const TEN_MINUTES: Duration = Duration::from_secs(600);

impl World {
    /// Whether nothing that the member writes passes its gate by. Nobody asked before machine version 3.
    pub(super) fn has_gate(&self, id: &MemberId) -> bool {
        !self.counts_late_writes() || self.members.iter().any(|it| it.id == *id && it.gated)
    }

    /// When the member was last heard, at the earliest: the leader alone may know more.
    fn last_heard(&self, member: &Member) -> LogTime {
        let kept = self.memberships.get(&member.id);
        let ttl = kept.map_or(member.ttl.duration(), |kept| kept.longest_ttl);
        if ttl <= TEN_MINUTES {
            return self.log_time.before(ttl);
        }
        let holder = Holder::Member(member.id.clone());
        let (_, deadline) = self
            .deadlines
            .iter()
            .find(|(kept, _)| *kept == holder)
            .expect("it lives");
        deadline.at.min(self.log_time.after(ttl)).before(ttl)
    }

    /// A process joins under the id that `present` still has.
    pub(super) fn note_arrival(&mut self, join: &Join, present: Option<&Member>) {
        if !self.counts_late_writes() {
            return;
        }
        let now = self.log_time;
        let ttl = join.ttl.duration();
        let kept = self.memberships.get(&join.id).cloned();
        let last = match present {
            Some(present) => Some(self.last_heard(present)),
            None => kept.as_ref().and_then(|kept| kept.renewed),
        };
        let away = last.map(|last| now.since(last));
        let is_here = present.is_some_and(|present| present.instance == join.instance);
        let is_known = kept
            .as_ref()
            .is_some_and(|kept| kept.instance == join.instance);
        let is_soon = is_known || away.is_some_and(|away| away <= TEN_MINUTES);
        let gated_before = kept
            .as_ref()
            .and_then(|kept| kept.gated_since)
            .filter(|_| is_soon);
        let longest = match (&kept, present) {
            (Some(kept), Some(_)) if is_here => kept.longest_ttl.max(ttl),
            (None, Some(present)) if is_here => present.ttl.duration().max(ttl),
            _ => ttl,
        };
        let fresh = MembershipRow {
            instance: join.instance.clone(),
            gated_since: None,
            longest_ttl: longest,
            joined: now,
            away: if is_here { Some(Duration::ZERO) } else { away },
            renewed: None,
            left_ungated: kept.as_ref().is_some_and(|kept| kept.left_ungated),
        };
        let mut row = kept.filter(|_| is_known).unwrap_or(fresh);
        row.longest_ttl = longest;
        row.renewed = None;
        row.gated_since = join.gated.then(|| gated_before.unwrap_or(now));
        self.memberships.insert(join.id.clone(), row);
    }

    /// The member goes, which is still there.
    pub(super) fn note_departure(&mut self, member: &Member, is_told: bool) {
        if !self.counts_late_writes() {
            return;
        }
        let last = if is_told {
            self.log_time
        } else {
            self.last_heard(member)
        };
        let unknown = MembershipRow {
            instance: member.instance.clone(),
            gated_since: None,
            longest_ttl: member.ttl.duration(),
            joined: LogTime::ZERO,
            away: None,
            renewed: None,
            left_ungated: false,
        };
        let row = self.memberships.entry(member.id.clone()).or_insert(unknown);
        row.renewed = Some(last);
        if member.reported {
            row.away = Some(Duration::ZERO);
        }
        row.left_ungated |= !member.gated && !is_told;
        assert!(
            self.memberships.len() < 10_000,
            "no log here has so many members"
        );
    }

    /// The entries of a member without a gate go, and it does not say so: it may write on.
    pub(super) fn mark_ungated(&mut self, id: &MemberId) {
        if self.has_gate(id) {
            return;
        }
        let epoch = self
            .members
            .iter()
            .find(|it| it.id == *id)
            .expect("it is there")
            .epoch;
        for entry in self.entries.clone() {
            if entry.member == *id {
                let gone = &mut self.resource_mut(&entry.resource).status.ungated_gone;
                gone.insert(id.clone(), epoch);
                assert!(gone.len() < 64, "no log here has so many");
            }
        }
    }

    /// The entries of a silent member go, which stays.
    pub(super) fn note_silence(&mut self, id: &MemberId) {
        let is_gated = self.has_gate(id);
        if let Some(row) = self.memberships.get_mut(id) {
            row.left_ungated |= !is_gated;
        }
    }

    /// What the member has written without a gate before it reports something else.
    pub(super) fn drain_what_changes(&mut self, report: &Report, replaces_all: bool, same: bool) {
        let id = &report.member;
        if self.has_gate(id) {
            return;
        }
        let until = self.log_time.after(self.settings.write_grace);
        for entry in self
            .entries
            .clone()
            .iter()
            .filter(|entry| entry.member == *id)
        {
            let mut said = report.entries.iter();
            let said = said.find(|said| self.first(&said.resource) == self.first(&entry.resource));
            let is_changed = match said {
                Some(said) => self.row_of(said, Some(entry), same).encoding != entry.row.encoding,
                None => replaces_all,
            };
            if is_changed {
                let status = &mut self.resource_mut(&entry.resource).status;
                for version in entry.may_write(status) {
                    let kept = status.drains.entry(version).or_insert(until);
                    *kept = until.max(*kept);
                }
            }
        }
    }

    fn is_about_stores(&self, name: &GroupResource) -> bool {
        let is_counted = self.is_counted(name);
        let is_level = self.is_served(name) || self.is_feature(name);
        self.counts_late_writes() && !is_level && !is_counted
    }

    /// Something that nobody can name may land until then.
    pub(super) fn anything_lands_until(&mut self, name: &GroupResource, until: LogTime) {
        if !self.is_about_stores(name) || until <= self.log_time {
            return;
        }
        let kept = &mut self.resource_mut(name).status.unknown_drain;
        if kept.is_none_or(|kept| kept < until) {
            *kept = Some(until);
            self.walked_in_vain.insert(name.clone());
        }
    }

    /// Notes whether the speaker reported the resource before, as far as that is remembered.
    pub(super) fn note_who_was_heard(&mut self, name: &GroupResource) {
        let heard = self.resource(name).map(|kept| &kept.status.heard);
        let speaker = self.speaker.as_ref();
        if heard.is_some_and(|heard| speaker.is_some_and(|id| heard.contains(id))) {
            self.was_heard.insert(name.clone());
        }
    }

    /// The speaker has an entry that it had not.
    pub(super) fn doubt_newcomers(&mut self, name: &GroupResource, then: &[Entry]) {
        let Some(id) = self.speaker.clone().filter(|_| self.counts_late_writes()) else {
            return;
        };
        let has = |of: &[Entry]| of.iter().any(|entry| entry.member == id);
        if has(then) || !has(&self.entries_of(name)) {
            return;
        }
        self.resource_mut(name).status.ungated_gone.remove(&id);
        if !self.is_about_stores(name) {
            return;
        }
        let row = self.memberships.get(&id).cloned();
        let behind_gate = row.as_ref().and_then(|row| row.gated_since);
        let since = behind_gate.unwrap_or(self.log_time);
        self.anything_lands_until(name, since.after(self.settings.write_grace));
        let rosters = self.rosters_of(name);
        if rosters.is_empty() {
            return;
        }
        let away = row.as_ref().and_then(|row| row.away);
        let mut rules = rosters.iter().map(|roster| &roster.rule);
        let is_named = rules.any(|rule| rule.members.contains(&id));
        let is_expected = is_named || self.was_heard.contains(name);
        if away.map_or(is_expected, |away| away > TEN_MINUTES) {
            self.distrust_store(name);
        } else if let (Some(away), Some(row)) = (away.filter(|away| !away.is_zero()), row) {
            let absences = &mut self.resource_mut(name).status.short_absences;
            let returned = row.joined;
            absences.insert(id, ShortAbsence { returned, away });
            assert!(absences.len() < 32, "no log here has so many");
        }
    }

    fn distrust_store(&mut self, name: &GroupResource) {
        let revision = self.revision;
        let status = &mut self.resource_mut(name).status;
        if status.on_trust.is_none() && !status.persisted.contains(&Persisted::Unknown) {
            status.on_trust = Some(revision);
            status.persisted.insert(Persisted::Unknown);
        }
    }

    /// Another process has taken over from a member that was away for long.
    pub(super) fn doubt_replaced(&mut self, id: &MemberId) {
        let away = self.memberships.get(id).and_then(|row| row.away);
        if away.is_none_or(|away| away <= TEN_MINUTES) {
            return;
        }
        let until = self.log_time.after(self.settings.write_grace);
        for entry in self
            .entries
            .clone()
            .iter()
            .filter(|entry| entry.member == *id)
        {
            let name = &self.first(&entry.resource);
            if self.is_about_stores(name) {
                self.anything_lands_until(name, until);
                if self.has_roster(name) {
                    self.distrust_store(name);
                    self.looked_at.insert(name.clone());
                }
            }
        }
    }

    /// A member speaks of which an earlier process without a gate had gone without a word.
    pub(super) fn settle_ungated(&mut self, id: &MemberId) {
        let Some(row) = self.memberships.get_mut(id).filter(|row| row.left_ungated) else {
            return;
        };
        row.left_ungated = false;
        for name in self.left_ungated_by(id) {
            self.resource_mut(&name).status.ungated_gone.remove(id);
            let until = self.log_time.after(self.settings.write_grace);
            self.anything_lands_until(&name, until);
            if self.is_served(&name) {
                self.forget_the_other(&name);
            }
        }
    }

    /// Somebody says that the process of a member has stopped which is no member any more.
    pub(super) fn vouch(&mut self, leave: &Leave) -> Result<(), Refusal> {
        let id = &leave.member;
        let mut names = self.left_ungated_by(id);
        names.retain(|name| {
            let status = &self.resource(name).expect("it was listed").status;
            status.ungated_gone[id] == leave.epoch
        });
        if names.is_empty() {
            return Err(no(ErrorKind::NotAMember));
        }
        let until = self.log_time.after(self.settings.write_grace);
        for name in names {
            let status = &mut self.resource_mut(&name).status;
            status.ungated_gone.remove(id);
            let last = status.said_stopped.entry(id.clone()).or_insert(until);
            *last = until.max(*last);
            self.anything_lands_until(&name, until);
            if self.is_served(&name) {
                self.forget_the_other(&name);
            }
        }
        Ok(())
    }

    fn left_ungated_by(&self, id: &MemberId) -> Vec<GroupResource> {
        let all = self.resources.iter();
        let left = all.filter(|kept| kept.status.ungated_gone.contains_key(id));
        left.map(|kept| kept.name.clone()).collect()
    }

    /// Whoever walked a store in which something may have landed behind him begins again.
    pub(super) fn walk_again(&mut self) {
        for name in std::mem::take(&mut self.walked_in_vain) {
            for migration in self.migrations.clone() {
                let is_unfinished = !matches!(
                    migration.phase,
                    MigrationPhase::Succeeded | MigrationPhase::Aborted
                );
                let id = migration.id.clone();
                let has_walked = self.progress.iter().any(|(kept, _)| *kept == id);
                let is_walked = has_walked || migration.claim.is_some();
                if id.resource() != &name || !is_unfinished || !is_walked {
                    continue;
                }
                self.end_of_claim(&id, ClaimEnd::Others);
                self.clear_deadline(&Holder::Claim(id.clone()));
                self.progress.retain(|(kept, _)| *kept != id);
                let kept = self.migration_mut(&id);
                if kept.claim.take().is_some() {
                    kept.phase = MigrationPhase::Pending;
                }
                kept.done = 0;
                kept.estimate = None;
            }
        }
    }
}
