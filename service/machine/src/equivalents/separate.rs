//! Takes a name out of a set of equivalent resources.

use std::collections::BTreeSet;

use synod_model::{AbortCause, ErrorKind, GroupResource, LogTime, MemberId, Persisted, Refusal};

use super::key_of;
use crate::turn::{Then, Turn};
use crate::{State, StateStatus};

/// The two sets that one becomes: each a first name with the others.
#[derive(Debug)]
pub(crate) struct SeparateSets {
    /// The set that keeps its first name.
    stays: (GroupResource, BTreeSet<GroupResource>),
    /// The other one.
    moves: (GroupResource, BTreeSet<GroupResource>),
}

impl State {
    /// The two sets that a resource's set becomes without this name.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` if the resource is equivalent to none, `CONFLICT` while an entry tells that it is.
    pub(crate) fn separated(&self, resource: &GroupResource) -> Result<SeparateSets, Refusal> {
        let names = self.names(resource);
        let (first, others) = names.split_first().expect("a store has a name");
        if others.is_empty() {
            let message = format!("resource \"{resource}\": it is equivalent to no other one");
            let refusal = Refusal::new(ErrorKind::NotFound, message);
            return Err(refusal.with("resource", resource.storage_version_name()));
        }
        if let Some(member) = self.tells_of(resource) {
            let message = format!(
                "resource \"{resource}\": member {member} reports that it is equivalent to others: have it report without that \
                 first"
            );
            let refusal = Refusal::new(ErrorKind::Conflict, message);
            let refusal = refusal.with("resource", resource.storage_version_name());
            return Err(refusal.with("member", member));
        }
        let mut rest: BTreeSet<GroupResource> = others.iter().cloned().collect();
        if first != resource {
            rest.remove(resource);
            return Ok(SeparateSets {
                stays: (first.clone(), rest),
                moves: (resource.clone(), BTreeSet::new()),
            });
        }
        let next = rest.pop_first().expect("there is another name");
        Ok(SeparateSets {
            stays: (first.clone(), BTreeSet::new()),
            moves: (next, rest),
        })
    }

    /// A member whose entry tells that the resource is equivalent to others.
    fn tells_of(&self, resource: &GroupResource) -> Option<&MemberId> {
        let versions = self.names(resource).into_iter();
        let mut versions = versions.filter_map(|name| {
            let version = self.storage_versions.get(&name)?;
            Some((name == *resource, version))
        });
        versions.find_map(|(is_own, version)| {
            let tells = |told: &BTreeSet<GroupResource>| {
                told.contains(resource) || (is_own && !told.is_empty())
            };
            let mut entries = version.entries.iter();
            entries
                .find(|(_, row)| tells(&row.equivalents))
                .map(|(member, _)| member)
        })
    }
}

impl Turn<'_> {
    /// Makes two sets of one. What was stored under either is unknown, and both keep what may still land.
    pub(crate) fn separate_names(&mut self, separated: SeparateSets) {
        let SeparateSets {
            stays: (first, rest),
            moves: (next, others),
        } = separated;
        let (key, next_key) = (key_of(&first), key_of(&next));
        let until = self.state().write_grace_ends();
        let key = key.filter(|key| self.state().state_of(key).is_some());
        self.abort_unfinished(&first, AbortCause::StorageUnknown);
        if let Some(key) = &key {
            self.abort_unfinished(key, AbortCause::StorageUnknown);
        }
        let mut kept = self.state().status(&first).clone();
        kept.doubt(until);
        let mut moved = kept.clone();
        moved.forget_looks(until);
        moved.agreed = None;
        (kept.equivalents, moved.equivalents) = (rest, others);
        self.put_storage_state_and(&first, kept, None, Then::AbortOnly);
        self.put_storage_state_and(&next, moved, None, Then::AbortOnly);
        let keys = key.zip(next_key);
        if let Some((key, next_key)) = &keys {
            let mut kept = self.state().status(key).clone();
            kept.doubt(until);
            let mut moved = kept.clone();
            moved.agreed = None;
            self.put_storage_state_and(next_key, moved, None, Then::AbortOnly);
            self.put_storage_state_and(key, kept, None, Then::AbortOnly);
        }
        let keys = keys.into_iter().flat_map(<[_; 2]>::from);
        for name in [first, next].into_iter().chain(keys) {
            self.decide_anew(&name, None);
        }
    }
}

impl StateStatus {
    /// Doubts what is stored, and lets what nobody can name land for a while.
    fn doubt(&mut self, until: LogTime) {
        self.persisted.insert(Persisted::Unknown);
        self.unknown_drain = self.unknown_drain.max(Some(until));
    }
}
