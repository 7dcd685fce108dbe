//! Opening a session.

use crate::Violations;

/// Opens a session, whose id is the revision at which it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenSession {}

impl OpenSession {
    /// What is wrong with its shape: it has none.
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}
