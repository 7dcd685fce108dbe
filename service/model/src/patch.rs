//! Patches of an object's data and of its metadata, run in apply: RFC 7386 (merge) and RFC 6902 (a list of operations).
//!
//! A patch works on parsed documents whose numbers keep the text they were written with, so a number that it does not
//! touch keeps every digit. The size and depth of the result and the work are bounded, and the same document with the
//! same patch gives the same bytes on every replica.

mod metadata;
mod operations;
mod pointer;

use std::collections::BTreeMap;

use bytes::Bytes;

pub use metadata::MetadataPatch;

use crate::limits::OBJECT_BYTES_MAX;
use crate::{ApiVersion, ErrorKind, Json, Refusal, Violation, Violations};

/// A change of a JSON document, made for one encoding of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The encoding that the patch was made for; an object that is stored in another one is a conflict.
    pub encoding: ApiVersion,
    /// How the change is written.
    pub format: PatchFormat,
    /// The change.
    pub document: Bytes,
}

/// How a change of a JSON document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchFormat {
    /// RFC 7386: a partial document, with `null` for the members to remove.
    Merge,
    /// RFC 6902: a list of operations.
    Json,
}

/// What a test of a member says that its object does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    /// It fails, as RFC 6902 has it.
    Fails,
    /// It is `null`, as Kubernetes has it.
    IsNull,
}

/// Why a patch was not applied.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The patch is malformed, or does not fit this document.
    Invalid(Violation),
    /// The patch is legal, but refused for this document.
    Refused(ErrorKind, String),
}

impl Patch {
    /// The patched document; the same bytes if the patch changes nothing.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the patch is malformed or does not fit this document, or the document is no JSON object;
    /// `CONFLICT` if a test of the patch fails; `TOO_LARGE` if the result or the work is too large.
    pub fn applied_to(&self, document: &Bytes) -> Result<Bytes, Refusal> {
        self.applied(document, Missing::Fails)
    }

    /// The same, with the tests of Kubernetes: a member that an object does not have is `null` to them. Controllers ask so
    /// whether they are the first who write a list.
    ///
    /// # Errors
    ///
    /// Those of [`Self::applied_to`].
    pub fn applied_as_by_kubernetes(&self, document: &Bytes) -> Result<Bytes, Refusal> {
        self.applied(document, Missing::IsNull)
    }

    fn applied(&self, document: &Bytes, missing: Missing) -> Result<Bytes, Refusal> {
        match patched(document, self.format, &self.document, missing) {
            Ok(None) => Ok(document.clone()),
            Ok(Some(text)) => Ok(text.into()),
            Err(fault) => Err(fault.into()),
        }
    }
}

impl Fault {
    /// The same fault, of a patch in this field.
    fn of(self, field: &str) -> Self {
        match self {
            Self::Invalid(violation) => at(field, violation),
            Self::Refused(kind, message) => Self::Refused(kind, format!("{field}{message}")),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Invalid(violation) => {
                let refused = Violations::from(violation).into_result();
                refused.expect_err("one violation is enough to refuse")
            }
            Fault::Refused(kind, message) => Self::new(kind, message),
        }
    }
}

/// The patched document; `None` if the patch changes nothing.
fn patched(
    document: &[u8],
    format: PatchFormat,
    patch: &[u8],
    missing: Missing,
) -> Result<Option<String>, Fault> {
    let before = Json::parse_object(document).map_err(|violation| at("data", violation))?;
    let text = before.to_text();
    let after = changed(before, format, patch, missing);
    let after = after.map_err(|fault| fault.of("patch.document"))?;
    let patched = Json::Object(after).to_text();
    if patched.len() > OBJECT_BYTES_MAX {
        return Err(Fault::Refused(
            ErrorKind::TooLarge,
            format!(
                "the patched data would have {} bytes, and {OBJECT_BYTES_MAX} are allowed",
                patched.len()
            ),
        ));
    }
    // Compared as texts: `1.0` in the place of `1` is a change.
    Ok((patched != text).then_some(patched))
}

/// The members of the patched document. The paths of faults begin at the patch's document.
fn changed(
    before: Json,
    format: PatchFormat,
    patch: &[u8],
    missing: Missing,
) -> Result<BTreeMap<String, Json>, Fault> {
    let after = match format {
        PatchFormat::Merge => {
            let patch = Json::parse_object(patch).map_err(Fault::Invalid)?;
            merged(Some(before), patch)
        }
        PatchFormat::Json => {
            let patch = Json::parse(patch).map_err(Fault::Invalid)?;
            operations::applied(before, patch, missing)?
        }
    };
    let Json::Object(members) = after else {
        let rule = "must leave a JSON object";
        return Err(Fault::Invalid(Violation::required(rule)));
    };
    Ok(members)
}

/// RFC 7386. The result is nowhere deeper than the deeper of the two, so the bound on parsed documents bounds it.
fn merged(target: Option<Json>, patch: Json) -> Json {
    let Json::Object(changes) = patch else {
        return patch;
    };
    let mut members = match target {
        Some(Json::Object(members)) => members,
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_))
        | None => BTreeMap::new(),
    };
    for (key, change) in changes {
        if change == Json::Null {
            members.remove(&key);
        } else {
            let before = members.remove(&key);
            members.insert(key, merged(before, change));
        }
    }
    Json::Object(members)
}

fn at(field: &str, violation: Violation) -> Fault {
    Fault::Invalid(violation.at(field))
}

#[cfg(test)]
mod tests;
