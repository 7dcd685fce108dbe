//! Why a membership is over for good.

use std::fmt;

/// Why a membership is over for good. Its gate stays closed for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ended {
    /// Another instance has joined under the member's id: this process must not write, and its gate is closed.
    Replaced,
    /// The member has left.
    Left,
    /// The membership was stopped or dropped without leaving: the member expires by itself.
    Stopped,
}

impl Ended {
    /// Its name in logs and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Left => "left",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
