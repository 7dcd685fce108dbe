//! The cases of Kubernetes' own tests, and of what Kubernetes has been seen to do, whose rule
//! lives in this crate.

mod agreement;
mod identity;
mod leases;
mod names;
mod reports;
mod resources;
mod revisions;
#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

use serde_json::Value;
use synod_model::Violations;

/// The text of a field of a case.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    match value.get(field) {
        Some(Value::String(text)) => text,
        found => panic!("{field} is not a text but {found:?} in {value}"),
    }
}

/// The text of a field that may be null or left out.
fn optional_text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str)
}

/// The texts of a list that may be left out.
fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    let items = value.get(field).and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The text with `<repeat:x:N>` replaced by N times x.
fn expanded(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<repeat:") else {
        return text.to_owned();
    };
    let repeat = rest.split_once('>').and_then(|(repeat, after)| {
        let (unit, times) = repeat.split_once(':')?;
        Some((unit.repeat(times.parse().ok()?), after))
    });
    let Some((repeated, after)) = repeat else {
        panic!("not a repetition: {text}");
    };
    format!("{before}{repeated}{}", expanded(after))
}

/// Holds the violations against the text that one of them must contain; none if there is none.
fn expect(violations: &Violations, contains: Option<&str>) -> Result<(), String> {
    let found: Vec<String> = violations.iter().map(ToString::to_string).collect();
    let met = match contains {
        None => found.is_empty(),
        Some(text) => found.iter().any(|violation| violation.contains(text)),
    };
    if met {
        Ok(())
    } else {
        Err(format!("expected {contains:?}, found {found:#?}"))
    }
}

/// Holds what came out against what must.
fn expect_eq<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Result<(), String> {
    if actual == expected {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {actual:?}"))
    }
}

#[test]
fn a_repetition_is_written_out() {
    assert_eq!(expanded("a.<repeat:x:3>/<repeat:yz:2>"), "a.xxx/yzyz");
    assert_eq!(expanded("plain"), "plain");
}
