//! `RenewLease`: moves a lease's deadline, and nothing else: no revision, no event, O(1).

use synod_model::{Refusal, RenewLease};

use crate::turn::Turn;
use crate::{Answer, renewal};

pub(crate) fn apply(turn: &mut Turn<'_>, renew: &RenewLease) -> Result<Answer, Refusal> {
    let renewal = renewal::of_lease(turn.state(), renew)?;
    Ok(turn.renew(renewal))
}
