//! The services' protocols, as clients speak them.

#[path = "sessions/empty.rs"]
pub(crate) mod empty;
#[path = "sessions/etcd.rs"]
pub(crate) mod etcd;
#[path = "sessions/objects.rs"]
mod objects;
#[path = "sessions/pipeline.rs"]
pub(crate) mod pipeline;
#[path = "sessions/unary.rs"]
pub(crate) mod unary;
#[path = "sessions/zookeeper.rs"]
pub(crate) mod zookeeper;

pub(crate) use objects::create_collections;
