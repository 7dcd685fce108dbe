//! Failed tries and calls: what each means for the request, and where to try next.

use std::error::Error as _;
use std::time::Duration;

use synod_model::{ErrorKind, Verdict};
use synod_proto::status::{self, key};
use tonic::{Status, TimeoutExpired};

use crate::Error;

/// A call that failed for good.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error of the last try, or of the missed deadline.
    pub(crate) error: Error,
    /// Whether a try before the last one may have been executed.
    pub(crate) uncertain: bool,
}

/// A try that failed.
#[derive(Debug)]
pub(crate) struct FailedTry {
    pub(crate) error: Error,
    /// The replica to try next, by id and by address.
    pub(super) leader: Option<LeaderHint>,
    /// How long there is no use in asking this replica again.
    pub(super) retry_after: Option<Duration>,
    /// Whether the deadline of the whole call ended the try, so that it says nothing about the replica.
    pub(super) cut_short: bool,
}

/// The leader, as a replica names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeaderHint {
    pub(super) id: Option<u64>,
    pub(super) endpoint: Option<String>,
}

impl FailedTry {
    /// The failure that a status stands for.
    pub(crate) fn of(status: &Status) -> Self {
        let refusal = status::from_status(status);
        let number = |key: &str| refusal.metadata.get(key).and_then(|text| text.parse().ok());
        let hint = LeaderHint {
            id: number(key::LEADER_ID),
            endpoint: refusal.metadata.get(key::LEADER_ENDPOINT).cloned(),
        };
        Self {
            leader: (hint.id.is_some() || hint.endpoint.is_some()).then_some(hint),
            retry_after: number(key::RETRY_AFTER_MS).map(Duration::from_millis),
            error: refusal.into(),
            cut_short: false,
        }
    }

    /// The replica did not answer in time.
    pub(super) fn unanswered(after: Duration) -> Self {
        let message = format!("the replica did not answer within {after:?}");
        Self {
            error: Error::new(ErrorKind::DeadlineExceeded, message),
            leader: None,
            retry_after: None,
            cut_short: false,
        }
    }

    /// The replica did not answer before the deadline of the whole call.
    pub(super) fn cut_short(after: Duration) -> Self {
        Self {
            cut_short: true,
            ..Self::unanswered(after)
        }
    }

    /// Whether the refusal was decided before the request was looked up among those executed, so that it says nothing
    /// of an earlier try of the same request.
    pub(super) fn is_decided_at_the_edge(&self) -> bool {
        match self.error.kind() {
            ErrorKind::Unauthenticated | ErrorKind::PermissionDenied | ErrorKind::DataLoss => true,
            // If the edge decides these, it is by the content of the request, so it refused an earlier try, too.
            ErrorKind::InvalidArgument
            | ErrorKind::TooLarge
            | ErrorKind::NotFound
            | ErrorKind::AlreadyExists
            | ErrorKind::Conflict
            | ErrorKind::NotAMember
            | ErrorKind::StaleEpoch
            | ErrorKind::NotDecodable
            | ErrorKind::EncodingNotSelected
            | ErrorKind::Immutable
            | ErrorKind::NoAgreement
            | ErrorKind::Draining
            | ErrorKind::RequestExpired
            | ErrorKind::Compacted
            | ErrorKind::FutureRevision
            | ErrorKind::Quota
            | ErrorKind::Overloaded
            | ErrorKind::Unavailable
            | ErrorKind::UnknownOutcome
            | ErrorKind::DeadlineExceeded
            | ErrorKind::SwitchedOff => false,
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.error.execution()
    }
}

/// Whether the time ran out on this side. The channel also enforces the deadline of a request, and may do so a moment
/// earlier than the call.
pub(super) fn has_run_out(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.is::<TimeoutExpired>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_of_the_channel_is_told_from_a_call_that_a_replica_cancelled() {
        assert!(has_run_out(&Status::from_error(Box::new(TimeoutExpired(
            ()
        )))));
        assert!(!has_run_out(&Status::cancelled("Timeout expired")));
    }
}
