//! The store's one counter, the ids and tokens that are revisions of it, and the ids of requests.

use std::fmt;

use crate::Violation;

/// The store's counter: it moves by one with each applied command that changed something, and by 2^40 with a restore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Before the first command: nothing has this revision.
    pub const ZERO: Self = Self(0);

    /// The revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next revision.
    ///
    /// # Panics
    ///
    /// At the end of 64 bits, where going on would use a revision twice. At a million commands a second that is half a
    /// million years away, restores (2^40 each) included.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.strict_add(1))
    }

    /// The revision of a restore from a backup at this one: 2^40 later, beyond every number that the lost cluster can
    /// have given since the backup. `None` if it does not fit in 64 bits.
    pub const fn restored(self) -> Option<Self> {
        match self.0.checked_add(1 << 40) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The revision of the command that let a member join: its fencing token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(Revision);

/// The revision of the command that opened a client's session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Revision);

/// The revision of the command that gave a lease to its holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(Revision);

/// The revision of the command that put a waiter into the queue for a lease: its place in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(Revision);
/// The revision of the command that gave a migration to its worker: the worker's fencing token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimToken(Revision);

/// Implements the constructor, the accessors and the check of a number that is a revision.
macro_rules! taken_from_revision {
    ($name:ident, $command:literal) => {
        impl $name {
            #[doc = concat!("The number taken from the revision of ", $command, ".")]
            pub const fn new(revision: Revision) -> Self {
                Self(revision)
            }

            /// The revision.
            pub const fn revision(self) -> Revision {
                self.0
            }

            /// Its number.
            pub const fn get(self) -> u64 {
                self.0.get()
            }

            /// Refuses a number that no command can have answered.
            ///
            /// # Errors
            ///
            /// Zero, which is what a field that was left out reads as.
            pub fn check(self) -> Result<(), Violation> {
                if self.0 > Revision::ZERO {
                    return Ok(());
                }
                let rule = concat!("must be the number that ", $command, " answered");
                Err(Violation::required(rule))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

taken_from_revision!(Epoch, "a join");
taken_from_revision!(SessionId, "opening a session");
taken_from_revision!(FencingToken, "acquiring the lease");
taken_from_revision!(Ticket, "queueing for the lease");
taken_from_revision!(ClaimToken, "claiming the migration");

/// The place of a request in its session, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(u64);

impl Sequence {
    /// The first of a session.
    pub const FIRST: Self = Self(1);

    /// The sequence with this number, unless it is zero.
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            0 => None,
            _ => Some(Self(number)),
        }
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next sequence.
    ///
    /// # Panics
    ///
    /// At the end of 64 bits, where going on would name another request by an old number.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.strict_add(1))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id that makes a changing request exactly-once: its session, its place there, and the lowest place to which the
/// sender has no answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    /// The client's session.
    pub session: SessionId,
    /// The place of the request in the session.
    pub sequence: Sequence,
    /// The lowest sequence whose answer the client still waits for; outcomes below it are
    /// forgotten. Never above `sequence`.
    pub lowest_unanswered: Sequence,
}

impl RequestId {
    /// The id of a request.
    ///
    /// # Errors
    ///
    /// A session that cannot exist, or a lowest unanswered sequence above the request's own,
    /// which is unanswered itself.
    pub fn new(
        session: SessionId,
        sequence: Sequence,
        lowest_unanswered: Sequence,
    ) -> Result<Self, Violation> {
        session.check().map_err(|v| v.at("session"))?;
        if lowest_unanswered > sequence {
            let rule = format_args!("must not be above the request's own sequence {sequence}");
            let violation = Violation::invalid_number(lowest_unanswered.get(), rule);
            return Err(violation.at("lowestUnanswered"));
        }
        Ok(Self {
            session,
            sequence,
            lowest_unanswered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(number: u64) -> Sequence {
        Sequence::new(number).unwrap()
    }

    #[test]
    fn a_revision_is_its_decimal_number_and_moves_by_one() {
        assert_eq!(Revision::default(), Revision::ZERO);
        assert_eq!(Revision::new(41).next().to_string(), "42");
        assert!(Revision::new(9) < Revision::new(10));
    }

    #[test]
    fn a_restore_goes_far_beyond_what_was_given_and_never_around() {
        let last = Revision::new(u64::MAX - (1 << 40));
        assert_eq!(
            Revision::new(7).restored(),
            Some(Revision::new((1 << 40) + 7))
        );
        assert_eq!(last.restored(), Some(Revision::new(u64::MAX)));
        assert_eq!(last.next().restored(), None);
    }

    #[test]
    #[should_panic(expected = "overflow")]
    fn a_revision_is_never_used_twice() {
        let _ = Revision::new(u64::MAX).next();
    }

    #[test]
    fn an_epoch_is_the_revision_of_its_join() {
        let epoch = Epoch::new(Revision::new(7));
        assert_eq!((epoch.get(), epoch.revision().get()), (7, 7));
        assert_eq!(epoch.to_string(), "7");
        assert!(epoch.check().is_ok());
    }

    #[test]
    fn zero_is_no_epoch_no_session_and_no_sequence() {
        assert_eq!(
            Epoch::default().check().unwrap_err().to_string(),
            "Required value: must be the number that a join answered"
        );
        assert!(SessionId::default().check().is_err());
        assert_eq!(Sequence::new(0), None);
        assert_eq!(Sequence::FIRST.next(), sequence(2));
    }

    #[test]
    fn a_request_cannot_wait_only_for_later_ones() {
        let session = SessionId::new(Revision::new(3));
        assert!(RequestId::new(session, sequence(5), sequence(5)).is_ok());
        let violation = RequestId::new(session, sequence(5), sequence(6)).unwrap_err();
        assert_eq!(
            violation.to_string(),
            "lowestUnanswered: Invalid value: 6: must not be above the request's own sequence 5"
        );
    }

    #[test]
    fn a_request_without_a_session_has_no_id() {
        let violation =
            RequestId::new(SessionId::default(), Sequence::FIRST, Sequence::FIRST).unwrap_err();
        assert_eq!(violation.field, "session");
    }
}
