//! Synod replicas, usually three, on loopback without proxies between them.

use std::net::SocketAddr;
use std::path::PathBuf;

use synod_client::{
    BinaryVersion, Client, ClientTls, Endpoint, InstanceId, Join, Labels, MemberId, ReadOptions,
    Ttl,
};
use tempfile::TempDir;

use crate::process::Process;
use crate::sample::{Sample, resident_kib};
use crate::waiting::{LIMIT, eventually};
use synod_tests::free_address;

pub(crate) struct Replicas {
    replicas: Vec<Replica>,
    tls: Option<ClientTls>,
    _folder: TempDir,
}

struct Replica {
    arguments: Vec<String>,
    data: PathBuf,
    log: PathBuf,
    client: SocketAddr,
    metrics: SocketAddr,
    process: Option<Process>,
}

impl Replicas {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[], None).await
    }

    /// Three replicas with more flags. Their clients speak as `tls` says.
    pub(crate) async fn start_with(more: &[String], tls: Option<ClientTls>) -> Self {
        Self::start_set(3, more, tls).await
    }

    /// So many replicas.
    pub(crate) async fn start_of(count: usize) -> Self {
        Self::start_set(count, &[], None).await
    }

    async fn start_set(count: usize, more: &[String], tls: Option<ClientTls>) -> Self {
        // Below the target folder, which is on a disk: the system's temporary folder may not be.
        let folder = TempDir::with_prefix_in("figures-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let peers: Vec<SocketAddr> = (0..count).map(|_| free_address()).collect();
        let set = peers
            .iter()
            .enumerate()
            .map(|(at, peer)| format!("{}={peer}", at + 1))
            .collect::<Vec<_>>()
            .join(",");
        let replicas = peers.iter().enumerate().map(|(at, peer)| {
            let (client, metrics) = (free_address(), free_address());
            let log = folder.path().join(format!("replica-{}.log", at + 1));
            let data = folder.path().join(format!("replica-{}", at + 1));
            let values = [
                ("--replica-id", (at + 1).to_string()),
                ("--data-dir", data.display().to_string()),
                ("--cluster-name", "figures".to_owned()),
                ("--replicas", set.clone()),
                ("--listen-client", client.to_string()),
                ("--listen-peer", peer.to_string()),
                ("--listen-metrics", metrics.to_string()),
                ("--log", "warn".to_owned()),
            ];
            let flags = values
                .into_iter()
                .flat_map(|(flag, value)| [flag.to_owned(), value]);
            let flags = flags.chain(more.iter().cloned());
            let arguments = std::iter::once("serve".to_owned()).chain(flags).collect();
            Replica {
                arguments,
                data,
                log,
                client,
                metrics,
                process: None,
            }
        });
        let mut replicas = Self {
            replicas: replicas.collect(),
            tls,
            _folder: folder,
        };
        for at in 0..count {
            replicas.launch(at);
        }
        for at in 0..count {
            replicas.serving(at).await;
        }
        replicas
    }

    pub(crate) fn launch(&mut self, at: usize) {
        let replica = &mut self.replicas[at];
        let process = Process::start(
            &format!("replica {}", at + 1),
            &replica.arguments,
            &replica.log,
        );
        replica.process = Some(process);
    }

    pub(crate) async fn serving(&self, at: usize) {
        let client = self.client_of(at).await.with_timeout(LIMIT);
        let read = client.settings(ReadOptions::linearizable()).await;
        read.unwrap_or_else(|error| panic!("replica {} does not serve: {error}", at + 1));
    }

    pub(crate) async fn kill(&mut self, at: usize) {
        self.replicas[at]
            .process
            .take()
            .expect("the replica runs")
            .kill()
            .await;
    }

    /// Asks a replica to end, and waits until it has.
    pub(crate) async fn terminate(&mut self, at: usize) {
        let process = self.replicas[at].process.take().expect("the replica runs");
        let status = process.terminate().await;
        assert!(status.success(), "{status}");
    }

    /// The position of the leader.
    pub(crate) async fn leader(&self) -> usize {
        eventually("a leader", async || {
            let status = self
                .client()
                .await
                .status()
                .await
                .map_err(|error| error.to_string())?;
            let leader = status.leader_id.ok_or("none is known")?;
            Ok(usize::try_from(leader).expect("replicas are few") - 1)
        })
        .await
    }

    /// The folders where the replicas keep their checkpoints.
    pub(crate) fn checkpoints(&self) -> Vec<PathBuf> {
        let replicas = self.replicas.iter();
        replicas
            .map(|replica| replica.data.join("checkpoints"))
            .collect()
    }

    /// The addresses for clients.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.replicas.iter().map(|replica| replica.client).collect()
    }

    /// The addresses where the replicas tell their metrics.
    pub(crate) fn metrics(&self) -> Vec<SocketAddr> {
        self.replicas
            .iter()
            .map(|replica| replica.metrics)
            .collect()
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let processes = self.replicas.iter().map(|replica| &replica.process);
        processes
            .map(|process| {
                let id = process.as_ref().and_then(Process::id);
                id.expect("the replica runs")
            })
            .collect()
    }

    pub(crate) fn resident_kib(&self) -> Sample {
        let mut sample = Sample::default();
        for process in self.processes() {
            sample.push(resident_kib(process));
        }
        sample
    }

    pub(crate) async fn client(&self) -> Client {
        let replicas = self.replicas.iter();
        self.connect(replicas.map(|replica| replica.client.to_string()).collect())
            .await
    }

    pub(crate) async fn client_of(&self, at: usize) -> Client {
        self.connect(vec![self.replicas[at].client.to_string()])
            .await
    }

    async fn connect(&self, endpoints: Vec<String>) -> Client {
        let mut builder = Client::builder().endpoints(endpoints);
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        let client = builder.connect().await;
        client.expect("endpoints are addresses")
    }
}

/// A join with a TTL longer than any figure takes, so that the member needs no renewals.
pub(crate) fn long_lived(id: &str) -> Join {
    Join {
        id: MemberId::parse(id).expect("the id is a name"),
        instance: InstanceId::parse("figures").expect("it is an instance"),
        ttl: Ttl::MAX,
        labels: Labels::default(),
        version: BinaryVersion::default(),
        endpoint: Endpoint::default(),
        lost_epoch: None,
        gated: true,
    }
}
