//! The exit codes of the program: one for each outcome that a script would treat differently.

use synod_client::ErrorKind;

/// An exit code. The numbers are part of the interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Ok = 0,
    /// The command failed for a reason that has no code of its own.
    Failure = 1,
    /// The arguments or the input are invalid.
    Usage = 2,
    /// The object does not exist.
    NotFound = 3,
    /// A compare-and-swap failed, or the object exists already.
    Conflict = 4,
    /// No replica could answer, or the replicas are overloaded.
    Unavailable = 5,
    /// The deadline has passed.
    Deadline = 6,
    /// The caller is not authenticated, or may not do this.
    Permission = 7,
    /// The members do not agree, or what was asked about is not safe.
    Disagree = 8,
    /// This replica has left the replica set, so it must not be started again.
    Left = 9,
}

impl Exit {
    /// The exit code for an error of this kind.
    #[must_use]
    pub fn of(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidArgument => Self::Usage,
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::AlreadyExists | ErrorKind::Conflict => Self::Conflict,
            ErrorKind::Unavailable | ErrorKind::Overloaded => Self::Unavailable,
            ErrorKind::DeadlineExceeded => Self::Deadline,
            ErrorKind::Unauthenticated | ErrorKind::PermissionDenied => Self::Permission,
            ErrorKind::NotAMember
            | ErrorKind::StaleEpoch
            | ErrorKind::NotDecodable
            | ErrorKind::EncodingNotSelected
            | ErrorKind::Immutable
            | ErrorKind::NoAgreement
            | ErrorKind::Draining
            | ErrorKind::RequestExpired
            | ErrorKind::Compacted
            | ErrorKind::FutureRevision
            | ErrorKind::TooLarge
            | ErrorKind::Quota
            | ErrorKind::UnknownOutcome
            | ErrorKind::DataLoss
            | ErrorKind::SwitchedOff => Self::Failure,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
