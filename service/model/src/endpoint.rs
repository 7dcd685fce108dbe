//! The address of a member.

use std::sync::Arc;

use crate::Violation;
use crate::limits::ENDPOINT_BYTES_MAX;
use crate::text::{shared_text, short_identity};

/// The address that a member gives for itself. Synod hands it on and never dials it. May be
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint(Arc<str>);

impl Endpoint {
    /// The endpoint with this text.
    ///
    /// # Errors
    ///
    /// Longer than 512 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        short_identity(text, ENDPOINT_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(Endpoint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_short_identity_text_or_nothing() {
        assert_eq!(Endpoint::parse("").unwrap(), Endpoint::default());
        assert!(Endpoint::parse(&"h".repeat(512)).is_ok());
        assert!(Endpoint::parse(&"h".repeat(513)).is_err());
        assert!(Endpoint::parse("a\nb").is_err());
    }
}
