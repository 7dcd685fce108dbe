use synod_model::{ErrorKind, Refusal, Violation};

use crate::status::{later, with_execution};
use crate::v1;

/// The current object is not sent: an error inside of a message never answers a compare-and-swap.
impl From<&Refusal> for v1::Refusal {
    fn from(refusal: &Refusal) -> Self {
        let bare = Refusal {
            current: None,
            ..refusal.clone()
        };
        Self {
            reason: v1::ErrorReason::from(refusal.kind).into(),
            message: refusal.message.clone(),
            violations: refusal.violations.iter().map(Into::into).collect(),
            metadata: with_execution(bare).metadata,
        }
    }
}

/// A reason that this release does not know claims no more than the metadata says.
impl From<v1::Refusal> for Refusal {
    fn from(pb: v1::Refusal) -> Self {
        let known = v1::ErrorReason::try_from(pb.reason);
        let mut refusal = match known {
            Ok(reason) => Self::new(reason.into(), pb.message),
            Err(_) => later(&format!("reason {}", pb.reason), &pb.message, &pb.metadata),
        };
        refusal.violations = pb.violations.into_iter().map(Into::into).collect();
        refusal.metadata = pb.metadata;
        refusal
    }
}

impl From<&Violation> for v1::FieldViolation {
    fn from(violation: &Violation) -> Self {
        Self {
            field: violation.field.clone(),
            rule: violation.rule.clone(),
        }
    }
}

impl From<v1::FieldViolation> for Violation {
    fn from(pb: v1::FieldViolation) -> Self {
        Self {
            field: pb.field,
            rule: pb.rule,
        }
    }
}

impl From<ErrorKind> for v1::ErrorReason {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidArgument => Self::InvalidArgument,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists => Self::AlreadyExists,
            ErrorKind::Conflict => Self::Conflict,
            ErrorKind::NotAMember => Self::NotAMember,
            ErrorKind::StaleEpoch => Self::StaleEpoch,
            ErrorKind::NotDecodable => Self::NotDecodable,
            ErrorKind::EncodingNotSelected => Self::EncodingNotSelected,
            ErrorKind::Immutable => Self::Immutable,
            ErrorKind::NoAgreement => Self::NoAgreement,
            ErrorKind::Draining => Self::Draining,
            ErrorKind::RequestExpired => Self::RequestExpired,
            ErrorKind::Compacted => Self::Compacted,
            ErrorKind::FutureRevision => Self::FutureRevision,
            ErrorKind::TooLarge => Self::TooLarge,
            ErrorKind::Quota => Self::Quota,
            ErrorKind::Overloaded => Self::Overloaded,
            ErrorKind::Unavailable => Self::Unavailable,
            ErrorKind::UnknownOutcome => Self::UnknownOutcome,
            ErrorKind::DeadlineExceeded => Self::DeadlineExceeded,
            ErrorKind::Unauthenticated => Self::Unauthenticated,
            ErrorKind::PermissionDenied => Self::PermissionDenied,
            ErrorKind::DataLoss => Self::DataLoss,
            ErrorKind::SwitchedOff => Self::SwitchedOff,
        }
    }
}

impl From<v1::ErrorReason> for ErrorKind {
    fn from(reason: v1::ErrorReason) -> Self {
        match reason {
            v1::ErrorReason::InvalidArgument => Self::InvalidArgument,
            v1::ErrorReason::NotFound => Self::NotFound,
            v1::ErrorReason::AlreadyExists => Self::AlreadyExists,
            v1::ErrorReason::Conflict => Self::Conflict,
            v1::ErrorReason::NotAMember => Self::NotAMember,
            v1::ErrorReason::StaleEpoch => Self::StaleEpoch,
            v1::ErrorReason::NotDecodable => Self::NotDecodable,
            v1::ErrorReason::EncodingNotSelected => Self::EncodingNotSelected,
            v1::ErrorReason::Immutable => Self::Immutable,
            v1::ErrorReason::NoAgreement => Self::NoAgreement,
            v1::ErrorReason::Draining => Self::Draining,
            v1::ErrorReason::RequestExpired => Self::RequestExpired,
            v1::ErrorReason::Compacted => Self::Compacted,
            v1::ErrorReason::FutureRevision => Self::FutureRevision,
            v1::ErrorReason::TooLarge => Self::TooLarge,
            v1::ErrorReason::Quota => Self::Quota,
            v1::ErrorReason::Overloaded => Self::Overloaded,
            v1::ErrorReason::Unavailable => Self::Unavailable,
            v1::ErrorReason::UnknownOutcome | v1::ErrorReason::Unspecified => Self::UnknownOutcome,
            v1::ErrorReason::DeadlineExceeded => Self::DeadlineExceeded,
            v1::ErrorReason::Unauthenticated => Self::Unauthenticated,
            v1::ErrorReason::PermissionDenied => Self::PermissionDenied,
            v1::ErrorReason::DataLoss => Self::DataLoss,
            v1::ErrorReason::SwitchedOff => Self::SwitchedOff,
        }
    }
}
