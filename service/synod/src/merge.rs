//! The three-way merge of `synod apply`: of the wanted document, the one applied last, and the stored one.

use serde_json::{Map, Value};

/// Returns `current` with everything that `wanted` sets, without what `last` set and `wanted` no longer does. Fields
/// that neither of them has ever set stay.
///
/// Maps are merged key by key. Everything else is replaced as a whole, since the items of a list have no key to match
/// them by. A field that is null in `wanted` is removed.
pub(crate) fn merged(last: Option<&Value>, wanted: &Value, current: Option<&Value>) -> Value {
    let Value::Object(wanted) = wanted else {
        return wanted.clone();
    };
    let last = last.and_then(Value::as_object);
    let current = current.and_then(Value::as_object);
    let mut result = current.cloned().unwrap_or_default();
    for (key, last) in last.into_iter().flatten() {
        if !wanted.contains_key(key)
            && let Some(current) = result.shift_remove(key)
            && let Some(foreign) = without(last, current)
        {
            result.insert(key.clone(), foreign);
        }
    }
    for (key, value) in wanted {
        if value.is_null() {
            result.shift_remove(key);
            continue;
        }
        let of = |map: Option<&'_ Map<String, Value>>| map.and_then(|map| map.get(key)).cloned();
        let (last, current) = (of(last), of(current));
        let value = merged(last.as_ref(), value, current.as_ref());
        result.insert(key.clone(), value);
    }
    Value::Object(result)
}

/// What is left of `current` without the fields of `last`: within maps, the fields that others have set.
fn without(last: &Value, current: Value) -> Option<Value> {
    let (Value::Object(last), Value::Object(mut current)) = (last, current) else {
        return None;
    };
    for (key, last) in last {
        if let Some(member) = current.shift_remove(key)
            && let Some(foreign) = without(last, member)
        {
            current.insert(key.clone(), foreign);
        }
    }
    (!current.is_empty()).then_some(Value::Object(current))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(last: Value, wanted: &Value, current: Value, expected: &Value) {
        let found = merged(Some(&last), wanted, Some(&current));
        assert_eq!(&found, expected);
        // Applying the same document again changes nothing.
        assert_eq!(&merged(Some(wanted), wanted, Some(&found)), expected);
    }

    #[test]
    fn what_others_have_set_stays() {
        check(
            json!({"spec": {"size": 3}}),
            &json!({"spec": {"size": 4}}),
            json!({"spec": {"size": 3, "colour": "red"}, "status": {"ready": true}}),
            &json!({"spec": {"size": 4, "colour": "red"}, "status": {"ready": true}}),
        );
    }

    #[test]
    fn what_is_no_longer_said_goes_also_if_others_have_changed_it() {
        check(
            json!({"spec": {"size": 3, "shape": "round", "deep": {"a": 1, "b": 2}}}),
            &json!({"spec": {"size": 3, "deep": {"a": 1}}}),
            json!({"spec": {"size": 3, "shape": "square", "deep": {"a": 1, "b": 9, "c": 3}}}),
            &json!({"spec": {"size": 3, "deep": {"a": 1, "c": 3}}}),
        );
    }

    // Guarantee: O-16
    #[test]
    fn of_a_map_that_is_no_longer_said_only_what_was_said_goes() {
        check(
            json!({"labels": {"app": "x", "deep": {"a": 1}}, "own": {"a": 1}, "list": [1], "form": {"a": 1}}),
            &json!({}),
            json!({
                "labels": {"app": "y", "deep": {"a": 1}, "team": "z"},
                "own": {"a": 2},
                "list": [1, 7],
                "form": 3,
            }),
            &json!({"labels": {"team": "z"}}),
        );
    }

    #[test]
    fn what_is_said_is_set_also_if_others_have_changed_or_removed_it() {
        check(
            json!({"a": 1, "b": {"c": 2}}),
            &json!({"a": 1, "b": {"c": 2}}),
            json!({"a": 9}),
            &json!({"a": 1, "b": {"c": 2}}),
        );
    }

    #[test]
    fn lists_are_taken_whole() {
        check(
            json!({"l": [1]}),
            &json!({"l": [1, 2]}),
            json!({"l": [1, 7, 8]}),
            &json!({"l": [1, 2]}),
        );
    }

    #[test]
    fn null_takes_a_field_away_and_leaves_no_null_behind() {
        check(
            json!({}),
            &json!({"a": null, "b": {"c": null, "d": 1}}),
            json!({"a": 1, "b": {"c": 2}}),
            &json!({"b": {"d": 1}}),
        );
        let fresh = merged(None, &json!({"b": {"c": null}}), None);
        assert_eq!(fresh, json!({"b": {}}));
    }

    #[test]
    fn a_field_that_changes_its_form_is_what_is_wanted() {
        check(
            json!({"a": {"b": 1}}),
            &json!({"a": 1}),
            json!({"a": {"b": 1, "foreign": 2}}),
            &json!({"a": 1}),
        );
        check(
            json!({"a": 1}),
            &json!({"a": {"b": 1}}),
            json!({"a": 1}),
            &json!({"a": {"b": 1}}),
        );
    }

    #[test]
    fn the_first_apply_takes_over_an_object_that_others_have_made() {
        let found = merged(None, &json!({"a": 1}), Some(&json!({"a": 0, "b": 2})));
        assert_eq!(found, json!({"a": 1, "b": 2}));
    }
}
