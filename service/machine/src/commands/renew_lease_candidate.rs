//! `RenewLeaseCandidate`: moves a candidate's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{Refusal, RenewLeaseCandidate};

use crate::turn::Turn;
use crate::{Answer, renewal};

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &RenewLeaseCandidate) -> Result<Answer, Refusal> {
    let renewal = renewal::of_candidate(turn.state(), renew)?;
    Ok(turn.renew(renewal))
}
