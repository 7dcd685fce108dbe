//! What replicas write to their disks.

/// The package `synod.storage.v1`.
#[expect(
    clippy::large_enum_variant,
    reason = "rows are read and written one by one, never kept in numbers"
)]
pub mod v1 {
    tonic::include_proto!("synod.storage.v1");
}
