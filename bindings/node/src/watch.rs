//! Watches, and observers of a lease.

use std::sync::Arc;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::Feed;

use crate::calls::{handed, promise};
use crate::cancel::CancelToken;
use crate::client::Client;

/// A watch.
#[derive(Debug)]
#[napi]
pub struct Watch {
    bound: Arc<synod_bound::Watch>,
}

/// Documents that come one after the other.
#[derive(Debug)]
#[napi]
pub struct Observer {
    feed: Arc<Feed<String>>,
}

#[napi]
impl Client {
    /// Watches the cluster.
    ///
    /// # Errors
    ///
    /// The client was closed.
    #[napi]
    pub fn watch<'env>(
        &self,
        env: &'env Env,
        options: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Watch>> {
        let client = self.bound()?;
        promise(env, token, async move {
            let bound = Arc::new(client.watch(&options).await?);
            Ok(Watch { bound })
        })
    }
}

#[napi]
impl Watch {
    /// The next message, or `null` at the end.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn next<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Option<String>>> {
        let (waited, bound) = (Arc::clone(&self.bound), Arc::clone(&self.bound));
        let ready = async move { waited.ready().await };
        handed(env, token, ready, move || Ok(bound.pop()))
    }

    /// Ends it.
    #[napi]
    pub fn close(&self) {
        self.bound.close();
    }
}

impl Observer {
    pub(crate) fn new(feed: Feed<String>) -> Self {
        Self {
            feed: Arc::new(feed),
        }
    }
}

#[napi]
impl Observer {
    /// The next document, or `null` at the end.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn next<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Option<String>>> {
        let (waited, feed) = (Arc::clone(&self.feed), Arc::clone(&self.feed));
        let ready = async move { waited.ready().await };
        handed(env, token, ready, move || Ok(feed.pop()))
    }

    /// Ends it.
    #[napi]
    pub fn close(&self) {
        self.feed.close();
    }
}
