//! The naive model of observations and resets.

use std::time::Duration;

use synod_machine::{Answer, Heartbeat, Holder, Observation, StateStatus};
use synod_model::{
    AgreementCause, ErrorKind, GroupResource, LogTime, ObserveStorage, Persisted, Refusal,
    ResetStorageStates, Revision, StorageVersionHash, WallTime,
};

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
        let changed = match self.resource(name) {
            Some(kept) => kept.metadata.resource_version,
            None => Revision::ZERO,
        };
        if observe.if_revision.is_some_and(|read| read != changed) {
            return Err(no(ErrorKind::Conflict));
        }
        if self.resource(name).is_none() {
            self.resources
                .push(Resource::new(name, self.new_metadata(wall)));
            self.resources.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let old = self.resource(name).expect("it is known").status.clone();
        let lapsed = self.is_unseen_for_long(name) && self.lapse(name, self.is_over(name));
        self.look(observe);
        self.weigh(name, &old, lapsed, Some(AgreementCause::Observed), wall);
        // An observation at the end of the second period is still in time.
        let span = self.settings.discovery_period * 2 + Duration::from_millis(1);
        self.set_deadline(Holder::Observation(name.clone()), span);
        let at = self.log_time;
        self.heartbeats.retain(|(kept, _)| kept != name);
        self.heartbeats.push((name.clone(), Heartbeat { at, wall }));
        Ok(Answer::Done)
    }

    /// Replaces what was shown before by what is shown now.
    fn look(&mut self, observe: &ObserveStorage) {
        let name = &observe.resource;
        let status = &mut self.resource_mut(name).status;
        let before = status.observation.take();
        let was_known = before.as_ref().is_some_and(|before| !before.expired);
        let (shown, kind) = before
            .map(|before| (before.hashes, before.kind))
            .unwrap_or_default();
        let mut now = Observation {
            hashes: observe.hashes.clone(),
            kind: observe.kind.clone(),
            expired: false,
            overtaken: false,
        };
        if now.kind.is_none() {
            now.kind = kind;
        }
        status.observation = Some(now);
        if self.entries_of(name).is_empty() && !was_known {
            let status = &mut self.resource_mut(name).status;
            status.persisted.insert(Persisted::Unknown);
        } else {
            for hash in observe.hashes.iter().filter(|hash| !shown.contains(hash)) {
                self.may_be_stored_as(name, *hash);
            }
        }
        let until = self.log_time.after(self.settings.write_grace);
        if !was_known {
            self.anything_lands_until(name, until);
        }
        for hash in shown.iter().filter(|hash| !observe.hashes.contains(hash)) {
            self.drain_hash(name, *hash, until);
        }
        self.note_what_is_outside(name, true);
    }

    /// Adds an encoding that a server shows to `persisted`: by version, if an entry decodes one with this hash.
    fn may_be_stored_as(&mut self, name: &GroupResource, hash: StorageVersionHash) {
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

    fn drain_hash(&mut self, name: &GroupResource, hash: StorageVersionHash, until: LogTime) {
        let drains = &mut self.resource_mut(name).status.hash_drains;
        let kept = drains.entry(hash).or_insert(until);
        *kept = until.max(*kept);
    }

    /// Whether the observation of a resource is so old that it says nothing of the present.
    pub(super) fn is_unseen_for_long(&self, name: &GroupResource) -> bool {
        let observation = self
            .resource(name)
            .and_then(|kept| kept.status.observation.as_ref());
        let holder = Holder::Observation(name.clone());
        observation.is_some_and(|seen| seen.expired || self.has_ended(&holder))
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

    /// Whether the observation has expired already.
    pub(super) fn is_over(&self, name: &GroupResource) -> bool {
        let seen = self.resource(name).map(|kept| &kept.status.observation);
        seen.and_then(Option::as_ref)
            .is_some_and(|seen| seen.expired)
    }

    /// Ends those of the named observations that are past their deadlines; returns the number.
    pub(super) fn expire_observations<'a>(
        &mut self,
        named: impl Iterator<Item = &'a GroupResource>,
        before: &Self,
        wall: WallTime,
    ) -> u32 {
        let mut ended = 0;
        for name in named {
            let holder = Holder::Observation(name.clone());
            if self.has_ended(&holder) {
                ended += 1;
                let old = self.resource(name).expect("it is seen").status.clone();
                let lapsed = self.lapse(name, before.is_over(name));
                self.weigh(name, &old, lapsed, Some(AgreementCause::Observed), wall);
                self.clear_deadline(&holder);
            }
        }
        ended
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
            self.forget_what_is_shown(name);
        }
        self.weigh(name, &old, false, None, wall);
    }

    /// Once no member reports, an observation that a member overtook, or that contradicted the members, is expired; an
    /// expired one is dropped once it agrees with the reporting members.
    pub(super) fn weigh_what_is_shown(&mut self, name: &GroupResource, then: &[Entry]) {
        let now = self.entries_of(name);
        let says_something_else = now.iter().any(|entry| !then.contains(entry));
        let is_seen = !self.is_no_encoding(name);
        let status = &mut self.resource_mut(name).status;
        let was_contradicted = status.contradicted;
        let shown = status.observation.as_ref();
        let contradicts = is_seen && contradicts(shown, &now);
        let Some(seen) = &mut status.observation else {
            return;
        };
        if says_something_else {
            seen.overtaken = true;
        }
        let is_over = seen.expired;
        let is_doubtful = seen.overtaken || was_contradicted;
        if now.is_empty() && !then.is_empty() && !is_over && is_doubtful {
            self.tells_of_the_past(name);
        }
        if !now.is_empty() && is_over && !contradicts {
            self.forget_what_is_shown(name);
        }
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
        self.clear_deadline(&Holder::Observation(name.clone()));
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
