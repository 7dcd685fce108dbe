//! Adoptions that have ended.

use synod_model::{GroupResource, Revision};

use crate::Error;

/// How an adoption ended.
#[derive(Debug)]
pub(super) struct Adoption {
    pub(super) resource: GroupResource,
    pub(super) selected_revision: Revision,
    pub(super) result: Result<(), Error>,
}
