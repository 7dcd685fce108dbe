//! Replicas that serve the Kubernetes API, too.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use synod_tests::free_address;

use super::{Cluster, IDS};

impl Cluster {
    /// Three replicas that have formed a cluster and serve the Kubernetes API at these addresses, too.
    pub(crate) async fn start_with_kube() -> (Self, BTreeMap<u64, SocketAddr>) {
        let mut cluster = Self::prepare().await;
        let kube = cluster.add_kube();
        (cluster.started().await, kube)
    }

    /// The same, secured, with a policy in the file [`Self::policy`].
    pub(crate) async fn start_with_kube_and_policy(
        policy: &str,
    ) -> (Self, BTreeMap<u64, SocketAddr>) {
        let mut cluster = Self::prepare().await;
        let kube = cluster.add_kube();
        (cluster.with_policy(policy).await, kube)
    }

    fn add_kube(&mut self) -> BTreeMap<u64, SocketAddr> {
        let kube = BTreeMap::from(IDS.map(|id| (id, free_address())));
        for (id, replica) in &mut self.replicas {
            let flag = ["--listen-kube".to_owned(), kube[id].to_string()];
            replica.arguments.extend(flag);
        }
        kube
    }
}
