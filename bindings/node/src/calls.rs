//! Turns futures and feeds into promises of JavaScript, which a token can cancel.

use std::sync::Arc;

use futures::future::{Either, pending};
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, Error, Result, Status};
use synod_bound::{Failure, Feed, Taken};

use crate::cancel::CancelToken;
use crate::environment;

/// The message of a rejected promise whose call was cancelled by its token.
const CANCELLED: &str = "cancelled";

/// The prefix of the JSON of a failure in an error's message. JavaScript makes the error that a program sees from it.
const FAILURE: &str = "synod:";

/// A promise of the answer of `call`. If `token` is cancelled, or the call's JavaScript thread ends, the promise is
/// rejected and the call is dropped.
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

/// A promise of a result that is popped on the JavaScript thread once it is ready: if the promise is cancelled before,
/// the result is still there.
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

/// A promise of the only result of a feed. It owns the feed, so a result that is never popped is given back.
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

/// The JavaScript error of a failure.
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
    // Boxed, since a call is large, so that the future that polls it stays small.
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
