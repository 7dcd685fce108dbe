//! The list of all error kinds, and what a caller knows of its request after each of them.

use std::fmt;

use crate::known_machine_version;

/// Why a request failed. Two faults are different kinds if a caller would act differently on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// The request itself breaks a rule, whatever the state is.
    InvalidArgument,
    /// The object does not exist.
    NotFound,
    /// The object exists already.
    AlreadyExists,
    /// A precondition on uid or resource version failed; the current object is in the answer.
    Conflict,
    /// The member expired, left, or never joined: join again.
    NotAMember,
    /// Another instance joined under this id: stop for good.
    StaleEpoch,
    /// A version is not decoded by every member that would have to decode it.
    NotDecodable,
    /// The object is not encoded in the selected version.
    EncodingNotSelected,
    /// The field can never change.
    Immutable,
    /// The members do not agree on a version.
    NoAgreement,
    /// Writes in another version may still land: try again when they have drained.
    Draining,
    /// The request is older than what its session still remembers: this attempt was not executed,
    /// and it is not known whether an earlier one was.
    RequestExpired,
    /// The revision is older than the history.
    Compacted,
    /// The revision does not exist yet.
    FutureRevision,
    /// The request is larger than is allowed.
    TooLarge,
    /// A quota of the replicated state is used up.
    Quota,
    /// The queue of the replica is full. Not executed.
    Overloaded,
    /// No quorum, or none reachable from this replica. Not executed.
    Unavailable,
    /// The request was sent on but its outcome is not known: it may still commit.
    UnknownOutcome,
    /// The deadline passed first: it may still commit.
    DeadlineExceeded,
    /// The caller did not say who it is.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// Stored data is damaged.
    DataLoss,
    /// What the request is about is switched off by a setting. Nothing changed.
    SwitchedOff,
}

/// What a caller knows of its request after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// A rule refused the request; nothing changed.
    Refused,
    /// The request was never proposed; nothing changed, and the same request may succeed later.
    NotExecuted,
    /// The request may have been executed, or may still be.
    Unknown,
}

impl ErrorKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 24] = [
        Self::InvalidArgument,
        Self::NotFound,
        Self::AlreadyExists,
        Self::Conflict,
        Self::NotAMember,
        Self::StaleEpoch,
        Self::NotDecodable,
        Self::EncodingNotSelected,
        Self::Immutable,
        Self::NoAgreement,
        Self::Draining,
        Self::RequestExpired,
        Self::Compacted,
        Self::FutureRevision,
        Self::TooLarge,
        Self::Quota,
        Self::Overloaded,
        Self::Unavailable,
        Self::UnknownOutcome,
        Self::DeadlineExceeded,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::DataLoss,
        Self::SwitchedOff,
    ];

    /// The kind's name on the wire, in logs and in the bindings. It never changes.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::Conflict => "CONFLICT",
            Self::NotAMember => "NOT_A_MEMBER",
            Self::StaleEpoch => "STALE_EPOCH",
            Self::NotDecodable => "NOT_DECODABLE",
            Self::EncodingNotSelected => "ENCODING_NOT_SELECTED",
            Self::Immutable => "IMMUTABLE",
            Self::NoAgreement => "NO_AGREEMENT",
            Self::Draining => "DRAINING",
            Self::RequestExpired => "REQUEST_EXPIRED",
            Self::Compacted => "COMPACTED",
            Self::FutureRevision => "FUTURE_REVISION",
            Self::TooLarge => "TOO_LARGE",
            Self::Quota => "QUOTA",
            Self::Overloaded => "OVERLOADED",
            Self::Unavailable => "UNAVAILABLE",
            Self::UnknownOutcome => "UNKNOWN_OUTCOME",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::DataLoss => "DATA_LOSS",
            Self::SwitchedOff => "SWITCHED_OFF",
        }
    }

    /// The kind with this [`reason`](Self::reason).
    pub fn from_reason(reason: &str) -> Option<Self> {
        let mut known = Self::ALL.into_iter();
        known.find(|kind| kind.reason() == reason && kind.is_known())
    }

    /// Returns whether this process knows the kind: machine version 1 knows none that came later.
    fn is_known(self) -> bool {
        known_machine_version() > 1 || !matches!(self, Self::SwitchedOff)
    }

    /// What the caller knows of its request.
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::InvalidArgument
            | Self::NotFound
            | Self::AlreadyExists
            | Self::Conflict
            | Self::NotAMember
            | Self::StaleEpoch
            | Self::NotDecodable
            | Self::EncodingNotSelected
            | Self::Immutable
            | Self::NoAgreement
            | Self::Draining
            | Self::Compacted
            | Self::FutureRevision
            | Self::TooLarge
            | Self::Quota
            | Self::Unauthenticated
            | Self::PermissionDenied
            | Self::DataLoss
            | Self::SwitchedOff => Verdict::Refused,
            Self::Overloaded | Self::Unavailable => Verdict::NotExecuted,
            Self::RequestExpired | Self::UnknownOutcome | Self::DeadlineExceeded => {
                Verdict::Unknown
            }
        }
    }

    /// Whether a client may send the same request again automatically, after a pause: it cannot be
    /// executed twice, and the obstacle goes away without an operator.
    pub const fn retryable(self) -> bool {
        match self {
            Self::Draining | Self::FutureRevision | Self::Overloaded | Self::Unavailable => true,
            Self::InvalidArgument
            | Self::NotFound
            | Self::AlreadyExists
            | Self::Conflict
            | Self::NotAMember
            | Self::StaleEpoch
            | Self::NotDecodable
            | Self::EncodingNotSelected
            | Self::Immutable
            | Self::NoAgreement
            | Self::RequestExpired
            | Self::Compacted
            | Self::TooLarge
            | Self::Quota
            | Self::UnknownOutcome
            | Self::DeadlineExceeded
            | Self::Unauthenticated
            | Self::PermissionDenied
            | Self::DataLoss
            | Self::SwitchedOff => false,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.reason())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_reason_of_its_own_that_leads_back_to_it() {
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::from_reason(kind.reason()), Some(kind));
        }
    }

    #[test]
    fn all_lists_every_kind_in_order() {
        assert!(ErrorKind::ALL.is_sorted());
        assert_eq!(ErrorKind::ALL.len(), ErrorKind::SwitchedOff as usize + 1);
    }

    #[test]
    fn an_unknown_reason_is_no_kind() {
        assert_eq!(ErrorKind::from_reason("INTERNAL"), None);
        assert_eq!(ErrorKind::from_reason("conflict"), None);
    }

    #[test]
    fn what_was_not_executed_is_retryable_and_what_is_unknown_never_is() {
        for kind in ErrorKind::ALL {
            match kind.verdict() {
                Verdict::NotExecuted => assert!(kind.retryable(), "{kind}"),
                Verdict::Unknown => assert!(!kind.retryable(), "{kind}"),
                Verdict::Refused => {
                    let passes_by_itself = [ErrorKind::Draining, ErrorKind::FutureRevision];
                    assert_eq!(kind.retryable(), passes_by_itself.contains(&kind), "{kind}");
                }
            }
        }
    }
}
