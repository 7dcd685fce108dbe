//! Compares a result with what a case expects.

use serde_json::Value;

use crate::values::{number, only_entry};

/// Every matcher, by its key.
pub(crate) const MATCHERS: [&str; 7] = [
    "$any",
    "$absent",
    "$greater",
    "$length",
    "$contains",
    "$has",
    "$not",
];

/// The differences, each with its path; empty if the value matches. `None` is a value that is not there.
pub(crate) fn differences(expected: &Value, value: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    compare(expected, value, "", &mut found);
    found
}

fn matches(expected: &Value, value: Option<&Value>) -> bool {
    differences(expected, value).is_empty()
}

fn compare(expected: &Value, value: Option<&Value>, path: &str, found: &mut Vec<String>) {
    let value = value.filter(|value| !value.is_null());
    if let Some((key, operand)) = only_entry(expected).filter(|(key, _)| key.starts_with('$')) {
        match by_matcher(key, operand, value) {
            Some(true) => {}
            Some(false) => found.push(told(path, expected, value)),
            None => found.push(format!("{path}: there is no matcher `{key}`")),
        }
        return;
    }
    let Some(value) = value else {
        let leaves = leaves_are_default(expected);
        if !leaves {
            found.push(told(path, expected, None));
        }
        return;
    };
    match (expected, value) {
        (Value::Object(fields), Value::Object(values)) => {
            for (key, expected) in fields {
                compare(expected, values.get(key), &format!("{path}.{key}"), found);
            }
        }
        (Value::Array(items), Value::Array(values)) if items.len() == values.len() => {
            for (index, (expected, value)) in items.iter().zip(values).enumerate() {
                compare(expected, Some(value), &format!("{path}[{index}]"), found);
            }
        }
        (expected, value) => {
            let numbers = number(expected).zip(number(value));
            let are_equal = numbers.map_or(expected == value, |(left, right)| left == right);
            if !are_equal {
                found.push(told(path, expected, Some(value)));
            }
        }
    }
}

/// Whether a missing value matches too, because everything expected is a default.
fn leaves_are_default(expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => fields.values().all(|expected| matches(expected, None)),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty() || text == "0",
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Bool(flag) => !flag,
        Value::Null => true,
    }
}

/// Whether a matcher matches; `None` if there is no such matcher.
fn by_matcher(key: &str, operand: &Value, value: Option<&Value>) -> Option<bool> {
    Some(match key {
        "$any" => value.is_some(),
        "$absent" => value.is_none(),
        "$greater" => value
            .and_then(number)
            .zip(number(operand))
            .is_some_and(|(value, least)| value > least),
        "$length" => {
            let items = value.and_then(Value::as_array);
            items
                .map(|items| items.len() as u64)
                .is_some_and(|length| Some(length) == number(operand))
        }
        "$contains" => {
            let items = value.and_then(Value::as_array);
            let wanted = operand.as_array();
            items.zip(wanted).is_some_and(|(items, wanted)| {
                wanted
                    .iter()
                    .all(|wanted| items.iter().any(|item| matches(wanted, Some(item))))
            })
        }
        "$has" => {
            let text = value.and_then(Value::as_str);
            text.zip(operand.as_str())
                .is_some_and(|(text, part)| text.contains(part))
        }
        "$not" => !matches(operand, value),
        _ => return None,
    })
}

fn told(path: &str, expected: &Value, value: Option<&Value>) -> String {
    let came = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    format!("{path}: expected {expected}, but {came} came")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_matcher_matches_what_it_should_and_nothing_else() {
        for (expected, good, bad) in [
            (json!({"$any": true}), json!(0), Value::Null),
            (json!({"$absent": true}), Value::Null, json!(0)),
            (json!({"$greater": 9}), json!("10"), json!("9")),
            (json!({"$length": 1}), json!([0]), json!([])),
            (
                json!({"$contains": [{"a": 1}]}),
                json!([{"a": 2}, {"a": 1, "b": 1}]),
                json!([{"a": 2}]),
            ),
            (json!({"$has": "b"}), json!("abc"), json!("ac")),
            (json!({"$not": "a"}), json!("b"), json!("a")),
        ] {
            assert!(matches(&expected, Some(&good)), "{expected} {good}");
            assert!(!matches(&expected, Some(&bad)), "{expected} {bad}");
        }
        assert_eq!(MATCHERS.len(), 7);
        assert!(!matches(&json!({"$some": 1}), Some(&json!(1))));
    }

    #[test]
    fn mappings_match_in_part_and_lists_as_a_whole() {
        assert!(matches(&json!({"a": 1}), Some(&json!({"a": "1", "b": 2}))));
        assert!(!matches(&json!({"a": 1}), Some(&json!({"b": 2}))));
        assert!(matches(
            &json!([{"a": 1}]),
            Some(&json!([{"a": 1, "b": 2}]))
        ));
        assert!(!matches(&json!([1]), Some(&json!([1, 2]))));
        assert!(!matches(&json!("a"), Some(&json!("b"))));
    }

    #[test]
    fn a_default_matches_what_is_left_out() {
        for default in [
            json!(false),
            json!(0),
            json!("0"),
            json!(""),
            json!([]),
            json!({"a": 0}),
        ] {
            assert!(matches(&default, None), "{default}");
        }
        for other in [
            json!(true),
            json!(1),
            json!("a"),
            json!([1]),
            json!({"a": 1}),
        ] {
            assert!(!matches(&other, None), "{other}");
        }
    }
}
