//! The uids of objects, which are unique for ever.

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
    /// There is no randomness in the replicated state, so the uid is a hash of cluster, revision
    /// and position, which no two creations share.
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cluster() -> ClusterId {
        ClusterId::parse("ec881983-d844-89b2-b48b-81b99265e6a2").unwrap()
    }

    #[test]
    fn the_uid_of_a_creation_never_changes() {
        let uid = Uid::derive(&cluster(), Revision::new(7), 0);
        assert_eq!(uid.to_string(), "3c83e878-eeb1-8b29-b351-e7ab275f5371");
    }

    #[test]
    fn every_place_of_creation_gives_another_uid() {
        let other = ClusterId::from_bytes([0; 16]);
        let uids = [
            Uid::derive(&cluster(), Revision::new(7), 0),
            Uid::derive(&cluster(), Revision::new(7), 1),
            Uid::derive(&cluster(), Revision::new(8), 0),
            Uid::derive(&other, Revision::new(7), 0),
        ];
        for (i, uid) in uids.iter().enumerate() {
            assert!(!uids[..i].contains(uid), "{i}");
        }
    }

    #[test]
    fn a_uid_has_one_text() {
        let text = "3c83e878-eeb1-8b29-b351-e7ab275f5371";
        assert!(text.parse::<Uid>().is_ok());
        let braced = format!("{{{text}}}");
        let shifted = "3c83e8-78eeb1-8b29-b351-e7ab275f5371";
        for bad in [
            "",
            &text.to_uppercase(),
            &text.replace('-', ""),
            &braced,
            shifted,
            "é",
        ] {
            assert!(
                Uid::parse(bad).unwrap_err().rule.contains("must be a UUID"),
                "{bad:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_uid_reads_back_from_its_text(bytes: [u8; 16]) {
            let uid = Uid::from_bytes(bytes);
            prop_assert_eq!(Uid::parse(&uid.to_string()), Ok(uid));
        }

        #[test]
        fn any_derived_uid_is_marked_as_version_eight(revision: u64, position: u32) {
            let text = Uid::derive(&cluster(), Revision::new(revision), position).to_string();
            prop_assert_eq!(text.as_bytes()[14], b'8');
            prop_assert!(b"89ab".contains(&text.as_bytes()[19]));
        }
    }
}
