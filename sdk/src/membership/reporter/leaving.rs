//! Leaving.

use std::time::Duration;

use super::Reporter;
use super::job::Reply;
use super::sent::is_over;
use crate::Ended;

impl Reporter {
    /// Leaves. Whatever comes of it, the membership is over afterwards: a member that was not heard expires.
    pub(super) async fn leave(self, drain_limit: Duration, reply: Reply<()>) {
        self.gate.update(|book| book.leave());
        self.gate.all_drained(drain_limit).await;
        // From here on no permit passes its check, so what is drained stays so.
        self.gate.update(|book| book.end(Ended::Left));
        let drained = self.gate.is_drained();
        let member = self.standing.lock().member.clone();
        let left = match member {
            Some(member) => self.client.send_leave(&member, drained).await.map(drop),
            None => Ok(()),
        };
        let left = match left {
            // It had gone before.
            Err(error) if is_over(&error) => Ok(()),
            left => left,
        };
        self.standing.update(|standing| standing.end(Ended::Left));
        // A caller who has gone away does not want to know.
        let _ = reply.send(left);
    }
}
