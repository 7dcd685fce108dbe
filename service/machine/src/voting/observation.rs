//! What discovery shows of a resource, and what it says beside the reports.
//!
//! While nobody reports the resource, the one hash that its servers show stands for the agreement. While members report
//! it, a hash that none of them would show is evidence of a server that does not take part, or against what a member
//! says: it ends the agreement. Evidence of that kind does not go by itself, however long nobody looks: only another look
//! or a reset takes it away.

use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, GroupResource, Kind, LogTime, ObserveStorage, Persisted, StorageVersionHash,
};

use super::decision::{Decided, Occasion};
use super::draft::Draft;
use crate::{EntryChange, Observation, State};

/// Works out what follows for a resource when discovery was looked at. `None`: it shows what it did.
///
/// What is shown no more may still be written until `drain_until`.
pub(crate) fn look(
    state: &State,
    occasion: Occasion<'_>,
    observe: &ObserveStorage,
    is_late: bool,
    drain_until: LogTime,
) -> Option<Decided> {
    let resource = &observe.resource;
    let present = state.storage_versions.get(resource);
    let before = state.storage_states.get(resource);
    let mut draft = Draft::of(present, before.map(|kept| &kept.row.status), occasion);
    if is_late {
        draft.lapse(drain_until);
    }
    draft.look(observe, drain_until);
    draft.finish(state, resource)
}

/// Works out what follows for a resource whose observation is past its deadline. `None`: nothing does.
pub(crate) fn lapse(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> Option<Decided> {
    let present = state.storage_versions.get(resource);
    let before = &state.storage_states.get(resource)?.row.status;
    let mut draft = Draft::of(present, Some(before), occasion);
    draft.lapse(state.write_grace_ends());
    draft.finish(state, resource)
}

/// What of an observation is evidence: another kind of the same hashes is none.
pub(super) fn shown(
    observation: &Option<Observation>,
) -> Option<(&BTreeSet<StorageVersionHash>, bool)> {
    let observation = observation.as_ref()?;
    Some((&observation.hashes, observation.expired))
}

impl Draft<'_> {
    /// Takes in what discovery shows now.
    pub(super) fn look(&mut self, observe: &ObserveStorage, drain_until: LogTime) {
        let before = self.after.observation.take();
        let (shown, kind, was_known) = match before {
            Some(before) => (before.hashes, before.kind, !before.expired),
            None => Default::default(),
        };
        if was_known || !self.tally.is_empty() {
            for hash in observe.hashes.difference(&shown) {
                self.persisted_as(*hash).join(&mut self.after.persisted);
            }
        } else {
            // What was written while nobody looked is not known, whatever is shown now.
            self.after.persisted.insert(Persisted::Unknown);
        }
        for hash in shown.difference(&observe.hashes) {
            self.drain_hash(*hash, drain_until);
        }
        self.after.observation = Some(Observation {
            hashes: observe.hashes.clone(),
            kind: observe.kind.clone().or(kind),
            expired: false,
            overtaken: false,
        });
    }

    /// What was shown last says nothing any more. It may still be written: who showed it may have stopped just now.
    pub(super) fn forget_observation(&mut self, drain_until: LogTime) {
        let before = self.after.observation.take();
        for hash in before.into_iter().flat_map(|before| before.hashes) {
            self.drain_hash(hash, drain_until);
        }
    }

    fn drain_hash(&mut self, hash: StorageVersionHash, until: LogTime) {
        let kept = self.after.hash_drains.entry(hash).or_insert(until);
        *kept = (*kept).max(until);
    }

    /// Nobody has looked for too long. Evidence against the members stays; what agreed with them says nothing any more.
    pub(super) fn lapse(&mut self, drain_until: LogTime) {
        let stands_alone = self.tally.is_empty() || self.contradicted();
        if !stands_alone {
            self.forget_observation(drain_until);
        } else if self.expire_observation(drain_until) {
            self.lapsed = true;
            self.after.persisted.insert(Persisted::Unknown);
        }
    }

    /// What was shown last tells of the past alone, if it did not before. It may still be written.
    fn expire_observation(&mut self, drain_until: LogTime) -> bool {
        let shown = self.after.observation.as_mut();
        let Some(shown) = shown.filter(|shown| !shown.expired) else {
            return false;
        };
        shown.expired = true;
        for hash in shown.hashes.clone() {
            self.drain_hash(hash, drain_until);
        }
        true
    }

    /// Follows what the entries are now.
    ///
    /// When the last one goes, what is older than what members said last, or stood against it, is no agreement: who showed
    /// it may show something else now. And what was seen too long ago goes as soon as it says nothing more than members do.
    pub(super) fn weigh_observation(&mut self, changes: &[EntryChange], drain_until: LogTime) {
        let was_contradicted = self.before.is_some_and(|before| before.contradicted);
        let contradicts = self.contradicted();
        let Some(observation) = &mut self.after.observation else {
            return;
        };
        observation.overtaken |= changes.iter().any(|change| change.after.is_some());
        if self.tally.is_empty() {
            if self.was_reported && (observation.overtaken || was_contradicted) {
                self.expire_observation(drain_until);
            }
        } else if observation.expired && !contradicts {
            self.forget_observation(drain_until);
        }
    }

    /// Whether discovery shows, or last showed, what no member says that it encodes.
    pub(super) fn contradicted(&self) -> bool {
        let Some(observation) = &self.after.observation else {
            return false;
        };
        let entries = self.entries.values();
        let said: BTreeSet<(&ApiVersion, &Kind)> = entries
            .filter_map(|row| Some((row.encoding.as_ref()?, &row.kind)))
            .collect();
        let said = said.into_iter();
        let said: BTreeSet<StorageVersionHash> = said
            .map(|(encoding, kind)| StorageVersionHash::of_version(encoding, kind))
            .collect();
        !self.tally.is_empty() && !observation.hashes.is_subset(&said)
    }

    /// The encoding that discovery alone agrees on.
    pub(super) fn agreed_hash(&self) -> Option<StorageVersionHash> {
        let observation = self.after.observation.as_ref()?;
        let speaks = self.tally.is_empty() && !observation.expired && self.after.absent.is_empty();
        let hash = observation.hashes.first()?;
        (speaks && observation.hashes.len() == 1).then_some(*hash)
    }

    /// The encoding with its version, if a member decodes one that has this hash.
    fn persisted_as(&self, hash: StorageVersionHash) -> Persisted {
        let mut known = self.entries.values().flat_map(|row| {
            let versions = row.decodable.iter();
            versions.map(|version| Persisted::of(version, &row.kind))
        });
        let known = known.find(|known| known.hash() == Some(hash));
        known.unwrap_or(Persisted::observed(hash))
    }
}
