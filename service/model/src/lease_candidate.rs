//! Who stands for a lease, and which of them should have it: Kubernetes' coordinated leader election.
//!
//! Kubernetes finds out who is still there by pinging each candidate and waiting for it to answer. Here a candidate has a
//! deadline like everything that lives by renewals, so whoever stands in the state is there, and the rule needs no time.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::names::qualified_name;
use crate::{HolderIdentity, LeaseKey, Metadata, SemanticVersion, Ttl, Violation};

/// Somebody who stands for a lease.
///
/// Its deadline is not part of it, as that of a [`Lease`](crate::Lease) is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseCandidate {
    /// The lease that it stands for.
    pub lease: LeaseKey,
    /// Who stands, and would hold the lease under this name.
    pub identity: HolderIdentity,
    /// The release that it runs.
    pub binary_version: SemanticVersion,
    /// The release that it behaves like; `None` where its strategy does not ask for it.
    pub emulation_version: Option<SemanticVersion>,
    /// How the holder is to be chosen.
    pub strategy: Strategy,
    /// How long it stands without a renewal, and how long it holds the lease without one.
    pub ttl: Ttl,
    /// Uid, revisions and times.
    pub metadata: Metadata,
}

/// How a lease's holder is chosen among its candidates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// The lowest emulation version, then the lowest binary version, then who has stood longest.
    OldestEmulationVersion,
    /// One that Synod does not know, named `domain/Name`: the lease goes to whoever acquires it.
    Other(Arc<str>),
}

/// Two candidates of the highest binary version want different strategies, so no holder is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// One of them.
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
    /// What is compared of it, in this order: lowest first.
    fn rank(&self) -> (SemanticVersion, &SemanticVersion, u64, &HolderIdentity) {
        let emulation = self.emulation_version.clone();
        (
            emulation.unwrap_or_else(|| SemanticVersion::or_zero(None)),
            &self.binary_version,
            self.metadata.create_revision.get(),
            &self.identity,
        )
    }

    /// Which of the two should hold the lease: the lesser one.
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
            // Whoever is higher decides alone, whatever those below disagree on.
            (Ordering::Greater, _) => (best, disagreement) = (Some(candidate), None),
            (Ordering::Equal | Ordering::Less, _) => {}
        }
    }
    match disagreement {
        Some(disagreement) => Err(disagreement),
        None => Ok(best.map(|best| &best.strategy)),
    }
}

/// The candidate who should hold the lease, if their strategy says one.
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
