//! The hash by which discovery tells in which version a resource is stored.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};

use crate::{ApiVersion, Kind, Violation};

/// The first eight bytes of the SHA-256 of `group/version/kind`, where the core group is empty.
///
/// Group, version and kind are those of the encoding, which need not be those of the resource:
/// events of `events.k8s.io` are stored as core `v1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageVersionHash([u8; 8]);

impl StorageVersionHash {
    /// The hash of a group, version and kind, which are taken as they are.
    pub fn of(group: &str, version: &str, kind: &str) -> Self {
        let hash = Sha256::new()
            .chain_update(group)
            .chain_update("/")
            .chain_update(version)
            .chain_update("/")
            .chain_update(kind)
            .finalize();
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash[..8]);
        Self(bytes)
    }

    /// The hash of an encoding of a kind.
    pub fn of_version(version: &ApiVersion, kind: &Kind) -> Self {
        Self::of(version.group(), version.version(), kind.as_str())
    }

    /// The hash of these bytes, as it was stored.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }

    /// The hash with this text.
    ///
    /// # Errors
    ///
    /// Not eight bytes in padded standard base64.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        let malformed = || {
            let rule = "must be 8 bytes in standard base64 with padding (e.g. 'xPOwRZ+Yhw8=')";
            Violation::invalid(text, rule)
        };
        let bytes = BASE64.decode(text.as_bytes()).map_err(|_| malformed())?;
        bytes.try_into().map(Self).map_err(|_| malformed())
    }
}

impl fmt::Display for StorageVersionHash {
    /// Standard base64, as in discovery.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&BASE64.encode(&self.0))
    }
}

impl FromStr for StorageVersionHash {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
