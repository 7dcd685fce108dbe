//! Locks and elections.

use std::sync::Arc;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::LeadingEnd;

use crate::calls::{only, promise, thrown};
use crate::cancel::CancelToken;
use crate::client::Client;
use crate::watch::Observer;

/// A lease that this process holds.
#[derive(Debug)]
#[napi]
pub struct Lock {
    bound: Arc<synod_bound::Lock>,
}

/// An election in which this process takes part.
#[derive(Debug)]
#[napi]
pub struct Election {
    bound: Arc<synod_bound::Election>,
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

#[napi]
impl Client {
    /// Waits for a lease, and holds it.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn lock<'env>(
        &self,
        env: &'env Env,
        options: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Lock>> {
        let waiting = self.bound()?.lock(&options).map_err(thrown)?;
        only(env, token, waiting, Lock::new)
    }

    /// Holds a lease if nobody else does.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn try_lock<'env>(
        &self,
        env: &'env Env,
        options: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Lock>> {
        let asking = self.bound()?.try_lock(&options).map_err(thrown)?;
        only(env, token, asking, Lock::new)
    }

    /// Takes part in an election.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn election(&self, options: String) -> Result<Election> {
        let bound = Arc::new(self.bound()?.election(&options).map_err(thrown)?);
        Ok(Election { bound })
    }

    /// Observes a lease.
    ///
    /// # Errors
    ///
    /// The client was closed, or it is no lease.
    #[napi]
    pub fn observe_lease(&self, lease: String) -> Result<Observer> {
        let feed = self.bound()?.observe_lease(&lease).map_err(thrown)?;
        Ok(Observer::new(feed))
    }
}

impl Lock {
    fn new(bound: synod_bound::Lock) -> Self {
        Self {
            bound: Arc::new(bound),
        }
    }
}

#[napi]
impl Lock {
    /// Who holds it.
    #[napi(getter)]
    pub fn holder(&self) -> String {
        self.bound.holder().to_owned()
    }

    /// The fencing token.
    #[napi(getter)]
    pub fn token(&self) -> u64 {
        self.bound.token()
    }

    /// What a write names that is to be made only while it is held.
    #[napi(getter)]
    pub fn proof(&self) -> String {
        self.bound.proof().to_owned()
    }

    /// Whether the lease is certainly held now.
    ///
    /// # Errors
    ///
    /// It is lost, or may be.
    #[napi]
    pub fn check(&self) -> Result<()> {
        self.bound.check().map_err(thrown)
    }

    /// The failure that says why the lease is lost, once it is, or may be.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn lost<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move {
            bound.lost().await.map(|failure| failure.to_json())
        })
    }

    /// Gives the lease up.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn release<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.release().await })
    }
}

#[napi]
impl Election {
    /// Waits until this process leads.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn campaign<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Lock>> {
        only(env, token, self.bound.campaign(), Lock::new)
    }

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
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, End>> {
        let (bound, lock) = (Arc::clone(&self.bound), Arc::clone(&lock.bound));
        promise(env, token, async move {
            let (lost, preferred) = match bound.over(&lock).await? {
                LeadingEnd::Lost(failure) => (Some(failure.to_json()), None),
                LeadingEnd::Preferred(candidate) => (None, Some(candidate)),
            };
            Ok(End { lost, preferred })
        })
    }

    /// Observes who leads.
    #[napi]
    pub fn observe(&self) -> Observer {
        Observer::new(self.bound.observe())
    }

    /// Stands for the lease no longer.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn withdraw<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.withdraw().await })
    }
}
