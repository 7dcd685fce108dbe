//! The options of a migration worker.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

use synod_model::{GroupResource, Ttl, WorkerName};

/// The options of a migration worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigratorOptions {
    /// The name under which it claims migrations, for people.
    pub worker: WorkerName,
    /// How long it may report nothing before another worker takes its place.
    pub ttl: Ttl,
    /// The resources that it can rewrite.
    pub resources: BTreeSet<GroupResource>,
    /// How many objects it rewrites in a second at most; `None`: as many as the store can take.
    pub objects_per_second: Option<NonZeroU32>,
    /// How many objects of a page it rewrites at the same time at most, in any order.
    pub objects_at_once: NonZeroUsize,
}

impl MigratorOptions {
    /// A worker of this name for these resources, with the default TTL, which rewrites one object after the other and
    /// as fast as the store can.
    #[must_use]
    pub fn new(worker: WorkerName, resources: BTreeSet<GroupResource>) -> Self {
        Self {
            worker,
            ttl: Ttl::DEFAULT,
            resources,
            objects_per_second: None,
            objects_at_once: NonZeroUsize::MIN,
        }
    }

    /// How long it may report nothing before another worker takes its place.
    #[must_use]
    pub fn ttl(mut self, ttl: Ttl) -> Self {
        self.ttl = ttl;
        self
    }

    /// How many objects it rewrites in a second at most.
    #[must_use]
    pub fn objects_per_second(mut self, rate: NonZeroU32) -> Self {
        self.objects_per_second = Some(rate);
        self
    }

    /// How many objects of a page it rewrites at the same time at most, in any order. If the store's writes wait for a
    /// disk or a network, several take the time of one.
    #[must_use]
    pub fn objects_at_once(mut self, count: NonZeroUsize) -> Self {
        self.objects_at_once = count;
        self
    }
}
