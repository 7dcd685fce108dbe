//! Agreement: what all entries of a resource encode.

use crate::{ApiVersion, Condition, ConditionStatus, MemberId, Revision, WallTime};

/// The one encoding that all entries share; nothing if there is no entry, if one has no encoding
/// yet, or if two differ.
///
/// What the entries decode and serve plays no part in it.
pub fn common_encoding_version<'a>(
    encodings: impl IntoIterator<Item = Option<&'a ApiVersion>>,
) -> Option<&'a ApiVersion> {
    let mut encodings = encodings.into_iter();
    let first = encodings.next()??;
    encodings
        .all(|encoding| encoding == Some(first))
        .then_some(first)
}

/// The condition `AllEncodingVersionsEqual` of a resource whose common version is `common`.
///
/// `previous` is the condition before with the common version that it told of. There is a
/// transition if there was none, if the status flips, and also, unlike for other conditions, if
/// the common version changes from one to another while the status stays true.
pub fn agreement_condition(
    previous: Option<(&Condition, Option<&ApiVersion>)>,
    common: Option<&ApiVersion>,
    generation: u64,
    at: WallTime,
    revision: Revision,
) -> Condition {
    let (reason, message) = match common {
        Some(_) => ("CommonEncodingVersionSet", "Common encoding version set"),
        None => (
            "CommonEncodingVersionUnset",
            "Common encoding version unset",
        ),
    };
    let condition = Condition {
        kind: Condition::ALL_ENCODING_VERSIONS_EQUAL.to_owned(),
        status: ConditionStatus::from(common.is_some()),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: generation,
        transition: at,
        transition_revision: revision,
    };
    let unmoved = previous.filter(|(_, told_common)| *told_common == common);
    condition.after(unmoved.map(|(condition, _)| condition))
}

/// One step in the history of a resource's common version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementChange {
    /// The common version before.
    pub from: Option<ApiVersion>,
    /// The common version since.
    pub to: Option<ApiVersion>,
    /// The revision of the command that changed it.
    pub revision: Revision,
    /// When, for people.
    pub at: WallTime,
    /// The member whose change caused it; none if it was no single member's.
    pub cause: Option<MemberId>,
}

#[cfg(test)]
mod tests;
