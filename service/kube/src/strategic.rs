//! Strategic merge patches: merge patches that merge lists, too, where a list has a merge key.
//!
//! kubectl sends them for every kind that it knows, without asking. Only lists of metadata and conditions have a merge key
//! here; all others are replaced, as by a merge patch.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The lists with a merge key, by their path.
const MERGED: [(&str, &str); 3] = [
    ("metadata.ownerReferences", "uid"),
    ("status.conditions", "type"),
    ("status.storageVersions", "apiServerID"),
];

/// The lists that are sets of texts.
const SETS: [&str; 1] = ["metadata.finalizers"];

/// The most items of a list that is merged, before and in a patch: each is compared with all.
const ITEMS_MAX: usize = 500;

const DIRECTIVE: &str = "$patch";
const ORDER: &str = "$setElementOrder/";
const DELETED: &str = "$deleteFromPrimitiveList/";
const RETAINED: &str = "$retainKeys";

/// Applies a patch to a document.
///
/// # Errors
///
/// A directive that does not exist, or a list too long to be merged.
pub(crate) fn merge(document: &mut Value, patch: &Value) -> Result<(), String> {
    merge_at(document, patch, "")
}

fn merge_at(target: &mut Value, patch: &Value, path: &str) -> Result<(), String> {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return Ok(());
    };
    match directive(fields)? {
        Some(Directive::Replace) => {
            let fields = fields.iter().filter(|(name, _)| *name != DIRECTIVE);
            *target = fields
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            return Ok(());
        }
        Some(Directive::Delete) => {
            *target = Value::Null;
            return Ok(());
        }
        Some(Directive::Merge) | None => {}
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(own) = target else {
        return Ok(());
    };
    if let Some(Value::Array(retained)) = fields.get(RETAINED) {
        let retained: HashSet<&str> = retained.iter().filter_map(Value::as_str).collect();
        own.retain(|name, _| retained.contains(name.as_str()));
    }
    let mut gone = HashSet::new();
    for (name, value) in fields {
        // Merged lists keep the order that they have, and new items come last.
        if name == DIRECTIVE || name == RETAINED || name.starts_with(ORDER) {
            continue;
        }
        if let Some(name) = name.strip_prefix(DELETED) {
            if let (Some(Value::Array(items)), Value::Array(away)) = (own.get_mut(name), value) {
                few(items, name)?;
                few(away, name)?;
                items.retain(|item| !away.contains(item));
            }
            continue;
        }
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        if value.is_null() {
            gone.insert(name.as_str());
            continue;
        }
        let place = own.entry(name.clone()).or_insert(Value::Null);
        match value {
            Value::Array(items) => merge_list(place, items, &path)?,
            value => merge_at(place, value, &path)?,
        }
        if place.is_null() {
            gone.insert(name.as_str());
        }
    }
    own.retain(|name, _| !gone.contains(name.as_str()));
    Ok(())
}

/// Refuses a list too long to be merged.
fn few(items: &[Value], path: &str) -> Result<(), String> {
    if items.len() > ITEMS_MAX {
        let count = items.len();
        return Err(format!(
            "{path}: a list of {count} items is not merged, and at most {ITEMS_MAX} are: replace it"
        ));
    }
    Ok(())
}

enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(fields: &Map<String, Value>) -> Result<Option<Directive>, String> {
    Ok(match fields.get(DIRECTIVE) {
        None => None,
        Some(Value::String(text)) if text == "merge" => Some(Directive::Merge),
        Some(Value::String(text)) if text == "replace" => Some(Directive::Replace),
        Some(Value::String(text)) if text == "delete" => Some(Directive::Delete),
        Some(other) => return Err(format!("unknown patch type found: {other}")),
    })
}

/// The items that a list has, if it and what is merged into it are short enough.
fn own_items(target: &Value, items: &[Value], path: &str) -> Result<Vec<Value>, String> {
    let own = target.as_array().map(Vec::as_slice).unwrap_or_default();
    few(own, path)?;
    few(items, path)?;
    Ok(own.to_vec())
}

fn merge_list(target: &mut Value, items: &[Value], path: &str) -> Result<(), String> {
    if SETS.contains(&path) {
        let mut own = own_items(target, items, path)?;
        for item in items {
            if !own.contains(item) {
                own.push(item.clone());
            }
        }
        *target = Value::Array(own);
        return Ok(());
    }
    let Some((_, key)) = MERGED.iter().find(|(of, _)| *of == path) else {
        *target = Value::Array(items.to_vec());
        return Ok(());
    };
    let mut own = own_items(target, items, path)?;
    for item in items {
        let Value::Object(fields) = item else {
            return Err(format!("{path}: an item is no object"));
        };
        let directive = directive(fields)?;
        if matches!(directive, Some(Directive::Replace)) && !fields.contains_key(*key) {
            // The whole list is replaced by the others.
            own.clear();
            continue;
        }
        let Some(id) = fields.get(*key) else {
            return Err(format!("{path}: an item does not have its merge key {key}"));
        };
        let place = own.iter().position(|one| one[*key] == *id);
        match (place, directive) {
            (Some(place), Some(Directive::Delete)) => drop(own.remove(place)),
            (None, Some(Directive::Delete)) => {}
            (Some(place), _) => merge_at(&mut own[place], item, path)?,
            (None, _) => {
                let mut fresh = Value::Null;
                merge_at(&mut fresh, item, path)?;
                own.push(fresh);
            }
        }
    }
    *target = Value::Array(own);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(mut document: Value, patch: &Value) -> Value {
        match merge(&mut document, patch) {
            Ok(()) => document,
            Err(fault) => Value::String(fault),
        }
    }

    #[test]
    fn fields_are_merged_and_null_takes_them_away() {
        let document = json!({"spec": {"a": 1, "b": {"c": 2}}, "list": [1]});
        let patch = json!({"spec": {"a": null, "b": {"d": 3}}, "list": [2]});
        assert_eq!(
            merged(document, &patch),
            json!({"spec": {"b": {"c": 2, "d": 3}}, "list": [2]})
        );
    }

    #[test]
    fn lists_with_a_merge_key_are_merged_by_it() {
        let document =
            json!({"metadata": {"ownerReferences": [{"uid": "1", "name": "a"}, {"uid": "2"}]}});
        let patch = json!({"metadata": {
            "$setElementOrder/ownerReferences": [{"uid": "1"}],
            "ownerReferences": [{"uid": "1", "kind": "K"}, {"$patch": "delete", "uid": "2"}, {"uid": "3"}],
        }});
        let expected = json!({"metadata": {"ownerReferences": [{"uid": "1", "name": "a", "kind": "K"}, {"uid": "3"}]}});
        assert_eq!(merged(document, &patch), expected);
    }

    #[test]
    fn lists_too_long_to_be_compared_are_not_merged() {
        let list = |count: usize| (0..count).map(|number| json!(number.to_string()));
        let finalizers =
            |count: usize| json!({"metadata": {"finalizers": list(count).collect::<Vec<_>>()}});
        let all = merged(json!({}), &finalizers(ITEMS_MAX));
        assert_eq!(all, finalizers(ITEMS_MAX));
        let refused = merged(json!({}), &finalizers(ITEMS_MAX + 1));
        assert!(
            refused
                .as_str()
                .is_some_and(|fault| fault.contains("501 items")),
            "{refused}"
        );
    }

    #[test]
    fn finalizers_are_a_set() {
        let document = json!({"metadata": {"finalizers": ["a", "b"]}});
        let patch = json!({"metadata": {"finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"]}});
        assert_eq!(
            merged(document, &patch),
            json!({"metadata": {"finalizers": ["a", "c"]}})
        );
    }

    #[test]
    fn directives_replace_and_delete_and_no_other_exists() {
        let document = json!({"spec": {"a": 1}, "x": {"y": 1}, "r": {"k": 1, "l": 2}});
        let patch = json!({
            "spec": {"$patch": "replace", "b": 2},
            "x": {"$patch": "delete"},
            "r": {"$retainKeys": ["k"], "k": 3},
        });
        assert_eq!(
            merged(document.clone(), &patch),
            json!({"spec": {"b": 2}, "r": {"k": 3}})
        );
        let wrong = json!({"spec": {"$patch": "twist"}});
        assert!(
            merged(document, &wrong)
                .as_str()
                .is_some_and(|fault| fault.contains("twist"))
        );
    }
}
