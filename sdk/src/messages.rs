//! Messages that are known by their descriptors alone, in the JSON form of protobuf.
//!
//! Through them, programs in other languages, whose values are documents and not types, use the same client: a method
//! is found by its name, a request is parsed by the descriptor of its message, and an answer is written by the
//! descriptor of its own.

mod method;
mod reading;
mod wire;
mod writing;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor};

pub(crate) use method::{Method, Nature};
pub(crate) use reading::read;
pub(crate) use wire::{AnyAnswer, AnyRequest};
pub(crate) use writing::write;

/// The descriptors of the protocol.
static PROTOCOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(synod_proto::FILE_DESCRIPTOR_SET)
        .expect("the descriptors are those that the build made of the sources")
});

/// The descriptor of a message of the package `synod.v1`, which must exist.
pub(crate) fn descriptor(name: &str) -> MessageDescriptor {
    PROTOCOL
        .get_message_by_name(&format!("synod.v1.{name}"))
        .unwrap_or_else(|| panic!("{name} is a message of the protocol"))
}
