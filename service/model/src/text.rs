//! What all types of shared, checked texts have in common: their accessors and their checks.

use crate::Violation;

/// Implements the accessors of a newtype over `Arc<str>` with a `parse`: `as_str`, [`Display`], [`FromStr`], and
/// lookups by `&str` in ordered maps.
///
/// [`Display`]: std::fmt::Display
/// [`FromStr`]: std::str::FromStr
macro_rules! shared_text {
    ($name:ident) => {
        impl $name {
            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::Violation;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        // Sound because the derived ordering, equality and hash are those of the text.
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

pub(crate) use shared_text;

/// Checks a text that is only passed on: its content is free, but its length is bounded, and it must not control the
/// terminal on which it is printed.
pub(crate) fn short_printable(text: &str, bytes_max: usize) -> Result<(), Violation> {
    if text.len() > bytes_max {
        return Err(Violation::too_long(bytes_max));
    }
    if text.chars().any(char::is_control) {
        let rule = "must not contain control characters";
        return Err(Violation::invalid(text, rule));
    }
    Ok(())
}

/// Checks a text that identifies somebody: it must be a [`short_printable`] text and must not look like another one.
pub(crate) fn short_identity(text: &str, bytes_max: usize) -> Result<(), Violation> {
    short_printable(text, bytes_max)?;
    if text.chars().any(misleads) {
        let rule = "must not contain bidirectional marks or line separators";
        return Err(Violation::invalid(text, rule));
    }
    Ok(())
}

/// Whether a character changes how the text around it is printed: controls (C0, DEL, C1), bidirectional marks, and
/// separators of lines and paragraphs.
pub fn misleads(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryVersion, Endpoint, HolderIdentity, Marker, WorkerName};

    const MISLEADING: &str = "\u{0}\u{1b}\n\t\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\
                              \u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";

    // Guarantee: O-18
    #[test]
    fn an_identity_refuses_what_does_something_to_the_text_around_it() {
        for letter in MISLEADING.chars() {
            assert!(misleads(letter), "{letter:?}");
            let text = format!("a{letter}b");
            let faults = [
                BinaryVersion::parse(&text).map(drop),
                Endpoint::parse(&text).map(drop),
                HolderIdentity::parse(&text).map(drop),
                Marker::parse(&text).map(drop),
                WorkerName::parse(&text).map(drop),
            ];
            for fault in faults {
                let told = fault.unwrap_err().to_string();
                assert!(told.contains("must not contain"), "{told:?}");
                assert!(!told.chars().any(misleads), "it is escaped once: {told:?}");
                assert!(!told.contains("\\\\"), "and not twice: {told:?}");
            }
        }
        for text in ["a b", "\u{e4}\u{5d0}\u{1f600}"] {
            assert!(HolderIdentity::parse(text).is_ok(), "{text}");
        }
    }
}
