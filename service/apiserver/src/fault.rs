//! Why a server cannot be called, and why there is no answer.

use std::error::Error as StdError;

use http::StatusCode;
use thiserror::Error;

/// Why nothing can be called: a kubeconfig, a certificate or a URL that cannot be used. The text names it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Misconfigured(pub String);

/// Why there is no answer. Only [`Fault::NotSent`] and [`Fault::NoIdentity`] are certain to have changed nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Fault {
    /// No connection was made: the server has received nothing.
    #[error("not reached: {0}")]
    NotSent(String),
    /// The request may have been sent. No complete answer came.
    #[error("not answered: {0}")]
    Unanswered(String),
    /// The answer has more bytes than this.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// It answered, and not with what was asked for.
    #[error("it answered {0}: {1}")]
    Answered(StatusCode, String),
    /// It could not be said who calls: a token that cannot be read, a plugin that fails.
    #[error("cannot say who calls: {0}")]
    NoIdentity(String),
}

/// The innermost source of the error, which names the cause; the outer ones say only what was tried.
pub(crate) fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
