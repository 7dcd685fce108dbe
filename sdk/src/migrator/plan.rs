//! Decides what a worker does after an error of its store: retry, skip, continue or give up.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use synod_model::{ContinueToken, FailureClass};

/// Why a store did not do what a worker asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The object or the list does not exist. HTTP: 404.
    NotFound,
    /// The object was changed since it was listed. HTTP: 409.
    Conflict,
    /// The objects cannot be listed or updated at all. HTTP: 405.
    NotSupported,
    /// The worker has no permission. HTTP: 401 and 403.
    Forbidden,
    /// The list has taken too long. HTTP: 410, whose body has a token that continues with the present state.
    Expired(Option<ContinueToken>),
    /// The store is overloaded, or did not answer in time. HTTP: 429, 500, 503 and 504.
    Busy {
        /// How long to wait, if the store says so.
        retry_after: Option<Duration>,
    },
    /// No codec can read the object of this key.
    Undecodable {
        /// The key.
        key: String,
        /// Why it cannot be read.
        why: String,
    },
    /// It would not write as the migration requires now, for this reason, such as an API server that still encodes another
    /// version. The worker gives its claim back: another worker may be better off, and this one asks again after
    /// five seconds, and each further time after twice as long, a minute at most, until objects are done.
    NotReady(String),
    /// Any other reason, in words that name the object.
    Refused(String),
}

impl StoreError {
    /// The error of an answer over HTTP; `None` for a success. The caller adds the token that the body of a 410 has.
    #[must_use]
    pub fn of_http(status: StatusCode, headers: &HeaderMap) -> Option<Self> {
        let seconds = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let retry_after = seconds
            .and_then(|text| text.parse().ok())
            .map(Duration::from_secs);
        match status {
            status if status.is_success() => None,
            StatusCode::NOT_FOUND => Some(Self::NotFound),
            StatusCode::CONFLICT => Some(Self::Conflict),
            StatusCode::METHOD_NOT_ALLOWED => Some(Self::NotSupported),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(Self::Forbidden),
            StatusCode::GONE => Some(Self::Expired(None)),
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::INTERNAL_SERVER_ERROR
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Some(Self::Busy { retry_after }),
            other => Some(Self::Refused(format!("the store answered {other}"))),
        }
    }
}

/// What a worker does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing is left to do for this object.
    Done,
    /// Repeat the request after a pause.
    Again(Duration),
    /// Continue the list from this token; without a token, from the first object.
    GoOn(Option<ContinueToken>),
    /// Leave the object as it is; the migration cannot be completed.
    Unread(String),
    /// Give the migration up.
    GiveUp(FailureClass, String),
    /// Give the claim back, for another worker or another time.
    LetGo(String),
}

/// How often a request is tried, and the pause after the first try; each further pause is five times as long.
pub(super) const TRIES: u32 = 6;
const PAUSE: Duration = Duration::from_millis(10);
/// The longest pause that a store may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// What to do about a list that failed for the `tries`th time.
pub(super) fn after_list(error: StoreError, tries: u32) -> Next {
    match error {
        StoreError::NotFound => not_supported("the resource to be listed does not exist"),
        StoreError::NotSupported => not_supported("it cannot be listed"),
        StoreError::Forbidden => Next::GiveUp(FailureClass::Forbidden, "may not list".to_owned()),
        StoreError::Expired(token) => Next::GoOn(token),
        StoreError::Busy { retry_after } => again("listing", retry_after, tries),
        StoreError::Conflict => again("listing", None, tries),
        StoreError::Undecodable { key, why } => Next::Unread(format!("{key}: {why}")),
        StoreError::NotReady(why) => Next::LetGo(why),
        StoreError::Refused(why) => Next::GiveUp(FailureClass::Rejected, why),
    }
}

/// What to do about a rewrite that failed for the `tries`th time.
///
/// A writer that changed or deleted the object meanwhile has not left it in an old version: while the migration holds,
/// no writer encodes in one.
pub(super) fn after_rewrite(error: StoreError, tries: u32) -> Next {
    match error {
        StoreError::NotFound | StoreError::Conflict => Next::Done,
        StoreError::NotSupported => not_supported("it cannot be updated"),
        StoreError::Forbidden => Next::GiveUp(FailureClass::Forbidden, "may not update".to_owned()),
        StoreError::Expired(_) => again("rewriting", None, tries),
        StoreError::Busy { retry_after } => again("rewriting", retry_after, tries),
        StoreError::Undecodable { key, why } => Next::Unread(format!("{key}: {why}")),
        StoreError::NotReady(why) => Next::LetGo(why),
        StoreError::Refused(why) => Next::GiveUp(FailureClass::Rejected, why),
    }
}

fn not_supported(why: &str) -> Next {
    Next::GiveUp(FailureClass::NotSupported, why.to_owned())
}

fn again(what: &str, retry_after: Option<Duration>, tries: u32) -> Next {
    if tries >= TRIES {
        let why = format!("{what} did not succeed {tries} times in a row");
        return Next::GiveUp(FailureClass::Transient, why);
    }
    let pause = PAUSE * 5_u32.pow(tries.saturating_sub(1));
    Next::Again(retry_after.unwrap_or(pause).min(PAUSE_MAX))
}

#[cfg(test)]
mod tests;
