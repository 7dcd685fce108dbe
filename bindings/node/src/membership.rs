//! Memberships.

use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;

use crate::calls::{only, promise, thrown};
use crate::cancel::CancelToken;
use crate::client::{Client, millis};
use crate::gate::Gate;

/// A membership.
#[derive(Debug)]
#[napi]
pub struct Membership {
    bound: Arc<synod_bound::Membership>,
}

/// How long permits have to come back before a member leaves, by default.
const LEAVE_WITHIN: Duration = Duration::from_secs(30);

#[napi]
impl Client {
    /// Joins the cluster as a member.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn join<'env>(
        &self,
        env: &'env Env,
        options: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Membership>> {
        let joining = self.bound()?.join(&options).map_err(thrown)?;
        only(env, token, joining, |bound| Membership {
            bound: Arc::new(bound),
        })
    }
}

#[napi]
impl Membership {
    /// The member's id.
    #[napi(getter)]
    pub fn id(&self) -> String {
        self.bound.id().to_owned()
    }

    /// What this process calls itself.
    #[napi(getter)]
    pub fn instance(&self) -> String {
        self.bound.instance().to_owned()
    }

    /// The gate that every write has to pass.
    #[napi]
    pub fn gate(&self) -> Gate {
        Gate::new(self.bound.gate())
    }

    /// How it does.
    ///
    /// # Errors
    ///
    /// It was closed.
    #[napi]
    pub fn state(&self) -> Result<String> {
        self.bound.state().map_err(thrown)
    }

    /// How it does, once it does otherwise than now.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn state_changed<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.changed().await })
    }

    /// Why it is over for good, once it is.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn ended<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(
            env,
            token,
            async move { bound.ended().await.map(str::to_owned) },
        )
    }

    /// Reports all resources of the server.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn report<'env>(
        &self,
        env: &'env Env,
        entries: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.report(&entries).await })
    }

    /// Reports one resource.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn report_change<'env>(
        &self,
        env: &'env Env,
        entry: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.report_change(&entry).await })
    }

    /// Says that the server is ready.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn ready<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.ready().await })
    }

    /// Leaves the cluster.
    ///
    /// # Errors
    ///
    /// The limit is no span.
    #[napi]
    pub fn leave<'env>(
        &self,
        env: &'env Env,
        drain_limit_ms: Option<f64>,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let bound = Arc::clone(&self.bound);
        let limit = millis(drain_limit_ms)?.unwrap_or(LEAVE_WITHIN);
        promise(env, token, async move { bound.leave(limit).await })
    }
}
