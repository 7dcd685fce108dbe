//! `ReleaseLease`: the holder gives a lease up, and the next holder gets it in the same command.

use synod_model::{Refusal, ReleaseLease};

use super::succession::{Present, settle};
use crate::Answer;
use crate::turn::Turn;

/// Releasing a lease that the caller does not hold succeeds.
pub(crate) fn apply(turn: &mut Turn<'_>, release: &ReleaseLease) -> Result<Answer, Refusal> {
    let key = &release.key;
    let place = turn.state().leases.ticket_of(key, &release.holder);
    // A waiter that sends a token has lost that hold: the token does not give up the place.
    if let Some(ticket) = place.filter(|_| release.token.is_none()) {
        turn.remove_waiter(key, ticket);
    }
    let lease = turn.state().leases.rows.get(key);
    let holds = lease
        .and_then(|lease| lease.hold.as_ref())
        .is_some_and(|hold| {
            hold.holder == release.holder && release.token.is_none_or(|token| token == hold.token)
        });
    if holds {
        settle(turn, key, Present::Goes);
    }
    Ok(Answer::Done)
}
