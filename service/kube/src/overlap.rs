//! What a client of a watch has of the revision that it goes on from.

use serde_json::Value;

/// What a client has of the revision that it goes on from.
///
/// A client of Kubernetes names the revision of the last line that it has read. If this revision changed several objects,
/// there may be lines that it has not read, so its events are sent again: a cache takes them twice without harm. If it
/// changed one, that is what the client has read.
#[derive(Debug, PartialEq)]
pub(crate) enum Overlap {
    /// Nothing of what comes.
    Nothing,
    /// At least one event of this revision, if it has any.
    Some(u64),
    /// This event of this revision, if it has no other.
    One(u64, &'static str, Box<Value>),
}

impl Overlap {
    /// What is to be sent when this event comes.
    pub(crate) fn passes(
        &mut self,
        revision: u64,
        name: &'static str,
        object: Value,
    ) -> Vec<(&'static str, Value)> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Some(at) if at == revision => {
                *self = Self::One(at, name, Box::new(object));
                Vec::new()
            }
            Self::One(at, first, had) if at == revision => vec![(first, *had), (name, object)],
            Self::Nothing | Self::Some(_) | Self::One(..) => vec![(name, object)],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The events that are sent to a client which goes on from revision 7.
    fn sent(events: &[(u64, &str)]) -> Vec<String> {
        let mut overlap = Overlap::Some(7);
        let passed = events
            .iter()
            .flat_map(|(revision, name)| overlap.passes(*revision, "ADDED", json!(name)));
        passed
            .map(|(_, object)| object.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn the_only_change_of_a_revision_is_not_told_twice() {
        assert_eq!(sent(&[(7, "a"), (8, "b"), (8, "c")]), ["b", "c"]);
        assert_eq!(sent(&[(8, "b")]), ["b"]);
        assert_eq!(sent(&[(7, "a")]), Vec::<String>::new());
    }

    #[test]
    fn several_changes_of_a_revision_are_told_again() {
        assert_eq!(
            sent(&[(7, "a"), (7, "b"), (7, "c"), (8, "d")]),
            ["a", "b", "c", "d"]
        );
    }
}
