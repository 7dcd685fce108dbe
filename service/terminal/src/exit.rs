//! How the program ends: one code for each thing that a script would do differently.

use synod_client::ErrorKind;

/// An exit code. The numbers are part of the interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok = 0,
    /// It failed for a reason that has no code of its own.
    Failure = 1,
    /// What was typed makes no sense.
    Usage = 2,
    /// There is no such object.
    NotFound = 3,
    /// A compare was lost, or the object is there already.
    Conflict = 4,
    /// No replica could answer.
    Unavailable = 5,
    /// The time was over.
    Deadline = 6,
    /// The caller may not do this.
    Permission = 7,
    /// The members do not agree, or what was asked about is not safe.
    Disagree = 8,
}

impl Exit {
    /// How a program ends because of an error of this kind.
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
            | ErrorKind::DataLoss => Self::Failure,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
