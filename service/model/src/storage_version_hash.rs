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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_core_group_is_hashed_as_an_empty_one() {
        let pod = Kind::parse("Pod").unwrap();
        let core = StorageVersionHash::of_version(&ApiVersion::parse("v1").unwrap(), &pod);
        assert_eq!(core.to_string(), "xPOwRZ+Yhw8=");
        assert_eq!(core, StorageVersionHash::of("", "v1", "Pod"));
    }

    #[test]
    fn a_version_is_hashed_with_its_group() {
        let deployment = Kind::parse("Deployment").unwrap();
        let apps =
            StorageVersionHash::of_version(&ApiVersion::parse("apps/v1").unwrap(), &deployment);
        assert_eq!(apps.to_string(), "8aSe+NMegvE=");
    }

    #[test]
    fn only_eight_bytes_in_padded_standard_base64_are_a_hash() {
        // Too short, too long, without padding, URL-safe, with bits that no byte holds.
        for bad in [
            "",
            "xPOwRZ+Y",
            "xPOwRZ+Yhw8A",
            "xPOwRZ+Yhw8",
            "xPOwRZ-Yhw8=",
            "xPOwRZ+Yhw9=",
            "Unknown",
        ] {
            let violation = StorageVersionHash::parse(bad).unwrap_err();
            assert!(violation.rule.contains("must be 8 bytes"), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn any_hash_reads_back_from_its_text(bytes: [u8; 8]) {
            let hash = StorageVersionHash::from_bytes(bytes);
            prop_assert_eq!(hash.to_string().parse(), Ok(hash));
            prop_assert_eq!(hash.as_bytes(), &bytes);
        }
    }
}
