//! The request that closes a session.

use crate::{SessionId, Violations};

/// Ends a session; the outcomes that it remembers are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseSession {
    /// The session.
    pub session: SessionId,
}

impl CloseSession {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("session", self.session.check());
        violations
    }
}
