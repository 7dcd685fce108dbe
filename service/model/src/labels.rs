//! Labels: short key-value pairs of an object, by which selectors choose objects.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::limits::LABELS_MAX;
use crate::names::{label_value, qualified_name};
use crate::{Violation, Violations};

/// At most 64 pairs of a qualified name and a label value, ordered by name. An empty set takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels(Pairs);

/// Texts under distinct keys, ordered by key, in one allocation, since each of a million objects may have some.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pairs(Option<Arc<[Pair]>>);

type Pair = (Arc<str>, Arc<str>);

impl Pairs {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn of(pairs: BTreeMap<Arc<str>, Arc<str>>) -> Self {
        Self((!pairs.is_empty()).then(|| pairs.into_iter().collect()))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let pairs = self.shared();
        let at = pairs.binary_search_by(|(kept, _)| (**kept).cmp(key)).ok()?;
        pairs.get(at).map(|(_, value)| &**value)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.shared().iter().map(|(key, value)| (&**key, &**value))
    }

    pub(crate) fn shared(&self) -> &[Pair] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Labels {
    pub(crate) const NONE: Self = Self(Pairs::NONE);

    /// The labels of these pairs.
    ///
    /// # Errors
    ///
    /// Too many, a key that is no qualified name or is given twice, a value that is no label value; all faults at once.
    /// The path of a bad value is its key.
    pub fn parse<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<Self, Violations>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut violations = Violations::new();
        let mut labels = BTreeMap::new();
        let mut given = 0;
        for (key, value) in pairs {
            let (key, value) = (key.as_ref(), value.as_ref());
            given += 1;
            if let Err(rule) = qualified_name(key) {
                violations.push(Violation::invalid(key, rule));
            } else if let Err(rule) = label_value(value) {
                let below = format!("[{key}]");
                violations.push(Violation::invalid(value, rule).at(&below));
            } else if let Entry::Vacant(slot) = labels.entry(key.into()) {
                slot.insert(value.into());
            } else {
                violations.push(Violation::duplicate(key));
            }
        }
        if given > LABELS_MAX {
            violations.push(Violation::too_many(given, LABELS_MAX));
        }
        if violations.is_empty() {
            Ok(Self(Pairs::of(labels)))
        } else {
            Err(violations)
        }
    }

    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)
    }

    /// All labels, ordered by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter()
    }

    /// All labels, ordered by key, as the shared texts that an index can hold.
    pub fn shared(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.shared().iter().map(|(key, value)| (key, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> impl Iterator<Item = (String, &'static str)> {
        (0..count).map(|i| (format!("key-{i}"), "value"))
    }

    #[test]
    fn labels_are_ordered_by_key_and_found_by_it() {
        let labels = Labels::parse([("b", "2"), ("example.com/a", ""), ("a", "1")]).unwrap();
        let all: Vec<_> = labels.iter().collect();
        assert_eq!(all, [("a", "1"), ("b", "2"), ("example.com/a", "")]);
        assert_eq!(labels.get("b"), Some("2"));
        assert_eq!(labels.get("c"), None);
    }

    #[test]
    fn sixty_four_labels_are_allowed_and_one_more_is_not() {
        assert_eq!(Labels::parse(numbered(63)).unwrap().len(), 63);
        assert_eq!(Labels::parse(numbered(64)).unwrap().len(), 64);
        let violations = Labels::parse(numbered(65)).unwrap_err();
        assert_eq!(
            violations.to_string(),
            "Too many: 65: must have at most 64 items"
        );
    }

    #[test]
    fn every_bad_pair_is_named() {
        let violations = Labels::parse([
            ("-x", "1"),
            ("ok", "no spaces"),
            ("twice", "1"),
            ("twice", "2"),
        ])
        .unwrap_err();
        let mut at_labels = Violations::new();
        at_labels.extend_at("labels", violations);
        let texts: Vec<String> = at_labels.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 3);
        assert!(texts[0].starts_with(r#"labels: Invalid value: "-x": name part must consist"#));
        assert!(texts[1].starts_with(r#"labels[ok]: Invalid value: "no spaces": a valid label"#));
        assert_eq!(texts[2], r#"labels: Duplicate value: "twice""#);
    }
}
