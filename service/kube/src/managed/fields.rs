//! Sets of fields, in the form of Kubernetes (`FieldsV1`).
//!
//! A set is a tree. An edge is named as `FieldsV1` names it: `f:<name>` for a member of an object, `k:<object>` for the item
//! of a list with these keys, `v:<value>` for the item of a list that is a set. A place is in the set by itself, or only the
//! way to what is.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The mark of a place that is in the set and has others below it.
const SELF: &str = ".";

/// A set of fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// Whether the place itself is in the set.
    pub(crate) is_in: bool,
    below: BTreeMap<String, Fields>,
}

impl Fields {
    /// The set that `FieldsV1` says; `None` if it is none.
    pub(crate) fn parse(fields: &Value) -> Option<Self> {
        let mut all = Self::default();
        for (edge, below) in fields.as_object()? {
            if edge == SELF {
                all.is_in = true;
                continue;
            }
            let mut below = Self::parse(below)?;
            // Without anything below it is the field itself.
            below.is_in |= below.below.is_empty();
            all.below.insert(own_edge(edge)?, below);
        }
        Some(all)
    }

    /// The set as `FieldsV1`.
    pub(crate) fn to_json(&self) -> Value {
        let mut fields = Map::new();
        if self.is_in && !self.below.is_empty() {
            fields.insert(SELF.to_owned(), json!({}));
        }
        let below = self.below.iter();
        fields.extend(below.map(|(edge, below)| (edge.clone(), below.to_json())));
        Value::Object(fields)
    }

    pub(crate) fn is_empty(&self) -> bool {
        // No branch without a field is kept.
        !self.is_in && self.below.is_empty()
    }

    /// Puts what is below an edge into the set.
    pub(crate) fn put(&mut self, edge: String, below: Self) {
        if !below.is_empty() {
            self.below.insert(edge, below);
        }
    }

    /// What is below an edge.
    pub(crate) fn below(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.below
            .iter()
            .map(|(edge, below)| (edge.as_str(), below))
    }

    /// What is in one of both.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.is_in |= other.is_in;
        for (edge, theirs) in &other.below {
            let both = match all.below.get(edge) {
                Some(own) => own.union(theirs),
                None => theirs.clone(),
            };
            all.put(edge.clone(), both);
        }
        all
    }

    /// What is in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut both = Self {
            is_in: self.is_in && other.is_in,
            below: BTreeMap::new(),
        };
        for (edge, own) in &self.below {
            if let Some(theirs) = other.below.get(edge) {
                both.put(edge.clone(), own.intersection(theirs));
            }
        }
        both
    }

    /// What is in this one and not in the other.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut rest = Self {
            is_in: self.is_in && !other.is_in,
            below: BTreeMap::new(),
        };
        for (edge, own) in &self.below {
            let own = match other.below.get(edge) {
                Some(theirs) => own.difference(theirs),
                None => own.clone(),
            };
            rest.put(edge.clone(), own);
        }
        rest
    }

    /// The paths of all fields, as Kubernetes writes them: `.spec.size`.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        if self.is_in {
            paths.push(String::new());
        }
        self.paths_below("", &mut paths);
        paths
    }

    /// Kubernetes tells the fields of a level first, and then what is below each.
    fn paths_below(&self, path: &str, paths: &mut Vec<String>) {
        let named = |edge: &str| format!("{path}{}", step(edge));
        let own = self.below.iter().filter(|(_, below)| below.is_in);
        paths.extend(own.map(|(edge, _)| named(edge)));
        for (edge, below) in &self.below {
            below.paths_below(&named(edge), paths);
        }
    }

    /// How many edges the longest path has.
    pub(crate) fn depth(&self) -> usize {
        let depths = self.below.values().map(|below| below.depth() + 1);
        depths.max().unwrap_or_default()
    }
}

/// The edge of a member of an object.
pub(crate) fn member(name: &str) -> String {
    format!("f:{name}")
}

/// The edge of an item of a list with this key.
pub(crate) fn keyed(key: &str, value: &Value) -> String {
    format!("k:{}", json!({ key: value }))
}

/// The edge of an item of a list that is a set.
pub(crate) fn valued(value: &Value) -> String {
    format!("v:{value}")
}

/// An edge as this module writes it; `None` if it is none.
fn own_edge(edge: &str) -> Option<String> {
    let (kind, name) = edge.split_once(':')?;
    let parsed = || serde_json::from_str::<Value>(name).ok();
    match kind {
        "f" => Some(edge.to_owned()),
        "i" => name.parse::<u32>().ok().map(|_| edge.to_owned()),
        "v" => parsed().map(|value| valued(&value)),
        "k" => parsed()
            .filter(Value::is_object)
            .map(|key| format!("k:{key}")),
        _ => None,
    }
}

/// A step of a path, as Kubernetes writes it.
fn step(edge: &str) -> String {
    let (kind, name) = edge.split_once(':').unwrap_or(("f", edge));
    match kind {
        "f" => format!(".{name}"),
        "v" => format!("[={name}]"),
        "k" => {
            let keys = serde_json::from_str::<Map<String, Value>>(name).unwrap_or_default();
            let keys: Vec<String> = keys
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            format!("[{}]", keys.join(","))
        }
        _ => format!("[{name}]"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// A set of these fields.
    fn set(fields: Value) -> Fields {
        Fields::parse(&fields).unwrap()
    }

    #[test]
    fn a_set_is_read_and_written_as_kubernetes_does() {
        let text = json!({
            "f:metadata": {"f:finalizers": {".": {}, "v:\"a\"": {}}},
            "f:spec": {".": {}, "f:size": {}},
            "f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:status": {}}}},
        });
        let read = set(text.clone());
        assert_eq!(read.to_json(), text);
        assert_eq!(
            read.paths(),
            [
                ".spec",
                ".metadata.finalizers",
                ".metadata.finalizers[=\"a\"]",
                ".spec.size",
                ".status.conditions[type=\"Ready\"]",
                ".status.conditions[type=\"Ready\"].status",
            ]
        );
        // Other people's spaces make no other field.
        let spaced = json!({"f:a": {"k:{ \"b\": 1 }": {}, "v: [1, 2]": {}}});
        let written = json!({"f:a": {"k:{\"b\":1}": {}, "v:[1,2]": {}}});
        assert_eq!(set(spaced).to_json(), written);
        for no in [
            json!({"a": {}}),
            json!({"x:a": {}}),
            json!({"f:a": 1}),
            json!([]),
            json!(null),
            json!({"k:[1]": {}}),
            json!({"v:{": {}}),
            json!({"i:x": {}}),
        ] {
            assert_eq!(Fields::parse(&no), None, "{no}");
        }
    }

    /// A set by the paths of a few short names, with fields at every height.
    fn sets() -> impl Strategy<Value = (Fields, BTreeSet<String>)> {
        let path = prop::collection::vec(prop::sample::select(vec!["f:a", "f:b", "v:1"]), 1..4);
        prop::collection::vec(path, 0..8).prop_map(|paths| {
            let mut all = Fields::default();
            for path in &paths {
                let one = Fields {
                    is_in: true,
                    ..Fields::default()
                };
                let one = path.iter().rev().fold(one, |below, edge| {
                    let mut above = Fields::default();
                    above.put((*edge).to_owned(), below);
                    above
                });
                all = all.union(&one);
            }
            let names = paths
                .iter()
                .map(|path| path.iter().map(|edge| step(edge)).collect());
            (all, names.collect())
        })
    }

    fn paths(fields: &Fields) -> BTreeSet<String> {
        fields.paths().into_iter().collect()
    }

    proptest! {
        // Guarantee: K-05
        #[test]
        fn sets_do_what_sets_of_paths_do((a, in_a) in sets(), (b, in_b) in sets()) {
            prop_assert_eq!(&paths(&a), &in_a);
            prop_assert_eq!(paths(&a.union(&b)), in_a.union(&in_b).cloned().collect());
            prop_assert_eq!(paths(&a.intersection(&b)), in_a.intersection(&in_b).cloned().collect());
            prop_assert_eq!(paths(&a.difference(&b)), in_a.difference(&in_b).cloned().collect());
            for set in [&a, &a.union(&b), &a.intersection(&b), &a.difference(&b)] {
                // No empty branch is left, so equal sets are equal trees.
                prop_assert_eq!(set.is_empty(), set.paths().is_empty());
                prop_assert_eq!(Fields::parse(&set.to_json()), Some(set.clone()));
            }
        }
    }
}
