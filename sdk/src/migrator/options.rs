//! How a worker works.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

use synod_model::{GroupResource, Ttl, WorkerName};

/// How a worker works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigratorOptions {
    /// Under which name it claims, for people.
    pub worker: WorkerName,
    /// How long it may be silent before another takes its place.
    pub ttl: Ttl,
    /// The resources that it can rewrite.
    pub resources: BTreeSet<GroupResource>,
    /// How many objects it rewrites in a second at most; `None`: as many as the store takes.
    pub objects_per_second: Option<NonZeroU32>,
    /// How many objects of a page it rewrites at the same time at most, in any order.
    pub objects_at_once: NonZeroUsize,
}

impl MigratorOptions {
    /// A worker of this name for these resources, with the default TTL, one object after the other and as fast as the
    /// store.
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

    /// How long it may be silent before another takes its place.
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

    /// How many objects of a page it rewrites at the same time at most, in any order. A store whose writes wait for a
    /// disk or a network takes several in the time of one.
    #[must_use]
    pub fn objects_at_once(mut self, count: NonZeroUsize) -> Self {
        self.objects_at_once = count;
        self
    }
}
