//! Leases and their candidates, at a revision.

use std::ops::Bound;
use std::sync::Arc;

use synod_model::{HolderIdentity, Lease, LeaseCandidate, LeaseKey};

use super::{Past, beyond, merged};

impl Past<'_> {
    /// A lease, by its key.
    #[must_use]
    pub fn lease(&self, key: &LeaseKey) -> Option<Arc<Lease>> {
        self.one::<Lease>(key, self.state.leases.rows.get(key))
    }

    /// The leases after `after`, by key; only those of one namespace, if it is given.
    pub fn leases(
        &self,
        namespace: Option<&str>,
        after: Option<&LeaseKey>,
    ) -> impl Iterator<Item = Arc<Lease>> {
        // Every key has a slash after its namespace, and `0` is the character after the slash.
        let first = namespace.map(|namespace| format!("{namespace}/"));
        let end = namespace.map(|namespace| format!("{namespace}0"));
        let from = match (after.map(LeaseKey::as_str), &first) {
            (Some(after), Some(first)) if after < first.as_str() => Bound::Included(first.as_str()),
            (Some(after), _) => Bound::Excluded(after),
            (None, Some(first)) => Bound::Included(first.as_str()),
            (None, None) => Bound::Unbounded,
        };
        let to = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        if is_empty(from, to) {
            return None.into_iter().flatten();
        }
        let kept = self.state.leases.rows.range::<_, str>((from, to));
        let undone = self.undone_from::<Lease>(beyond(after).0.cloned());
        let namespace = namespace.map(str::to_owned);
        let undone = undone.filter(move |(key, _)| {
            let is_it = |namespace| key.namespace() == namespace;
            namespace.as_deref().is_none_or(is_it)
        });
        Some(merged(kept, undone).map(|(_, lease)| lease))
            .into_iter()
            .flatten()
    }

    /// A candidate for a lease, by its identity.
    #[must_use]
    pub fn lease_candidate(
        &self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Option<Arc<LeaseCandidate>> {
        let kept = self.state.leases.candidate(key, identity);
        self.one::<LeaseCandidate>(&(key.clone(), identity.clone()), kept)
    }

    /// The candidates for a lease, by identity.
    pub fn lease_candidates(&self, key: &LeaseKey) -> impl Iterator<Item = Arc<LeaseCandidate>> {
        let kept = self.state.leases.candidates.get(key).into_iter().flatten();
        let from = (key.clone(), HolderIdentity::before_all());
        let undone = self.undone_from::<LeaseCandidate>(Bound::Included(from));
        let undone = undone.take_while(move |((lease, _), _)| lease == key);
        let undone = undone.map(|((_, identity), before)| (identity, before));
        merged(kept, undone).map(|(_, candidate)| candidate)
    }

    /// The keys of leases with candidates, in order, after `after`. The leases need not exist. Costs one step for each
    /// candidate.
    pub fn leases_stood_for(&self, after: Option<&LeaseKey>) -> impl Iterator<Item = LeaseKey> {
        let kept = &self.state.leases.candidates;
        let kept = kept.range::<_, LeaseKey>(beyond(after));
        let kept = kept.flat_map(|(lease, standing)| {
            standing
                .iter()
                .map(move |(identity, candidate)| ((lease, identity), candidate))
        });
        let after = after.cloned();
        let from = after.clone().map_or(Bound::Unbounded, |after| {
            Bound::Included((after, HolderIdentity::before_all()))
        });
        let undone = self.undone_from::<LeaseCandidate>(from);
        let undone = undone.map(|((lease, identity), before)| ((lease, identity), before));
        let undone = undone.skip_while(move |((lease, _), _)| after.as_ref() == Some(*lease));
        let mut leases = merged(kept, undone).map(|((lease, _), _)| lease).peekable();
        std::iter::from_fn(move || {
            let lease = leases.next()?;
            while leases.next_if_eq(&lease).is_some() {}
            Some(lease.clone())
        })
    }
}

/// Whether the range is empty. A range that ends before it begins is not a valid one.
fn is_empty(from: Bound<&str>, to: Bound<&str>) -> bool {
    match (from, to) {
        (Bound::Included(from) | Bound::Excluded(from), Bound::Excluded(to)) => from >= to,
        _ => false,
    }
}
