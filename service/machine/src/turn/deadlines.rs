//! Extends the deadline of a holder that renews.

use std::time::Duration;

use super::Turn;
use crate::{Deadline, Holder};

impl Turn<'_> {
    /// Moves the deadline of a holder that renews under the same token to `ttl` after this entry's log time, but never
    /// earlier than before: it may act until the promised deadline, even if it now asks for a shorter TTL.
    pub(crate) fn extend_deadline(&mut self, holder: Holder, ttl: Duration) {
        let at = self.state.log_time.after(ttl);
        let promised = self.state.deadlines.effective(&holder);
        let at = promised.map_or(at, |promised| promised.max(at));
        self.put_deadline(holder, Deadline { at, ttl });
    }
}
