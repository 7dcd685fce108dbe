//! Agreement on a resource: the one version that all report entries of the resource encode.

use crate::{ApiVersion, Condition, ConditionStatus, Identity, MemberId, Revision, WallTime};

/// The version that all entries encode; `None` if there is no entry, if an entry has no encoding yet, or if two entries
/// differ.
///
/// The versions that entries decode and serve do not count. This function takes a step for each entry. A replica
/// derives the same from counts, and checks that result with this function when it reads a checkpoint.
pub(crate) fn common_encoding_version<'a, V: PartialEq + ?Sized>(
    encodings: impl IntoIterator<Item = Option<&'a V>>,
) -> Option<&'a V> {
    let mut encodings = encodings.into_iter();
    let first = encodings.next()??;
    encodings
        .all(|encoding| encoding == Some(first))
        .then_some(first)
}

/// The condition `AllEncodingVersionsEqual` of a resource whose common version is `common`.
///
/// `previous` is the condition so far and the common version it was computed from. There is a transition if there was
/// no condition, if the status flips, and also, unlike for other conditions, if the common version changes from one to
/// another while the status stays true.
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

/// One change of the version that a resource's members agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementChange {
    /// The version agreed on before; `None` if there was no agreement.
    pub from: Option<ApiVersion>,
    /// The version agreed on since; `None` if there is no agreement.
    pub to: Option<ApiVersion>,
    /// The revision of the command that changed the agreement.
    pub revision: Revision,
    /// The wall time of the change; only shown.
    pub at: WallTime,
    /// What caused the change; `None` if no single member, observation or roster did.
    pub cause: Option<AgreementCause>,
    /// The proved identity of the caller whose command changed the agreement. `None` for commands of the replicas, for
    /// callers that prove nothing, and for changes under an older machine version.
    pub caller: Option<Identity>,
}

/// What began or ended an agreement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgreementCause {
    /// A statement of this member, or its coming or going.
    Member(MemberId),
    /// What an observer saw in discovery, beside the reports.
    Observed,
    /// A roster that was set or deleted.
    Roster,
}

impl AgreementCause {
    /// The member, if a member was the cause.
    pub const fn member(&self) -> Option<&MemberId> {
        match self {
            Self::Member(id) => Some(id),
            Self::Observed | Self::Roster => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(text: &str) -> ApiVersion {
        ApiVersion::parse(text).unwrap()
    }

    /// The condition computed at a revision, from which its times and its generation are derived.
    fn told(
        previous: Option<(&Condition, Option<&ApiVersion>)>,
        common: Option<&ApiVersion>,
        revision: u64,
    ) -> Condition {
        let at = WallTime::from_millis(revision * 1_000);
        agreement_condition(previous, common, revision, at, Revision::new(revision))
    }

    #[test]
    fn entries_that_encode_one_version_have_it_in_common() {
        let (v1, v2) = (version("v1"), version("v2"));
        assert_eq!(common_encoding_version([Some(&v1)]), Some(&v1));
        assert_eq!(common_encoding_version([Some(&v1), Some(&v1)]), Some(&v1));
        assert_eq!(common_encoding_version([Some(&v1), Some(&v2)]), None);
    }

    #[test]
    fn no_entries_have_nothing_in_common() {
        assert_eq!(common_encoding_version::<ApiVersion>([]), None);
    }

    #[test]
    fn an_entry_without_an_encoding_has_nothing_in_common_with_any() {
        let v1 = version("v1");
        assert_eq!(common_encoding_version::<ApiVersion>([None]), None);
        assert_eq!(common_encoding_version::<ApiVersion>([None, None]), None);
        assert_eq!(common_encoding_version([None, Some(&v1)]), None);
        assert_eq!(common_encoding_version([Some(&v1), None]), None);
    }

    #[test]
    fn a_new_condition_has_just_passed() {
        let condition = told(None, None, 3);
        assert_eq!(condition.status, ConditionStatus::False);
        assert_eq!(condition.transition_revision, Revision::new(3));
    }

    #[test]
    fn disagreement_that_lasts_keeps_its_transition() {
        let before = told(None, None, 3);
        let after = told(Some((&before, None)), None, 4);
        assert_eq!(
            (after.transition, after.transition_revision),
            (before.transition, Revision::new(3))
        );
        assert_eq!(after.observed_generation, 4);
    }

    #[test]
    fn a_common_version_that_becomes_another_is_a_transition_though_the_status_stays() {
        let (v1, v2) = (version("v1"), version("v2"));
        let before = told(None, Some(&v1), 3);
        let after = told(Some((&before, Some(&v1))), Some(&v2), 4);
        assert_eq!(
            (before.status, after.status),
            (ConditionStatus::True, ConditionStatus::True)
        );
        assert_eq!(after.transition_revision, Revision::new(4));
    }

    proptest! {
        #[test]
        fn a_version_is_common_exactly_when_nobody_encodes_anything_else(
            encodings in prop::collection::vec(prop::option::of("v[12]"), 0..5)
        ) {
            let encodings: Vec<Option<ApiVersion>> =
                encodings.iter().map(|text| text.as_deref().map(version)).collect();
            let common = common_encoding_version(encodings.iter().map(Option::as_ref));
            for candidate in ["v1", "v2"].map(version) {
                let others = encodings.iter().filter(|encoding| encoding.as_ref() != Some(&candidate));
                let shared = others.count() == 0 && !encodings.is_empty();
                prop_assert_eq!(common == Some(&candidate), shared);
            }
        }

        #[test]
        fn the_transition_moves_exactly_when_the_common_version_does(
            commons in prop::collection::vec(prop::option::of("v[12]"), 1..8)
        ) {
            let commons: Vec<Option<ApiVersion>> =
                commons.iter().map(|text| text.as_deref().map(version)).collect();
            let mut last: Option<(Condition, Option<ApiVersion>)> = None;
            for (revision, common) in (1..).zip(&commons) {
                let previous = last.as_ref().map(|(condition, common)| (condition, common.as_ref()));
                let condition = told(previous, common.as_ref(), revision);
                let expected = match &last {
                    Some((before, was)) if was == common => before.transition_revision,
                    _ => Revision::new(revision),
                };
                prop_assert_eq!(condition.transition_revision, expected);
                last = Some((condition, common.clone()));
            }
        }
    }
}
