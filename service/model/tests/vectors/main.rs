//! The test vectors of Kubernetes' own tests, and of what Kubernetes was seen to do, for the rules
//! in this crate.

mod identity;
mod leases;
mod names;
mod resources;
mod revisions;
#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

use serde_json::Value;

use suite::Fields;

/// The text of a field of a case.
fn text<'a>(value: &'a impl Fields, field: &str) -> &'a str {
    match value.field(field) {
        Some(Value::String(text)) => text,
        found => panic!("{field} is not a text but {found:?}"),
    }
}

/// The text of a field that may be null or left out.
fn optional_text<'a>(value: &'a impl Fields, field: &str) -> Option<&'a str> {
    value.field(field).and_then(Value::as_str)
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

/// Compares the actual value with the expected one.
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
