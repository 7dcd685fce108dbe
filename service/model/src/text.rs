//! What every value that is a shared, checked text has in common.

use crate::Violation;

/// Gives a newtype over `Arc<str>` with a `parse` its reading side: `as_str`, [`Display`],
/// [`FromStr`], and lookups by `&str` in ordered maps.
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

/// Checks a text that is only handed on: what it says is free, but it must not grow without bound
/// or take over the terminal on which it is printed.
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
