//! The naive model of rosters: looked up anew for every resource after every change.

use std::collections::BTreeSet;

use synod_machine::{Answer, StateStatus};
use synod_model::{
    Absent, AgreementCause, Assumption, Current, DeleteRoster, ErrorKind, GroupResource,
    LabelSelector, MemberId, Refusal, ResourceScope, Revision, Roster, RosterRule, SetRoster,
    WallTime,
};

use super::{World, no};

/// The most missing members that are named.
const NAMED: usize = 16;

impl World {
    pub(super) fn set_roster(
        &mut self,
        set: &SetRoster,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let present = self.rosters.get(&set.scope).cloned();
        self.check_roster(present.as_ref(), set.if_revision)?;
        let metadata = match &present {
            Some(present) if present.rule == set.rule => return Ok(Answer::Done),
            Some(present) => {
                let mut metadata = present.metadata.clone();
                metadata.generation += 1;
                metadata.resource_version = self.revision;
                metadata
            }
            None => self.new_metadata(wall),
        };
        let roster = Roster {
            scope: set.scope.clone(),
            metadata,
            rule: set.rule.clone(),
        };
        let before = self.clone();
        self.rosters.insert(set.scope.clone(), roster);
        self.distrust_more(&before);
        self.call_the_roll(Some(&AgreementCause::Roster), wall);
        Ok(Answer::Done)
    }

    pub(super) fn delete_roster(
        &mut self,
        delete: &DeleteRoster,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let present = self.rosters.get(&delete.scope).cloned();
        if present.is_none() {
            return Err(no(ErrorKind::NotFound));
        }
        self.check_roster(present.as_ref(), delete.if_revision)?;
        let before = self.clone();
        self.rosters.remove(&delete.scope);
        self.distrust_more(&before);
        self.call_the_roll(Some(&AgreementCause::Roster), wall);
        Ok(Answer::Done)
    }

    fn check_roster(
        &self,
        present: Option<&Roster>,
        expected: Option<Revision>,
    ) -> Result<(), Refusal> {
        match (present, expected) {
            (_, None) | (None, Some(Revision::ZERO)) => Ok(()),
            (None, Some(_)) => Err(no(ErrorKind::NotFound)),
            (Some(present), Some(expected)) if present.metadata.resource_version == expected => {
                Ok(())
            }
            (Some(present), Some(_)) => {
                let current = Current::Roster(std::sync::Arc::new(present.clone()));
                Err(no(ErrorKind::Conflict).with_current(current))
            }
        }
    }

    /// Puts `persisted` on trust where a member is asked for now that was not before.
    fn distrust_more(&mut self, before: &Self) {
        let names: Vec<GroupResource> = self.resources.iter().map(|of| of.name.clone()).collect();
        for name in names {
            let is_more = |one: &GroupResource| {
                let now = self.roster_by_name(one).map(|roster| &roster.rule);
                let then = before.roster_by_name(one).map(|roster| &roster.rule);
                now.is_some_and(|now| then.is_none_or(|then| asks_for_more(now, then)))
            };
            if self.names(&name).iter().any(is_more) {
                let revision = self.revision;
                self.looked_at.insert(name.clone());
                let status = &mut self.resource_mut(&name).status;
                status.on_trust = Some(revision);
                status.heard.clear();
            }
        }
    }

    /// Remembers the members that reported before and do not now, where the roster asks by labels.
    pub(super) fn remember_who_spoke(
        &mut self,
        name: &GroupResource,
        then: &[MemberId],
        now: &[MemberId],
    ) {
        let by_labels = self.roster_asks_by_labels(name);
        if self.resource(name).is_none() {
            return;
        }
        let heard = &mut self.resource_mut(name).status.heard;
        heard.retain(|id| !now.contains(id));
        let gone = then.iter().filter(|id| !now.contains(id));
        heard.extend(gone.filter(|_| by_labels).cloned());
    }

    /// Whether the roster in force asks for members by their labels.
    pub(super) fn roster_asks_by_labels(&self, name: &GroupResource) -> bool {
        let mut rosters = self.rosters_of(name).into_iter();
        rosters.any(|roster| !roster.rule.labels.is_empty())
    }

    /// Whether `persisted` is on trust from now on: no roster asks for any member, or a member with the labels that are
    /// asked for does not report and never has.
    pub(super) fn trusts_anew(&self, name: &GroupResource) -> bool {
        let rosters = self.rosters_of(name);
        let misses = |roster: &&Roster| self.misses_a_stranger(name, &roster.rule);
        rosters.is_empty() || rosters.iter().any(misses)
    }

    fn misses_a_stranger(&self, name: &GroupResource, rule: &RosterRule) -> bool {
        let nobody = BTreeSet::new();
        let heard = self
            .resource(name)
            .map_or(&nobody, |kept| &kept.status.heard);
        self.members.iter().any(|member| {
            let id = &member.id;
            !rule.labels.is_empty()
                && rule.labels.matches(&member.labels)
                && !rule.members.contains(id)
                && !heard.contains(id)
                && self
                    .entries_of(name)
                    .iter()
                    .all(|entry| entry.member != *id)
        })
    }

    /// Determines for every resource which members are missing now, and what follows.
    pub(super) fn call_the_roll(&mut self, cause: Option<&AgreementCause>, wall: WallTime) {
        let names: Vec<GroupResource> = self.resources.iter().map(|of| of.name.clone()).collect();
        for name in names {
            let old = self.resource(&name).expect("it is known").status.clone();
            // Who is missing hinders that a version is served, and that a key or a level is selected.
            let then = self.entries_of(&name);
            let is_key_or_level = self.is_no_encoding(&name) && !self.is_served(&name);
            let reselects = self.is_served(&name) || (is_key_or_level && !then.is_empty());
            if reselects && self.absent(&name) != old.absent {
                self.settle_resource(&name, &then, cause.cloned(), wall);
            } else {
                self.weigh(&name, &old, false, cause.cloned(), wall);
                self.keep_who_spoke(&name, &old);
            }
        }
    }

    /// Whether a member that the roster names has no entry for a key or a level: then nothing new is selected.
    pub(super) fn misses_a_named_member(&self, name: &GroupResource) -> bool {
        let is_key_or_level = self.is_no_encoding(name) && !self.is_served(name);
        let entries = self.entries_of(name);
        let is_missing = |id: &MemberId| !entries.iter().any(|entry| entry.member == *id);
        let rosters = self.rosters_of(name);
        let mut asked = rosters.iter().flat_map(|roster| &roster.rule.members);
        self.counts_late_writes() && is_key_or_level && asked.any(is_missing)
    }

    /// Forgets nobody where nothing else changes: only a roster that asks by labels looks at who was heard, and it forgets
    /// all of them when it begins to ask.
    fn keep_who_spoke(&mut self, name: &GroupResource, old: &StateStatus) {
        let status = &mut self.resource_mut(name).status;
        let heard = std::mem::replace(&mut status.heard, old.heard.clone());
        if status != old {
            status.heard = heard;
        }
    }

    /// Notes that the resource is reported, if it is. Returns whether a roster asks for it from now on that left it out.
    pub(super) fn roster_begins_to_ask(&mut self, name: &GroupResource) -> bool {
        let asked_before = self.rosters_of(name).len();
        let is_reported = !self.entries_of(name).is_empty();
        if self.counts_late_writes() && !self.is_no_encoding(name) && is_reported {
            self.resource_mut(name).status.ever_reported = true;
        }
        self.rosters_of(name).len() > asked_before
    }

    /// The assumptions that the success of a migration of the resource rests on, once its doubts are settled.
    pub(super) fn assumed_by_success(&self, name: &GroupResource) -> BTreeSet<Assumption> {
        let status = &self.resource(name).expect("it is known").status;
        let rosters = self.rosters_of(name);
        let mut rules = rosters.iter().map(|roster| &roster.rule);
        let is_loose = |rule: &RosterRule| {
            let is_small = rule.members.len() >= rule.least as usize && !rule.members.is_empty();
            !(rule.complete || (is_small && rule.labels.is_empty()))
        };
        let mut assumptions = BTreeSet::new();
        assumptions.extend(status.on_trust.map(|_| Assumption::NoRoster));
        assumptions.extend(status.concluded_before.map(|_| Assumption::ConcludedBefore));
        if !status.said_stopped.is_empty() {
            assumptions.insert(Assumption::SaidStopped);
        }
        if !status.short_absences.is_empty() {
            assumptions.insert(Assumption::ShortAbsence);
        }
        if !status.ungated_gone.is_empty() {
            assumptions.insert(Assumption::UngatedGone);
        }
        if rules.any(is_loose) {
            assumptions.insert(Assumption::RosterMayMiss);
        }
        assumptions
    }

    /// The rosters in force for a store: one for each of its names, each once.
    pub(super) fn rosters_of(&self, name: &GroupResource) -> Vec<&Roster> {
        let mut rosters: Vec<&Roster> = Vec::new();
        for name in self.names(name) {
            let roster = self.roster_by_name(&name);
            rosters.extend(roster.filter(|one| rosters.iter().all(|it| it.scope != one.scope)));
        }
        rosters
    }

    pub(super) fn has_roster(&self, name: &GroupResource) -> bool {
        !self.rosters_of(name).is_empty()
    }

    /// The roster in force for one name: that of the resource, else that of its group, else that of all.
    fn roster_by_name(&self, name: &GroupResource) -> Option<&Roster> {
        let mut found = [None, None, None];
        for roster in self.rosters.values() {
            let rank = match &roster.scope {
                ResourceScope::Resource(one) if one == name => 0,
                ResourceScope::Group(group) if **group == *name.group() => 1,
                ResourceScope::All => 2,
                ResourceScope::Resource(_) | ResourceScope::Group(_) => continue,
            };
            found[rank] = Some(roster);
        }
        let narrowest = found.into_iter().flatten().next()?;
        let kept = self.resource(name);
        let was_reported = kept.is_some_and(|kept| kept.status.ever_reported);
        let leaves_out =
            narrowest.rule.exempts_observed && !was_reported && !self.is_no_encoding(name);
        (!leaves_out).then_some(narrowest)
    }

    /// What is missing for a resource: the named members that do not report, then those with the labels that do not,
    /// and how many of a least number.
    pub(super) fn absent(&self, name: &GroupResource) -> Absent {
        let mut all = Absent::default();
        for roster in self.rosters_of(name) {
            let absent = self.absent_by(name, &roster.rule);
            for id in absent.members {
                if all.members.contains(&id) {
                    continue;
                }
                match all.members.len() < NAMED {
                    true => drop(all.members.insert(id)),
                    false => all.unnamed += 1,
                }
            }
            all.unnamed = all.unnamed.max(absent.unnamed);
            if absent.short > all.short {
                (all.short, all.labels) = (absent.short, absent.labels);
            }
        }
        all
    }

    /// What is missing for a store by one of its rosters.
    fn absent_by(&self, name: &GroupResource, rule: &RosterRule) -> Absent {
        let speaking: BTreeSet<MemberId> = self
            .entries_of(name)
            .into_iter()
            .map(|entry| entry.member)
            .collect();
        let labelled: Vec<MemberId> = self
            .members
            .iter()
            .filter(|member| !rule.labels.is_empty() && rule.labels.matches(&member.labels))
            .map(|member| member.id.clone())
            .collect();
        let mut missing: Vec<MemberId> = Vec::new();
        for id in rule.members.iter().chain(&labelled) {
            if !speaking.contains(id) && !missing.contains(id) {
                missing.push(id.clone());
            }
        }
        let (speak, least) = if rule.labels.is_empty() {
            (speaking.len(), rule.least)
        } else {
            let speak = labelled.iter().filter(|id| speaking.contains(*id)).count();
            (speak, rule.least.max(1))
        };
        let speak = u32::try_from(speak).expect("few speak here");
        let unnamed = missing.len().saturating_sub(NAMED);
        Absent {
            members: missing.into_iter().take(NAMED).collect(),
            unnamed: u32::try_from(unnamed).expect("few are missing here"),
            short: least.saturating_sub(speak),
            labels: if speak < least {
                rule.labels.clone()
            } else {
                LabelSelector::default()
            },
        }
    }
}

/// Whether a rule asks for a member, or for more of them, that another does not ask for.
fn asks_for_more(now: &RosterRule, then: &RosterRule) -> bool {
    now.members.iter().any(|id| !then.members.contains(id))
        || now.least > then.least
        || (!now.labels.is_empty() && now.labels != then.labels)
        || (then.exempts_observed && !now.exempts_observed)
}
