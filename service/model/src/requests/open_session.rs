//! The request that opens a session.

use crate::Violations;

/// Opens a session, whose id is the revision of this command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenSession {}

impl OpenSession {
    /// No broken rules: the request has no fields.
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}
