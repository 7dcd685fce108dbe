//! How what is waited for becomes a promise.

use std::sync::Arc;

use futures::future::{Either, pending};
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, Error, Result, Status};
use synod_bound::{Failure, Feed, Taken};

use crate::cancel::CancelToken;
use crate::environment;

/// What a rejected promise says when its call was given up by its token.
const CANCELLED: &str = "cancelled";

/// What comes before the JSON of a failure in the message of an error. JavaScript makes the error that a program sees.
const FAILURE: &str = "synod:";

/// The promise of what `call` answers. It is rejected if `token` gives it up, or its thread of JavaScript ends; then the
/// call is dropped.
pub(crate) fn promise<'env, T>(
    env: &'env Env,
    token: Option<&CancelToken>,
    call: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
) -> Result<PromiseRaw<'env, T>>
where
    T: ToNapiValue + Send + 'static,
{
    env.spawn_future(unless_given_up(token, call))
}

/// The promise of a result that is taken where JavaScript runs, once it is ready: if the promise is given up before, the
/// result is still there.
pub(crate) fn handed<'env, V>(
    env: &'env Env,
    token: Option<&CancelToken>,
    ready: impl Future<Output = std::result::Result<bool, Failure>> + Send + 'static,
    pop: impl FnOnce() -> Result<V> + 'static,
) -> Result<PromiseRaw<'env, V>>
where
    V: ToNapiValue,
{
    env.spawn_future_with_callback(unless_given_up(token, ready), move |_env, _ready| pop())
}

/// The promise of the only result of a feed. The feed goes with it, so what nobody takes is given back.
pub(crate) fn only<'env, T, V>(
    env: &'env Env,
    token: Option<&CancelToken>,
    feed: Feed<T>,
    hand_over: impl FnOnce(T) -> V + 'static,
) -> Result<PromiseRaw<'env, V>>
where
    T: Taken + Send + 'static,
    V: ToNapiValue,
{
    let feed = Arc::new(feed);
    let waited = Arc::clone(&feed);
    let ready = async move { waited.ready().await };
    handed(env, token, ready, move || {
        let result = feed.pop().map(hand_over);
        result.ok_or_else(|| Error::from_reason(CANCELLED))
    })
}

/// A failure on its way to JavaScript.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is handed to `map_err` as it is"
)]
pub(crate) fn thrown(failure: Failure) -> Error {
    let json = failure.to_json();
    Error::new(Status::GenericFailure, format!("{FAILURE}{json}"))
}

fn unless_given_up<T>(
    token: Option<&CancelToken>,
    call: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
) -> impl Future<Output = Result<T>> + Send + 'static {
    let cancelled = match token {
        Some(token) => Either::Left(token.cancelled()),
        None => Either::Right(pending()),
    };
    let ending = environment::ending();
    // Boxed, since a call is large: what waits for it need not be.
    let call = Box::pin(call);
    async move {
        tokio::select! {
            biased;
            () = cancelled => Err(Error::from_reason(CANCELLED)),
            () = ending => Err(Error::from_reason(CANCELLED)),
            answer = call => answer.map_err(thrown),
        }
    }
}
