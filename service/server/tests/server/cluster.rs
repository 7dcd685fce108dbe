//! The replicas that the tests run on, and clients to call them.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::migrations_client::MigrationsClient;
use synod_proto::v1::sessions_client::SessionsClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use synod_proto::v1::watch_client::WatchClient;
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::consensus::ReplicaId;
use synod_server::replica::{Doors, Replica};
use synod_server::seams::{Flushing, Seams};
use synod_store::RealDisk;
use synod_tests::free_address;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::Channel;
use tonic::{Status, Streaming};

use crate::answers::is_passing;

/// Anything that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Election timeouts with which a machine that stands still for a second or two changes no leader: the longest one is a
/// leader's lease, and the shortest one bounds a vote.
const STEADY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(3));

/// A replica set in this process.
pub(crate) struct Cluster {
    replicas: BTreeMap<u64, Running>,
    configs: BTreeMap<u64, ReplicaConfig>,
    flushing: Flushing,
    _directory: TempDir,
}

/// A replica on its own threads, which can be stopped as if its process were killed.
struct Running {
    replica: Replica,
    client_address: String,
    metrics_address: SocketAddr,
    threads: Threads,
}

/// The threads of a replica. Dropping them aborts everything that runs on them, and does not wait for its end.
struct Threads(Option<Runtime>);

impl Threads {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Self(Some(runtime.unwrap()))
    }

    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        self.0.as_ref().unwrap().spawn(work).await.unwrap()
    }

    /// Aborts everything that runs on them, and waits until it has let go of its ports and its directory.
    fn end(mut self) {
        let runtime = self.0.take().unwrap();
        tokio::task::block_in_place(|| runtime.shutdown_timeout(PATIENCE));
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Cluster {
    /// Starts this many replicas, whose leader stays as long as it runs, and waits until all serve.
    pub(crate) async fn start(count: u64) -> Self {
        Self::start_with(count, |_| {}).await
    }

    /// Starts this many replicas with the timing that they usually have, and waits until all serve. For tests of what they
    /// say without a quorum: it is sooner, but the leader may change whenever the machine is busy.
    pub(crate) async fn start_usual(count: u64) -> Self {
        Self::start_on(Flushing::Thread, count, |_| {}).await
    }

    /// Starts this many replicas with changed configurations, and waits until all serve.
    pub(crate) async fn start_with(count: u64, configure: impl Fn(&mut ReplicaConfig)) -> Self {
        let steady = |config: &mut ReplicaConfig| {
            config.election_timeout = STEADY;
            configure(config);
        };
        Self::start_on(Flushing::Thread, count, steady).await
    }

    /// Starts this many replicas whose logs take so long to write a batch, and waits until all serve.
    pub(crate) async fn start_slow(count: u64, each: Duration) -> Self {
        let flushing = Flushing::Task {
            shortest: each,
            longest: each,
        };
        let steady = |config: &mut ReplicaConfig| config.election_timeout = STEADY;
        Self::start_on(flushing, count, steady).await
    }

    async fn start_on(
        flushing: Flushing,
        count: u64,
        configure: impl Fn(&mut ReplicaConfig),
    ) -> Self {
        // With RUST_LOG set, the logs of the replicas are shown.
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_test_writer()
            .try_init();
        let directory = TempDir::new().unwrap();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut opened = BTreeMap::new();
        for id in 1..=count {
            let threads = Threads::new();
            // Nobody else takes these while the replica is stopped.
            let listen = Listen {
                client: free_address(),
                peer: free_address(),
                metrics: Some(anywhere),
                kube: None,
            };
            let doors = threads
                .run(async move { Doors::open(&listen).await })
                .await
                .unwrap();
            opened.insert(id, (threads, doors));
        }
        let address = |doors: &Doors| doors.peer_address.clone();
        let set: BTreeMap<ReplicaId, String> = opened
            .iter()
            .map(|(id, (_, doors))| (ReplicaId::new(*id), address(doors)))
            .collect();
        let mut cluster = Self {
            replicas: BTreeMap::new(),
            configs: BTreeMap::new(),
            flushing,
            _directory: directory,
        };
        for (id, (threads, doors)) in opened {
            let data = cluster._directory.path().join(id.to_string());
            let listen = Listen {
                client: doors.client_address.parse().unwrap(),
                peer: doors.peer_address.parse().unwrap(),
                metrics: Some(anywhere),
                kube: None,
            };
            let mut config = ReplicaConfig::new(
                ReplicaId::new(id),
                "test".to_owned(),
                data,
                listen,
                set.clone(),
            );
            // What was written before anybody spoke lands soon, so that no test waits long for it.
            config.first_settings.write_grace = Duration::from_secs(1);
            configure(&mut config);
            cluster.configs.insert(id, config);
            cluster.run(id, threads, doors).await;
        }
        for id in 1..=count {
            cluster.serving(id).await;
        }
        cluster.announced().await;
        cluster
    }

    /// Waits until every replica knows what each has announced of itself: each announcement is a revision.
    async fn announced(&self) {
        for running in self.replicas.values() {
            let consensus = running.replica.handle().consensus();
            let mut progress = consensus.subscribe();
            let count = self.replicas.len();
            let all =
                progress.wait_for(|_| consensus.published().state.replicas().count() == count);
            let all = within("the announcements of all replicas", all).await;
            assert!(all.is_ok(), "the replica runs");
        }
    }

    /// Starts a stopped replica again.
    pub(crate) async fn restart(&mut self, id: u64) {
        let threads = Threads::new();
        let listen = self.configs[&id].listen;
        let doors = threads
            .run(async move { Doors::open(&listen).await })
            .await
            .unwrap();
        self.run(id, threads, doors).await;
    }

    async fn run(&mut self, id: u64, threads: Threads, doors: Doors) {
        let client_address = doors.client_address.clone();
        let metrics_address = doors.metrics_address.clone().unwrap().parse().unwrap();
        let config = self.configs[&id].clone();
        let seams = Seams {
            flushing: self.flushing,
            ..Seams::real(Arc::new(RealDisk))
        };
        let started = threads
            .run(async move { Replica::start(config, seams, doors).await })
            .await;
        let replica = started.unwrap();
        self.replicas.insert(
            id,
            Running {
                replica,
                client_address,
                metrics_address,
                threads,
            },
        );
    }

    /// Waits until a replica serves.
    pub(crate) async fn serving(&self, id: u64) {
        within("a serving replica", self.replicas[&id].replica.serving()).await;
    }

    /// Shuts a replica down in order.
    pub(crate) async fn shutdown(&mut self, id: u64) {
        let Running {
            replica, threads, ..
        } = self.replicas.remove(&id).unwrap();
        within("an orderly end", threads.run(replica.shutdown())).await;
        threads.end();
    }

    /// Stops a replica abruptly, as if its process were killed. It can be started again at once.
    pub(crate) fn kill(&mut self, id: u64) {
        let Running { threads, .. } = self.replicas.remove(&id).unwrap();
        threads.end();
    }

    pub(crate) fn ids(&self) -> Vec<u64> {
        self.replicas.keys().copied().collect()
    }

    /// A connection to a replica.
    pub(crate) async fn connect(&self, id: u64) -> Channel {
        let address = format!("http://{}", self.replicas[&id].client_address);
        within(
            "a connection",
            Channel::from_shared(address).unwrap().connect(),
        )
        .await
        .unwrap()
    }

    pub(crate) async fn clients(&self, id: u64) -> Clients {
        Clients::of(self.connect(id).await)
    }

    /// The address at which a replica serves clients.
    pub(crate) fn client_address(&self, id: u64) -> &str {
        &self.replicas[&id].client_address
    }

    pub(crate) fn metrics_address(&self, id: u64) -> SocketAddr {
        self.replicas[&id].metrics_address
    }

    /// The leader, according to the first running replica, once it knows one that runs.
    pub(crate) async fn leader(&self) -> u64 {
        let id = self.ids()[0];
        let mut clients = self.clients(id).await;
        let known = async {
            loop {
                let status = clients.cluster.status(v1::ClusterStatusRequest {}).await;
                let leader = status.unwrap().into_inner().leader_id;
                if let Some(leader) = leader.filter(|leader| self.replicas.contains_key(leader)) {
                    return leader;
                }
            }
        };
        within("a leader", known).await
    }

    /// A replica that does not lead.
    pub(crate) async fn follower(&self) -> u64 {
        let leader = self.leader().await;
        self.ids().into_iter().find(|id| *id != leader).unwrap()
    }
}

/// Clients of every service.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) cluster: ClusterClient<Channel>,
    pub(crate) leases: LeasesClient<Channel>,
    pub(crate) membership: MembershipClient<Channel>,
    pub(crate) migrations: MigrationsClient<Channel>,
    pub(crate) sessions: SessionsClient<Channel>,
    pub(crate) storage_versions: StorageVersionsClient<Channel>,
    pub(crate) watch: WatchClient<Channel>,
}

impl Clients {
    pub(crate) fn of(channel: Channel) -> Self {
        Self {
            cluster: ClusterClient::new(channel.clone()),
            leases: LeasesClient::new(channel.clone()),
            membership: MembershipClient::new(channel.clone()),
            migrations: MigrationsClient::new(channel.clone()),
            sessions: SessionsClient::new(channel.clone()),
            storage_versions: StorageVersionsClient::new(channel.clone()),
            watch: WatchClient::new(channel),
        }
    }

    /// Makes a member join, and returns its epoch. While a leader is being elected the outcome may be unknown, and it is
    /// asked again: who is a member keeps its epoch.
    pub(crate) async fn join(&mut self, id: &str, ttl_ms: u64) -> v1::MemberEpoch {
        let joined = async {
            loop {
                match self.membership.join(join(id, ttl_ms)).await {
                    Err(status) if is_passing(reason(&status)) => {}
                    joined => return joined.unwrap().into_inner(),
                }
            }
        };
        let joined = within("a member", joined).await;
        let cluster_id = joined.header.unwrap().cluster_id;
        v1::MemberEpoch {
            member: id.to_owned(),
            epoch: joined.epoch,
            cluster_id,
        }
    }

    /// Reports that a member encodes deployments in this version.
    pub(crate) async fn report(&mut self, member: &v1::MemberEpoch, version: &str) -> u64 {
        let request = report(member, vec![entry("deployments", version)]);
        self.storage_versions
            .report(request)
            .await
            .unwrap()
            .into_inner()
            .header
            .unwrap()
            .revision
    }

    /// Watches all objects from a revision on.
    pub(crate) async fn watch(
        &mut self,
        from_revision: Option<u64>,
    ) -> Streaming<v1::WatchResponse> {
        let request = v1::WatchRequest {
            from_revision,
            ..v1::WatchRequest::default()
        };
        self.watch.watch(request).await.unwrap().into_inner()
    }
}

pub(crate) fn join(id: &str, ttl_ms: u64) -> v1::MembershipJoinRequest {
    v1::MembershipJoinRequest {
        id: id.to_owned(),
        instance: format!("{id}-process"),
        ttl_ms: Some(ttl_ms),
        ..v1::MembershipJoinRequest::default()
    }
}

pub(crate) fn entry(resource: &str, version: &str) -> v1::ReportEntry {
    v1::ReportEntry {
        resource: Some(group_resource(resource)),
        kind: "Kind".to_owned(),
        decodable_versions: vec!["apps/v1".to_owned(), "apps/v2".to_owned()],
        served_versions: vec!["apps/v1".to_owned()],
        stance: Some(v1::report_entry::Stance::EncodingVersion(
            version.to_owned(),
        )),
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    }
}

pub(crate) fn group_resource(resource: &str) -> v1::GroupResource {
    v1::GroupResource {
        group: "apps".to_owned(),
        resource: resource.to_owned(),
    }
}

/// The number of the next statement of any member in these tests; it only grows.
static SAID: AtomicU64 = AtomicU64::new(1);

pub(crate) fn report(
    member: &v1::MemberEpoch,
    entries: Vec<v1::ReportEntry>,
) -> v1::StorageVersionsReportRequest {
    v1::StorageVersionsReportRequest {
        request_id: None,
        member: Some(member.clone()),
        entries,
        replace: true,
        number: SAID.fetch_add(1, Ordering::Relaxed),
    }
}

pub(crate) fn get_deployments(read: Option<v1::ReadOptions>) -> v1::StorageVersionsGetRequest {
    v1::StorageVersionsGetRequest {
        resource: Some(group_resource("deployments")),
        read,
    }
}

pub(crate) fn get_member(id: &str) -> v1::MembershipGetRequest {
    v1::MembershipGetRequest {
        id: id.to_owned(),
        read: None,
    }
}

/// The next message of a watch.
pub(crate) async fn next(stream: &mut Streaming<v1::WatchResponse>) -> v1::watch_response::Message {
    let next = within("a message of a watch", stream.message()).await;
    next.unwrap().expect("the watch goes on").message.unwrap()
}

/// The next events of a watch, bookmarks left out.
pub(crate) async fn next_events(stream: &mut Streaming<v1::WatchResponse>) -> v1::WatchEvents {
    let events = async {
        loop {
            match next(stream).await {
                v1::watch_response::Message::Events(events) => return events,
                v1::watch_response::Message::Bookmark(_) => {}
                other => panic!("no events but {other:?}"),
            }
        }
    };
    within("events", events).await
}

/// The reason in the details of an error.
pub(crate) fn reason(status: &Status) -> &'static str {
    synod_proto::status::from_status(status).kind.reason()
}

/// Waits for `future`, but at most [`PATIENCE`].
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("no {what} within {PATIENCE:?}"),
    }
}

/// The text of a replica's metrics.
pub(crate) async fn metrics(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut text = String::new();
    within("the metrics", stream.read_to_string(&mut text))
        .await
        .unwrap();
    text
}

/// Waits until the metrics have this line.
pub(crate) async fn shown(cluster: &Cluster, line: &str) {
    let looking = async {
        let mut text = String::new();
        while !text.lines().any(|found| found == line) {
            text = metrics(cluster.metrics_address(1)).await;
        }
    };
    within(line, looking).await;
}
