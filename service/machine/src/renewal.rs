//! What a renewal extends, and whether it may: the same for apply and for a leader that keeps renewals to itself.

use std::time::Duration;

use synod_model::limits::ABSENCE_GRACE;
use synod_model::{ErrorKind, LogTime, Refusal, Renew, RenewLease, RenewLeaseCandidate, Ttl};

use crate::{Answer, Command, Envelope, Holder, State};

/// A renewal that is in order: its member, lease or candidate is still the one that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// What goes on living.
    pub holder: Holder,
    /// For how long, from the log time of the renewal on.
    pub ttl: Ttl,
    /// What the renewal is answered with.
    pub answer: Answer,
}

/// How much later than the log knows a member may have been heard whose renewals belong to the log.
const UNLOGGED_MAX: Duration = Duration::from_secs(60);

impl State {
    /// What an envelope renews, as [`Self::renewal`] says.
    ///
    /// # Errors
    ///
    /// Also `PERMISSION_DENIED`, if the lease is somebody else's, and `SWITCHED_OFF` while leases are.
    pub fn renewal_of(&self, envelope: &Envelope) -> Option<Result<Renewal, Refusal>> {
        let renewal = self.renewal(&envelope.command)?;
        let allowed = self.check_tokens(&envelope.command, envelope.actor.as_deref());
        let allowed = allowed.and_then(|()| self.check_switch(&envelope.command));
        Some(allowed.and(renewal))
    }

    /// Whether a leader may not keep the renewal to itself at this log time. Of a member with a longer TTL than `absence_grace`
    /// apply has to know when it was last heard, to the minute.
    #[must_use]
    pub fn belongs_to_log(&self, renewal: &Renewal, now: LogTime) -> bool {
        let ttl = renewal.ttl.duration();
        let is_long = matches!(renewal.holder, Holder::Member(_)) && ttl > ABSENCE_GRACE;
        let known = self.deadlines.unlifted(&renewal.holder);
        is_long && known.is_some_and(|at| now.since(at.before(ttl)) > UNLOGGED_MAX)
    }

    /// What a command renews. `None` for a command that is no renewal. What was extended by it counts for as long as this
    /// is `Ok`, even if leases are switched off since: the holder was told so.
    ///
    /// # Errors
    ///
    /// As the command in a log entry: `NOT_A_MEMBER` or `STALE_EPOCH` for a member, `STALE_EPOCH` for a lease,
    /// `NOT_FOUND` for a candidate.
    pub fn renewal(&self, command: &Command) -> Option<Result<Renewal, Refusal>> {
        if let Command::Renew(renew) = command {
            Some(of_member(self, renew))
        } else if let Command::RenewLease(renew) = command {
            Some(of_lease(self, renew))
        } else if let Command::RenewLeaseCandidate(renew) = command {
            Some(of_candidate(self, renew))
        } else {
            None
        }
    }
}

pub(crate) fn of_member(state: &State, renew: &Renew) -> Result<Renewal, Refusal> {
    Ok(Renewal {
        ttl: state.fenced(&renew.member, renew.epoch)?.ttl,
        holder: Holder::Member(renew.member.clone()),
        answer: Answer::Done,
    })
}

pub(crate) fn of_lease(state: &State, renew: &RenewLease) -> Result<Renewal, Refusal> {
    let lease = state.holds_lease(&renew.key, renew.token)?;
    let hold = lease.hold.as_ref();
    let ttl = hold.expect("a lease that is held has a hold").ttl;
    Ok(Renewal {
        ttl,
        holder: Holder::Lease(renew.key.clone()),
        answer: Answer::LeaseHeld {
            token: renew.token,
            ttl,
        },
    })
}

pub(crate) fn of_candidate(state: &State, renew: &RenewLeaseCandidate) -> Result<Renewal, Refusal> {
    let present = state.leases.candidate(&renew.key, &renew.identity);
    let Some(ttl) = present.map(|candidate| candidate.ttl) else {
        let message = format!(
            "\"{}\" does not stand for lease \"{}\" any more: stand again",
            renew.identity, renew.key
        );
        return Err(Refusal::new(ErrorKind::NotFound, message).with("lease", renew.key.as_str()));
    };
    Ok(Renewal {
        ttl,
        holder: Holder::LeaseCandidate(renew.key.clone(), renew.identity.clone()),
        answer: Answer::Done,
    })
}
