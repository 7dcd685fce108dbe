//! Deadlines of those who go on.

use std::time::Duration;

use super::Turn;
use crate::{Deadline, Holder};

impl Turn<'_> {
    /// Moves the deadline of a holder that goes on under the same token to `ttl` after this entry's log time, but never
    /// before what it was promised: it may act on that until then, whatever it has asked for since.
    pub(crate) fn extend_deadline(&mut self, holder: Holder, ttl: Duration) {
        let at = self.state.log_time.after(ttl);
        let promised = self.state.deadlines.effective(&holder);
        let at = promised.map_or(at, |promised| promised.max(at));
        self.put_deadline(holder, Deadline { at, ttl });
    }
}
