//! What discovery shows of a resource, and how it is weighed against the members' reports.
//!
//! While no member reports the resource, the one hash that its servers show is the agreement. While members report it,
//! a hash that none of their encodings has is evidence of a server that does not take part, or that contradicts a
//! member: it ends the agreement. Such evidence does not expire: another observation removes it, a dismissal, a reset, or the
//! reports of all members that its servers are.

use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, DismissLooks, EVIDENCE_SINCE, GroupResource, Kind, LogTime, ObserveStorage,
    Persisted, StorageVersionHash,
};

use super::decision::{Decided, Occasion};
use super::draft::Draft;
use crate::looks::{Looks, OverdueLooks};
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
        let own = OverdueLooks::of_observer(observe.observer.as_ref());
        draft.lapse(&own, drain_until);
    }
    draft.look(state, observe, drain_until);
    draft.note_shown_outside(state, resource);
    draft.finish(state, resource)
}

/// Decides what follows when looks at a resource have expired. `None`: nothing changes.
pub(crate) fn lapse(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    overdue: &OverdueLooks,
) -> Option<Decided> {
    state.state_of(resource)?;
    let mut draft = Draft::of(state, resource, occasion);
    draft.lapse(overdue, state.write_grace_ends());
    draft.finish(state, resource)
}

/// Decides what follows when an operator dismisses looks at a resource. `None`: nothing changes.
pub(crate) fn dismiss(
    state: &State,
    occasion: Occasion<'_>,
    dismiss: &DismissLooks,
) -> Option<Decided> {
    let resource = &dismiss.resource;
    let mut draft = Draft::of(state, resource, occasion);
    let mut looks = draft.after.all_looks();
    looks.dismiss(dismiss);
    draft.replace_looks(looks, state.write_grace_ends());
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
        let shown = self.after.shown_hashes();
        let mut looks = self.after.all_looks();
        let was_known = looks.has_live(observe.observer.as_ref());
        if !was_known && state.machine_version() >= EVIDENCE_SINCE {
            // The servers that it shows wrote before this observer looked, perhaps in another version.
            self.raise_unknown_drain(state, &observe.resource, drain_until);
        }
        looks.record(observe);
        let is_beside_others = self.after.observation.is_some();
        self.replace_looks(looks, drain_until);
        if was_known || !self.whole.tally.is_empty() {
            for hash in self.after.shown_hashes().difference(&shown) {
                self.persisted_as(*hash).join(&mut self.after.persisted);
            }
        } else {
            // What was written while discovery was not observed is unknown, whatever it shows now.
            self.after.persisted.insert(Persisted::Unknown);
            self.lapsed |= is_beside_others;
        }
    }

    /// Puts the looks in place of those before. What is shown no more drains.
    fn replace_looks(&mut self, looks: Looks, drain_until: LogTime) {
        let shown = self.after.shown_hashes();
        self.after.put_looks(looks);
        for hash in shown.difference(&self.after.shown_hashes()) {
            self.drain_hash(*hash, drain_until);
        }
    }

    /// Drops all looks. Their encodings drain, because a server that showed them may have stopped just now.
    pub(super) fn forget_observation(&mut self, drain_until: LogTime) {
        self.replace_looks(Looks::default(), drain_until);
    }

    fn drain_hash(&mut self, hash: StorageVersionHash, until: LogTime) {
        let kept = self.after.hash_drains.entry(hash).or_insert(until);
        *kept = (*kept).max(until);
    }

    /// These looks have expired. One of a named observer stays. One of an observer without a name stays if it contradicts the
    /// members, and is dropped if it agrees with them.
    pub(super) fn lapse(&mut self, overdue: &OverdueLooks, drain_until: LogTime) {
        let mut looks = self.after.all_looks();
        let unnamed = looks.unnamed.take_if(|seen| {
            overdue.unnamed && !self.whole.tally.is_empty() && !self.is_unsaid(&seen.hashes)
        });
        let mut expired = BTreeSet::new();
        if let Some(seen) = looks
            .unnamed
            .as_mut()
            .filter(|seen| overdue.unnamed && !seen.expired)
        {
            seen.expired = true;
            expired.extend(&seen.hashes);
            self.lapsed = true;
        }
        let named = looks.named.iter_mut();
        for (_, look) in named.filter(|(name, it)| overdue.named.contains(*name) && !it.expired) {
            look.expired = true;
            let hashes: BTreeSet<_> = look.hashes().collect();
            self.lapsed |= self.whole.tally.is_empty() || self.is_unsaid(&hashes);
            expired.extend(hashes);
        }
        if self.lapsed {
            self.after.persisted.insert(Persisted::Unknown);
        }
        expired.extend(unnamed.into_iter().flat_map(|seen| seen.hashes));
        for hash in expired {
            self.drain_hash(hash, drain_until);
        }
        self.after.put_looks(looks);
    }

    /// Re-weighs the looks after the entries changed.
    ///
    /// When the last entry goes, a look that a member has overtaken, or looks that contradicted the members, are no
    /// agreement: their servers may show something else now. What servers showed ends once the members that they are have
    /// all reported something else. An expired look of an observer without a name is dropped once it no longer contradicts
    /// the members.
    pub(super) fn weigh_observation(&mut self, changes: &[EntryChange], drain_until: LogTime) {
        if self.after.observation.is_none() {
            return;
        }
        let was_contradicted = self.before.is_some_and(|before| before.contradicted);
        let is_last_gone = self.whole.tally.is_empty() && self.was_reported();
        let is_overtaken = changes.iter().any(|change| change.after.is_some());
        let mut looks = self.after.all_looks();
        let mut expired = BTreeSet::new();
        if let Some(seen) = &mut looks.unnamed {
            seen.overtaken |= is_overtaken;
            if is_last_gone && !seen.expired && (seen.overtaken || was_contradicted) {
                seen.expired = true;
                expired.extend(&seen.hashes);
            }
        }
        looks.unnamed.take_if(|seen| {
            seen.expired && !self.whole.tally.is_empty() && !self.is_unsaid(&seen.hashes)
        });
        for look in looks.named.values_mut() {
            look.overtaken |= is_overtaken;
            if is_last_gone && !look.expired && (look.overtaken || was_contradicted) {
                look.expired = true;
                expired.extend(look.hashes());
            }
        }
        looks.supersede(changes);
        for hash in expired {
            self.drain_hash(hash, drain_until);
        }
        self.replace_looks(looks, drain_until);
    }

    /// Whether discovery shows, or last showed, an encoding that no member encodes.
    pub(super) fn contradicted(&self) -> bool {
        let observation = self.after.observation.as_ref();
        observation.is_some_and(|seen| self.is_unsaid(&seen.hashes))
    }

    /// Whether members report the resource, and none encodes one of these. Discovery shows nothing of a key or a feature,
    /// whatever was observed before there were topics.
    fn is_unsaid(&self, hashes: &BTreeSet<StorageVersionHash>) -> bool {
        if !self.kind.is_seen_in_stores() {
            return false;
        }
        let entries = self.whole.entries.values();
        let said: BTreeSet<(&ApiVersion, &Kind)> = entries
            .filter_map(|row| Some((row.encoding.as_ref()?, &row.kind)))
            .collect();
        let said = said.into_iter();
        let said: BTreeSet<StorageVersionHash> = said
            .map(|(encoding, kind)| StorageVersionHash::of_version(encoding, kind))
            .collect();
        !self.whole.tally.is_empty() && !hashes.is_subset(&said)
    }

    /// The encoding on which discovery alone agrees.
    pub(super) fn agreed_hash(&self) -> Option<StorageVersionHash> {
        let observation = self.after.observation.as_ref()?;
        let speaks =
            self.whole.tally.is_empty() && !observation.expired && self.after.absent.is_empty();
        let hash = observation.hashes.first()?;
        (speaks && observation.hashes.len() == 1).then_some(*hash)
    }

    /// The encoding as `persisted` records it: with its version, if a member decodes a version that has this hash.
    fn persisted_as(&self, hash: StorageVersionHash) -> Persisted {
        let mut known = self.whole.entries.values().flat_map(|row| {
            let versions = row.decodable.iter();
            versions.map(|version| Persisted::of(version, &row.kind))
        });
        let known = known.find(|known| known.hash() == Some(hash));
        known.unwrap_or(Persisted::observed(hash))
    }
}
