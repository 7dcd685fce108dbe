//! The protocols of Synod: what clients speak, what replicas say to each other, and what they write to their disks.
//!
//! Three packages that change at different speeds and never share a message: [`v1`], [`peer::v1`] and [`storage::v1`].
//! The sources under `proto/` are where each message and field says what it promises.

/// What clients speak: the package `synod.v1`.
#[expect(unused_qualifications, reason = "generated code names everything in full")]
pub mod v1 {
    tonic::include_proto!("synod.v1");
}

/// What replicas say to each other.
pub mod peer {
    /// The package `synod.peer.v1`.
    #[expect(unused_qualifications, reason = "generated code names everything in full")]
    pub mod v1 {
        tonic::include_proto!("synod.peer.v1");
    }
}

/// What replicas write to their disks.
pub mod storage {
    /// The package `synod.storage.v1`.
    #[expect(clippy::large_enum_variant, reason = "rows are read and written one by one, never kept in numbers")]
    pub mod v1 {
        tonic::include_proto!("synod.storage.v1");
    }
}

/// The encoded `FileDescriptorSet` of [`v1`] with its comments: what server reflection answers.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/synod.v1.binpb"));
