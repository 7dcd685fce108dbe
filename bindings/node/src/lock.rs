//! Locks and elections.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::LeadingEnd;

use crate::call_token::CallToken;
use crate::client::Client;
use crate::handle::{handle, methods};
use crate::watch::Observer;

methods! {
    Client:

    "Waits for a lease, and holds it."
    fed lock(client, options: String) -> Lock { client.lock(&options)? }
        or "The client was closed, or an option breaks a rule."

    "Holds a lease if nobody else does."
    fed try_lock(client, options: String) -> Lock { client.try_lock(&options)? }
        or "The client was closed, or an option breaks a rule."

    "Takes part in an election."
    now election(client, options: String) -> Election { client.election(&options)? }
        or "The client was closed, or an option breaks a rule."

    "Observes a lease."
    now observe_lease(client, lease: String) -> Observer { client.observe_lease(&lease)? }
        or "The client was closed, or it is no lease."
}

handle! {
    "A lease that this process holds."
    Lock(synod_bound::Lock)

    "Who holds it."
    now(getter) holder(lock) -> String { lock.holder() }

    "The fencing token."
    now(getter) token(lock) -> u64 { lock.token() }

    "What a write names that is to be made only while it is held."
    now(getter) proof(lock) -> String { lock.proof() }

    "Whether the lease is certainly held now."
    now check(lock) -> () { lock.check()? } or "It is lost, or may be."

    "The failure that says why the lease is lost, once it is, or may be."
    later lost(lock) -> String { lock.lost().await?.to_json() }

    "Gives the lease up."
    later release(lock) -> () { lock.release().await? }
}

handle! {
    "An election in which this process takes part."
    Election(synod_bound::Election)

    "Waits until this process leads."
    fed campaign(election) -> Lock { election.campaign() }

    "Observes who leads."
    now observe(election) -> Observer { election.observe() }

    "Stands for the lease no longer."
    later withdraw(election) -> () { election.withdraw().await? }
}

#[napi]
impl Election {
    /// What leading under a lock is over by, once it is.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn over<'env>(
        &self,
        env: &'env Env,
        lock: &Lock,
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, End>> {
        let lock = lock.held.bound()?;
        self.held.later(env, token, |election| async move {
            Ok(End::from(election.over(&lock).await?))
        })
    }
}

/// What leading is given up for: one of the two.
#[derive(Debug)]
#[napi(object)]
pub struct End {
    /// The failure that says why the lease is lost, or may be.
    pub lost: Option<String>,
    /// The candidate who should lead.
    pub preferred: Option<String>,
}

impl From<LeadingEnd> for End {
    fn from(end: LeadingEnd) -> Self {
        let (lost, preferred) = match end {
            LeadingEnd::Lost(failure) => (Some(failure.to_json()), None),
            LeadingEnd::Preferred(candidate) => (None, Some(candidate)),
        };
        Self { lost, preferred }
    }
}
