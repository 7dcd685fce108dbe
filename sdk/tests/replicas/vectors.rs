//! The cases of Kubernetes' own tests whose rule lives in this crate. See `tests/vectors`.

#[path = "../../../tests/vectors/suite.rs"]
mod suite;

mod error_texts;
mod retry_budget;
mod write_barrier;

use serde_json::Value;

fn text<'a>(case: &'a impl suite::Fields, field: &str) -> &'a str {
    match case.field(field) {
        Some(Value::String(text)) => text,
        found => panic!("{field} is not a text but {found:?}"),
    }
}

/// Fails unless both are the same.
fn expect(found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{found:?} and not {expected:?}"))
    }
}
