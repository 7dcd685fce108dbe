//! Values with fields: which ones they have, how two of them differ, and how one is merged into another.
//!
//! No schema is known of custom objects, so types are those that Kubernetes deduces without one: the members of an object
//! are fields of their own, and a list is one value. In metadata, which has the same schema everywhere, finalizers are a
//! set, and owner references go by their uid, each of them one value.
//!
//! Values are the same if they say the same: the order of members does not count, nor how a number is written.

use std::collections::{BTreeMap, HashSet};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Map, Number, Value, json};
use sha2::{Digest, Sha256};

use super::fields::{Fields, keyed, member, valued};

/// The bytes of a digest of a value.
const DIGEST: usize = 6;

/// How two values differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) added: Fields,
    pub(crate) modified: Fields,
    pub(crate) removed: Fields,
}

impl Changes {
    pub(crate) fn are_none(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }
}

/// A place in a document: what the items of a list there are known by.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Metadata,
    /// A list whose items are texts, none twice.
    Set,
    /// A list whose items have this key, none twice.
    Keyed(&'static str),
    /// What is one value, whatever it consists of.
    Whole,
    /// Somewhere without a schema.
    Free,
}

impl Place {
    fn below(self, edge: &str) -> Self {
        match (self, edge) {
            (Self::Root, "f:metadata") => Self::Metadata,
            (Self::Metadata, "f:finalizers") => Self::Set,
            (Self::Metadata, "f:ownerReferences") => Self::Keyed("uid"),
            (Self::Keyed(_), _) => Self::Whole,
            _ => Self::Free,
        }
    }
}

/// What a value consists of, by edges; `None` if it is one value.
fn parts(value: &Value, place: Place) -> Option<Vec<(String, &Value)>> {
    let edges: Option<Vec<(String, &Value)>> = match (value, place) {
        (_, Place::Whole) => return None,
        (Value::Object(members), _) => {
            let members = members.iter();
            return Some(members.map(|(name, value)| (member(name), value)).collect());
        }
        (Value::Array(items), Place::Set) => items
            .iter()
            .map(|item| item.is_string().then(|| (valued(item), item)))
            .collect(),
        (Value::Array(items), Place::Keyed(key)) => items
            .iter()
            .map(|item| {
                let id = item.get(key).filter(|id| id.is_string());
                id.map(|id| (keyed(key, id), item))
            })
            .collect(),
        _ => None,
    };
    // A list with an item twice, or with one that is not known by its key, is one value.
    edges.filter(|edges| {
        let mut seen = HashSet::new();
        edges.iter().all(|(edge, _)| seen.insert(edge.as_str()))
    })
}

/// All fields of a document, each object with its members.
pub(crate) fn fields_of(document: &Value) -> Fields {
    fields_below(document, Place::Root)
}

fn fields_below(value: &Value, place: Place) -> Fields {
    let mut fields = Fields::default();
    for (edge, value) in parts(value, place).into_iter().flatten() {
        let below = whole(value, place.below(&edge));
        fields.put(edge, below);
    }
    fields
}

/// A field with all that is below it.
fn whole(value: &Value, place: Place) -> Fields {
    let mut fields = fields_below(value, place);
    // Each document has metadata, so as a field of its own it would say nothing.
    fields.is_in = !matches!(place, Place::Metadata);
    fields
}

/// How a document differs from what it was.
pub(crate) fn compare(old: &Value, new: &Value) -> Changes {
    changes(old, new, Place::Root)
}

fn changes(old: &Value, new: &Value, place: Place) -> Changes {
    let mut changes = Changes::default();
    match (parts(old, place), parts(new, place)) {
        (None, None) => changes.modified.is_in = !are_same(old, new),
        (Some(was), Some(is)) => {
            let mut was: BTreeMap<String, &Value> = was.into_iter().collect();
            for (edge, value) in is {
                let below = place.below(&edge);
                match was.remove(&edge) {
                    Some(was) => changes.graft(edge, self::changes(was, value, below)),
                    None => changes.added.put(edge, whole(value, below)),
                }
            }
            for (edge, value) in was {
                let below = whole(value, place.below(&edge));
                changes.removed.put(edge, below);
            }
        }
        (_, _) => {
            changes.modified.is_in = true;
            changes.removed = fields_below(old, place);
            changes.added = fields_below(new, place);
        }
    }
    changes
}

impl Changes {
    fn graft(&mut self, edge: String, below: Self) {
        self.added.put(edge.clone(), below.added);
        self.modified.put(edge.clone(), below.modified);
        self.removed.put(edge, below.removed);
    }
}

/// A document with all that another one says, and what it does not speak of as it is.
pub(crate) fn merge(live: &Value, applied: &Value) -> Value {
    merged(live, applied, Place::Root)
}

fn merged(live: &Value, applied: &Value, place: Place) -> Value {
    let (Some(own), Some(theirs)) = (parts(live, place), parts(applied, place)) else {
        // What says the same stays as it is written.
        let same = are_same(live, applied);
        return if same { live } else { applied }.clone();
    };
    let mut theirs: BTreeMap<String, &Value> = theirs.into_iter().collect();
    let mut all: Vec<(String, Value)> = Vec::with_capacity(own.len());
    for (edge, value) in own {
        let value = match theirs.remove(&edge) {
            Some(theirs) => merged(value, theirs, place.below(&edge)),
            None => value.clone(),
        };
        all.push((edge, value));
    }
    // What is new comes last, in the order in which it was said.
    for (edge, value) in parts(applied, place).into_iter().flatten() {
        if theirs.contains_key(&edge) {
            all.push((edge, value.clone()));
        }
    }
    rebuilt(applied, all)
}

/// Objects and lists of these parts, as `like` is one.
fn rebuilt(like: &Value, parts: Vec<(String, Value)>) -> Value {
    if like.is_array() {
        return parts.into_iter().map(|(_, item)| item).collect();
    }
    let named = parts.into_iter().filter_map(|(edge, value)| {
        let name = edge.strip_prefix("f:")?.to_owned();
        Some((name, value))
    });
    Value::Object(named.collect::<Map<_, _>>())
}

/// A document without these fields. An object or list goes only if nothing is left in it.
pub(crate) fn without(document: &Value, fields: &Fields) -> Value {
    pruned(document, fields, Place::Root)
}

fn pruned(value: &Value, fields: &Fields, place: Place) -> Value {
    let Some(own) = parts(value, place) else {
        return value.clone();
    };
    let gone: BTreeMap<&str, &Fields> = fields.below().collect();
    let mut left = Vec::with_capacity(own.len());
    for (edge, value) in own {
        let Some(gone) = gone.get(edge.as_str()) else {
            left.push((edge, value.clone()));
            continue;
        };
        let below = place.below(&edge);
        let value = pruned(value, gone, below);
        let is_empty = parts(&value, below).is_none_or(|parts| parts.is_empty());
        if !(gone.is_in && is_empty) {
            left.push((edge, value));
        }
    }
    rebuilt(value, left)
}

/// A digest of each value of a document, in the shape of its fields: by it a later look finds out what others have written.
pub(crate) fn digests(document: &Value) -> Value {
    digests_below(document, Place::Root)
}

fn digests_below(value: &Value, place: Place) -> Value {
    match parts(value, place) {
        Some(parts) => {
            let parts = parts.into_iter().map(|(edge, value)| {
                let digests = digests_below(value, place.below(&edge));
                (edge, digests)
            });
            Value::Object(parts.collect())
        }
        None => json!(digest(value)),
    }
}

fn digest(value: &Value) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    let digest = Sha256::digest(text.as_bytes());
    BASE64URL_NOPAD.encode(&digest[..DIGEST])
}

/// Whether two values say the same.
fn are_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || plain(one) == plain(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| are_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_there = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| are_same(value, other))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => one == other,
    }
}

/// Writes a value so that all that say the same have one text.
fn write_plain(value: &Value, text: &mut String) {
    match value {
        Value::Number(number) => text.push_str(&plain(number)),
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_plain(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            text.push('{');
            for (name, value) in members {
                text.push_str(&json!(name).to_string());
                write_plain(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

/// A number as one text, however it was written: `1` and `1.0` are the same.
fn plain(number: &Number) -> String {
    /// No integer of 64 bits is as large.
    const LARGE: f64 = 2e19;
    match number.as_f64().filter(|_| number.is_f64()) {
        // Minus zero is zero.
        Some(float) if float.fract() == 0.0 && float.abs() < LARGE => (float + 0.0).to_string(),
        Some(float) => format!("{float:e}"),
        None => number.to_string(),
    }
}

/// The fields that are not as they were when these digests were taken.
pub(crate) fn written_since(digests: &Value, document: &Value) -> Fields {
    since(digests, document, Place::Root)
}

fn since(seen: &Value, value: &Value, place: Place) -> Fields {
    let mut fields = Fields::default();
    let Some(parts) = parts(value, place) else {
        fields.is_in = seen.as_str() != Some(&digest(value));
        return fields;
    };
    fields.is_in = !seen.is_object();
    for (edge, value) in parts {
        let below = place.below(&edge);
        let below = match seen.get(&edge) {
            Some(seen) => since(seen, value, below),
            None => whole(value, below),
        };
        fields.put(edge, below);
    }
    fields
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn objects_have_fields_and_lists_are_one_value() {
        let document = json!({
            "metadata": {
                "finalizers": ["x"],
                "ownerReferences": [{"uid": "1", "name": "a"}],
            },
            "spec": {"list": [1, {"a": 1}], "none": {}, "null": null},
        });
        let expected = json!({
            "f:metadata": {
                "f:finalizers": {".": {}, "v:\"x\"": {}},
                "f:ownerReferences": {".": {}, "k:{\"uid\":\"1\"}": {}},
            },
            "f:spec": {".": {}, "f:list": {}, "f:none": {}, "f:null": {}},
        });
        assert_eq!(fields_of(&document).to_json(), expected);
        // Items that cannot be told apart make it one value.
        let twice =
            json!({"metadata": {"finalizers": ["x", "x"], "ownerReferences": [{"uid": 1}]}});
        let expected = json!({"f:metadata": {"f:finalizers": {}, "f:ownerReferences": {}}});
        assert_eq!(fields_of(&twice).to_json(), expected);
    }

    #[test]
    fn what_has_changed_is_told_apart() {
        let old = json!({"a": 1, "b": {"c": 1, "d": 2}, "e": [1], "g": {"h": 1}});
        let new = json!({"a": 2, "b": {"c": 1, "f": {"i": 1}}, "e": [2], "g": 1});
        let changes = compare(&old, &new);
        assert_eq!(changes.added.paths(), [".b.f", ".b.f.i"]);
        assert_eq!(changes.modified.paths(), [".a", ".e", ".g"]);
        assert_eq!(changes.removed.paths(), [".b.d", ".g.h"]);
        assert!(compare(&old, &old).are_none());
    }

    #[test]
    fn a_container_goes_when_nothing_is_left_in_it() {
        let document = json!({
            "metadata": {"ownerReferences": [{"uid": "1", "name": "a"}], "finalizers": ["x", "y"]},
            "spec": {"a": 1, "b": {"c": 1}},
        });
        let gone = |fields: Value| without(&document, &Fields::parse(&fields).unwrap());
        let left = gone(json!({"f:spec": {".": {}, "f:a": {}}}));
        assert_eq!(left["spec"], json!({"b": {"c": 1}}));
        let left = gone(json!({"f:spec": {".": {}, "f:a": {}, "f:b": {".": {}, "f:c": {}}}}));
        assert_eq!(left["spec"], Value::Null);
        // Who owned only what was in it leaves it there.
        let left = gone(json!({"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}}));
        assert_eq!(left["spec"], json!({"b": {}}));
        let left = gone(json!({"f:metadata": {
            "f:ownerReferences": {".": {}, "k:{\"uid\":\"1\"}": {}},
            "f:finalizers": {"v:\"x\"": {}},
        }}));
        assert_eq!(left["metadata"], json!({"finalizers": ["y"]}));
    }

    #[test]
    fn an_owner_reference_is_one_value() {
        let owner =
            |name: &str| json!({"metadata": {"ownerReferences": [{"uid": "1", "name": name}]}});
        let changes = compare(&owner("a"), &owner("b"));
        let path = ".metadata.ownerReferences[uid=\"1\"]";
        assert_eq!(changes.modified.paths(), [path]);
        let merged = merge(
            &owner("a"),
            &json!({"metadata": {"ownerReferences": [{"uid": "1"}]}}),
        );
        assert_eq!(merged["metadata"]["ownerReferences"], json!([{"uid": "1"}]));
        assert_eq!(
            written_since(&digests(&owner("a")), &owner("b")).paths(),
            [path]
        );
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        for (one, other, is_same) in [
            (json!(1), json!(1.0), true),
            (json!(0), json!(-0.0), true),
            (json!(1e20), json!(1e20), true),
            (json!(u64::MAX), json!(u64::MAX - 1), false),
            (json!(1), json!(1.5), false),
            (json!(1), json!("1"), false),
        ] {
            let (one, other) = (json!({"a": [one]}), json!({"a": [other]}));
            assert_eq!(compare(&one, &other).are_none(), is_same, "{one} {other}");
            let since = written_since(&digests(&one), &other);
            assert_eq!(since.is_empty(), is_same, "{one} {other}");
        }
        // It stays as it is written.
        let merged = merge(&json!({"a": 1}), &json!({"a": 1.0}));
        assert_eq!(merged.to_string(), r#"{"a":1}"#);
    }

    /// The same value with its members in the reverse order.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(members) => {
                let members = members.iter().rev();
                let members = members.map(|(name, value)| (name.clone(), reversed(value)));
                Value::Object(members.collect())
            }
            other => other.clone(),
        }
    }

    /// Documents with few names, so that two of them meet.
    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            (0..3_u8).prop_map(|number| json!(number)),
            prop::collection::vec(0..2_u8, 0..3).prop_map(|list| json!(list)),
        ];
        let name = || prop::sample::select(vec!["a", "b", "finalizers"]);
        let value = leaf.prop_recursive(3, 16, 3, move |inner| {
            prop::collection::btree_map(name(), inner, 0..3).prop_map(|members| json!(members))
        });
        let finalizers = prop::collection::btree_set(prop::sample::select(vec!["x", "y"]), 0..3);
        (value, finalizers).prop_map(
            |(spec, finalizers)| json!({"spec": spec, "metadata": {"finalizers": finalizers}}),
        )
    }

    proptest! {
        // Guarantee: K-05
        #[test]
        fn differences_are_the_fields_that_differ(old in documents(), new in documents()) {
            let changes = compare(&old, &new);
            let (was, is) = (fields_of(&old), fields_of(&new));
            prop_assert_eq!(&changes.added, &is.difference(&was));
            prop_assert_eq!(&changes.removed, &was.difference(&is));
            prop_assert_eq!(changes.modified.difference(&was.intersection(&is)), Fields::default());
            // The digests tell the same as the document that they were taken of.
            let since = written_since(&digests(&old), &new);
            prop_assert_eq!(since, changes.added.union(&changes.modified));
        }

        // Guarantee: K-05
        #[test]
        fn the_order_of_members_does_not_count(one in documents(), other in documents()) {
            let listed = json!({ "list": [one, other] });
            let reversed = reversed(&listed);
            prop_assert_eq!(written_since(&digests(&listed), &reversed), Fields::default());
            prop_assert!(compare(&listed, &reversed).are_none());
        }

        // Guarantee: K-05
        #[test]
        fn what_is_applied_is_there_and_the_rest_stays(live in documents(), applied in documents()) {
            let merged = merge(&live, &applied);
            prop_assert_eq!(&merge(&merged, &applied), &merged);
            let fields = fields_of(&applied);
            prop_assert_eq!(fields.difference(&fields_of(&merged)), Fields::default());
            let changes = compare(&live, &merged);
            // Nothing changes that was not spoken of.
            let touched = changes.added.union(&changes.modified);
            prop_assert_eq!(touched.difference(&fields), Fields::default());
            // A new field is taken away again without a trace.
            if changes.modified.is_empty() && changes.removed.is_empty() {
                prop_assert!(compare(&without(&merged, &changes.added), &live).are_none());
            }
        }
    }
}
