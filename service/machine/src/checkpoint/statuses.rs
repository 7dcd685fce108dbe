//! What a checkpoint says of a resource has to follow from the entries in it.
//!
//! The digest tells that the rows are those that were written, not that whoever wrote them was right: a wrong common
//! version would be answered, and worked by, for as long as no entry changes.

use synod_model::{GroupResource, check_common_version, check_conditions};

use super::corrupt::CorruptState;
use crate::state::StorageVersion;

/// Holds a loaded storage version against its entries.
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
