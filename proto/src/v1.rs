//! The generated code of the public protocol: the package `synod.v1`.

#![expect(
    unused_qualifications,
    reason = "generated code names everything in full"
)]
#![expect(
    clippy::large_enum_variant,
    reason = "an event is decoded in place, and most events of an upgrade carry a storage state"
)]

tonic::include_proto!("synod.v1");
