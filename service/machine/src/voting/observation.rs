//! What discovery shows of a resource, and how it is weighed against the members' reports.
//!
//! While no member reports the resource, the one hash that its servers show is the agreement. While members report it,
//! a hash that none of their encodings has is evidence of a server that does not take part, or that contradicts a
//! member: it ends the agreement. Such evidence does not expire: only another observation or a reset removes it.

use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, EVIDENCE_SINCE, GroupResource, Kind, LogTime, ObserveStorage, Persisted,
    StorageVersionHash,
};

use super::decision::{Decided, Occasion};
use super::draft::Draft;
use crate::{EntryChange, Observation, State};

/// Decides what follows when the discovery of a resource is observed. `None`: nothing changes.
///
/// Writes in encodings that are no longer shown may arrive until `drain_until`.
pub(crate) fn look(
    state: &State,
    occasion: Occasion<'_>,
    observe: &ObserveStorage,
    is_late: bool,
    drain_until: LogTime,
) -> Option<Decided> {
    let resource = &observe.resource;
    let mut draft = Draft::of(state, resource, occasion);
    if is_late {
        draft.lapse(drain_until);
    }
    draft.look(state, observe, drain_until);
    draft.note_shown_outside(state, resource);
    draft.finish(state, resource)
}

/// Decides what follows when the observation of a resource has expired. `None`: nothing changes.
pub(crate) fn lapse(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> Option<Decided> {
    state.storage_states.get(resource)?;
    let mut draft = Draft::of(state, resource, occasion);
    draft.lapse(state.write_grace_ends());
    draft.finish(state, resource)
}

/// The part of an observation that is evidence: its hashes and whether it expired, but not its kind.
pub(super) fn shown(
    observation: &Option<Observation>,
) -> Option<(&BTreeSet<StorageVersionHash>, bool)> {
    let observation = observation.as_ref()?;
    Some((&observation.hashes, observation.expired))
}

impl Draft<'_> {
    /// Takes over what discovery shows now.
    fn look(&mut self, state: &State, observe: &ObserveStorage, drain_until: LogTime) {
        let before = self.after.observation.take();
        let was_looked_at = before.as_ref().is_some_and(|before| !before.expired);
        if !was_looked_at && state.machine_version() >= EVIDENCE_SINCE {
            // The servers that it shows wrote before anybody looked, perhaps in another version.
            self.raise_unknown_drain(state, &observe.resource, drain_until);
        }
        let (shown, kind, was_known) = match before {
            Some(before) => (before.hashes, before.kind, !before.expired),
            None => Default::default(),
        };
        if was_known || !self.tally.is_empty() {
            for hash in observe.hashes.difference(&shown) {
                self.persisted_as(*hash).join(&mut self.after.persisted);
            }
        } else {
            // What was written while discovery was not observed is unknown, whatever it shows now.
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

    /// Drops the observation. Its encodings drain, because a server that showed them may have stopped just now.
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

    /// The observation has expired. It stays if it contradicts the members, and is dropped if it agrees with them.
    pub(super) fn lapse(&mut self, drain_until: LogTime) {
        let stands_alone = self.tally.is_empty() || self.contradicted();
        if !stands_alone {
            self.forget_observation(drain_until);
        } else if self.expire_observation(drain_until) {
            self.lapsed = true;
            self.after.persisted.insert(Persisted::Unknown);
        }
    }

    /// Marks the observation as expired, if it is not yet. Its encodings drain.
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

    /// Re-weighs the observation after the entries changed.
    ///
    /// When the last entry goes, an observation that a member has overtaken, or that contradicted the members, is no
    /// agreement: its servers may show something else now. An expired one is dropped once it no longer contradicts
    /// them.
    pub(super) fn weigh_observation(&mut self, changes: &[EntryChange], drain_until: LogTime) {
        let was_contradicted = self.before.is_some_and(|before| before.contradicted);
        let contradicts = self.contradicted();
        let was_reported = self.was_reported();
        let Some(observation) = &mut self.after.observation else {
            return;
        };
        observation.overtaken |= changes.iter().any(|change| change.after.is_some());
        if self.tally.is_empty() {
            if was_reported && (observation.overtaken || was_contradicted) {
                self.expire_observation(drain_until);
            }
        } else if observation.expired && !contradicts {
            self.forget_observation(drain_until);
        }
    }

    /// Whether discovery shows, or last showed, an encoding that no member encodes. It shows nothing of a key or a feature,
    /// whatever was observed before there were topics.
    pub(super) fn contradicted(&self) -> bool {
        let observation = self.after.observation.as_ref();
        let Some(observation) = observation.filter(|_| self.kind.is_seen_in_stores()) else {
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

    /// The encoding on which discovery alone agrees.
    pub(super) fn agreed_hash(&self) -> Option<StorageVersionHash> {
        let observation = self.after.observation.as_ref()?;
        let speaks = self.tally.is_empty() && !observation.expired && self.after.absent.is_empty();
        let hash = observation.hashes.first()?;
        (speaks && observation.hashes.len() == 1).then_some(*hash)
    }

    /// The encoding as `persisted` records it: with its version, if a member decodes a version that has this hash.
    fn persisted_as(&self, hash: StorageVersionHash) -> Persisted {
        let mut known = self.entries.values().flat_map(|row| {
            let versions = row.decodable.iter();
            versions.map(|version| Persisted::of(version, &row.kind))
        });
        let known = known.find(|known| known.hash() == Some(hash));
        known.unwrap_or(Persisted::observed(hash))
    }
}
