//! Brings changes of the replica set to the leader, whichever replica was asked, and tries again when the leadership
//! changes.

use std::time::Duration;

use synod_model::{ErrorKind, Refusal};
use synod_proto::status::key::NOT_EXECUTED;
use tokio::time::{Instant, timeout_at};

use crate::consensus::{Consensus, Leadership, SetError};
use crate::peer::messages::{SetChange, SetRequest, SetResponse};

/// The pause before another try, unless the leadership changes first.
const PAUSE: Duration = Duration::from_millis(100);

/// Carries out a change of the replica set. Returns whether anything was changed, which is said to be so, too, if an earlier
/// try may have changed it.
///
/// # Errors
///
/// Why nothing was changed; or `UNKNOWN_OUTCOME`.
pub(crate) async fn change_set(
    consensus: &Consensus,
    change: &SetChange,
    deadline: Instant,
) -> Result<bool, Refusal> {
    let mut may_count = false;
    loop {
        let mut leadership = consensus.leadership();
        match tried(consensus, change, deadline).await {
            Ok(changed) => return Ok(changed || may_count),
            // A try before this one may still be on its way.
            Err(SetError::Refused(refusal))
                if may_count && refusal.kind == ErrorKind::Unavailable =>
            {
                return Err(unknown());
            }
            Err(SetError::Refused(refusal)) => return Err(refusal),
            Err(SetError::NotLeader { .. }) => {}
            Err(SetError::Unknown) => may_count = true,
        }
        if Instant::now() >= deadline {
            return Err(if may_count { unknown() } else { no_leader() });
        }
        let until = deadline.min(Instant::now() + PAUSE);
        // After the pause and after a change of leadership alike, it is tried again.
        let _ = timeout_at(until, leadership.changed()).await;
    }
}

/// One try, here or at the replica that leads.
async fn tried(
    consensus: &Consensus,
    change: &SetChange,
    deadline: Instant,
) -> Result<bool, SetError> {
    let Leadership { leader, is_me, .. } = *consensus.leadership().borrow();
    let Some(leader) = leader else {
        return Err(SetError::NotLeader { hint: None });
    };
    if is_me {
        return consensus.change_set_here(change.clone(), deadline).await;
    }
    let left = deadline.saturating_duration_since(Instant::now());
    let request = SetRequest {
        change: change.clone(),
        // So that its refusal arrives in time, and is not taken for silence.
        timeout: left * 9 / 10,
    };
    match consensus.remote_change_set(leader, request, left).await {
        Ok(SetResponse::Done(changed)) => Ok(changed),
        Ok(SetResponse::NotLeader(hint)) => Err(SetError::NotLeader { hint }),
        Ok(SetResponse::Refused(refusal)) => Err(SetError::Refused(refusal)),
        Ok(SetResponse::Unknown) => Err(SetError::Unknown),
        Err(error) => {
            tracing::debug!(%leader, %error, "the leader did not answer to a change of the replica set");
            Err(SetError::Unknown)
        }
    }
}

fn no_leader() -> Refusal {
    let message = "no leader was found in time, so nothing was changed: try again";
    Refusal::new(ErrorKind::Unavailable, message).with(NOT_EXECUTED, true)
}

fn unknown() -> Refusal {
    Refusal::new(
        ErrorKind::UnknownOutcome,
        "the change of the replica set may have been carried out, or may still be: look at Cluster.Status, and ask again for \
         what is not so yet",
    )
}
