//! `RenewLeaseCandidate`: moves a candidate's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{ErrorKind, Refusal, RenewLeaseCandidate};

use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &RenewLeaseCandidate) -> Result<Answer, Refusal> {
    let present = turn.state().leases.candidate(&renew.key, &renew.identity);
    let Some(ttl) = present.map(|candidate| candidate.ttl) else {
        let message = format!(
            "\"{}\" does not stand for lease \"{}\" any more: stand again",
            renew.identity, renew.key
        );
        return Err(Refusal::new(ErrorKind::NotFound, message).with("lease", renew.key.as_str()));
    };
    let holder = Holder::LeaseCandidate(renew.key.clone(), renew.identity.clone());
    turn.extend_deadline(holder, ttl.duration());
    Ok(Answer::Done)
}
