//! The time that is left to members, leases and what else renews. The leader alone knows it.

use std::time::Duration;

use synod_machine::Holder;

use super::Handle;
use crate::read::Reading;

impl Handle {
    /// The log time that is left at least to what renews, in milliseconds: the leader knows of all renewals, another replica
    /// of those in the log, and may know of none that is left. `None` for a past revision, for which deadlines are not kept.
    pub(crate) fn remaining_ms(&self, reading: &Reading, holder: &Holder) -> Option<u64> {
        if !reading.is_present() {
            return None;
        }
        let state = &reading.published().state;
        let left = self.left_by_leader(reading, holder).or_else(|| {
            let by_log = state.deadline(holder)?.since(state.log_time());
            Some(by_log).filter(|left| !left.is_zero())
        })?;
        u64::try_from(left.as_millis()).ok()
    }

    /// The log time that is left to what renews. `None` if this replica does not lead.
    pub(crate) fn left_by_leader(&self, reading: &Reading, holder: &Holder) -> Option<Duration> {
        let state = &reading.published().state;
        self.shared.proposer.left(state, holder)
    }
}
