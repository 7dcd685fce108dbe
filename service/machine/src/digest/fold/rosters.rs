//! The canonical form of rosters, and of who is missing.

use std::sync::Arc;

use synod_model::{Absent, ResourceScope, Roster, RosterRule};

use super::values::{fold_both, fold_metadata};
use crate::digest::{RowHash, RowHasher};

pub(crate) fn roster_hash(roster: &Roster) -> RowHash {
    let mut to = RowHasher::new(60);
    fold_roster(&mut to, roster);
    to.finish()
}

pub(super) fn fold_change(
    to: &mut RowHasher,
    scope: &ResourceScope,
    before: &Option<Arc<Roster>>,
    after: &Option<Arc<Roster>>,
) {
    to.number(26);
    to.text(&scope.to_string());
    fold_both(to, before, after, fold_roster);
}

pub(super) fn fold_absent(to: &mut RowHasher, absent: &Absent) {
    let Absent {
        members,
        unnamed,
        short,
        labels,
    } = absent;
    to.list(members.iter(), |to, id| to.text(id.as_str()));
    to.number(u64::from(*unnamed));
    to.number(u64::from(*short));
    if !labels.is_empty() {
        to.text(&labels.to_string());
    }
}

fn fold_roster(to: &mut RowHasher, roster: &Roster) {
    let Roster {
        scope,
        metadata,
        rule,
    } = roster;
    let RosterRule {
        members,
        labels,
        least,
    } = rule;
    to.text(&scope.to_string());
    fold_metadata(to, metadata);
    to.list(members.iter(), |to, id| to.text(id.as_str()));
    to.text(&labels.to_string());
    to.number(u64::from(*least));
}
