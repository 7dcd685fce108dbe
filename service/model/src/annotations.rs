//! Annotations: notes on an object, which selectors do not read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::labels::Pairs;
use crate::limits::ANNOTATIONS_BYTES_MAX;
use crate::names::qualified_name;
use crate::{Violation, Violations};

/// Pairs of a qualified name and any text, ordered by name, of at most 256 KiB in all. An empty set takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Annotations(Pairs);

impl Annotations {
    pub(crate) const NONE: Self = Self(Pairs::NONE);

    /// The annotations of these pairs.
    ///
    /// # Errors
    ///
    /// Too many bytes in all, a key that is no qualified name (checked in lower case) or is given twice; all faults at
    /// once.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Violations>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut violations = Violations::new();
        let mut kept = BTreeMap::new();
        let mut bytes = 0;
        for (key, value) in pairs {
            let (key, value) = (key.as_ref(), value.as_ref());
            bytes += key.len() + value.len();
            if let Err(rule) = qualified_name(&key.to_lowercase()) {
                violations.push(Violation::invalid(key, rule));
            } else if let Entry::Vacant(slot) = kept.entry(key.into()) {
                slot.insert(value.into());
            } else {
                violations.push(Violation::duplicate(key));
            }
        }
        if bytes > ANNOTATIONS_BYTES_MAX {
            violations.push(Violation::too_long(ANNOTATIONS_BYTES_MAX));
        }
        if violations.is_empty() {
            Ok(Self(Pairs::of(kept)))
        } else {
            Err(violations)
        }
    }

    /// The text of an annotation.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)
    }

    /// All annotations, ordered by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter()
    }

    /// The number of bytes of all keys and texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.iter().map(|(key, text)| key.len() + text.len()).sum()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_hold_any_text_under_a_qualified_name() {
        let notes = Annotations::parse([("example.com/Note", "any\ntext {}"), ("a", "")]).unwrap();
        assert_eq!(notes.get("example.com/Note"), Some("any\ntext {}"));
        assert_eq!((notes.len(), notes.get("b")), (2, None));
        let violations = Annotations::parse([("no spaces", ""), ("a", "1"), ("a", "2")]);
        assert_eq!(violations.unwrap_err().len(), 2);
    }

    #[test]
    fn annotations_of_256_kib_are_allowed_and_one_byte_more_is_not() {
        let of = |bytes: usize| Annotations::parse([("k", "v".repeat(bytes - 1))]);
        assert!(of(ANNOTATIONS_BYTES_MAX - 1).is_ok() && of(ANNOTATIONS_BYTES_MAX).is_ok());
        let violations = of(ANNOTATIONS_BYTES_MAX + 1).unwrap_err();
        assert_eq!(
            violations.to_string(),
            "Too long: may not be more than 262144 bytes"
        );
    }
}
