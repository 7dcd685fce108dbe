//! The data of a snapshot, as it is sent.

use bytes::Bytes;
use synod_model::{MediaType, RevisionData, Violations};

/// The data in two fields.
pub(super) fn data(media_type: &str, bytes: Bytes) -> Result<RevisionData, Violations> {
    let media_type = match media_type {
        "" => MediaType::JSON,
        text => MediaType::parse(text)?,
    };
    Ok(RevisionData::new(media_type, bytes)?)
}
