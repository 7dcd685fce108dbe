//! Whole replicas in this process, on a network and disks in memory, under a clock that moves when every task waits.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_client::seams::{Clock, Dial as _, Randomness, Seams};
use synod_client::{
    ApiVersion, Client, GroupResource, Kind, MemberId, ReportEntry, Settings, Stance, StoredIn,
};
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::consensus::ReplicaId;
use synod_server::replica::{Doors, Replica};
use synod_server::seams::random::seed_this_thread;
use synod_server::seams::{Flushing, NoLog, Offload, Seams as ServerSeams, SystemWallClock};
use synod_store::{Disk as _, SimDisk};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use crate::network::{Network, Weather};

/// A cluster and the network that it is on.
pub(crate) struct Cluster {
    pub(crate) network: Network,
    pub(crate) clock: Arc<TestClock>,
    set: BTreeMap<ReplicaId, String>,
    replicas: BTreeMap<u64, Running>,
    first_settings: Settings,
}

struct Running {
    disk: SimDisk,
    replica: Option<Replica>,
    /// How often the replica was started.
    starts: u64,
}

impl Running {
    /// The address from which this run of the replica dials others. Tasks that a killed run left in this process keep
    /// their own address, so they cannot act for the run that was started after it.
    fn source(&self, number: u64) -> String {
        format!("replica-{number}-{}", self.starts)
    }
}

/// The clock of all clients of a test: tokio's, which a test moves, plus the time of suspension.
#[derive(Debug)]
pub(crate) struct TestClock {
    start: Instant,
    suspended_ms: AtomicU64,
}

impl TestClock {
    /// Suspends the machine: this clock goes on and timers do not.
    pub(crate) fn suspend(&self, span: Duration) {
        let span = u64::try_from(span.as_millis()).unwrap();
        self.suspended_ms.fetch_add(span, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.start.elapsed() + Duration::from_millis(self.suspended_ms.load(Ordering::SeqCst))
    }
}

/// Numbers that no two clients share, and that are the same in every test run.
struct Numbers(AtomicU64);

impl Randomness for Numbers {
    fn next(&self) -> u64 {
        // The constant of splitmix64, so that neighbours differ in all digits.
        let number = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
        (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

/// The address at which the replica of this number serves clients.
pub(crate) fn endpoint(number: u64) -> String {
    format!("127.0.0.1:{}", 4600 + number)
}

fn peer_address(number: u64) -> String {
    format!("127.0.0.1:{}", 4700 + number)
}

fn metrics_address(number: u64) -> String {
    format!("127.0.0.1:{}", 4800 + number)
}

impl Cluster {
    /// A cluster of this many replicas, which serve.
    pub(crate) async fn start(replicas: u64) -> Self {
        Self::start_with(replicas, Settings::default()).await
    }

    /// A network and a clock, for scripted replicas in place of real ones.
    pub(crate) fn without_replicas() -> Self {
        show_logs();
        seed_this_thread(7);
        Self {
            network: Network::default(),
            clock: Arc::new(TestClock {
                start: Instant::now(),
                suspended_ms: AtomicU64::new(0),
            }),
            set: BTreeMap::new(),
            replicas: BTreeMap::new(),
            first_settings: Settings::default(),
        }
    }

    /// A cluster that begins with these settings.
    pub(crate) async fn start_with(replicas: u64, first_settings: Settings) -> Self {
        let mut cluster = Self::without_replicas();
        let set = (1..=replicas).map(|id| (ReplicaId::new(id), peer_address(id)));
        cluster.set = set.collect();
        cluster.first_settings = first_settings;
        for number in 1..=replicas {
            cluster.start_replica(number).await;
        }
        for number in 1..=replicas {
            cluster.serving(number).await;
        }
        cluster
    }

    /// Starts a replica, empty or on the data that it has kept.
    pub(crate) async fn start_replica(&mut self, number: u64) {
        let running = self.replicas.entry(number).or_insert_with(|| Running {
            disk: SimDisk::new(),
            replica: None,
            starts: 0,
        });
        running.starts += 1;
        let source = running.source(number);
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let listen = Listen {
            client: loopback,
            peer: loopback,
            metrics: None,
            kube: None,
        };
        let id = ReplicaId::new(number);
        let directory = PathBuf::from(format!("/replica-{number}"));
        let mut config =
            ReplicaConfig::new(id, "test".to_owned(), directory, listen, self.set.clone());
        config.first_settings = self.first_settings.clone();
        for address in [&endpoint(number), &peer_address(number), &source] {
            self.network.set(address, Weather::Fair);
        }
        let seams = ServerSeams {
            log: Arc::new(NoLog),
            dialer: Arc::new(self.network.dialer(&source)),
            disk: Arc::new(running.disk.clone()),
            wall: Arc::new(SystemWallClock),
            flushing: Flushing::Task {
                shortest: Duration::from_micros(100),
                longest: Duration::from_micros(300),
            },
            offload: Offload::Inline,
            traces: None,
        };
        let doors = Doors {
            client: self.network.listen(&endpoint(number)),
            client_address: endpoint(number),
            peer: self.network.listen(&peer_address(number)),
            peer_address: peer_address(number),
            metrics: Some(self.network.listen(&metrics_address(number))),
            metrics_address: None,
            kube: None,
            kube_address: None,
        };
        running.replica = Some(Replica::start(config, seams, doors).await.unwrap());
    }

    /// How many calls of a method a replica has begun, by its metrics.
    pub(crate) async fn started(&self, number: u64, service: &str, method: &str) -> u64 {
        let mut stream = self.network.dial(&metrics_address(number)).await.unwrap();
        let request = b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut text = String::new();
        within(stream.read_to_string(&mut text)).await.unwrap();
        let series = format!(
            "grpc_server_started_total{{grpc_service=\"synod.v1.{service}\",grpc_method=\"{method}\"}} "
        );
        let value = text.lines().find_map(|line| line.strip_prefix(&series));
        value.unwrap().parse().unwrap()
    }

    pub(crate) async fn serving(&self, number: u64) {
        let replica = self.replicas[&number].replica.as_ref().unwrap();
        within(replica.serving()).await;
    }

    /// Ends a replica as a crash would: at once, and unsynced data are lost.
    pub(crate) fn kill(&mut self, number: u64) {
        let running = self.replicas.get_mut(&number).unwrap();
        for address in [
            endpoint(number),
            peer_address(number),
            running.source(number),
        ] {
            self.network.close(&address);
        }
        drop(running.replica.take());
        running.disk.kill();
    }

    /// Leaves this many bytes free on a replica's disk; `None`: without a limit.
    pub(crate) fn leave_room(&self, number: u64, free: Option<u64>) {
        let disk = &self.replicas[&number].disk;
        disk.set_capacity(None);
        let space = legal(disk.space(&PathBuf::from("/")));
        let used = space.size - space.free;
        disk.set_capacity(free.map(|free| used + free));
    }

    /// Cuts a replica off from the other replicas, in both directions. Its clients still reach it.
    pub(crate) fn isolate(&self, number: u64) {
        let source = self.replicas[&number].source(number);
        for address in [peer_address(number), source] {
            self.network.set(&address, Weather::Silent);
        }
    }

    /// Sets what reaches a replica from the other ones. What it sends itself, and the answers to that, come through.
    pub(crate) fn hears(&self, number: u64, weather: Weather) {
        self.network.set(&peer_address(number), weather);
    }

    /// Ends a replica in order.
    pub(crate) async fn stop(&mut self, number: u64) {
        let running = self.replicas.get_mut(&number).unwrap();
        if let Some(replica) = running.replica.take() {
            within(replica.shutdown()).await;
        }
        for address in [
            endpoint(number),
            peer_address(number),
            running.source(number),
        ] {
            self.network.close(&address);
        }
    }

    pub(crate) async fn leader(&self, client: &Client) -> u64 {
        within(async {
            loop {
                if let Ok(status) = client.status().await
                    && let Some(leader) = status.leader_id
                {
                    return leader;
                }
                pass(Duration::from_millis(50)).await;
            }
        })
        .await
    }

    /// A client of all replicas.
    pub(crate) async fn client(&self) -> Client {
        self.client_of(self.set.keys().map(|id| id.get()).collect())
            .await
    }

    /// A client that knows only these replicas, and begins with the first.
    pub(crate) async fn client_of(&self, numbers: Vec<u64>) -> Client {
        let endpoints: Vec<String> = numbers.into_iter().map(endpoint).collect();
        let builder = Client::builder().endpoints(endpoints).seams(self.seams());
        builder.connect().await.unwrap()
    }

    pub(crate) fn seams(&self) -> Seams {
        Seams {
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            randomness: Arc::new(Numbers(AtomicU64::new(0))),
            dialer: Some(Arc::new(self.network.clone())),
        }
    }
}

/// A value that must be legal.
pub(crate) fn legal<T, E: std::fmt::Debug>(value: Result<T, E>) -> T {
    value.unwrap()
}

pub(crate) fn resource(name: &str) -> GroupResource {
    legal(GroupResource::parse_qualified(name))
}

pub(crate) fn version(text: &str) -> ApiVersion {
    legal(ApiVersion::parse(text))
}

/// The entry of a server that encodes in `encoding`.
pub(crate) fn fixed(name: &str, decodable: &[&str], encoding: &str) -> ReportEntry {
    let encoding = version(encoding);
    entry(name, decodable, Stance::Fixed { encoding })
}

/// The entry of a server that votes for `preferred`.
pub(crate) fn voting(name: &str, decodable: &[&str], preferred: &str) -> ReportEntry {
    let preferred = version(preferred);
    entry(name, decodable, Stance::Voting { preferred })
}

fn entry(name: &str, decodable: &[&str], stance: Stance) -> ReportEntry {
    ReportEntry {
        resource: resource(name),
        kind: legal(Kind::parse("Thing")),
        decodable: decodable.iter().map(|text| version(text)).collect(),
        served: decodable.iter().map(|text| version(text)).collect(),
        stance,
        serve_until: None,
        stored: StoredIn::Collection,
        equivalents: BTreeSet::new(),
    }
}

/// Settings with this `write_grace`, after which a write of unknown outcome cannot land any more.
pub(crate) fn short_grace(write_grace: Duration) -> Settings {
    Settings {
        write_grace,
        ..Settings::default()
    }
}

pub(crate) fn id(text: &str) -> MemberId {
    legal(MemberId::parse(text))
}

/// Lets time pass: the tests run with `start_paused`, so the clock moves when every task waits.
pub(crate) async fn pass(span: Duration) {
    tokio::time::sleep(span).await;
}

/// Shows the logs of a test that fails, as far as `RUST_LOG` selects them.
fn show_logs() {
    let filter = tracing_subscriber::EnvFilter::from_default_env();
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_test_writer();
    // Another test of this process may have set it up already.
    let _ = logs.without_time().try_init();
}

/// Awaits what must happen within a minute of the test's time.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    match timeout(Duration::from_secs(60), future).await {
        Ok(value) => value,
        Err(_) => panic!("it did not come true within a minute"),
    }
}
