//! The memory of the memberships of servers, by their ids.

use std::sync::Arc;
use std::time::Duration;

use imbl::{OrdMap, OrdSet};
use synod_model::limits::{ABSENCE_GRACE, PAST_MEMBERS_MAX};
use synod_model::{LogTime, MemberId};

use crate::MembershipRow;

/// The memory of the memberships of every server that is a member, and of the last ones that were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memberships {
    rows: OrdMap<MemberId, Arc<MembershipRow>>,
    /// Those that are gone, by their last renewal.
    gone: OrdSet<(LogTime, MemberId)>,
}

impl Memberships {
    pub(crate) fn get(&self, id: &MemberId) -> Option<&Arc<MembershipRow>> {
        self.rows.get(id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&MemberId, &Arc<MembershipRow>)> {
        self.rows.iter()
    }

    /// Inserts a row, and returns the one before.
    pub(crate) fn insert(
        &mut self,
        id: MemberId,
        row: Arc<MembershipRow>,
    ) -> Option<Arc<MembershipRow>> {
        let renewed = row.renewed;
        let before = self.rows.insert(id.clone(), row);
        if let Some(gone) = before.as_ref().and_then(|before| before.renewed) {
            self.gone.remove(&(gone, id.clone()));
        }
        if let Some(renewed) = renewed {
            self.gone.insert((renewed, id));
        }
        before
    }

    pub(crate) fn remove(&mut self, id: &MemberId) -> Option<Arc<MembershipRow>> {
        let before = self.rows.remove(id)?;
        if let Some(gone) = before.renewed {
            self.gone.remove(&(gone, id.clone()));
        }
        Some(before)
    }

    /// The one that is gone for longest, if more are remembered than the bound.
    pub(crate) fn surplus(&self) -> Option<MemberId> {
        let oldest = self.gone.get_min().map(|(_, id)| id.clone());
        oldest.filter(|_| self.gone.len() > PAST_MEMBERS_MAX)
    }
}

impl MembershipRow {
    /// Whether the server was away for so long that nobody vouches for what it did.
    pub(crate) fn was_long_away(&self) -> bool {
        self.away.is_some_and(|away| away > ABSENCE_GRACE)
    }

    /// How long it was away, if that was a short absence. A process that joins again was never away.
    pub(crate) fn short_absence(&self) -> Option<Duration> {
        self.away
            .filter(|away| !away.is_zero() && *away <= ABSENCE_GRACE)
    }
}
