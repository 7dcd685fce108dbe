//! Turns futures and feeds into promises of JavaScript, which a token can cancel.

use futures::future::{Either, pending};
use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, Error, Result, Status};
use synod_bound::Failure;

use crate::call_token::CallToken;
use crate::environment;

/// The message of a rejected promise whose call was cancelled by its token.
pub(crate) const CANCELLED: &str = "cancelled";

/// The prefix of the JSON of a failure in an error's message. JavaScript makes the error that a program sees from it.
const FAILURE: &str = "synod:";

/// A promise of the answer of `call`. If `token` is cancelled, or the call's JavaScript thread ends, the promise is
/// rejected and the call is dropped.
pub(crate) fn promise<'env, T>(
    env: &'env Env,
    token: Option<&CallToken>,
    call: impl Future<Output = std::result::Result<T, Thrown>> + Send + 'static,
) -> Result<PromiseRaw<'env, T>>
where
    T: ToNapiValue + Send + 'static,
{
    env.spawn_future(unless_given_up(token, call))
}

/// A promise of a result that is popped on the JavaScript thread once it is ready: if the promise is cancelled before,
/// the result is still there.
pub(crate) fn handed<'env, R, V>(
    env: &'env Env,
    token: Option<&CallToken>,
    ready: impl Future<Output = std::result::Result<R, Failure>> + Send + 'static,
    pop: impl FnOnce(R) -> Result<V> + 'static,
) -> Result<PromiseRaw<'env, V>>
where
    R: Send + 'static,
    V: ToNapiValue,
{
    env.spawn_future_with_callback(unless_given_up(token, ready), move |_env, ready| pop(ready))
}

/// What is thrown in JavaScript: a failure, or what is wrong with an argument.
pub(crate) struct Thrown(Error);

impl From<Failure> for Thrown {
    fn from(failure: Failure) -> Self {
        let json = failure.to_json();
        Self(Error::new(
            Status::GenericFailure,
            format!("{FAILURE}{json}"),
        ))
    }
}

impl From<Error> for Thrown {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<Thrown> for Error {
    fn from(thrown: Thrown) -> Self {
        thrown.0
    }
}

fn unless_given_up<T, E: Into<Thrown>>(
    token: Option<&CallToken>,
    call: impl Future<Output = std::result::Result<T, E>> + Send + 'static,
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
            answer = call => answer.map_err(|fault| fault.into().0),
        }
    }
}
