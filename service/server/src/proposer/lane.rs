//! The two lanes of the proposer, and which commands take which.

use synod_machine::Command;
use synod_model::stored_variants;

/// A lane of the proposer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// For commands that can wait while many others do.
    Ordinary,
    /// For commands that keep members alive or free room.
    Renewal,
}

impl Lane {
    /// Both of them.
    pub(crate) const ALL: [Self; 2] = [Self::Ordinary, Self::Renewal];

    /// The lane of a command.
    #[must_use]
    pub fn of(command: &Command) -> Self {
        if command.name().is_urgent() {
            Self::Renewal
        } else {
            Self::Ordinary
        }
    }

    /// The name in metrics and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Renewal => "renewal",
        }
    }
}

stored_variants! { Lane { 1 Ordinary, 2 Renewal } }
