//! Joins what is known of resources that turn out to be one store.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::limits::EQUIVALENTS_MAX;
use synod_model::{
    AbortCause, ApiVersion, ErrorKind, GroupResource, LogTime, MemberId, Persisted, Refusal,
    Report, Revision,
};

use super::key_of;
use crate::late_writes::keep_drain;
use crate::turn::{Then, Turn};
use crate::voting::{Cause, Occasion, decide_anew, raise_drains, unknown_status};
use crate::{Holder, State, StateStatus};

/// The names of one store, once they are joined.
#[derive(Debug)]
pub(crate) struct Names {
    first: GroupResource,
    others: BTreeSet<GroupResource>,
    /// The version that stays selected, if one is, and since when; `None`: it is selected anew.
    selected: Option<(ApiVersion, Option<Revision>)>,
    /// Whether the names are those of keys, whose set follows from that of the resources.
    are_keys: bool,
}

impl State {
    /// The sets of names that these make one, the resources' and that of their keys; none if they are one already. A report that
    /// tells it counts in place of what its member reported before.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for too many names or one that is too long, `CONFLICT` if two of them have a collection, if a member
    /// reports two of them, if no version that one of them has selected can be decoded by all members, or if a member lacks a key
    /// that an object may be encrypted with.
    pub(crate) fn joined(
        &self,
        resources: &BTreeSet<GroupResource>,
        told: Option<&Report>,
    ) -> Result<Vec<Names>, Refusal> {
        let all = resources.iter().flat_map(|name| self.names(name));
        let all: BTreeSet<GroupResource> = all.collect();
        let firsts: BTreeSet<_> = all.iter().map(|name| self.first_name(name)).collect();
        if firsts.len() < 2 {
            return Ok(Vec::new());
        }
        if all.len() > EQUIVALENTS_MAX {
            return Err(unjoinable(
                ErrorKind::InvalidArgument,
                &all,
                &format!("a store has at most {EQUIVALENTS_MAX} names"),
            ));
        }
        let keys: Option<BTreeSet<_>> = all.iter().map(key_of).collect();
        let Some(keys) = keys else {
            let why = "a name is too long to have keys";
            return Err(unjoinable(ErrorKind::InvalidArgument, &all, why));
        };
        let first = self.first_of(&all)?;
        let key_of_first = key_of(&first).expect("it was found to have keys");
        let mut joined = vec![self.join_under(first, all, told, false)?];
        if keys.iter().any(|key| self.state_of(key).is_some()) {
            joined.push(self.join_under(key_of_first, keys, told, true)?);
        }
        Ok(joined)
    }

    /// The name that has the collection, or the first in order.
    fn first_of(&self, names: &BTreeSet<GroupResource>) -> Result<GroupResource, Refusal> {
        let mut held = names.iter().filter(|it| self.collections.contains_key(*it));
        match (held.next(), held.next()) {
            (Some(_), Some(_)) => Err(unjoinable(
                ErrorKind::Conflict,
                names,
                "two of them have a collection, and each collection is a store of its own",
            )),
            (held, _) => Ok(held.or(names.first()).expect("there are two names").clone()),
        }
    }

    fn join_under(
        &self,
        first: GroupResource,
        mut names: BTreeSet<GroupResource>,
        told: Option<&Report>,
        are_keys: bool,
    ) -> Result<Names, Refusal> {
        if let Some(member) = self.reports_two(&names, told) {
            let why = format!(
                "member {member} reports two of them: have it report one, which names the others as its equivalents"
            );
            return Err(unjoinable(ErrorKind::Conflict, &names, &why).with("member", member));
        }
        let selected = self.selected_for(&first, &names, told)?;
        if let Some(key) = self.lacking_key(&names, told).filter(|_| are_keys) {
            let why = format!(
                "objects may be encrypted with key {key} of one of them, and a member that reports another one cannot decode it: \
                 have every member decode it first"
            );
            let refusal = unjoinable(ErrorKind::Conflict, &names, &why);
            return Err(refusal.with("version", key));
        }
        names.remove(&first);
        Ok(Names {
            first,
            others: names,
            selected,
            are_keys,
        })
    }

    /// A member that reports two of these names and goes on to do so.
    fn reports_two(
        &self,
        names: &BTreeSet<GroupResource>,
        told: Option<&Report>,
    ) -> Option<&MemberId> {
        let mut seen = BTreeSet::new();
        let versions = names.iter().filter_map(|it| self.storage_versions.get(it));
        let members = versions.flat_map(|version| version.entries.keys());
        // What it reported before is dropped where it reports one of them now, or all anew.
        let drops = |report: &&Report| {
            let mut entries = report.entries.iter();
            let member = self.members.get(&report.member);
            report.replace
                || member.is_some_and(|member| !member.reported)
                || entries.any(|entry| names.contains(&entry.resource))
        };
        let speaker = told.filter(drops).map(|report| &report.member);
        let mut others = members.filter(|it| Some(*it) != speaker);
        others.find(|member| !seen.insert(*member))
    }

    /// Whether every member that reports one of these names decodes the version. What the report says counts in place of what its
    /// member said before.
    fn all_decode(
        &self,
        version: &ApiVersion,
        names: &BTreeSet<GroupResource>,
        told: Option<&Report>,
    ) -> bool {
        let entries = told.iter().flat_map(|report| &report.entries);
        let told_anew: Vec<_> = entries.filter(|it| names.contains(&it.resource)).collect();
        let speaker = told.filter(|_| !told_anew.is_empty());
        let reported = names.iter().filter_map(|it| self.storage_versions.get(it));
        let mut kept = reported.flat_map(|reported| &reported.entries);
        told_anew.iter().all(|it| it.decodable.contains(version))
            && kept.all(|(member, row)| {
                row.decodable.contains(version) || speaker.is_some_and(|it| it.member == *member)
            })
    }

    /// A key that an object may be encrypted with, and that a member which reports one of these names does not have.
    fn lacking_key(
        &self,
        names: &BTreeSet<GroupResource>,
        told: Option<&Report>,
    ) -> Option<&ApiVersion> {
        let states = names.iter().filter_map(|it| self.state_of(it));
        let persisted = states.flat_map(|kept| &kept.row.status.persisted);
        let mut keys = persisted.filter_map(Persisted::version);
        keys.find(|key| !self.all_decode(key, names, told))
    }

    /// The selected version that stays: the one of the first name if it can, since every member has to decode it. It is selected
    /// anew if it is not what is selected under every other name: whoever has adopted another selection adopts this one first.
    fn selected_for(
        &self,
        first: &GroupResource,
        names: &BTreeSet<GroupResource>,
        told: Option<&Report>,
    ) -> Result<Option<(ApiVersion, Option<Revision>)>, Refusal> {
        let in_order = [first].into_iter().chain(names);
        let states = in_order.filter_map(|it| self.state_of(it));
        let selections: Vec<(&ApiVersion, Revision)> = states
            .filter_map(|kept| {
                let status = &kept.row.status;
                Some((status.selected.as_ref()?, status.selected_revision))
            })
            .collect();
        let Some((one, _)) = selections.first() else {
            return Ok(None);
        };
        let mut all = selections.iter();
        let kept = all.find(|(version, _)| self.all_decode(version, names, told));
        let Some(kept) = kept else {
            let why = format!(
                "{one} is selected of one of them, and a member that reports another one cannot decode it: have every member \
                 decode it first"
            );
            let refusal = unjoinable(ErrorKind::Conflict, names, &why);
            return Err(refusal.with("version", one));
        };
        let stays = selections.iter().all(|other| other == kept);
        Ok(Some((kept.0.clone(), stays.then_some(kept.1))))
    }
}

impl Turn<'_> {
    /// Joins what is known of each of these sets of names, which are those of one store from then on. Returns the first name of
    /// each, about which the command then decides.
    pub(crate) fn join_names(&mut self, sets: Vec<Names>) -> Vec<GroupResource> {
        let joined: Vec<_> = sets.into_iter().map(|names| self.gather(names)).collect();
        let mut firsts = Vec::new();
        for (first, status) in joined {
            self.put_storage_state_and(&first, status, None, Then::AbortOnly);
            firsts.push(first);
        }
        firsts
    }

    /// Removes what is known of these names, but of the first one, and returns what is known of all.
    fn gather(&mut self, names: Names) -> (GroupResource, StateStatus) {
        let Names {
            first,
            others,
            selected,
            are_keys,
        } = names;
        let all: Vec<_> = [&first].into_iter().chain(&others).cloned().collect();
        let known: Vec<_> = all
            .iter()
            .filter(|name| self.state().storage_states.contains_key(*name))
            .cloned()
            .collect();
        for name in &known {
            if *name == first {
                self.abort_unfinished(name, AbortCause::StorageUnknown);
            } else {
                self.drain_claims(name);
            }
        }
        let (now, until) = (self.log_time(), self.state().write_grace_ends());
        let mut status = self.known_or_unknown(&first);
        let was_counted = known.iter().any(|name| self.state().is_counted(name));
        status.forget_unnamed_look(until);
        status.expire_looks();
        for name in known.iter().filter(|name| **name != first) {
            status.join(self.state().status(name).clone(), now, until);
        }
        // Who writes under a name that was never known wrote unseen, and a collection has not counted what is outside.
        if known.len() < all.len() || (was_counted && status.stored_outside) {
            status.persisted.insert(Persisted::Unknown);
        }
        if was_counted && status.stored_outside {
            status.unknown_drain = status.unknown_drain.max(Some(until));
        }
        status.selected_revision = match &selected {
            Some((_, since)) => since.unwrap_or(self.revision()),
            None => status.selected_revision,
        };
        status.selected = selected.map(|(version, _)| version);
        if !are_keys {
            status.equivalents.extend(others.iter().cloned());
            status.equivalents.remove(&first);
        }
        for name in known.iter().filter(|name| **name != first) {
            self.remove_storage_state(name);
        }
        self.clear_deadline(&Holder::Observation(first.clone()));
        (first, status)
    }

    /// Decides about a store whose names have changed.
    pub(crate) fn decide_anew(&mut self, first: &GroupResource, cause: Option<Cause<'_>>) {
        let renamed = [first.clone()].into();
        let occasion = Occasion {
            cause,
            renamed: Some(&renamed),
            ..self.occasion()
        };
        let decided = decide_anew(self.state(), occasion, first);
        self.carry_out(decided);
    }

    fn known_or_unknown(&self, resource: &GroupResource) -> StateStatus {
        let kept = self.state().storage_states.get(resource);
        let known = kept.map(|kept| kept.row.status.clone());
        known.unwrap_or_else(|| unknown_status(self.state(), resource))
    }
}

impl StateStatus {
    /// Takes over what is known of the same store under another name.
    fn join(&mut self, mut other: Self, now: LogTime, until: LogTime) {
        other.forget_unnamed_look(until);
        self.join_looks(other.all_looks());
        for kept in other.persisted {
            kept.join(&mut self.persisted);
        }
        self.heard.extend(other.heard);
        for (version, end) in &other.drains {
            raise_drains(self, [version], *end);
        }
        join_latest(&mut self.hash_drains, other.hash_drains);
        for (token, drain) in other.claim_drains {
            keep_drain(self, now, token, drain);
        }
        self.unknown_drain = self.unknown_drain.max(other.unknown_drain);
        join_first(&mut self.known_versions, other.known_versions);
        join_first(&mut self.known_hashes, other.known_hashes);
        self.concluded_before = self.concluded_before.max(other.concluded_before);
        join_latest(&mut self.said_stopped, other.said_stopped);
        self.ever_reported |= other.ever_reported;
        join_latest(&mut self.ungated_gone, other.ungated_gone);
        self.more_ungated_gone |= other.more_ungated_gone;
        for (member, absence) in other.short_absences {
            let kept = self.short_absences.entry(member).or_insert(absence);
            if kept.returned < absence.returned {
                *kept = absence;
            }
        }
        self.stored_outside |= other.stored_outside;
        self.equivalents.extend(other.equivalents);
    }
}

fn join_latest<K: Ord, T: Ord + Copy>(kept: &mut BTreeMap<K, T>, others: BTreeMap<K, T>) {
    for (key, other) in others {
        let last = kept.entry(key).or_insert(other);
        *last = other.max(*last);
    }
}

fn join_first<K: Ord>(kept: &mut BTreeMap<K, Revision>, others: BTreeMap<K, Revision>) {
    for (key, revision) in others {
        let first = kept.entry(key).or_insert(revision);
        *first = revision.min(*first);
    }
}

fn unjoinable(kind: ErrorKind, names: &BTreeSet<GroupResource>, why: &str) -> Refusal {
    let listed: Vec<&str> = names.iter().map(GroupResource::qualified).collect();
    let message = format!(
        "resources {} cannot be names of one store: {why}",
        listed.join(", ")
    );
    Refusal::new(kind, message).with("resources", listed.join(","))
}
