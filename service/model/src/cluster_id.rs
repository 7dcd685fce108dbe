//! The identity of a cluster.

use std::fmt;
use std::str::FromStr;

use crate::{Violation, uuid};

/// A UUID that names one cluster: two clusters of one name differ in it, and so does a restored
/// one from what it was restored from.
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
mod tests;
