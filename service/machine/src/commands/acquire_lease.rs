//! `AcquireLease`: gives a free lease to its caller, or a place in the queue while another holds it.

use synod_model::{
    AcquireLease, Current, ErrorKind, FencingToken, Hold, Lease, Refusal, Ticket, Waiter,
};

use super::succession::renew;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, acquire: &AcquireLease) -> Result<Answer, Refusal> {
    if let Some((member, epoch)) = &acquire.if_member {
        turn.state().fenced(member, *epoch)?;
    }
    let lease = turn.state().leases.rows.get(&acquire.key).cloned();
    match lease
        .as_ref()
        .and_then(|lease| Some((lease, lease.hold.as_ref()?)))
    {
        Some((lease, hold)) if hold.holder == acquire.holder => {
            Ok(keep(turn, acquire, lease, hold.clone()))
        }
        Some((lease, _)) => queue(turn, acquire, lease),
        None => {
            if lease.is_none() {
                turn.state().check_quota()?;
            }
            Ok(take(turn, acquire))
        }
    }
}

/// Gives the caller a free lease, which has no waiter. It has an elected candidate only while it was not its turn since
/// leases were switched on: then the candidate is preferred to the caller.
fn take(turn: &mut Turn<'_>, acquire: &AcquireLease) -> Answer {
    let token = FencingToken::new(turn.revision());
    let hold = Hold {
        holder: acquire.holder.clone(),
        token,
        ticket: None,
        ttl: acquire.ttl,
        member: acquire.if_member.clone(),
        acquired: turn.wall(),
    };
    let electee = turn.state().leases.electee(&acquire.key);
    let preferred = electee.map(|electee| electee.identity.clone());
    let preferred = preferred.filter(|preferred| *preferred != acquire.holder);
    turn.put_hold(&acquire.key, Some(hold), preferred);
    Answer::LeaseHeld {
        token,
        ttl: acquire.ttl,
    }
}

/// The caller already holds the lease, perhaps because it lost the answer: it keeps its token.
fn keep(turn: &mut Turn<'_>, acquire: &AcquireLease, lease: &Lease, hold: Hold) -> Answer {
    let token = hold.token;
    let after = Hold {
        ttl: acquire.ttl,
        member: acquire.if_member.clone(),
        ..hold.clone()
    };
    if after != hold {
        turn.put_hold(&acquire.key, Some(after), lease.preferred.clone());
    }
    renew(turn, &acquire.key, acquire.ttl);
    Answer::LeaseHeld {
        token,
        ttl: acquire.ttl,
    }
}

/// Another caller holds the lease. A caller that already waits keeps its place, and its deadline moves.
fn queue(turn: &mut Turn<'_>, acquire: &AcquireLease, lease: &Lease) -> Result<Answer, Refusal> {
    let key = &acquire.key;
    let Some(wait) = acquire.wait else {
        return Err(held_by_another(lease));
    };
    let known = turn.state().leases.ticket_of(key, &acquire.holder);
    let present = known.filter(|ticket| !turn.state().is_place_ended(*ticket));
    if present.is_none() {
        let waiting = turn.state().lease_waiter_count(key);
        turn.state().check_contenders(key, waiting)?;
    }
    // One place for each holder: that of before was ended by a switch.
    if let Some(ended) = known.filter(|_| present.is_none()) {
        turn.remove_waiter(key, ended);
    }
    let ticket = present.unwrap_or_else(|| Ticket::new(turn.revision()));
    let waiter = Waiter {
        holder: acquire.holder.clone(),
        ttl: acquire.ttl,
        wait,
        member: acquire.if_member.clone(),
    };
    turn.put_waiter(key, ticket, waiter);
    Ok(Answer::LeaseQueued(ticket))
}

fn held_by_another(lease: &Lease) -> Refusal {
    let holder = lease.hold.as_ref().map(|hold| hold.holder.to_string());
    let message = format!(
        "lease \"{}\" is held by \"{}\": wait for it, or try again later",
        lease.key,
        holder.unwrap_or_default()
    );
    Refusal::new(ErrorKind::Conflict, message)
        .with("lease", lease.key.as_str())
        .with_current(Current::Lease(lease.clone()))
}
