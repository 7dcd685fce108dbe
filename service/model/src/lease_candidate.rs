//! Candidates for a lease, and the rule that chooses one of them: Kubernetes' coordinated leader election.
//!
//! Kubernetes finds out which candidates are alive by pinging each one and waiting for its answer. Here a candidate has
//! a deadline and renews it, so every candidate in the state counts as alive, and the rule needs no clock.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::names::qualified_name;
use crate::{HolderIdentity, LeaseKey, Metadata, SemanticVersion, Ttl, Violation};

/// A candidate for a lease.
///
/// Its deadline is not part of it, as in a [`Lease`](crate::Lease).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidate {
    /// The lease that it is a candidate for.
    pub lease: LeaseKey,
    /// The identity of the candidate, under which it would hold the lease.
    pub identity: HolderIdentity,
    /// The release that it runs.
    pub binary_version: SemanticVersion,
    /// The release that it emulates; `None` if its strategy does not need it.
    pub emulation_version: Option<SemanticVersion>,
    /// How the holder is to be chosen.
    pub strategy: Strategy,
    /// How long it stays a candidate, and holds the lease, without a renewal.
    pub ttl: Ttl,
    /// Uid, revisions and times.
    pub metadata: Metadata,
}

/// How a lease's holder is chosen among its candidates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// The lowest emulation version, then the lowest binary version, then the oldest candidate.
    OldestEmulationVersion,
    /// A strategy that Synod does not know, named `domain/Name`: the lease goes to whoever acquires it.
    Other(Arc<str>),
}

/// Two candidates of the highest binary version want different strategies, so no holder is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// One of the two.
    pub one: HolderIdentity,
    /// The other.
    pub other: HolderIdentity,
}

impl Strategy {
    const OLDEST: &'static str = "OldestEmulationVersion";

    /// The strategy with this name.
    ///
    /// # Errors
    ///
    /// Neither `OldestEmulationVersion` nor a qualified name with a domain.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text == Self::OLDEST {
            return Ok(Self::OldestEmulationVersion);
        }
        if !text.contains('/') {
            let rule = "must be OldestEmulationVersion, or a name of one's own with a domain, such as example.com/Mine";
            return Err(Violation::invalid(text, rule));
        }
        qualified_name(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self::Other(text.into()))
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::OldestEmulationVersion => Self::OLDEST,
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl LeaseCandidate {
    /// The fields that rank a candidate, in this order; the lowest is the best.
    fn rank(&self) -> (SemanticVersion, &SemanticVersion, u64, &HolderIdentity) {
        let emulation = self.emulation_version.clone();
        (
            emulation.unwrap_or_else(|| SemanticVersion::or_zero(None)),
            &self.binary_version,
            self.metadata.create_revision.get(),
            &self.identity,
        )
    }

    /// Compares two candidates: the lesser one should hold the lease.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The strategy by which the holder is chosen: that of the highest binary version. `None` without candidates.
///
/// # Errors
///
/// [`Disagreement`] if two of that version name different ones.
pub fn best_strategy<'a>(
    candidates: impl IntoIterator<Item = &'a LeaseCandidate>,
) -> Result<Option<&'a Strategy>, Disagreement> {
    let mut best: Option<&LeaseCandidate> = None;
    let mut disagreement = None;
    for candidate in candidates {
        let order = best.map_or(Ordering::Greater, |best| {
            candidate.binary_version.cmp(&best.binary_version)
        });
        match (order, best) {
            (Ordering::Equal, Some(best)) if candidate.strategy != best.strategy => {
                disagreement = Some(Disagreement {
                    one: best.identity.clone(),
                    other: candidate.identity.clone(),
                });
            }
            // A candidate of a higher version decides alone, whatever those of lower versions disagree on.
            (Ordering::Greater, _) => (best, disagreement) = (Some(candidate), None),
            (Ordering::Equal | Ordering::Less, _) => {}
        }
    }
    match disagreement {
        Some(disagreement) => Err(disagreement),
        None => Ok(best.map(|best| &best.strategy)),
    }
}

/// The candidate that should hold the lease, if the strategy chooses one.
pub fn elect<'a>(
    candidates: impl IntoIterator<Item = &'a LeaseCandidate>,
) -> Option<&'a LeaseCandidate> {
    let candidates: Vec<&LeaseCandidate> = candidates.into_iter().collect();
    match best_strategy(candidates.iter().copied()) {
        Ok(Some(Strategy::OldestEmulationVersion)) => candidates
            .into_iter()
            .filter(|candidate| candidate.emulation_version.is_some())
            .min_by(|a, b| a.compare(b)),
        Ok(Some(Strategy::Other(_)) | None) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests;
