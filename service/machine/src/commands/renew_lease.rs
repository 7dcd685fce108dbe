//! `RenewLease`: moves a lease's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{Refusal, RenewLease};

use super::succession;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &RenewLease) -> Result<Answer, Refusal> {
    let lease = turn.state().holds_lease(&renew.key, renew.token)?;
    let ttl = lease
        .hold
        .as_ref()
        .expect("a lease that is held has a hold")
        .ttl;
    succession::renew(turn, &renew.key, ttl);
    Ok(Answer::LeaseHeld {
        token: renew.token,
        ttl,
    })
}
