//! Reading what a replica answered.

use synod_model::{ApiVersion, Violation, Violations};

use crate::Error;

/// A value of this crate that arrives as a message of the protocol.
pub(crate) trait FromWire<P>: Sized {
    /// The value in the message; if it has none, every reason why.
    fn from_wire(pb: P) -> Result<Self, Violations>;
}

/// The value in an answer.
///
/// # Errors
///
/// A replica that breaks the protocol.
pub(crate) fn read<P, T: FromWire<P>>(pb: P) -> Result<T, Error> {
    T::from_wire(pb).map_err(|fault| Error::malformed(&fault))
}

/// The value of a field that every replica sets.
pub(super) fn required<T>(field: Option<T>) -> Result<T, Violation> {
    field.ok_or_else(|| Violation::required("every replica sets it"))
}

/// The values of a list; those that cannot be read are named by their place in it.
pub(crate) fn list<P, T, E: Into<Violations>>(
    items: Vec<P>,
    parse: impl Fn(P) -> Result<T, E>,
) -> Result<Vec<T>, Violations> {
    let mut found = Violations::new();
    let parsed = items
        .into_iter()
        .enumerate()
        .filter_map(|(i, item)| found.parsed(&format!("[{i}]"), parse(item)))
        .collect();
    if found.is_empty() {
        Ok(parsed)
    } else {
        Err(found)
    }
}

/// The versions in a list.
pub(super) fn versions(texts: Vec<String>) -> Result<Vec<ApiVersion>, Violations> {
    list(texts, |text| ApiVersion::parse(&text))
}

/// The version in a field that may be unset.
pub(super) fn version(text: Option<&str>) -> Result<Option<ApiVersion>, Violation> {
    text.map(ApiVersion::parse).transpose()
}
