//! The release that a member runs.

use std::sync::Arc;

use crate::Violation;
use crate::limits::BINARY_VERSION_BYTES_MAX;
use crate::text::{shared_text, short_identity};

/// The release that a member says it runs, such as `v1.37.2+k3s1`. Only shown: no rule depends on
/// it. May be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryVersion(Arc<str>);

impl BinaryVersion {
    /// The version with this text.
    ///
    /// # Errors
    ///
    /// Longer than 128 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        short_identity(text, BINARY_VERSION_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(BinaryVersion);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_short_identity_text_or_nothing() {
        assert_eq!(BinaryVersion::parse("").unwrap(), BinaryVersion::default());
        assert!(BinaryVersion::parse(&"1".repeat(128)).is_ok());
        assert_eq!(
            BinaryVersion::parse(&"1".repeat(129)).unwrap_err().rule,
            "Too long: may not be more than 128 bytes"
        );
        assert_eq!(
            BinaryVersion::parse("v1\u{1b}[2J").unwrap_err().rule,
            r#"Invalid value: "v1\u{1b}[2J": must not contain control characters"#
        );
    }
}
