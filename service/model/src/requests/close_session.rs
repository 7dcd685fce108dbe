//! Closing a session.

use crate::{SessionId, Violations};

/// Ends a session; what it remembers is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseSession {
    /// The session.
    pub session: SessionId,
}

impl CloseSession {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("session", self.session.check());
        violations
    }
}
