//! API servers: members that report, vote, read and watch through the client library.

mod notes;
mod server;
mod watching;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_client::Client;
use synod_client::seams::{Clock, Connection, Dial, Randomness, Seams};
use synod_server::seams as server_seams;
use tokio::time::Instant;

use crate::machine::Clocked;
use crate::net::{Host, Net, client_address};
use crate::rotations;
use crate::trace::Trace;
use crate::users::Ledger;
use crate::world::HOSTS;

pub(crate) use notes::{Notes, WatchLog};

/// The machines of the API servers.
const SERVERS: [Host; 3] = [11, 12, 13];

/// API servers, each on a machine of its own.
pub(crate) struct ApiServers {
    machines: Vec<Clocked>,
    notes: Notes,
    users: Option<Ledger>,
    rotation: Option<rotations::Ledger>,
}

impl ApiServers {
    pub(crate) fn start(net: &Net, trace: &Trace, rng: &mut StdRng) -> Self {
        let notes = Notes::default();
        let machines = SERVERS.map(|host| {
            let mut clock = Clocked::new(rng.random_range(950..=1_050));
            clock.start();
            let server = server::Server {
                host,
                net: net.clone(),
                notes: notes.clone(),
                trace: trace.clone(),
                rng: StdRng::seed_from_u64(rng.random()),
            };
            clock.spawn(server.run());
            clock
        });
        Self {
            machines: machines.into(),
            notes,
            users: None,
            rotation: None,
        }
    }

    pub(crate) fn advance(&mut self, millis: u64) {
        self.machines
            .iter_mut()
            .for_each(|machine| machine.advance(millis));
    }

    /// Runs a task on a machine of its own, beside the API servers.
    pub(crate) fn visit(&mut self, visit: impl Future<Output = ()> + Send + 'static) {
        self.visit_at(1_000, visit);
    }

    /// As [`visit`](Self::visit), with a clock that runs at `rate` thousandths of the world's.
    pub(crate) fn visit_at(&mut self, rate: u64, visit: impl Future<Output = ()> + Send + 'static) {
        let mut clock = Clocked::new(rate);
        clock.start();
        clock.spawn(visit);
        self.machines.push(clock);
    }

    /// Records that users of objects use the replicas too: their ledger.
    pub(crate) fn used_by(&mut self, users: &Ledger) {
        self.users = Some(users.clone());
    }

    /// The ledger of the users of objects, if there are any.
    pub(crate) fn users(&self) -> Option<&Ledger> {
        self.users.as_ref()
    }

    /// Records that keys are rotated beside them: the ledger of that.
    pub(crate) fn rotated_by(&mut self, rotation: &rotations::Ledger) {
        self.rotation = Some(rotation.clone());
    }

    /// The ledger of the rotation of keys, if there is one.
    pub(crate) fn rotation(&self) -> Option<&rotations::Ledger> {
        self.rotation.as_ref()
    }

    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }
}

/// A client on `host` of all replicas. The host's number decides which of them it tries first.
pub(crate) async fn client(host: Host, net: &Net, seed: u64) -> Client {
    let first = usize::try_from(host).unwrap();
    let replicas = (0..HOSTS.len()).map(|turn| HOSTS[(first + turn) % HOSTS.len()]);
    client_of(replicas, host, net, seed).await
}

/// A client on `host` of these replicas.
pub(crate) async fn client_of(
    replicas: impl IntoIterator<Item = Host>,
    host: Host,
    net: &Net,
    seed: u64,
) -> Client {
    let endpoints = replicas.into_iter().map(client_address);
    let seams = Seams {
        clock: Arc::new(TokioClock(Instant::now())),
        randomness: Arc::new(Seeded(std::sync::Mutex::new(StdRng::seed_from_u64(seed)))),
        dialer: Some(Arc::new(Dialer(net.dialer(host)))),
    };
    let builder = Client::builder()
        .endpoints(endpoints.collect())
        .seams(seams);
    builder
        .request_timeout(Duration::from_secs(3))
        .connect()
        .await
        .unwrap()
}

/// Watches everything for ever on `host`, at this replica and no other.
pub(crate) async fn watch_at(replica: Host, host: Host, net: Net, notes: Notes, trace: Trace) {
    let client = client_of([replica], host, &net, host).await;
    watching::watch(host, client, notes, trace).await;
}

/// A clock that shows the time of the machine's own runtime.
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

struct Seeded(std::sync::Mutex<StdRng>);

impl Randomness for Seeded {
    fn next(&self) -> u64 {
        self.0.lock().unwrap().random()
    }
}

struct Dialer(Arc<dyn server_seams::Dial>);

impl Dial for Dialer {
    fn dial(&self, address: &str) -> BoxFuture<'static, std::io::Result<Connection>> {
        let dialed = self.0.dial(address.to_owned());
        async move { dialed.await.map(Connection::new) }.boxed()
    }
}
