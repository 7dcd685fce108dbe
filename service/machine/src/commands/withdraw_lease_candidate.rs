//! `WithdrawLeaseCandidate`: removes a candidate for a lease.

use synod_model::{Refusal, WithdrawLeaseCandidate};

use super::succession::{Present, settle};
use crate::Answer;
use crate::turn::Turn;

/// Withdrawing a candidate that does not exist succeeds.
pub(crate) fn apply(
    turn: &mut Turn<'_>,
    withdraw: &WithdrawLeaseCandidate,
) -> Result<Answer, Refusal> {
    let (key, identity) = (&withdraw.key, &withdraw.identity);
    if turn.state().leases.candidate(key, identity).is_some() {
        turn.remove_candidate(key, identity);
        settle(turn, key, Present::Stays);
    }
    Ok(Answer::Done)
}
