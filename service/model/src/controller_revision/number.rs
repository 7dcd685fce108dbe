//! The number of a snapshot in its history.

use std::fmt;

use crate::Violation;

/// The number of a snapshot, at least 0, which is not a revision of the store. The controller wants the snapshot with
/// the highest number of its history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevisionNumber(u64);

impl RevisionNumber {
    /// The number of the first snapshot of a history.
    pub const FIRST: Self = Self(1);
    /// The highest: what fits in the signed field of Kubernetes.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// This number.
    ///
    /// # Errors
    ///
    /// Beyond [`MAX`](Self::MAX).
    pub fn new(number: u64) -> Result<Self, Violation> {
        if number <= Self::MAX.0 {
            return Ok(Self(number));
        }
        let rule = format_args!("must be at most {}", Self::MAX);
        Err(Violation::invalid_number(number, rule))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next number; `None` after the highest.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        (self < Self::MAX).then(|| Self(self.0 + 1))
    }
}

impl fmt::Display for RevisionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_anywhere_from_zero_and_end_where_those_of_kubernetes_do() {
        assert_eq!(
            RevisionNumber::default().next(),
            Some(RevisionNumber::FIRST)
        );
        let last = i64::MAX as u64;
        assert!(RevisionNumber::new(last - 1).is_ok());
        assert_eq!(RevisionNumber::new(last), Ok(RevisionNumber::MAX));
        assert!(RevisionNumber::new(last + 1).is_err());
        assert_eq!(RevisionNumber::MAX.next(), None);
    }
}
