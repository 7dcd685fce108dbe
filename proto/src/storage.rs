//! What replicas write to their disks.

/// The package `synod.storage.v1`.
pub mod v1 {
    tonic::include_proto!("synod.storage.v1");
}
