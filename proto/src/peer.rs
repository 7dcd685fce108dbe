//! What replicas say to each other.

mod refusal;

/// The package `synod.peer.v1`.
#[expect(
    unused_qualifications,
    reason = "generated code names everything in full"
)]
pub mod v1 {
    tonic::include_proto!("synod.peer.v1");
}
