//! The request that adds or changes a candidate for a lease.

use crate::{HolderIdentity, LeaseKey, SemanticVersion, Strategy, Ttl, Violation, Violations};

/// Adds a candidate, or changes its fields. In the same command a free lease goes to the candidate that the strategy
/// chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutLeaseCandidate {
    /// The lease. It need not exist.
    pub key: LeaseKey,
    /// The identity of the candidate.
    pub identity: HolderIdentity,
    /// The release that it runs.
    pub binary_version: SemanticVersion,
    /// The release that it emulates.
    pub emulation_version: Option<SemanticVersion>,
    /// How the holder is to be chosen.
    pub strategy: Strategy,
    /// How long it stays a candidate, and holds the lease, without a renewal.
    pub ttl: Ttl,
}

impl PutLeaseCandidate {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        match &self.emulation_version {
            None if self.strategy == Strategy::OldestEmulationVersion => {
                let rule = "must be given when strategy is OldestEmulationVersion";
                violations.push(Violation::required(rule).at("emulationVersion"));
            }
            Some(emulation) if *emulation > self.binary_version => {
                let rule = format_args!("must not be above binaryVersion {}", self.binary_version);
                let violation = Violation::invalid(emulation.as_str(), rule);
                violations.push(violation.at("emulationVersion"));
            }
            Some(_) | None => {}
        }
        violations
    }
}
