//! The identity of an object over all time.

use std::fmt;
use std::str::FromStr;

use crate::{ClusterId, Revision, Violation, uuid};

/// A UUID that no other object has or will have: not one of the same name after a deletion, nor
/// one of another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid([u8; 16]);

impl Uid {
    /// The uid of the object that was created by the command of `revision` as its `position`-th.
    ///
    /// There is no randomness in the replicated state, so the uid is a hash of the one place
    /// where an object can come to be.
    pub fn derive(cluster: &ClusterId, revision: Revision, position: u32) -> Self {
        Self(uuid::v8_of(&[
            b"synod object",
            cluster.as_bytes(),
            &revision.get().to_be_bytes(),
            &position.to_be_bytes(),
        ]))
    }

    /// The uid of these bytes, as it was stored.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The uid with this text.
    ///
    /// # Errors
    ///
    /// Not a UUID in lower case.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        uuid::parse(text).map(Self)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::write(&self.0, f)
    }
}

impl FromStr for Uid {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
