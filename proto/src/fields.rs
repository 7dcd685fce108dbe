//! What the parsing of every message needs.

use std::time::Duration;

use synod_model::{ClusterId, Violation, Violations};

/// The value of a field that must be set.
pub(crate) fn required<T>(field: Option<T>, rule: &str) -> Result<T, Violation> {
    field.ok_or_else(|| Violation::required(rule))
}

/// The cluster that a caller names; `None` if it names none.
pub(crate) fn cluster(text: &str) -> Result<Option<ClusterId>, Violation> {
    if text.is_empty() {
        Ok(None)
    } else {
        ClusterId::parse(text).map(Some)
    }
}

/// The value, if nothing was found to be wrong.
pub(crate) fn sound<T>(value: T, found: Violations) -> Result<T, Violations> {
    if found.is_empty() {
        Ok(value)
    } else {
        Err(found)
    }
}

/// Each item of a list, parsed; those that break a rule are named by their place in it.
pub(crate) fn list<P, T, E, C>(
    items: Vec<P>,
    parse: impl Fn(P) -> Result<T, E>,
) -> Result<C, Violations>
where
    E: Into<Violations>,
    C: FromIterator<T>,
{
    let mut found = Violations::new();
    let numbered = items.into_iter().enumerate();
    let parsed = numbered
        .filter_map(|(i, item)| found.parsed(&format!("[{i}]"), parse(item)))
        .collect();
    sound(parsed, found)
}

/// A span in milliseconds; less than one does not count.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
