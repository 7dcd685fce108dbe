//! One replica: puts its parts together, runs them, and shuts them down in order.

mod doors;
mod ending;
mod measured;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Command, Envelope, Initialize, LogEntry};
use synod_model::stored::to_bytes;
use synod_model::{LogTime, WallTime};
use tokio::task::{JoinHandle, JoinSet};

use crate::announce::Announcer;
use crate::config::{InvalidConfig, ReplicaConfig};
use crate::connections::{Connections, Door};
use crate::consensus::{self, Consensus, Fatal, Leadership};
use crate::expiry::Expiry;
use crate::guards::{self, GuardFault, Guards};
use crate::handle::Handle;
use crate::health::{Health, health};
use crate::http::{self, Probed, Shown};
use crate::itself::Itself;
use crate::lease_waits::LeaseWaits;
use crate::limits::DRAIN_MAX;
use crate::metrics::Metrics;
use crate::peer::{self, Formation};
use crate::proposer::{Proposer, Sequencer};
use crate::read::Reader;
use crate::room::Room;
use crate::rpc::{self, Front, Serving};
use crate::seams::{Incoming, Seams};
use crate::stop::{Stop, Stopper, stop};
use crate::traces::Traces;
use crate::watch::Watches;

pub use doors::Doors;
use ending::{broken, ended, panicked, until};
use measured::{measured, metrics_text};

/// The longest time for settling what was sent, after the last client has gone.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// The longest time for a server whose calls have ended to close its connections.
const LAST_WORDS_MAX: Duration = Duration::from_millis(500);

/// A running replica. Dropping it cuts it off; [`Self::shutdown`] ends it in order.
pub struct Replica {
    handle: Handle,
    health: Health,
    clients: JoinHandle<Result<(), String>>,
    peers: JoinHandle<Result<(), String>>,
    /// What another protocol is served by, until [`Self::attach`] takes it.
    beside: Option<(Front, Incoming)>,
    /// The servers of other protocols.
    faces: JoinSet<()>,
    work: JoinSet<()>,
    stoppers: Stoppers,
}

/// The stoppers of a replica's parts, in the order of a shutdown.
struct Stoppers {
    /// Ends the acceptance of calls, and streams.
    front: Stopper,
    /// Cuts the connections of clients.
    cut: Stopper,
    /// Ends proposals, reads and expiries.
    work: Stopper,
    /// Ends answers to other replicas.
    peers: Stopper,
}

/// What the parts of a replica stop at.
struct Stops {
    front: Stop,
    cut: Stop,
    work: Stop,
    peers: Stop,
}

impl Stoppers {
    fn new() -> (Self, Stops) {
        let [front, cut, work, peers] = std::array::from_fn(|_| stop());
        let stops = Stops {
            front: front.1,
            cut: cut.1,
            work: work.1,
            peers: peers.1,
        };
        let stoppers = Self {
            front: front.0,
            cut: cut.0,
            work: work.0,
            peers: peers.0,
        };
        (stoppers, stops)
    }
}

/// Why a replica did not start. Nothing was taken from its files: at most what a crash had left half written was mended or
/// removed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// A file of certificates, the policy or the audit log cannot be used.
    #[error(transparent)]
    Guards(#[from] GuardFault),
    /// The data directory cannot be used, or consensus cannot start on it.
    #[error(transparent)]
    Consensus(#[from] consensus::StartError),
}

/// Why a replica has ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The replica must not continue.
    Fatal(Fatal),
    /// A part that must run for as long as the replica has ended.
    Broken(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fatal(fatal) => fatal.fmt(f),
            Self::Broken(what) => write!(f, "this replica cannot go on: {what}"),
        }
    }
}

impl Replica {
    /// Starts a replica behind these doors. It answers at once; it serves once a quorum of its replica set runs.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub async fn start(
        config: ReplicaConfig,
        seams: Seams,
        doors: Doors,
    ) -> Result<Self, StartError> {
        config.check()?;
        let guards = guards::Loaded::of(&config.security, &seams)?;
        let seams = Seams {
            dialer: guards.secured.dialer(Arc::clone(&seams.dialer)),
            ..seams
        };
        let consensus = consensus::start(config.consensus(), seams.clone()).await?;
        let metrics = measured(&consensus, &seams);
        let (stoppers, stops) = Stoppers::new();
        let Stops {
            front: front_stop,
            work: work_stop,
            ..
        } = &stops;
        let mut work = JoinSet::new();
        let until = (front_stop, work_stop);
        let guards = guards.start(&seams, &metrics.security, until, &mut work);
        let reader = Reader::new(&consensus, &metrics.read, work_stop, &mut work);
        let (proposer, sequencer) = Proposer::new(
            &consensus,
            &reader,
            &seams,
            &metrics.proposer,
            work_stop,
            &mut work,
        );
        let parts = Parts {
            consensus,
            proposer,
            sequencer,
            metrics,
        };
        let (handle, health) =
            parts.front(reader, &guards, (&config, &seams), front_stop, &mut work);
        let told = config.advertise_client.clone();
        let client_endpoint = told.unwrap_or_else(|| doors.client_address.clone());
        let room = parts.room(&config, seams.clone());
        parts.spawn_upkeep(&mut work, work_stop, client_endpoint, room);
        let doors = parts.let_in(doors, &guards, &stops, &mut work);
        parts.spawn_metrics(&mut work, front_stop, doors.metrics, handle.itself());
        parts.spawn_formation(&mut work, work_stop, &config, seams.wall.now());
        let front = parts.called_by(&handle, guards, &seams, &stops.front);
        let forward = Arc::new(parts.proposer);
        let stopped = async move { stops.peers.requested().await };
        let peers = tokio::spawn(peer::serve(parts.consensus, forward, doors.peer, stopped));
        let clients = tokio::spawn(rpc::serve(Serving {
            front: front.clone(),
            health: health.clone(),
            incoming: doors.client,
            stop: stops.front,
        }));
        Ok(Self {
            handle,
            health,
            clients,
            peers,
            beside: doors.kube.map(|incoming| (front, incoming)),
            faces: JoinSet::new(),
            work,
            stoppers,
        })
    }

    /// Has the Kubernetes API served by `serve`, if there is a door for it. It ends in a shutdown as the server for clients
    /// does.
    pub fn attach<F>(&mut self, serve: impl FnOnce(Front, Incoming) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some((front, incoming)) = self.beside.take() {
            self.faces.spawn(serve(front, incoming));
        }
    }

    /// The handle for requests to this replica.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits until the replica serves: until it has proved that its state is current.
    ///
    /// It can be awaited beside [`Self::wait`].
    pub fn serving(&self) -> impl Future<Output = ()> + Send + use<> {
        let health = self.health.clone();
        async move { health.wait_until_serving().await }
    }

    /// Resolves when the replica has ended by itself, or must be ended. The process must end then.
    pub async fn wait(&mut self) -> Ended {
        let consensus = self.handle.consensus().clone();
        tokio::select! {
            biased;
            fatal = consensus.fatal() => Ended::Fatal(fatal),
            ended = &mut self.clients => Ended::Broken(broken("the server for clients", ended)),
            ended = &mut self.peers => Ended::Broken(broken("the server for replicas", ended)),
            ended = panicked(&mut self.work) => Ended::Broken(ended),
            ended = panicked(&mut self.faces) => Ended::Broken(ended),
        }
    }

    /// Ends the replica in order: stops accepting calls, ends streams with where to resume, hands the leadership over,
    /// lets the calls in progress end, and closes the files. Nothing that was acknowledged depends on this.
    pub async fn shutdown(mut self) {
        tracing::info!("shutting down");
        self.stoppers.front.stop();
        let consensus = self.handle.consensus().clone();
        consensus.stand_no_more();
        hand_over(&consensus).await;
        let (clients, faces) = (&mut self.clients, &mut self.faces);
        let drained = async {
            ended(clients).await;
            while faces.join_next().await.is_some() {}
        };
        if tokio::time::timeout(DRAIN_MAX, drained).await.is_err() {
            tracing::warn!("cut off the clients that had not ended in time");
        }
        // An election that was under way may have been won meanwhile.
        hand_over(&consensus).await;
        self.stoppers.cut.stop();
        self.stoppers.work.stop();
        let settled = async { while self.work.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(SETTLE_MAX, settled).await;
        consensus.shutdown().await;
        self.stoppers.peers.stop();
        for server in [&mut self.clients, &mut self.peers] {
            // Their last answers may still be in transit.
            let _ = tokio::time::timeout(LAST_WORDS_MAX, ended(server)).await;
            server.abort();
            ended(server).await;
        }
        tracing::info!("shut down");
    }
}

/// Hands the leadership over, if this replica has it.
async fn hand_over(consensus: &Consensus) {
    if consensus.leadership().borrow().is_me
        && let Err(error) = consensus.transfer_leadership(None).await
    {
        tracing::debug!(%error, "the leadership was not handed over");
    }
}

/// The watches of a replica.
fn watched(
    consensus: &Consensus,
    reader: &Reader,
    health: &Health,
    metrics: &Metrics,
    stop: &Stop,
) -> Watches {
    Watches::new(
        consensus.clone(),
        reader.clone(),
        health.clone(),
        &metrics.watch,
        stop.clone(),
    )
}

/// The parts that a replica's tasks are made of.
struct Parts {
    consensus: Consensus,
    proposer: Proposer,
    sequencer: Sequencer,
    metrics: Arc<Metrics>,
}

impl Parts {
    /// The handle for requests, and the health that the servers go by.
    fn front(
        &self,
        reader: Reader,
        guards: &Guards,
        (config, seams): (&ReplicaConfig, &Seams),
        stop: &Stop,
        work: &mut JoinSet<()>,
    ) -> (Handle, Health) {
        let (pulse, health) = health(reader.clone(), self.consensus.clone());
        work.spawn(pulse.beat(stop.clone()));
        let watches = watched(&self.consensus, &reader, &health, &self.metrics, stop);
        let waits = LeaseWaits::new(&self.consensus, stop, work);
        let itself = Itself {
            wall: Arc::clone(&seams.wall),
            log: Arc::clone(&seams.log),
            metrics: Arc::clone(&self.metrics),
            metrics_text: metrics_text(&self.metrics, &self.consensus, &self.proposer, &health),
            probed: Probed {
                consensus: self.consensus.clone(),
                health: health.clone(),
                access: guards.access.clone(),
            },
            configuration: config.shown(),
        };
        let handle = Handle::new(
            &self.consensus,
            &self.proposer,
            reader,
            watches,
            waits,
            guards,
            itself,
        );
        (handle, health)
    }

    /// What the servers of all protocols call this replica by.
    fn called_by(&self, handle: &Handle, guards: Guards, seams: &Seams, stop: &Stop) -> Front {
        let traces = Traces::new(seams.traces.as_ref());
        let metrics = &self.metrics.rpc;
        Front::new(metrics, handle.clone(), guards, traces, stop.clone())
    }

    /// The doors with what is let in at each, behind transport security. For each, a task cuts connections that must end.
    fn let_in(
        &self,
        doors: Doors,
        guards: &Guards,
        stops: &Stops,
        work: &mut JoinSet<()>,
    ) -> Doors {
        let [client, peer, metrics, kube] = Door::ALL.map(|door| {
            let connections = Connections::of(door, &self.metrics.doors);
            work.spawn(connections.clone().watch_over(stops.work.clone()));
            connections
        });
        let of_client = || guards.of_client();
        Doors {
            client: client.let_in(doors.client, of_client(), Some(stops.cut.clone())),
            peer: peer.let_in(doors.peer, guards.of_peer(), None),
            metrics: doors
                .metrics
                .map(|incoming| metrics.let_in(incoming, of_client(), None)),
            kube: doors
                .kube
                .map(|incoming| kube.let_in(incoming, of_client(), Some(stops.cut.clone()))),
            ..doors
        }
    }

    fn room(&self, config: &ReplicaConfig, seams: Seams) -> Room {
        let config = config.consensus();
        Room {
            seams,
            directory: config.data_dir,
            segment_bytes: config.segment_bytes,
            consensus: self.consensus.clone(),
            metrics: Arc::clone(&self.metrics),
            is_low: false,
        }
    }

    fn spawn_upkeep(
        &self,
        work: &mut JoinSet<()>,
        stop: &Stop,
        client_endpoint: String,
        room: Room,
    ) {
        let expiry = Expiry {
            consensus: self.consensus.clone(),
            proposer: self.proposer.clone(),
            sequencer: self.sequencer.clone(),
            metrics: Arc::clone(&self.metrics.proposer),
        };
        work.spawn(expiry.run(stop.clone()));
        let announcer = Announcer {
            consensus: self.consensus.clone(),
            proposer: self.proposer.clone(),
            client_endpoint,
            room,
        };
        work.spawn(announcer.run(stop.clone()));
    }

    fn spawn_metrics(
        &self,
        work: &mut JoinSet<()>,
        stop: &Stop,
        incoming: Option<Incoming>,
        itself: &Itself,
    ) {
        let follow = Arc::clone(&self.metrics.agreement).follow(self.consensus.clone());
        work.spawn(until(stop.clone(), follow));
        let (metrics, mut leadership) = (Arc::clone(&self.metrics), self.consensus.leadership());
        work.spawn(until(stop.clone(), async move {
            let mut seen = None;
            while leadership.changed().await.is_ok() {
                let Leadership { term, leader, .. } = *leadership.borrow_and_update();
                let now = leader.map(|leader| (term, leader));
                if now.is_some() && seen != now {
                    metrics.status.leader_changed();
                    seen = now;
                }
            }
        }));
        let Some(incoming) = incoming else { return };
        let shown = Shown {
            metrics: Arc::clone(&itself.metrics_text),
            probed: itself.probed.clone(),
        };
        work.spawn(http::serve(incoming, shown, stop.clone()));
    }

    fn spawn_formation(
        &self,
        work: &mut JoinSet<()>,
        stop: &Stop,
        config: &ReplicaConfig,
        wall: WallTime,
    ) {
        let settings = config.first_settings.clone();
        let formation = Formation {
            replicas: config.replicas.clone(),
            first_entry: Box::new(move |cluster| {
                let initialize = Command::Initialize(Initialize {
                    cluster,
                    settings: settings.clone(),
                });
                to_bytes(&LogEntry {
                    log_time: LogTime::ZERO,
                    lift_deadlines: false,
                    wall,
                    commands: vec![Envelope {
                        actor: None,
                        request: None,
                        command: Arc::new(initialize),
                    }],
                })
            }),
        };
        work.spawn(until(
            stop.clone(),
            peer::form(self.consensus.clone(), formation),
        ));
    }
}
