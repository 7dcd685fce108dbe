//! The results of adoptions.

use synod_model::{GroupResource, Revision};

use crate::Error;

#[derive(Debug)]
pub(super) struct Adoption {
    pub(super) resource: GroupResource,
    pub(super) selected_revision: Revision,
    pub(super) result: Result<(), Error>,
}
