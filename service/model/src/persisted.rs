//! The encodings in which the store may still hold objects of a resource.

use std::collections::BTreeSet;
use std::fmt;

use crate::{ApiVersion, Kind, StorageVersionHash};

/// The machine version that counts what workers and evicted members may still write, and remembers every encoding that was ever
/// heard of.
pub const EVIDENCE_SINCE: u32 = 3;

/// An encoding that objects of a resource may still be stored in.
///
/// `Unknown` comes first in the order, then the hashes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Persisted {
    /// An unknown encoding: that of objects stored before the first report.
    Unknown,
    /// The encoding with this hash.
    Version {
        /// The hash of group, version and kind.
        hash: StorageVersionHash,
        /// The version, if it is known: an observer sees only the hash.
        version: Option<ApiVersion>,
    },
}

impl Persisted {
    /// The encoding of a kind in a known version.
    pub fn of(version: &ApiVersion, kind: &Kind) -> Self {
        let hash = StorageVersionHash::of_version(version, kind);
        Self::Version {
            hash,
            version: Some(version.clone()),
        }
    }

    /// The encoding with this hash, whose version is not known.
    pub const fn observed(hash: StorageVersionHash) -> Self {
        Self::Version {
            hash,
            version: None,
        }
    }

    /// Adds it to a set that holds each encoding once, with its version if that is known.
    pub fn join(self, set: &mut BTreeSet<Self>) {
        let Some(hash) = self.hash() else {
            set.insert(self);
            return;
        };
        if self.version().is_some() {
            set.remove(&Self::observed(hash));
            set.insert(self);
        } else if set.iter().all(|kept| kept.hash() != Some(hash)) {
            set.insert(self);
        }
    }

    /// The hash, if anything is known.
    pub const fn hash(&self) -> Option<StorageVersionHash> {
        match self {
            Self::Unknown => None,
            Self::Version { hash, .. } => Some(*hash),
        }
    }

    /// The version, if it is known.
    pub const fn version(&self) -> Option<&ApiVersion> {
        match self {
            Self::Unknown | Self::Version { version: None, .. } => None,
            Self::Version {
                version: Some(version),
                ..
            } => Some(version),
        }
    }
}

impl fmt::Display for Persisted {
    /// The version, else the hash, else `Unknown`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.pad("Unknown"),
            Self::Version {
                version: Some(version),
                ..
            } => version.fmt(f),
            Self::Version {
                hash,
                version: None,
            } => hash.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_known_by_its_hash_and_sometimes_by_its_version() {
        let version = ApiVersion::parse("v1").unwrap();
        let known = Persisted::of(&version, &Kind::parse("Pod").unwrap());
        let hash = StorageVersionHash::parse("xPOwRZ+Yhw8=").unwrap();
        let observed = Persisted::Version {
            hash,
            version: None,
        };
        assert_eq!(known.hash(), Some(hash));
        assert_eq!(known.version(), Some(&version));
        assert_eq!((observed.hash(), observed.version()), (Some(hash), None));
        assert_eq!(
            (Persisted::Unknown.hash(), Persisted::Unknown.version()),
            (None, None)
        );
        let shown = [known, observed, Persisted::Unknown].map(|persisted| persisted.to_string());
        assert_eq!(shown, ["v1", "xPOwRZ+Yhw8=", "Unknown"]);
    }

    #[test]
    fn an_encoding_stands_in_a_set_once_and_by_its_version_if_that_is_known() {
        let version = ApiVersion::parse("v1").unwrap();
        let named = Persisted::of(&version, &Kind::parse("Pod").unwrap());
        let observed = Persisted::observed(named.hash().unwrap());
        let mut set = BTreeSet::new();
        observed.clone().join(&mut set);
        assert_eq!(set, BTreeSet::from([observed.clone()]));
        named.clone().join(&mut set);
        observed.join(&mut set);
        assert_eq!(set, BTreeSet::from([named]));
    }

    #[test]
    fn unknown_comes_before_every_hash() {
        let hash = StorageVersionHash::from_bytes([0; 8]);
        assert!(
            Persisted::Unknown
                < Persisted::Version {
                    hash,
                    version: None
                }
        );
    }
}
