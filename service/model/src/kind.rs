//! The kind of an object.

use std::sync::Arc;

use crate::Violation;
use crate::limits::LABEL_BYTES_MAX;
use crate::text::shared_text;

/// The kind of an object, such as `Deployment`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Arc<str>);

impl Kind {
    /// The kind with this text.
    ///
    /// # Errors
    ///
    /// Not a letter followed by letters and digits, or longer than 63 bytes.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let plain = text.bytes().all(|c| c.is_ascii_alphanumeric());
        if starts && plain && text.len() <= LABEL_BYTES_MAX {
            return Ok(Self(text.into()));
        }
        let rule = format_args!(
            "must be a letter followed by letters and digits, no more than {LABEL_BYTES_MAX} \
             characters (e.g. 'Deployment', regex used for validation is '[A-Za-z][A-Za-z0-9]*')"
        );
        Err(Violation::invalid(text, rule))
    }
}

shared_text!(Kind);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_one_plain_word() {
        for good in ["Pod", "X", "HorizontalPodAutoscaler", "V1", &"K".repeat(63)] {
            assert_eq!(Kind::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "1Pod", "My-Pod", "Pod ", "Ämter", &"K".repeat(64)] {
            assert!(Kind::parse(bad).is_err(), "{bad:?}");
        }
    }
}
