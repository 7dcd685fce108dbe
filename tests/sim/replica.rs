//! One simulated machine: a replica, its disk, and its clock.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use synod_machine::ReplicaId;
use synod_model::WallTime;
use synod_proto::peer::v1 as pb;
use synod_server::consensus::{self, Consensus, ConsensusConfig};
use synod_server::peer::{self, Formation, ForwardHandler};
use synod_server::seams::{Flushing, Incoming, Offload, Seams, WallClock};
use synod_store::SimDisk;
use tokio::runtime::{Builder, Runtime};

use crate::net::{Host, Net, peer_address};
use crate::trace::Trace;
use crate::workload;

/// A machine. Its replica runs between [`Machine::start`] and a crash.
pub(crate) struct Machine {
    pub(crate) host: Host,
    pub(crate) disk: SimDisk,
    net: Net,
    trace: Trace,
    /// How fast its clock runs, in thousandths of the world's.
    rate: u64,
    owed: u64,
    running: Option<Running>,
}

struct Running {
    runtime: Runtime,
    consensus: Arc<Mutex<Option<Consensus>>>,
}

impl Machine {
    pub(crate) fn new(host: Host, rate: u64, net: Net, trace: Trace) -> Self {
        Self {
            host,
            disk: SimDisk::new(),
            net,
            trace,
            rate,
            owed: 0,
            running: None,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The replica's consensus, once it has started.
    pub(crate) fn consensus(&self) -> Option<Consensus> {
        self.running.as_ref()?.consensus.lock().unwrap().clone()
    }

    /// Starts the replica, on whatever its disk holds.
    pub(crate) fn start(&mut self, hosts: &[Host]) {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let consensus = Arc::new(Mutex::new(None));
        let incoming = self.net.listen(self.host, &peer_address(self.host));
        let set = hosts
            .iter()
            .map(|host| (ReplicaId::new(*host), peer_address(*host)))
            .collect();
        let boot = Boot {
            host: self.host,
            seams: self.seams(),
            set,
            incoming,
            started: Arc::clone(&consensus),
            trace: self.trace.clone(),
        };
        runtime.spawn(boot.run());
        self.trace.add(format_args!("{} starts", self.host));
        self.running = Some(Running { runtime, consensus });
    }

    /// Ends the process, as SIGKILL does: its connections are closed, and what was written is not lost.
    pub(crate) fn kill(&mut self) {
        self.trace.add(format_args!("{} is killed", self.host));
        self.net.close(self.host);
        self.running = None;
        self.disk.kill();
    }

    /// Cuts the power: the others hear nothing more, and what was not synced may be lost.
    pub(crate) fn lose_power(&mut self, seed: u64) {
        self.trace.add(format_args!(
            "{} loses power, {} bytes unsynced",
            self.host,
            self.disk.unsynced_bytes()
        ));
        self.net.silence(self.host);
        self.running = None;
        self.disk.crash(seed);
    }

    /// Lets a silent machine speak again, before its replica is started.
    pub(crate) fn restore_power(&self) {
        self.net.unsilence(self.host);
    }

    /// Runs the replica for `millis` of the world's time.
    pub(crate) fn advance(&mut self, millis: u64) {
        self.owed += millis * self.rate;
        let (own, rest) = (self.owed / 1_000, self.owed % 1_000);
        self.owed = rest;
        if let Some(running) = &self.running {
            let pass = async { tokio::time::sleep(Duration::from_millis(own)).await };
            running.runtime.block_on(pass);
        }
    }

    /// Runs `task` on the machine; it ends with the process.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(running) = &self.running {
            running.runtime.spawn(task);
        }
    }

    fn seams(&self) -> Seams {
        Seams {
            dialer: self.net.dialer(self.host),
            disk: Arc::new(self.disk.clone()),
            wall: Arc::new(NoWallClock),
            flushing: Flushing::Task {
                shortest: Duration::from_millis(1),
                longest: Duration::from_millis(6),
            },
            offload: Offload::Inline,
        }
    }
}

/// Everything that a replica needs to start.
struct Boot {
    host: Host,
    seams: Seams,
    set: BTreeMap<ReplicaId, String>,
    incoming: Incoming,
    started: Arc<Mutex<Option<Consensus>>>,
    trace: Trace,
}

impl Boot {
    async fn run(self) {
        let Self {
            host,
            seams,
            set,
            incoming,
            started,
            trace,
        } = self;
        let consensus = match consensus::start(config(host), seams).await {
            Ok(consensus) => consensus,
            Err(error) => {
                trace.fail(format_args!("{host} cannot start: {error}"));
                return;
            }
        };
        *started.lock().unwrap() = Some(consensus.clone());
        tokio::spawn(peer::serve(
            consensus.clone(),
            Arc::new(NoForward),
            incoming,
            std::future::pending(),
        ));
        let formation = Formation {
            replicas: set,
            first_entry: Box::new(workload::first_entry),
        };
        tokio::spawn(peer::form(consensus.clone(), formation));
        let fatal = consensus.fatal().await;
        trace.fail(format_args!("{host} must end: {fatal}"));
    }
}

fn config(host: Host) -> ConsensusConfig {
    ConsensusConfig {
        checkpoint_entries: 60,
        kept_entries: 20,
        segment_bytes: 64 << 10,
        ..ConsensusConfig::new(
            PathBuf::from("/data"),
            ReplicaId::new(host),
            "simulated".to_owned(),
        )
    }
}

struct NoWallClock;

impl WallClock for NoWallClock {
    fn now(&self) -> WallTime {
        WallTime::from_millis(0)
    }
}

struct NoForward;

impl ForwardHandler for NoForward {
    fn forward(
        &self,
        _: ReplicaId,
        _: BoxStream<'static, pb::ForwardRequest>,
    ) -> BoxStream<'static, pb::ForwardResponse> {
        futures::stream::empty().boxed()
    }
}
