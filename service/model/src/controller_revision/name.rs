//! Names of snapshots: a prefix and a hash of the data, as in Kubernetes.

use std::fmt;

use crate::limits::REVISION_PREFIX_BYTES_MAX;
use crate::names::dns1123_subdomain;
use crate::{Namespace, NamespacedName, ObjectName, RevisionData, Violation};

/// The label that carries the hash of a snapshot's data.
pub const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// Kubernetes' safe alphabet, which spells no word by accident: no vowels, and no digits that look like them.
const SAFE: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The text with each character replaced by one of Kubernetes' safe alphabet.
#[must_use]
pub fn safe_encode(text: &str) -> String {
    text.chars()
        .map(|c| char::from(SAFE[u32::from(c) as usize % SAFE.len()]))
        .collect()
}

/// FNV-1 with 32 bits (not FNV-1a), the hash in Kubernetes' names. It may collide, so snapshots are not compared by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionHash(u32);

impl RevisionHash {
    /// The hash of these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        const OFFSET: u32 = 0x811c_9dc5;
        Self(OFFSET).then(bytes)
    }

    /// The hash of a snapshot's data.
    #[must_use]
    pub fn of(data: &RevisionData) -> Self {
        Self::of_bytes(data.bytes())
    }

    /// The hash of the same bytes followed by this count of collisions in decimal.
    #[must_use]
    pub fn with_collisions(self, count: u32) -> Self {
        self.then(count.to_string().as_bytes())
    }

    fn then(self, bytes: &[u8]) -> Self {
        const PRIME: u32 = 0x0100_0193;
        Self(bytes.iter().fold(self.0, |hash, byte| {
            hash.wrapping_mul(PRIME) ^ u32::from(*byte)
        }))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for RevisionHash {
    /// The form in names and labels: the decimal number in the safe alphabet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&safe_encode(&self.0.to_string()))
    }
}

/// What the names of a controller's snapshots begin with, as a rule the name of the controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePrefix(ObjectName);

impl NamePrefix {
    /// The prefix with this text. In a name it is cut so that a hash fits behind it.
    ///
    /// # Errors
    ///
    /// Not a DNS-1123 subdomain, or no longer one when it is cut and followed by a hash.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        dns1123_subdomain(text).map_err(|rule| Violation::invalid(text, rule))?;
        let cut = &text[..text.len().min(REVISION_PREFIX_BYTES_MAX)];
        if cut.ends_with('.') {
            let rule =
                format_args!("must not have a dot as its character {REVISION_PREFIX_BYTES_MAX}");
            return Err(Violation::invalid(text, rule));
        }
        // The whole text is stored, since a cut that ends in a hyphen is no name by itself.
        ObjectName::parse(text).map(Self)
    }

    /// The prefix as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The name with this hash in the namespace.
    #[must_use]
    pub fn name(&self, namespace: &Namespace, hash: RevisionHash) -> NamespacedName {
        let name = ObjectName::parse(&self.joined(&hash.to_string()));
        let name = name.expect("a prefix that was checked and a hash are a name");
        NamespacedName::new(Some(namespace), &name)
    }

    /// The cut prefix, a hyphen and this hash.
    #[must_use]
    pub fn joined(&self, hash: &str) -> String {
        let prefix = self.as_str();
        let cut = &prefix[..prefix.len().min(REVISION_PREFIX_BYTES_MAX)];
        format!("{cut}-{hash}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_fnv_1_and_goes_on_over_the_count_of_collisions() {
        assert_eq!(RevisionHash::of_bytes(b"").get(), 0x811c_9dc5);
        assert_eq!(RevisionHash::of_bytes(b"a").get(), 0x050c_5d7e);
        let hash = RevisionHash::of_bytes(b"{}").with_collisions(0);
        assert_eq!(
            (hash.get(), hash.to_string().as_str()),
            (777_742_067, "cccc864bc")
        );
    }

    #[test]
    fn a_prefix_is_cut_so_that_the_hash_always_fits() {
        let namespace = Namespace::parse("default").unwrap();
        for length in [222, 223, 224, 253] {
            let prefix = NamePrefix::parse(&"a".repeat(length)).unwrap();
            let name = prefix.name(&namespace, RevisionHash(u32::MAX));
            assert_eq!(name.name().len(), length.min(223) + 1 + 10);
        }
        assert!(NamePrefix::parse(&"a".repeat(254)).is_err());
    }

    #[test]
    fn a_prefix_that_is_no_name_once_it_is_cut_is_refused() {
        let dotted = format!("{}.b", "a".repeat(222));
        assert!(NamePrefix::parse(&dotted).is_err());
        let namespace = Namespace::parse("default").unwrap();
        let hyphen = NamePrefix::parse(&format!("{}-b", "a".repeat(222))).unwrap();
        assert!(
            hyphen
                .name(&namespace, RevisionHash(0))
                .name()
                .ends_with("a--4")
        );
        for bad in ["", "Web", "web_1", "-web", "web."] {
            assert!(NamePrefix::parse(bad).is_err(), "{bad:?}");
        }
    }
}
