//! Writes that depend on a read right before them: they are tried again if the object has changed in between.

use synod_client::{Error, ErrorKind};

use crate::failure::Failure;

/// How often a read and its write are tried.
pub(super) const TRIES_MAX: u32 = 16;

/// Why a write was not made.
#[derive(Debug, PartialEq)]
pub(super) enum NotWritten {
    /// The object was created, changed or deleted after it was read.
    Overtaken(Failure),
    /// The write would be refused again.
    Refused(Failure),
}

impl NotWritten {
    /// Classifies the refusal of a write. `was_there`: whether the read before had found the object.
    pub(super) fn of(error: Error, was_there: bool) -> Self {
        // A creation that is refused with `NotFound` has lost its collection: trying again would not help.
        let overtaken = match error.kind() {
            ErrorKind::AlreadyExists => !was_there,
            ErrorKind::Conflict | ErrorKind::NotFound => was_there,
            _ => false,
        };
        let failure = error.into();
        if overtaken {
            Self::Overtaken(failure)
        } else {
            Self::Refused(failure)
        }
    }
}

impl From<Failure> for NotWritten {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

/// Calls `once`, which reads and writes, until it is not overtaken; at most [`TRIES_MAX`] times.
pub(super) async fn written<T>(
    mut once: impl AsyncFnMut() -> Result<T, NotWritten>,
) -> Result<T, Failure> {
    let mut tries = TRIES_MAX;
    loop {
        match once().await {
            Err(NotWritten::Overtaken(_)) if tries > 1 => tries -= 1,
            Err(NotWritten::Overtaken(failure) | NotWritten::Refused(failure)) => {
                return Err(failure);
            }
            Ok(written) => return Ok(written),
        }
    }
}

#[cfg(test)]
mod tests {
    use synod_model::Refusal;

    use super::*;

    fn not_written(kind: ErrorKind, was_there: bool) -> NotWritten {
        NotWritten::of(Error::from(Refusal::new(kind, "no")), was_there)
    }

    /// The number of tries, and their result.
    async fn tried(answers: Vec<Result<u32, NotWritten>>) -> (usize, Result<u32, Failure>) {
        let all = answers.len();
        let mut answers = answers.into_iter();
        let end = written(async || answers.next().unwrap()).await;
        (all - answers.len(), end)
    }

    #[tokio::test]
    async fn who_was_overtaken_tries_again_and_gives_up_in_the_end() {
        let behind = [
            (ErrorKind::AlreadyExists, false),
            (ErrorKind::Conflict, true),
            (ErrorKind::NotFound, true),
        ];
        let lost = behind.map(|(kind, was_there)| Err(not_written(kind, was_there)));
        let answers = lost.into_iter().chain([Ok(7)]).collect();
        assert_eq!(tried(answers).await, (4, Ok(7)));

        let always = (0..99).map(|_| Err(not_written(ErrorKind::Conflict, true)));
        let (tries, end) = tried(always.collect()).await;
        assert_eq!(tries, 16);
        let told = end.unwrap_err().to_string();
        assert!(told.starts_with("error: CONFLICT: "), "{told}");
    }

    #[tokio::test]
    async fn what_would_be_refused_again_is_asked_once() {
        for (kind, was_there) in [
            // The collection was deleted.
            (ErrorKind::NotFound, false),
            (ErrorKind::InvalidArgument, true),
            (ErrorKind::UnknownOutcome, true),
            (ErrorKind::Unavailable, true),
        ] {
            let answers = vec![Err(not_written(kind, was_there)), Ok(7)];
            let (tries, end) = tried(answers).await;
            assert_eq!((tries, end.is_err()), (1, true), "{kind}");
        }
    }
}
