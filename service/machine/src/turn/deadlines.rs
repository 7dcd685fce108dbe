//! Extends the deadline of a holder that renews, and sets those that follow from a topic's state.

use std::time::Duration;

use synod_model::GroupResource;

use super::Turn;
use crate::renewal::Renewal;
use crate::{Answer, Deadline, Holder, StateStatus};

impl Turn<'_> {
    /// Carries out a renewal, and returns its answer.
    pub(crate) fn renew(&mut self, renewal: Renewal) -> Answer {
        self.extend_deadline(renewal.holder, renewal.ttl.duration());
        renewal.answer
    }

    /// Moves the deadline of a holder that renews under the same token to `ttl` after this entry's log time, but never
    /// earlier than it may have been promised, perhaps by the leader alone: it may act until then, even if it now asks for
    /// a shorter TTL.
    pub(crate) fn extend_deadline(&mut self, holder: Holder, ttl: Duration) {
        let now = self.state.log_time;
        let promised = self.state.deadlines.promised(&holder, now);
        let at = now.after(ttl).max(promised.unwrap_or_default());
        self.put_deadline(holder, Deadline { at, ttl });
    }

    /// Sets the deadline at which something passes by itself for a topic. No lift moves it: nobody renews it. One that is
    /// due stays until the leader has named it: what changed meanwhile may not have decided what is due.
    pub(crate) fn follow_time(&mut self, resource: &GroupResource, status: &StateStatus) {
        let holder = Holder::Topic(resource.clone());
        if self.state.deadlines.is_due(&holder, self.state.log_time) {
            return;
        }
        let ttl = Duration::ZERO;
        match self.state.passes_at(resource, status) {
            Some(at) => self.put_deadline(holder, Deadline { at, ttl }),
            None => self.clear_deadline(&holder),
        }
    }

    /// Has the leader decide about a topic at once, as if something had passed for it.
    pub(crate) fn look_at_once(&mut self, resource: &GroupResource) {
        let (at, ttl) = (self.state.log_time, Duration::ZERO);
        self.put_deadline(Holder::Topic(resource.clone()), Deadline { at, ttl });
    }
}
