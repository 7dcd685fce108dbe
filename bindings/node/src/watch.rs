//! Watches, and observers of a lease.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::Feed;

use crate::call_token::CallToken;
use crate::calls::handed;
use crate::client::Client;
use crate::handle::{handle, methods};

methods! {
    Client:

    "Watches the cluster."
    later watch(client, options: String) -> Watch { client.watch(&options).await? } or "The client was closed."
}

handle! {
    "A watch."
    Watch(synod_bound::Watch)

    "Ends it."
    now close(watch) -> () { watch.close() }
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
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, Option<String>>> {
        let (waited, watch) = (self.held.bound()?, self.held.bound()?);
        let ready = async move { waited.ready().await };
        handed(env, token, ready, move |_| Ok(watch.pop()))
    }
}

handle! {
    "Documents that come one after the other."
    Observer(Feed<String>)

    "Ends it."
    now close(feed) -> () { feed.close() }
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
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, Option<String>>> {
        let (waited, feed) = (self.held.bound()?, self.held.bound()?);
        let ready = async move { waited.ready().await };
        handed(env, token, ready, move |_| Ok(feed.pop()))
    }
}
