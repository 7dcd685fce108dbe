//! The only error type of this crate: why a call failed, and whether it may have been executed.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use synod_model::{Current, ErrorKind, Refusal, Verdict, Violation, Violations};
use synod_proto::status;
use tonic::Status;

use crate::RequestKey;

/// The error of a call.
///
/// Decide by [`kind`](Self::kind) and [`execution`](Self::execution); the message is for people and may change.
///
/// A change fails in one of three ways: a rule *refused* it, it was certainly *not executed*, or its outcome is
/// *unknown*: it may have been executed, and may still be. In the last case [`Client::outcome`](crate::Client::outcome)
/// reads the outcome by its [`request_key`](Self::request_key).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    refusal: Box<Refusal>,
    execution: Verdict,
    request_key: Option<RequestKey>,
}

impl Error {
    /// The kind of the error, for programs to decide by.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.refusal.kind
    }

    /// The object, the rule, and what to do, as a sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.refusal.message
    }

    /// Whether the very same call, made again later, may succeed without the danger of being executed twice.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self.execution {
            Verdict::NotExecuted => true,
            Verdict::Refused => self.kind().retryable(),
            Verdict::Unknown => false,
        }
    }

    /// What is known of the request: refused by a rule, not executed, or unknown.
    #[must_use]
    pub fn execution(&self) -> Verdict {
        self.execution
    }

    /// Every broken rule of an invalid request, each with the path of its field.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.refusal.violations
    }

    /// Facts for programs, by name, such as `oldest_revision` and `retry_after_ms`.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.refusal.metadata
    }

    /// The current state of the object, if the request failed because that state was not the expected one.
    #[must_use]
    pub fn current(&self) -> Option<&Current> {
        self.refusal.current.as_deref()
    }

    /// The key by which to ask what became of the request, if its outcome is unknown and it had one.
    #[must_use]
    pub fn request_key(&self) -> Option<&RequestKey> {
        self.request_key.as_ref()
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Refusal::new(kind, message).into()
    }

    /// The error of a list that is asked for a page after its last one.
    pub(crate) fn at_the_end() -> Self {
        let message = "all pages of this list have been read; list again";
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// The error of a request that breaks a rule before it is sent: for programs that parse their input before they
    /// call this client.
    #[must_use]
    pub fn invalid(violations: impl Into<Violations>) -> Self {
        match violations.into().into_result() {
            Err(refusal) => refusal.into(),
            Ok(()) => Self::new(ErrorKind::InvalidArgument, "the request is invalid"),
        }
    }

    /// The error of a wait for something that has not come in time, and that asked no replica for anything: for programs
    /// that wait for what this client shows.
    #[must_use]
    pub fn late(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::DeadlineExceeded, message).with_execution(Verdict::NotExecuted)
    }

    /// The error of an answer that breaks the protocol: the replica is of another release, or is no replica.
    ///
    /// The request was answered, so it was executed or refused; this error does not tell which.
    pub(crate) fn malformed(fault: &Violations) -> Self {
        let message = format!(
            "the answer of the replica cannot be understood, so it may be of a release that this client does not know: {fault}"
        );
        Self::new(ErrorKind::UnknownOutcome, message)
    }

    /// The error of a read that was sent once. Its outcome is never unknown, since a read changes nothing.
    pub(crate) fn of_read(status: &Status) -> Self {
        let mut refusal = status::from_status(status);
        if refusal.kind == ErrorKind::UnknownOutcome {
            refusal.kind = ErrorKind::Unavailable;
        }
        let error = Self::from(refusal);
        match error.execution {
            Verdict::Unknown => error.with_execution(Verdict::NotExecuted),
            Verdict::Refused | Verdict::NotExecuted => error,
        }
    }

    /// The error of a read that was not answered in time.
    pub(crate) fn unanswered_read(after: Duration) -> Self {
        Self::late(format!("the replica did not answer within {after:?}"))
    }

    #[must_use]
    pub(crate) fn with_execution(mut self, execution: Verdict) -> Self {
        self.execution = execution;
        self
    }

    #[must_use]
    pub(crate) fn with_request_key(mut self, key: RequestKey) -> Self {
        self.request_key = Some(key);
        self
    }

    /// The same error with `context` before its message.
    #[must_use]
    pub(crate) fn context(mut self, context: impl fmt::Display) -> Self {
        self.refusal.message = format!("{context}: {}", self.refusal.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let execution = status::verdict(&refusal);
        Self {
            refusal: Box::new(refusal),
            execution,
            request_key: None,
        }
    }
}
