//! Checks that the status of a resource in a checkpoint follows from its entries.
//!
//! The digest proves that the rows are those that were written, not that they were right: a wrong `common` would be
//! answered to readers and relied on for as long as no entry changes.

use synod_model::{GroupResource, check_common_version, check_conditions};

use super::corrupt::CorruptState;
use crate::state::StorageVersion;

/// Compares a loaded storage version with the status that its entries imply.
pub(super) fn check_status(
    resource: &GroupResource,
    version: &StorageVersion,
) -> Result<(), CorruptState> {
    let status = &version.row.status;
    let entries = version.entries.values();
    let encodings = entries.map(|entry| entry.encoding.as_ref());
    let mut found = check_common_version(encodings, status.common.as_ref());
    found.extend_at("", check_conditions([&status.all_equal, &status.decodable]));
    if found.is_empty() {
        return Ok(());
    }
    Err(CorruptState(format!(
        "storage version \"{resource}\": {found}"
    )))
}
