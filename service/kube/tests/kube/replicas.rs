//! The replicas that the tests run on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::consensus::ReplicaId;
use synod_server::replica::{Doors, Replica};
use synod_server::seams::Seams;
use synod_store::RealDisk;
use tempfile::TempDir;
use tonic::transport::Channel;

use crate::certificates;

/// Anything that takes longer than this has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A replica set with the Kubernetes API.
pub(crate) struct Replicas {
    pub(crate) running: Vec<Replica>,
    /// Where each serves the Kubernetes API.
    pub(crate) kube: Vec<String>,
    /// Where each serves gRPC.
    pub(crate) grpc: Vec<String>,
    pub(crate) directory: TempDir,
}

impl Replicas {
    /// One replica.
    pub(crate) async fn one() -> Self {
        Self::start(1, |_, _| {}).await
    }

    /// Starts this many replicas, and waits until all serve.
    pub(crate) async fn start(
        count: u64,
        configure: impl Fn(&TempDir, &mut ReplicaConfig),
    ) -> Self {
        let directory = TempDir::new().unwrap();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let listen = Listen {
            client: anywhere,
            peer: anywhere,
            metrics: None,
            kube: Some(anywhere),
        };
        let mut opened = Vec::new();
        for _ in 0..count {
            opened.push(Doors::open(&listen).await.unwrap());
        }
        let ids = || (1..).map(ReplicaId::new);
        let peers = opened.iter().map(|doors| doors.peer_address.clone());
        let set: BTreeMap<ReplicaId, String> = ids().zip(peers).collect();
        let mut replicas = Self {
            running: Vec::new(),
            kube: Vec::new(),
            grpc: Vec::new(),
            directory,
        };
        for (id, doors) in ids().zip(opened) {
            let data = replicas.directory.path().join(id.to_string());
            let mut config = ReplicaConfig::new(id, "test".to_owned(), data, listen, set.clone());
            configure(&replicas.directory, &mut config);
            replicas.kube.push(doors.kube_address.clone().unwrap());
            replicas.grpc.push(doors.client_address.clone());
            let seams = Seams::real(Arc::new(RealDisk));
            let mut replica = Replica::start(config, seams, doors).await.unwrap();
            replica.attach(synod_kube::serve);
            replicas.running.push(replica);
        }
        for replica in &replicas.running {
            tokio::time::timeout(PATIENCE, replica.serving())
                .await
                .unwrap();
        }
        replicas
    }

    /// Why a replica of this configuration does not start.
    pub(crate) async fn refused(configure: impl Fn(&mut ReplicaConfig)) -> String {
        let directory = TempDir::new().unwrap();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let listen = Listen {
            client: anywhere,
            peer: anywhere,
            metrics: None,
            kube: Some(anywhere),
        };
        let doors = Doors::open(&listen).await.unwrap();
        let id = ReplicaId::new(1);
        let set = BTreeMap::from([(id, doors.peer_address.clone())]);
        let data = directory.path().join("1");
        let mut config = ReplicaConfig::new(id, "test".to_owned(), data, listen, set);
        configure(&mut config);
        let started = Replica::start(config, Seams::real(Arc::new(RealDisk)), doors).await;
        started.err().unwrap().to_string()
    }

    /// The first replica, with the namespaced collection of widgets.
    pub(crate) async fn with_widgets() -> Self {
        let replicas = Self::one().await;
        replicas.declare("widgets", "Widget", true).await;
        replicas
    }

    /// The first replica, with the namespaced collection of widgets, whose status is a subresource.
    pub(crate) async fn with_status() -> Self {
        let replicas = Self::one().await;
        replicas.declare_with_status().await;
        replicas
    }

    /// The same behind TLS.
    pub(crate) async fn secured_with_status() -> Self {
        let replicas = Self::start(1, certificates::secured).await;
        replicas.declare_with_status().await;
        replicas
    }

    pub(crate) async fn declare_with_status(&self) {
        self.declare("widgets", "Widget", true).await;
        self.raised().await;
        let update = v1::CollectionsUpdateRequest {
            resource: Some(v1::GroupResource {
                group: "example.io".to_owned(),
                resource: "widgets".to_owned(),
            }),
            status_subresource: Some(true),
            ..v1::CollectionsUpdateRequest::default()
        };
        let mut collections = CollectionsClient::new(self.channel().await);
        collections.update(update).await.unwrap();
    }

    /// Waits until the newest machine version is in force, which is in a moment where each replica knows it.
    pub(crate) async fn raised(&self) {
        let mut cluster = ClusterClient::new(self.channel().await);
        let raised = async {
            loop {
                let status = cluster.status(v1::ClusterStatusRequest::default());
                let status = status.await.unwrap().into_inner();
                if status.machine_version >= 2 {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, raised).await.unwrap();
    }

    /// Declares a collection of the group `example.io`.
    pub(crate) async fn declare(&self, plural: &str, kind: &str, namespaced: bool) {
        let create = v1::CollectionsCreateRequest {
            resource: Some(v1::GroupResource {
                group: "example.io".to_owned(),
                resource: plural.to_owned(),
            }),
            kind: kind.to_owned(),
            namespaced,
            ..Default::default()
        };
        let mut collections = CollectionsClient::new(self.channel().await);
        collections.create(create).await.unwrap();
    }

    /// A connection to the first replica: behind TLS where that has it, as an admin.
    pub(crate) async fn channel(&self) -> Channel {
        if self.directory.path().join("admin.pem").exists() {
            return certificates::channel(self).await;
        }
        let address = format!("http://{}", self.grpc[0]);
        Channel::from_shared(address)
            .unwrap()
            .connect()
            .await
            .unwrap()
    }

    /// Keeps only so much history.
    pub(crate) async fn keep(&self, revisions: u64) {
        let update = v1::ClusterUpdateSettingsRequest {
            patch: Some(v1::SettingsPatch {
                history_revisions: Some(revisions),
                ..v1::SettingsPatch::default()
            }),
            ..v1::ClusterUpdateSettingsRequest::default()
        };
        let mut cluster = ClusterClient::new(self.channel().await);
        cluster.update_settings(update).await.unwrap();
    }
}
