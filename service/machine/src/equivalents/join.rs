//! Joins what is known of resources that turn out to be one store.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::limits::EQUIVALENTS_MAX;
use synod_model::{
    AbortCause, ApiVersion, ErrorKind, GroupResource, LogTime, MemberId, Persisted, Refusal,
    Revision,
};

use super::key_of;
use crate::late_writes::keep_drain;
use crate::turn::{Then, Turn};
use crate::voting::{decide_anew, raise_drains, unknown_status};
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
    /// The sets of names that these make one, the resources' and that of their keys; none if they are one already.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` for too many names or one that is too long, `CONFLICT` if two of them have a collection, if a member
    /// reports two of them, or if no version that one of them has selected can be decoded by all members.
    pub(crate) fn joined(
        &self,
        resources: &BTreeSet<GroupResource>,
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
        let mut joined = vec![self.join_under(first, all, false)?];
        if keys.iter().any(|key| self.state_of(key).is_some()) {
            joined.push(self.join_under(key_of_first, keys, true)?);
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
        are_keys: bool,
    ) -> Result<Names, Refusal> {
        if let Some(member) = self.reports_two(&names) {
            let why = format!(
                "member {member} reports two of them: have it report one, which names the others as its equivalents"
            );
            return Err(unjoinable(ErrorKind::Conflict, &names, &why).with("member", member));
        }
        let selected = self.selected_for(&first, &names)?;
        names.remove(&first);
        Ok(Names {
            first,
            others: names,
            selected,
            are_keys,
        })
    }

    fn reports_two(&self, names: &BTreeSet<GroupResource>) -> Option<&MemberId> {
        let mut seen = BTreeSet::new();
        let versions = names.iter().filter_map(|it| self.storage_versions.get(it));
        let mut members = versions.flat_map(|version| version.entries.keys());
        members.find(|member| !seen.insert(*member))
    }

    /// The selected version that stays: the one of the first name if it can, since every member has to decode it. It is selected
    /// anew if it is not what is selected under every other name: whoever has adopted another selection adopts this one first.
    fn selected_for(
        &self,
        first: &GroupResource,
        names: &BTreeSet<GroupResource>,
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
        let is_decoded = |version: &ApiVersion| {
            let mut reported = names.iter().filter_map(|it| self.storage_versions.get(it));
            reported.all(|reported| reported.tally.all_decode(version))
        };
        let kept = selections.iter().find(|(version, _)| is_decoded(version));
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
    /// Joins what is known of each of these sets of names, which are those of one store from then on.
    pub(crate) fn join_names(&mut self, sets: Vec<Names>) {
        let joined: Vec<_> = sets.into_iter().map(|names| self.gather(names)).collect();
        for (first, status) in &joined {
            self.put_storage_state_and(first, status.clone(), None, Then::AbortOnly);
        }
        for (first, _) in &joined {
            self.decide_anew(first);
        }
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
            self.abort_unfinished(name, AbortCause::StorageUnknown);
        }
        let (now, until) = (self.log_time(), self.state().write_grace_ends());
        let mut status = self.known_or_unknown(&first);
        let was_counted = known.iter().any(|name| self.state().is_counted(name));
        status.forget_unnamed_look(until);
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
    pub(super) fn decide_anew(&mut self, first: &GroupResource) {
        let decided = decide_anew(self.state(), self.occasion(), first);
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
        self.ungated_gone.extend(other.ungated_gone);
        self.more_ungated_gone |= other.more_ungated_gone;
        self.short_absences.extend(other.short_absences);
        self.stored_outside |= other.stored_outside;
        self.equivalents.extend(other.equivalents);
    }
}

fn join_latest<K: Ord>(kept: &mut BTreeMap<K, LogTime>, others: BTreeMap<K, LogTime>) {
    for (key, until) in others {
        let last = kept.entry(key).or_insert(until);
        *last = until.max(*last);
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
