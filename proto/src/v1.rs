//! The generated code of the public protocol: the package `synod.v1`.

#![expect(
    unused_qualifications,
    reason = "generated code names everything in full"
)]

tonic::include_proto!("synod.v1");
