//! Standing for a lease.

use crate::{HolderIdentity, LeaseKey, SemanticVersion, Strategy, Ttl, Violation, Violations};

/// Lets a candidate stand, or changes what it says of itself. In the same command the lease goes to whom its candidates'
/// strategy chooses, if it is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutLeaseCandidate {
    /// Which lease. It need not exist.
    pub key: LeaseKey,
    /// Who stands.
    pub identity: HolderIdentity,
    /// The release that it runs.
    pub binary_version: SemanticVersion,
    /// The release that it behaves like.
    pub emulation_version: Option<SemanticVersion>,
    /// How the holder is to be chosen.
    pub strategy: Strategy,
    /// How long it stands, and holds the lease, without a renewal.
    pub ttl: Ttl,
}

impl PutLeaseCandidate {
    /// What is wrong with its shape.
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
