//! Replicas that serve the Kubernetes API, too.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use synod_tests::free_address;

use super::{Cluster, IDS};

impl Cluster {
    /// Three replicas that have formed a cluster and serve the Kubernetes API at these addresses, too.
    pub(crate) async fn start_with_kube() -> (Self, BTreeMap<u64, SocketAddr>) {
        let mut cluster = Self::prepare().await;
        let kube = BTreeMap::from(IDS.map(|id| (id, free_address())));
        for (id, replica) in &mut cluster.replicas {
            let flag = ["--listen-kube".to_owned(), kube[id].to_string()];
            replica.arguments.extend(flag);
        }
        (cluster.started().await, kube)
    }
}
