//! The namespace of an object.

use std::sync::Arc;

use crate::Violation;
use crate::names::dns1123_label;
use crate::text::shared_text;

/// A scope of names: a DNS-1123 label. Objects of one resource have distinct names in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// The namespace with this name.
    ///
    /// # Errors
    ///
    /// Not a DNS-1123 label.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        dns1123_label(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self(text.into()))
    }
}

shared_text!(Namespace);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_label_of_at_most_63_bytes() {
        for good in ["default", "kube-system", "0", &"n".repeat(63)] {
            assert_eq!(Namespace::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "a.b", "A", "-a", "a/b", &"n".repeat(64)] {
            assert!(Namespace::parse(bad).is_err(), "{bad:?}");
        }
    }
}
