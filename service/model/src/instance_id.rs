//! The id of the process that speaks for a member.

use std::sync::Arc;

use crate::Violation;
use crate::limits::INSTANCE_ID_BYTES_MAX;
use crate::text::shared_text;

/// A random text that a process chooses at its start. Two processes under one member id have
/// different ids; a retry of one process has the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(Arc<str>);

impl InstanceId {
    /// The instance with this text.
    ///
    /// # Errors
    ///
    /// Empty, longer than 64 bytes, or anything but letters, digits, `.`, `_` and `-`.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        let legal = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
        let sized = (1..=INSTANCE_ID_BYTES_MAX).contains(&text.len());
        if sized && text.bytes().all(legal) {
            return Ok(Self(text.into()));
        }
        let rule = format_args!(
            "must be 1 to {INSTANCE_ID_BYTES_MAX} characters of letters, digits, '.', '_' and '-'"
        );
        Err(Violation::invalid(text, rule))
    }
}

shared_text!(InstanceId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_one_to_sixty_four_plain_characters() {
        assert!(InstanceId::parse("5e1f._-X").is_ok());
        assert!(InstanceId::parse(&"a".repeat(64)).is_ok());
        for bad in ["", "a b", "a/b", "ä", &"a".repeat(65)] {
            assert!(InstanceId::parse(bad).is_err(), "{bad:?}");
        }
    }
}
