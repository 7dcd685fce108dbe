//! The numbers of a member's statements.

use std::fmt;

/// The number of a member's statement about its resources, from 1 within its epoch. It grows with each new statement,
/// so that a statement that comes late is recognized. A statement that is sent again keeps its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementNumber(u64);

impl StatementNumber {
    /// The first of an epoch.
    pub const FIRST: Self = Self(1);

    /// The statement with this number, unless it is zero.
    pub const fn new(number: u64) -> Option<Self> {
        match number {
            0 => None,
            _ => Some(Self(number)),
        }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next number; `None` at the end of 64 bits.
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

impl fmt::Display for StatementNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_numbered_from_one_to_the_end_of_64_bits() {
        assert_eq!(StatementNumber::new(0), None);
        assert_eq!(StatementNumber::new(1), Some(StatementNumber::FIRST));
        assert_eq!(StatementNumber::FIRST.next(), StatementNumber::new(2));
        assert_eq!(StatementNumber::new(u64::MAX).unwrap().next(), None);
        assert_eq!(StatementNumber::FIRST.to_string(), "1");
    }
}
