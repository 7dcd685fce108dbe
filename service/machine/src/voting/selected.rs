//! Decides which version is selected: the one that voters are told to encode.

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{ApiVersion, MemberId, SERVED, Switch, WITHDRAWN, feature_level};

use crate::EntryRow;
use crate::tally::Tally;

/// The selected version after the entries changed.
///
/// It moves only to a version that every entry decodes: to the preference of the oldest voter while nothing is
/// selected; then to the unanimous preference of the voters if no fixed entry differs; without voters, to the common
/// encoding of the fixed entries. In all other cases, and without any entry, it stays.
///
/// While votes are switched off, it stays as long as there is a voter. Fixed entries alone are no votes.
pub(super) fn next(
    tally: &Tally,
    entries: &OrdMap<MemberId, Arc<EntryRow>>,
    selected: Option<&ApiVersion>,
    votes: Switch,
) -> Option<ApiVersion> {
    if tally.is_empty() || stands_still(tally, votes) {
        return selected.cloned();
    }
    let Some(selected) = selected else {
        return first(tally, entries).cloned();
    };
    let candidate = if tally.voters() == 0 {
        tally.common_fixed()
    } else {
        tally
            .common_preference()
            .filter(|version| !tally.fixed_elsewhere(version))
    };
    Some(
        candidate
            .filter(|version| tally.all_decode(version))
            .unwrap_or(selected)
            .clone(),
    )
}

/// The selected level of a feature after the entries changed: the highest that every entry has.
///
/// It only rises. An entry that lacks the level is refused, so that nothing is unlearned that may be stored.
pub(super) fn highest(
    tally: &Tally,
    selected: Option<&ApiVersion>,
    votes: Switch,
) -> Option<ApiVersion> {
    if stands_still(tally, votes) {
        return selected.cloned();
    }
    let had_by_all = tally.decodable_by_all().into_iter();
    let highest = had_by_all.max_by_key(feature_level);
    let rises = |level: &ApiVersion| {
        selected.is_none_or(|selected| feature_level(level) > feature_level(selected))
    };
    highest.filter(rises).or_else(|| selected.cloned())
}

/// What counts for a served version beside its entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    /// Whether the date until which it is served has not come.
    pub(super) promised: bool,
    /// Whether somebody who may not serve it is missing, or is gone and may still answer.
    pub(super) hindered: bool,
}

/// Whether a version is to be served after the entries changed.
///
/// It is from when every entry can serve it and prefers to and nothing has it `hindered`, until every entry prefers that
/// it is withdrawn. While it is `promised`, nobody withdraws it, and neither a preference to do so nor who is missing keeps
/// it from being the first selection: it was served before there was anybody to agree with.
pub(super) fn served(
    tally: &Tally,
    selected: Option<&ApiVersion>,
    votes: Switch,
    Served { promised, hindered }: Served,
) -> Option<ApiVersion> {
    if tally.is_empty() || stands_still(tally, votes) {
        return selected.cloned();
    }
    let is = |value: &str| selected.is_some_and(|selected| selected.as_str() == value);
    let [served, withdrawn] = [SERVED, WITHDRAWN].map(value);
    if is(SERVED) {
        let may_withdraw = !promised && tally.all_prefer(&withdrawn);
        return Some(if may_withdraw { withdrawn } else { served });
    }
    let is_advertised = tally.all_prefer(&served) && !hindered;
    let is_wanted = is_advertised || (promised && !is(WITHDRAWN));
    let next = if is_wanted && tally.all_decode(&served) {
        served
    } else {
        withdrawn
    };
    // What was reported before there were topics may be something else.
    let next = Some(next).filter(|next| tally.all_decode(next));
    next.or_else(|| selected.cloned())
}

fn value(text: &str) -> ApiVersion {
    ApiVersion::parse(text).expect("both values are legal versions")
}

/// While votes are switched off no voter moves anything.
fn stands_still(tally: &Tally, votes: Switch) -> bool {
    votes == Switch::Off && tally.voters() > 0
}

/// The preference of the oldest voter whose preference every entry decodes. No two entries have the same age: each
/// report is a revision of its own.
fn first<'a>(
    tally: &Tally,
    entries: &'a OrdMap<MemberId, Arc<EntryRow>>,
) -> Option<&'a ApiVersion> {
    let voters = entries
        .values()
        .filter_map(|row| row.preferred().map(|preferred| (row.since, preferred)));
    voters
        .filter(|(_, preferred)| tally.all_decode(preferred))
        .min_by_key(|(since, _)| *since)
        .map(|(_, version)| version)
}
