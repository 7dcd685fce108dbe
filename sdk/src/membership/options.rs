//! The options of a join.

use std::time::Duration;

use synod_model::{
    BinaryVersion, Endpoint, GroupResource, InstanceId, Join, Labels, MemberId, Ttl,
};

use crate::seams::Randomness;

/// The options of a join, and of the membership that it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinOptions {
    id: MemberId,
    ttl: Ttl,
    labels: Labels,
    version: BinaryVersion,
    endpoint: Endpoint,
    gated: bool,
    pub(super) equivalents: Vec<Vec<GroupResource>>,
    pub(super) permit_wait: Duration,
    pub(super) drain_limit: Duration,
}

impl JoinOptions {
    /// Joins under this id, which stays the same over restarts of the server; [`apiserver_id`](crate::apiserver_id)
    /// makes the id that Kubernetes would give the server.
    #[must_use]
    pub fn new(id: MemberId) -> Self {
        Self {
            id,
            ttl: Ttl::DEFAULT,
            labels: Labels::default(),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            gated: true,
            equivalents: Vec::new(),
            permit_wait: Duration::from_secs(5),
            drain_limit: Duration::from_secs(180),
        }
    }

    /// How long the member is kept after a renewal; 15 seconds if not set.
    #[must_use]
    pub fn ttl(mut self, ttl: Ttl) -> Self {
        self.ttl = ttl;
        self
    }

    /// The labels of the server, by which members can be selected.
    #[must_use]
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// The release that the server runs, for display.
    #[must_use]
    pub fn version(mut self, version: BinaryVersion) -> Self {
        self.version = version;
        self
    }

    /// The address of the server, for display.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = endpoint;
        self
    }

    /// Sets of resources that share one store, each of at most 8. Of those in a report, only the first by group and resource is
    /// reported, for its whole set: it tells of the others, also decodes what they decode, and the gate opens for all of them
    /// with it.
    #[must_use]
    pub fn equivalents(mut self, equivalents: Vec<Vec<GroupResource>>) -> Self {
        self.equivalents = equivalents;
        self
    }

    /// Says that not every write of the server passes the gate. What it may still write drains then whenever it changes its
    /// report, and if it expires, answers assume that it has stopped. Since 0.1.
    #[must_use]
    pub fn ungated(mut self) -> Self {
        self.gated = false;
        self
    }

    /// How long [`Gate::permit`](crate::Gate::permit) waits; 5 seconds if not set.
    #[must_use]
    pub fn permit_wait(mut self, wait: Duration) -> Self {
        self.permit_wait = wait;
        self
    }

    /// How long a changed report waits for the permits of its resources to be given back; 3 minutes if not set. It
    /// should be longer than the setting `write_grace`, for which a write of unknown outcome holds its permit.
    #[must_use]
    pub fn drain_limit(mut self, limit: Duration) -> Self {
        self.drain_limit = limit;
        self
    }

    /// The join of a process that has just started.
    pub(super) fn to_join(&self, instance: InstanceId) -> Join {
        Join {
            id: self.id.clone(),
            instance,
            ttl: self.ttl,
            labels: self.labels.clone(),
            version: self.version.clone(),
            endpoint: self.endpoint.clone(),
            lost_epoch: None,
            gated: self.gated,
        }
    }
}

/// An instance name that no other process has.
pub(super) fn random_instance(randomness: &dyn Randomness) -> InstanceId {
    let text = format!("{:016x}{:016x}", randomness.next(), randomness.next());
    InstanceId::parse(&text).expect("32 hexadecimal digits name an instance")
}
