//! The service `synod.v1.Leases`.

use synod_machine::{Answer, Command, Holder, QueuePlace, switched_off};
use synod_model::{
    AcquireLease, Current, ErrorKind, Feature, Lease, LeaseCandidate, LeaseKey, Refusal, Switch,
    Ticket,
};
use synod_proto::{Change, GetLease, ListLeaseCandidates, ListLeases, v1};
use tokio::time::Instant;

use super::calls::calls;
use super::pages::{Items, Page};
use super::{typed, unexpected};
use crate::handle::{Asking, Handle};
use crate::read::Reading;

/// The most waiting callers of a lease that an answer names.
const WAITERS_NAMED_MAX: usize = 100;

calls! {
    acquire: LeasesAcquireRequest => LeasesAcquireResponse;
    release: LeasesReleaseRequest => LeasesReleaseResponse by ReleaseLease, changed;
    delete: LeasesDeleteRequest => LeasesDeleteResponse by DeleteLease or dry_run;
    get: LeasesGetRequest => LeasesGetResponse;
    list: LeasesListRequest => LeasesListResponse;
    put_candidate: LeasesPutCandidateRequest => LeasesPutCandidateResponse by PutLeaseCandidate, changed;
    withdraw_candidate: LeasesWithdrawCandidateRequest => LeasesWithdrawCandidateResponse
        by WithdrawLeaseCandidate, changed;
    list_candidates: LeasesListCandidatesRequest => LeasesListCandidatesResponse;
}

async fn acquire(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesAcquireRequest,
) -> Result<v1::LeasesAcquireResponse, Refusal> {
    use v1::leases_acquire_response::Result as Answered;
    let began = Instant::now();
    let change: Change<AcquireLease> = typed(message)?;
    let (key, ttl, wait) = (change.body.key.clone(), change.body.ttl, change.body.wait);
    let done = handle.change(asking, change, Command::AcquireLease).await?;
    let (revision, result) = match done.answer {
        Answer::LeaseHeld { token, ttl } => (
            done.revision,
            Answered::Held(v1::LeaseHeld {
                token: token.get(),
                ttl_ms: ttl.as_millis(),
            }),
        ),
        Answer::LeaseQueued(ticket) => {
            // The queue keeps the place for `wait`, so the call waits no longer either.
            let until = began + wait.unwrap_or_default().duration();
            let until = until.min(asking.deadline);
            match handle.lease_waits().wait(&key, ticket, until).await {
                QueuePlace::Held(token) => (
                    token.revision(),
                    Answered::Held(v1::LeaseHeld {
                        token: token.get(),
                        ttl_ms: ttl.as_millis(),
                    }),
                ),
                QueuePlace::Waiting { ahead } => (
                    done.revision,
                    Answered::Queued(v1::LeaseQueued {
                        ticket: ticket.get(),
                        ahead,
                    }),
                ),
                QueuePlace::Gone => return Err(place_gone(handle, &key, ticket)),
            }
        }
        other => return Err(unexpected(&other)),
    };
    Ok(v1::LeasesAcquireResponse {
        header: Some(handle.header(revision)),
        result: Some(result),
    })
}

/// The refusal when a place in the queue is gone: the caller holds nothing, and has to ask anew.
fn place_gone(handle: &Handle, key: &LeaseKey, ticket: Ticket) -> Refusal {
    let published = handle.consensus().published();
    if published.state.settings().switch(Feature::Leases) == Switch::Off {
        return switched_off(Feature::Leases).with("lease", key.as_str());
    }
    let message = format!(
        "lease \"{key}\": ticket {ticket} is no longer in the queue: it expired or was given up, or the lease it \
         received has already been lost or released; acquire again"
    );
    let refusal = Refusal::new(ErrorKind::Conflict, message).with("lease", key.as_str());
    match published.state.present().lease(key) {
        Some(lease) => refusal.with_current(Current::Lease((*lease).clone())),
        None => refusal,
    }
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesGetRequest,
) -> Result<v1::LeasesGetResponse, Refusal> {
    let GetLease { key, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let lease = reading.past()?.lease(&key).ok_or_else(|| {
        let refusal = Refusal::not_found("leases.coordination.k8s.io", key.name());
        refusal.with("lease", key.as_str())
    })?;
    let waiters = reading.published().state.lease_waiters(&key);
    let waiters = waiters.map(|(ticket, waiter)| v1::LeaseWaiter {
        holder: waiter.holder.to_string(),
        ticket: ticket.get(),
    });
    let named = if reading.is_present() {
        WAITERS_NAMED_MAX
    } else {
        0
    };
    Ok(v1::LeasesGetResponse {
        header: Some(handle.header_of(&reading)),
        lease: Some((&*lease).into()),
        remaining_ms: remaining_ms(handle, &reading, &lease),
        waiting: waiting(&reading, &key),
        waiters: waiters.take(named).collect(),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesListRequest,
) -> Result<v1::LeasesListResponse, Refusal> {
    let ListLeases { page, namespace } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.past()?;
    let leases = past.leases(namespace.as_deref(), page.after.as_ref());
    let items = leases.map(|lease| {
        let item = v1::LeaseListItem {
            lease: Some((&*lease).into()),
            remaining_ms: remaining_ms(handle, &page.reading, &lease),
            waiting: waiting(&page.reading, &lease.key),
        };
        (lease.key.clone(), item)
    });
    let Items {
        items,
        continue_token,
    } = page.take(handle, items)?;
    Ok(v1::LeasesListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

async fn list_candidates(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesListCandidatesRequest,
) -> Result<v1::LeasesListCandidatesResponse, Refusal> {
    let ListLeaseCandidates { key, page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.past()?;
    let item = |candidate: std::sync::Arc<LeaseCandidate>| v1::LeaseCandidateItem {
        remaining_ms: handle.remaining_ms(
            &page.reading,
            &Holder::LeaseCandidate(candidate.lease.clone(), candidate.identity.clone()),
        ),
        candidate: Some((&*candidate).into()),
    };
    // A page holds all candidates for a lease or none of them.
    let of = |key: LeaseKey| {
        let items = past.lease_candidates(&key).map(item).collect();
        let part = v1::LeasesListCandidatesResponse {
            items,
            ..v1::LeasesListCandidatesResponse::default()
        };
        (key, part)
    };
    let Items {
        items,
        continue_token,
    } = match key {
        Some(key) => page.take(handle, std::iter::once(of(key)))?,
        None => page.take(handle, past.leases_stood_for(page.after.as_ref()).map(of))?,
    };
    Ok(v1::LeasesListCandidatesResponse {
        header: Some(handle.header_of(&page.reading)),
        items: items.into_iter().flat_map(|part| part.items).collect(),
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

/// The log time that is left until the hold on a lease expires; `None` if it is free.
fn remaining_ms(handle: &Handle, reading: &Reading, lease: &Lease) -> Option<u64> {
    lease.hold.as_ref()?;
    handle.remaining_ms(reading, &Holder::Lease(lease.key.clone()))
}

fn waiting(reading: &Reading, key: &LeaseKey) -> Option<u64> {
    let count = reading.published().state.lease_waiter_count(key) as u64;
    reading.is_present().then_some(count)
}
