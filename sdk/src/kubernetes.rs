//! Values that Kubernetes computes, computed in the same way.

use synod_model::StorageVersionHash;

/// The hash by which Kubernetes' discovery tells in which version a resource is stored: of the group, version and kind
/// of the encoding, with the core group empty.
///
/// ```
/// let hash = synod_client::storage_version_hash("", "v1", "Pod");
/// assert_eq!(hash.to_string(), "xPOwRZ+Yhw8=");
/// ```
#[must_use]
pub fn storage_version_hash(group: &str, version: &str, kind: &str) -> StorageVersionHash {
    StorageVersionHash::of(group, version, kind)
}
