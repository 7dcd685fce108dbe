//! The naive model of observations and resets.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, Expire, Heartbeat, Holder, Observation, StateStatus};
use synod_model::{
    AgreementCause, ErrorKind, GroupResource, LogTime, ObserveStorage, ObserverName, Persisted,
    Refusal, ResetStorageStates, Revision, StorageVersionHash, WallTime,
};

use super::looks::{all_shown, fold, unfold};
use super::status::is_objected_to;
use super::voting::join;
use super::{Entry, Resource, World, no};

impl World {
    pub(super) fn observe(
        &mut self,
        observe: &ObserveStorage,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let name = &observe.resource;
        if self.is_no_encoding(name) {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let names = self.names(name);
        if names.len() > 1 && (observe.observer.is_none() || names[0] != *name) {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let changed = match self.resource(name) {
            Some(kept) => kept.metadata.resource_version,
            None => Revision::ZERO,
        };
        if observe.if_revision.is_some_and(|read| read != changed) {
            return Err(no(ErrorKind::Conflict));
        }
        if self.has_no_room_for(observe) {
            return Err(no(ErrorKind::Quota));
        }
        if let Some(observer) = &observe.observer {
            let kept = self.resource(name);
            let is_new = kept.is_none_or(|kept| !kept.status.looks.contains_key(observer));
            if is_new && observe.servers.values().all(|it| it.hashes.is_empty()) {
                return Ok(Answer::Done);
            }
        }
        let is_new = self.resource(name).is_none();
        if is_new {
            self.resources
                .push(Resource::new(name, self.new_metadata(wall)));
            self.resources.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let old = self.resource(name).expect("it is known").status.clone();
        let lapsed = match &observe.observer {
            Some(observer) => self.look_by_name(observer, observe),
            None => self.look(observe),
        };
        self.note_what_is_outside(name, true, is_new);
        self.weigh(name, &old, lapsed, Some(AgreementCause::Observed), wall);
        match &observe.observer {
            Some(observer) => self.promise_look(observer, observe),
            None => {
                // An observation at the end of the second period is still in time.
                let span = self.settings.discovery_period * 2 + Duration::from_millis(1);
                self.set_deadline(Holder::Observation(name.clone()), span);
            }
        }
        let at = self.log_time;
        self.heartbeats.retain(|(kept, _)| kept != name);
        self.heartbeats.push((name.clone(), Heartbeat { at, wall }));
        Ok(Answer::Done)
    }

    /// Replaces what was shown before by what is shown now. Returns whether what was agreed on by discovery alone is in doubt.
    fn look(&mut self, observe: &ObserveStorage) -> bool {
        let name = &observe.resource;
        let nobody = self.entries_of(name).is_empty();
        let was_over = self.is_over(name);
        let is_overdue = self.is_unnamed_overdue(name);
        unfold(&mut self.resource_mut(name).status);
        let lapsed = is_overdue && self.lapse(name, was_over);
        fold(&mut self.resource_mut(name).status);
        let before = all_shown(&self.resource(name).expect("it is known").status);
        let status = &mut self.resource_mut(name).status;
        let is_beside = status.observation.is_some();
        unfold(status);
        let seen = status.observation.take();
        let was_known = seen.as_ref().is_some_and(|seen| !seen.expired);
        let mut now = Observation {
            hashes: observe.hashes.clone(),
            kind: observe.kind.clone(),
            expired: false,
            overtaken: false,
        };
        if now.kind.is_none() {
            now.kind = seen.and_then(|seen| seen.kind);
        }
        status.observation = Some(now);
        fold(status);
        let after = all_shown(status);
        if nobody && !was_known {
            status.persisted.insert(Persisted::Unknown);
        } else {
            for hash in after.difference(&before) {
                self.may_be_stored_as(name, *hash);
            }
        }
        if !was_known {
            let until = self.log_time.after(self.settings.write_grace);
            self.anything_lands_until(name, until);
        }
        self.drain_what_went(name, &before);
        let in_doubt = nobody && !was_known && is_beside;
        if in_doubt {
            self.begin_again(name, self.wall);
        }
        lapsed || in_doubt
    }

    /// Adds an encoding that a server shows to `persisted`: by version, if an entry decodes one with this hash.
    pub(super) fn may_be_stored_as(&mut self, name: &GroupResource, hash: StorageVersionHash) {
        let mut version = None;
        for entry in self.entries_of(name) {
            for decodable in &entry.row.decodable {
                if StorageVersionHash::of_version(decodable, &entry.row.kind) == hash {
                    version = Some(decodable.clone());
                }
            }
        }
        let status = &mut self.resource_mut(name).status;
        join(&mut status.persisted, hash, version.as_ref());
    }

    pub(super) fn drain_hash(
        &mut self,
        name: &GroupResource,
        hash: StorageVersionHash,
        until: LogTime,
    ) {
        let drains = &mut self.resource_mut(name).status.hash_drains;
        let kept = drains.entry(hash).or_insert(until);
        *kept = until.max(*kept);
    }

    /// Whether any look at a resource is so old that what is shown says nothing of the present.
    pub(super) fn is_unseen_for_long(&self, name: &GroupResource) -> bool {
        let Some(kept) = self.resource(name) else {
            return false;
        };
        let named = kept.status.looks.keys();
        let mut named = named.map(|observer| Holder::Look(name.clone(), observer.clone()));
        let observation = kept.status.observation.as_ref();
        observation.is_some_and(|seen| seen.expired)
            || self.is_unnamed_overdue(name)
            || named.any(|holder| self.has_ended(&holder))
    }

    fn is_unnamed_overdue(&self, name: &GroupResource) -> bool {
        let holder = Holder::Observation(name.clone());
        let kept = self.resource(name);
        let mut status = match kept {
            Some(kept) => kept.status.clone(),
            None => return false,
        };
        unfold(&mut status);
        let unnamed = status.observation;
        unnamed.is_some_and(|seen| seen.expired || self.has_ended(&holder))
    }

    /// Ends an observation that was not repeated; it may have expired before this command. Returns whether it expires
    /// only now. An observation that agrees with the members is dropped; any other stays, marked as expired.
    pub(super) fn lapse(&mut self, name: &GroupResource, was_over: bool) -> bool {
        let entries = self.entries_of(name);
        let is_seen = !self.is_no_encoding(name);
        let status = &mut self.resource_mut(name).status;
        let shown = status.observation.as_ref();
        let contradicts = is_seen && contradicts(shown, &entries);
        if status.observation.is_none() {
            return false;
        }
        if !entries.is_empty() && !contradicts {
            self.forget_what_is_shown(name);
            return false;
        }
        let lapses = !was_over;
        if lapses {
            status.persisted.insert(Persisted::Unknown);
            self.tells_of_the_past(name);
        }
        if entries.is_empty() {
            self.begin_again(name, self.wall);
        }
        lapses
    }

    /// Whether the look of an observer without a name has expired already.
    fn is_over(&self, name: &GroupResource) -> bool {
        let Some(kept) = self.resource(name) else {
            return false;
        };
        let mut status = kept.status.clone();
        unfold(&mut status);
        status.observation.is_some_and(|seen| seen.expired)
    }

    /// Ends those of the named looks that are past their deadlines; returns the number.
    pub(super) fn expire_observations(
        &mut self,
        expire: &Expire,
        before: &Self,
        wall: WallTime,
    ) -> u32 {
        let mut ended = 0;
        let named = expire.looks.iter().map(|(name, _)| name);
        let names: BTreeSet<GroupResource> =
            expire.observations.iter().chain(named).cloned().collect();
        for name in &names {
            let mut due: Vec<Option<&ObserverName>> = Vec::new();
            let holder = Holder::Observation(name.clone());
            if expire.observations.contains(name) && before.has_ended(&holder) {
                due.push(None);
            }
            for (_, observer) in expire.looks.iter().filter(|(of, _)| of == name) {
                let holder = Holder::Look(name.clone(), observer.clone());
                if before.has_ended(&holder) {
                    due.push(Some(observer));
                }
            }
            if due.is_empty() {
                continue;
            }
            ended += u32::try_from(due.len()).expect("there are few");
            let old = self.resource(name).expect("it is seen").status.clone();
            let mut lapsed = false;
            for observer in due {
                lapsed |= match observer {
                    None => self.lapse_unnamed(name, before),
                    Some(observer) => {
                        self.clear_deadline(&Holder::Look(name.clone(), observer.clone()));
                        self.lapse_by_name(name, observer, before)
                    }
                };
            }
            self.weigh(name, &old, lapsed, Some(AgreementCause::Observed), wall);
        }
        ended
    }

    fn lapse_unnamed(&mut self, name: &GroupResource, before: &Self) -> bool {
        let shown = all_shown(&self.resource(name).expect("it is seen").status);
        unfold(&mut self.resource_mut(name).status);
        let lapsed = self.lapse(name, before.is_over(name));
        fold(&mut self.resource_mut(name).status);
        self.drain_what_went(name, &shown);
        self.clear_deadline(&Holder::Observation(name.clone()));
        lapsed
    }

    pub(super) fn reset(
        &mut self,
        reset: &ResetStorageStates,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let all = self.resources.iter().map(|kept| kept.name.clone());
        let names: Vec<GroupResource> = match &reset.resource {
            None => all.collect(),
            Some(name) => all.filter(|kept| kept == name).collect(),
        };
        if names.is_empty() && reset.resource.is_some() {
            return Err(no(ErrorKind::NotFound));
        }
        for name in names {
            self.reset_one(&name, wall);
        }
        Ok(Answer::Done)
    }

    pub(super) fn reset_one(&mut self, name: &GroupResource, wall: WallTime) {
        let old = self.resource(name).expect("it is known").status.clone();
        let mut persisted = self.written_now(name);
        persisted.insert(Persisted::Unknown);
        for stored in self.stored(name) {
            let hash = stored.hash().expect("an object says what it is in");
            join(&mut persisted, hash, stored.version());
        }
        if self.is_no_encoding(name) {
            persisted.extend(old.persisted.iter().cloned());
        }
        let nobody = self.entries_of(name).is_empty();
        let unselects = nobody && !self.is_feature(name) && !self.is_served(name);
        self.begin_again(name, wall);
        self.now_persisted(name, persisted, unselects, wall);
        if !nobody {
            let status = &mut self.resource_mut(name).status;
            let before = all_shown(status);
            status.observation = None;
            status.unnamed_look = None;
            status.looks.clear();
            self.drain_what_went(name, &before);
        }
        self.weigh(name, &old, false, None, wall);
    }

    /// Once no member reports, a look that a member overtook, or looks that contradicted the members, are expired; an
    /// expired one without a name is dropped once it agrees with the reporting members.
    pub(super) fn weigh_what_is_shown(&mut self, name: &GroupResource, then: &[Entry]) {
        let now = self.entries_of(name);
        let says_something_else = now.iter().any(|entry| !then.contains(entry));
        let is_seen = !self.is_no_encoding(name);
        let status = &mut self.resource_mut(name).status;
        let before = all_shown(status);
        let was_contradicted = status.contradicted;
        unfold(status);
        if let Some(seen) = &mut status.observation {
            seen.overtaken = seen.overtaken || says_something_else;
            let is_over = seen.expired;
            let is_doubtful = seen.overtaken || was_contradicted;
            let contradicts = is_seen && contradicts(Some(seen), &now);
            if now.is_empty() && !then.is_empty() && !is_over && is_doubtful {
                self.tells_of_the_past(name);
            } else if !now.is_empty() && is_over && !contradicts {
                status.observation = None;
            }
        }
        self.weigh_looks(name, then, was_contradicted);
        fold(&mut self.resource_mut(name).status);
        self.drain_what_went(name, &before);
    }

    /// Marks the observation as expired. Its encodings may still be written.
    fn tells_of_the_past(&mut self, name: &GroupResource) {
        let until = self.log_time.after(self.settings.write_grace);
        let seen = self.resource_mut(name).status.observation.as_mut();
        let seen = seen.expect("something was shown");
        seen.expired = true;
        for hash in seen.hashes.clone() {
            self.drain_hash(name, hash, until);
        }
    }

    /// Drops the observation. Its encodings may still land.
    fn forget_what_is_shown(&mut self, name: &GroupResource) {
        let until = self.log_time.after(self.settings.write_grace);
        let seen = self.resource_mut(name).status.observation.take();
        for hash in seen.into_iter().flat_map(|seen| seen.hashes) {
            self.drain_hash(name, hash, until);
        }
    }

    /// The encodings of the objects of a resource. Objects say nothing of a topic.
    pub(super) fn stored(&self, name: &GroupResource) -> Vec<Persisted> {
        let objects = self.objects.values();
        let of_it = objects.filter(|object| object.key.resource == *name);
        let of_it = of_it.filter(|_| !self.is_no_encoding(name));
        of_it
            .map(|object| Persisted::of(&object.content.encoding, &self.collections[name].kind))
            .collect()
    }
}

/// Whether a server shows, or last showed, an encoding that no member encodes.
pub(super) fn contradicts(seen: Option<&Observation>, entries: &[Entry]) -> bool {
    let is_said = |hash: &StorageVersionHash| {
        entries.iter().any(|entry| {
            let encoding = entry.row.encoding.as_ref();
            encoding.map(|said| StorageVersionHash::of_version(said, &entry.row.kind))
                == Some(*hash)
        })
    };
    let mut hashes = seen.into_iter().flat_map(|seen| &seen.hashes);
    !entries.is_empty() && !hashes.all(is_said)
}

/// The encoding that discovery agrees on while no member reports the resource.
pub(super) fn agreed_hash(status: &StateStatus, entries: &[Entry]) -> Option<StorageVersionHash> {
    let seen = status.observation.as_ref()?;
    let mut hashes = seen.hashes.iter();
    let (first, second) = (hashes.next(), hashes.next());
    let counts = entries.is_empty() && !seen.expired && !is_objected_to(status);
    first.copied().filter(|_| counts && second.is_none())
}
