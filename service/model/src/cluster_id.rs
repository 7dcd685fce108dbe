//! The identity of a cluster.

use std::fmt;
use std::str::FromStr;

use crate::{Violation, uuid};

/// A UUID that names one cluster. Two clusters of the same name have different ids, and a restored
/// cluster has another id than the cluster of its backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId([u8; 16]);

impl ClusterId {
    /// The id of the cluster that is formed under `name` by these replicas, each with its id and
    /// the random id of its data directory. The order of the replicas does not matter.
    pub fn derive(name: &str, replicas: &[(u64, [u8; 16])]) -> Self {
        let mut replicas = replicas.to_vec();
        replicas.sort_unstable();
        let ids: Vec<[u8; 8]> = replicas.iter().map(|(id, _)| id.to_be_bytes()).collect();
        let mut parts: Vec<&[u8]> = vec![b"synod cluster", name.as_bytes()];
        for (id, (_, directory)) in ids.iter().zip(&replicas) {
            parts.extend([&id[..], &directory[..]]);
        }
        Self(uuid::v8_of(&parts))
    }

    /// The id of these bytes, as it was stored.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The id with this text.
    ///
    /// # Errors
    ///
    /// Not a UUID in lower case.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        uuid::parse(text).map(Self)
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::write(&self.0, f)
    }
}

impl FromStr for ClusterId {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: (u64, [u8; 16]) = (1, [0x0a; 16]);
    const TWO: (u64, [u8; 16]) = (2, [0x0b; 16]);

    #[test]
    fn the_id_of_a_formation_never_changes() {
        let id = ClusterId::derive("main", &[ONE, TWO]);
        assert_eq!(id.to_string(), "ec881983-d844-89b2-b48b-81b99265e6a2");
        assert_eq!(ClusterId::from_bytes(*id.as_bytes()), id);
        assert_eq!(
            ClusterId::parse("ec881983-d844-89b2-b48b-81b99265e6a2"),
            Ok(id)
        );
    }

    #[test]
    fn the_order_of_the_replicas_does_not_matter() {
        assert_eq!(
            ClusterId::derive("main", &[TWO, ONE]),
            ClusterId::derive("main", &[ONE, TWO])
        );
    }

    #[test]
    fn another_name_replica_or_directory_is_another_cluster() {
        let ids = [
            ClusterId::derive("main", &[ONE, TWO]),
            ClusterId::derive("mai", &[ONE, TWO]),
            ClusterId::derive("main", &[ONE]),
            ClusterId::derive("main", &[ONE, (3, TWO.1)]),
            ClusterId::derive("main", &[ONE, (2, ONE.1)]),
        ];
        for (i, id) in ids.iter().enumerate() {
            assert!(!ids[..i].contains(id), "{i}");
        }
    }
}
