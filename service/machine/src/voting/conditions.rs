//! Computes the two conditions of a storage version.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{ApiVersion, Condition, ConditionStatus, MemberId, agreement_condition};

use super::decision::{Occasion, known};
use crate::tally::Tally;
use crate::{EntryRow, StateStatus, VersionStatus};

/// The most members that a message names; it counts the others.
const NAMED: usize = 8;

/// A storage version has no spec, so its generation never moves.
const GENERATION: u64 = 1;

/// `AllEncodingVersionsEqual`, as Kubernetes words it and with its rule for the transition time.
pub(super) fn all_equal(
    before: Option<&VersionStatus>,
    common: Option<&ApiVersion>,
    occasion: Occasion<'_>,
) -> Condition {
    let before = before.map(|before| (&before.all_equal, before.common.as_ref()));
    agreement_condition(before, common, GENERATION, occasion.wall, occasion.revision)
}

/// `DecodableByAll`: whether every entry decodes every version that is reported, selected or persisted; if not, which
/// member does not decode which version.
pub(super) fn decodable(
    before: Option<&VersionStatus>,
    entries: &OrdMap<MemberId, Arc<EntryRow>>,
    tally: &Tally,
    state: &StateStatus,
    occasion: Occasion<'_>,
) -> Condition {
    let asked: BTreeSet<&ApiVersion> = tally
        .encodings()
        .chain(&state.selected)
        .chain(known(&state.persisted))
        .collect();
    let lacking: Vec<&ApiVersion> = asked
        .into_iter()
        .filter(|version| !tally.all_decode(version))
        .collect();
    let (status, reason, message) = if lacking.is_empty() {
        let message = "every entry decodes every reported, selected and persisted version";
        (
            ConditionStatus::True,
            "AllVersionsDecodable",
            message.to_owned(),
        )
    } else {
        (
            ConditionStatus::False,
            "VersionsNotDecodable",
            who_lacks(entries, &lacking),
        )
    };
    let before = before
        .map(|before| &before.decodable)
        .filter(|before| before.status == status);
    Condition {
        kind: Condition::DECODABLE_BY_ALL.to_owned(),
        status,
        reason: reason.to_owned(),
        message,
        observed_generation: GENERATION,
        transition: before.map_or(occasion.wall, |before| before.transition),
        transition_revision: before.map_or(occasion.revision, |before| before.transition_revision),
    }
}

fn who_lacks(entries: &OrdMap<MemberId, Arc<EntryRow>>, lacking: &[&ApiVersion]) -> String {
    let mut pairs = entries.iter().flat_map(|(member, row)| {
        let missing = lacking
            .iter()
            .filter(|version| !row.decodable.contains(version));
        missing.map(move |version| format!("{member} does not decode {version}"))
    });
    let named: Vec<String> = pairs.by_ref().take(NAMED).collect();
    match pairs.count() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
