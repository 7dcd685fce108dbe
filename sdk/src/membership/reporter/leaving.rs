//! Leaving the cluster.

use std::time::Duration;

use super::Reporter;
use super::job::Reply;
use super::sent::is_over;
use crate::Ended;

impl Reporter {
    /// Leaves. The membership is over afterwards in any case: if the cluster was not told, the member expires.
    pub(super) async fn leave(self, drain_limit: Duration, reply: Reply<()>) {
        self.gate.update(|book| book.leave());
        self.gate.all_drained(drain_limit).await;
        // From here on no permit passes its check, so a drained gate stays drained.
        self.gate.update(|book| book.end(Ended::Left));
        let drained = self.gate.is_drained();
        let member = self.standing.lock().member.clone();
        let left = match member {
            Some(member) => {
                let left = self.client.send_leave(&member, &self.instance, drained);
                left.await.map(drop)
            }
            None => Ok(()),
        };
        let left = match left {
            // The member was gone before.
            Err(error) if is_over(&error) => Ok(()),
            left => left,
        };
        self.standing.update(|standing| standing.end(Ended::Left));
        // Sending fails if the caller has gone away; the answer is then not needed.
        let _ = reply.send(left);
    }
}
