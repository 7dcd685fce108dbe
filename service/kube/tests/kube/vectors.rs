//! Cases of Kubernetes' own tests, asked of the Kubernetes API where its callers see the outcome. See `tests/vectors`.

#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

mod error_texts;
mod migrations;
mod migrator;
mod printers;
mod snapshots;
mod stage;
mod statuses;

use serde_json::Value;

use suite::{Case, Fields};

/// Runs each case in a runtime of its own.
fn run<F: AsyncFn(&str, &Case<'_>) -> Result<(), String>>(file: &str, count: usize, check: F) {
    suite::run(file, count, &[], |section, case| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(check(section, case))
    });
}

fn text<'a>(case: &'a impl Fields, field: &str) -> &'a str {
    match case.field(field) {
        Some(Value::String(text)) => text,
        found => panic!("{field} is not a text but {found:?}"),
    }
}

fn texts(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// Fails unless both values are equal.
fn expect_eq(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found} and not {expected}")),
    }
}

/// Fails unless the error contains this text, or unless there is neither an error nor a text.
fn expect_error(error: Option<&str>, contains: &Value) -> Result<(), String> {
    match (error, contains.as_str()) {
        (None, None) => Ok(()),
        (Some(error), Some(contains)) if error.contains(contains) => Ok(()),
        _ => Err(format!("{error:?} and not {contains}")),
    }
}
