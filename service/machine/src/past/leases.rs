//! Leases and who stand for them, at a revision.

use std::ops::Bound;
use std::sync::Arc;

use synod_model::{HolderIdentity, Lease, LeaseCandidate, LeaseKey};

use super::{Past, merged};

impl Past<'_> {
    /// A lease.
    #[must_use]
    pub fn lease(&self, key: &LeaseKey) -> Option<Arc<Lease>> {
        let undone = self.leases.get(key).cloned();
        undone.unwrap_or_else(|| self.state.leases.rows.get(key).cloned())
    }

    /// The leases after `after`, by key; those of one namespace, if it is given.
    pub fn leases(
        &self,
        namespace: Option<&str>,
        after: Option<&LeaseKey>,
    ) -> impl Iterator<Item = Arc<Lease>> {
        // A slash is in every key, and a zero is what comes right after it.
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
        let kept = kept.map(|(key, lease)| (key, Arc::clone(lease)));
        Some(merged(kept, self.leases.range::<str, _>((from, to))))
            .into_iter()
            .flatten()
    }

    /// A candidate for a lease.
    #[must_use]
    pub fn lease_candidate(
        &self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Option<Arc<LeaseCandidate>> {
        let undone = self
            .candidates
            .get(key)
            .and_then(|standing| standing.get(identity));
        undone
            .cloned()
            .unwrap_or_else(|| self.state.leases.candidate(key, identity).cloned())
    }

    /// Who stand for a lease, by identity.
    pub fn lease_candidates(&self, key: &LeaseKey) -> impl Iterator<Item = Arc<LeaseCandidate>> {
        let kept = self.state.leases.candidates.get(key).into_iter().flatten();
        let kept = kept.map(|(identity, candidate)| (identity, Arc::clone(candidate)));
        merged(kept, self.candidates.get(key).into_iter().flatten())
    }

    /// The leases that somebody stands for, in order, after one of them. They need not exist.
    pub fn leases_stood_for(&self, after: Option<&LeaseKey>) -> impl Iterator<Item = LeaseKey> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let range = (from, Bound::Unbounded);
        let kept = self.state.leases.candidates.range::<_, LeaseKey>(range);
        let mut kept = kept.map(|(key, _)| key).peekable();
        let undone = self.candidates.range::<LeaseKey, _>(range);
        let mut undone = undone.map(|(key, _)| key).peekable();
        let named = std::iter::from_fn(move || {
            let next = match (kept.peek(), undone.peek()) {
                (Some(one), Some(other)) => (*one).min(*other),
                (Some(one), None) | (None, Some(one)) => *one,
                (None, None) => return None,
            };
            kept.next_if_eq(&next);
            undone.next_if_eq(&next);
            Some(next.clone())
        });
        // Whether anybody stood for it then, only its candidates tell.
        named.filter(|key| self.lease_candidates(key).next().is_some())
    }
}

/// Whether nothing is between the two: a range that ends before it begins is no range.
fn is_empty(from: Bound<&str>, to: Bound<&str>) -> bool {
    match (from, to) {
        (Bound::Included(from) | Bound::Excluded(from), Bound::Excluded(to)) => from >= to,
        _ => false,
    }
}
