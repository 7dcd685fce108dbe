//! What observers and operators say of the store.

use synod_machine::{Answer, Heartbeat};
use synod_model::{
    ErrorKind, GroupResource, ObserveStorage, Persisted, Refusal, ResetStorageStates, WallTime,
};

use super::voting::join;
use super::{Resource, World, no};

impl World {
    pub(super) fn observe(
        &mut self,
        observe: &ObserveStorage,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        let name = &observe.resource;
        if !self.entries_of(name).is_empty() {
            return Err(no(ErrorKind::Conflict));
        }
        if self.resource(name).is_none() {
            self.resources
                .push(Resource::new(name, self.new_metadata(wall)));
            self.resources.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let last = self.heartbeats.iter().find(|(kept, _)| kept == name);
        let period = self.settings.discovery_period;
        let is_stale = last.is_some_and(|(_, beat)| self.log_time.since(beat.at) > period * 2);
        if is_stale {
            self.begin_again(name, wall);
        }
        let revision = self.revision;
        let status = &mut self.resource_mut(name).status;
        if status.observed.is_empty() || is_stale {
            status.persisted.insert(Persisted::Unknown);
        } else {
            for hash in &observe.hashes {
                if !status.observed.contains(hash) {
                    join(&mut status.persisted, *hash, None);
                }
            }
        }
        if status.observed != observe.hashes {
            status.observed = observe.hashes.clone();
            status.agreement_revision = revision;
        }
        let at = self.log_time;
        self.heartbeats.retain(|(kept, _)| kept != name);
        self.heartbeats.push((name.clone(), Heartbeat { at, wall }));
        Ok(Answer::Done)
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
            let mut persisted = self.written_now(&name);
            persisted.insert(Persisted::Unknown);
            for stored in self.stored(&name) {
                let hash = stored.hash().expect("an object says what it is in");
                join(&mut persisted, hash, stored.version());
            }
            let nobody = self.entries_of(&name).is_empty();
            self.begin_again(&name, wall);
            self.now_persisted(&name, persisted, nobody, wall);
        }
        Ok(Answer::Done)
    }

    /// What the objects of a resource are in.
    pub(super) fn stored(&self, name: &GroupResource) -> Vec<Persisted> {
        let objects = self.objects.values();
        let of_it = objects.filter(|object| object.key.resource == *name);
        of_it
            .map(|object| Persisted::of(&object.content.encoding, &self.collections[name].kind))
            .collect()
    }
}
