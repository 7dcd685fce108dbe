//! What a look at a cluster found: answers, and what came instead of them.

use std::time::Duration;

use synod_client::{ClusterStatus, Error, ErrorKind, WallTime};
use synod_tls::{ShownCertificate, Validities};

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// This machine's clock.
    pub(crate) now: WallTime,
    /// How long the files of this client's transport security are valid, or why they cannot be used. `None`: connections are
    /// not encrypted.
    pub(crate) own: Option<Result<Validities, String>>,
    /// Every endpoint that was given, and every one that an answer names.
    pub(crate) endpoints: Vec<EndpointFound>,
}

/// What was found at one endpoint. What comes after a failure was not tried, and is `None`.
#[derive(Clone, Debug)]
pub(crate) struct EndpointFound {
    /// Where it is.
    pub(crate) endpoint: String,
    /// How long it took to connect, or why that failed.
    pub(crate) connected: Result<Duration, String>,
    /// What was shown where connections are encrypted.
    pub(crate) shown: Option<Shown>,
    /// The replica's status.
    pub(crate) answer: Option<Result<Answered, Unanswered>>,
    /// How long a linearizable read took.
    pub(crate) read: Option<Result<Duration, Unanswered>>,
    /// The answer of `/readyz?verbose`.
    pub(crate) readiness: Option<Result<String, Unanswered>>,
}

/// What a server showed, and whether the two ends agreed.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Its certificate, even if it is refused.
    pub(crate) certificate: Option<ShownCertificate>,
    /// Why the two ends did not agree.
    pub(crate) agreed: Result<(), String>,
}

/// A replica's status, and when it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) status: ClusterStatus,
    /// This machine's clock when the call began.
    pub(crate) asked: WallTime,
    /// How long the call took.
    pub(crate) round_trip: Duration,
}

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self {
            kind: error.kind(),
            message: error.message().to_owned(),
        }
    }
}

impl Found {
    /// What the replicas that answered said.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Answered> {
        self.endpoints.iter().filter_map(EndpointFound::answered)
    }
}

impl EndpointFound {
    pub(crate) fn answered(&self) -> Option<&Answered> {
        self.answer.as_ref()?.as_ref().ok()
    }
}
