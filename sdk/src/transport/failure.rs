//! What a failed try says about the request.

use std::error::Error as _;
use std::time::Duration;

use synod_model::{ErrorKind, Verdict};
use synod_proto::status::{self, key};
use tonic::{Status, TimeoutExpired};

use crate::Error;

/// A call that failed for good.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Why.
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
    /// How long it is of no use to ask this replica again.
    pub(super) retry_after: Option<Duration>,
    /// Whether the time of the whole call was over while it was on its way, so that it says nothing of the replica.
    pub(super) cut_short: bool,
}

/// Where a replica believes the leader to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LeaderHint {
    pub(super) id: Option<u64>,
    pub(super) endpoint: Option<String>,
}

impl FailedTry {
    /// What a status says.
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

    /// The replica did not answer before the time of the whole call was over.
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
            // Where the edge decides these, it is by what is in the request, so no earlier try of it went past the edge.
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
            | ErrorKind::DeadlineExceeded => false,
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.error.execution()
    }
}

/// Whether the time ran out on this side. The channel holds the deadline that goes with a request, too, and may be a
/// moment earlier than we are.
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
