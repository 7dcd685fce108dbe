//! Tests with replicas on real disks and loopback connections, in one process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use synod_machine::{Command, Envelope, Initialize, LogEntry};
use synod_model::stored::to_bytes;
use synod_model::{
    BinaryVersion, ClusterId, Endpoint, InstanceId, Join, Labels, LogTime, MemberId, Revision,
    Settings, Ttl, WallTime,
};
use synod_store::RealDisk;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::peer::messages::{ForwardRequest, ForwardResponse};
use crate::peer::{self, Formation, ForwardHandler};
use crate::samples::steady;
use crate::seams::{Incoming, Seams, tcp};

mod damaged;
mod idle;
mod large;
mod one;
mod replica_set;
mod three;
mod went_back;

/// Refuses forwarded batches: forwarding is tested with the proposer.
struct NoForward;

impl ForwardHandler for NoForward {
    fn forward(
        &self,
        _: ReplicaId,
        _: BoxStream<'static, ForwardRequest>,
    ) -> BoxStream<'static, ForwardResponse> {
        futures::stream::empty().boxed()
    }
}

fn entry(commands: Vec<Command>) -> Bytes {
    let commands = commands.into_iter().map(|command| Envelope {
        actor: None,
        request: None,
        command: Arc::new(command),
    });
    to_bytes(&LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
        wall: WallTime::from_millis(0),
        commands: commands.collect(),
    })
}

fn first_entry(cluster: ClusterId) -> Bytes {
    entry(vec![Command::Initialize(Initialize {
        cluster,
        settings: Settings::default(),
    })])
}

fn join(number: u64) -> Bytes {
    entry(vec![Command::Join(Join {
        id: member(number),
        instance: InstanceId::parse("instance").unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: BinaryVersion::parse("1").unwrap(),
        endpoint: Endpoint::parse("").unwrap(),
        lost_epoch: None,
        gated: true,
    })])
}

fn on_real_disk() -> Seams {
    Seams::real(Arc::new(RealDisk))
}

fn member(number: u64) -> MemberId {
    MemberId::parse(&format!("member-{number}")).unwrap()
}

/// A running replica, and the sender that stops it.
struct Running {
    consensus: Consensus,
    stop: oneshot::Sender<()>,
    server: JoinHandle<Result<(), String>>,
    formation: JoinHandle<()>,
}

impl Running {
    async fn start(
        config: ConsensusConfig,
        seams: Seams,
        set: BTreeMap<ReplicaId, String>,
        incoming: Incoming,
    ) -> Self {
        let consensus = start(config, seams).await.unwrap();
        Self::serve(consensus, set, incoming)
    }

    fn serve(consensus: Consensus, set: BTreeMap<ReplicaId, String>, incoming: Incoming) -> Self {
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            let _ = stopped.await;
        };
        let server = tokio::spawn(peer::serve(
            consensus.clone(),
            Arc::new(NoForward),
            incoming,
            stopped,
        ));
        let formation = Formation {
            replicas: set,
            first_entry: Box::new(first_entry),
        };
        let formation = tokio::spawn(peer::form(consensus.clone(), formation));
        Self {
            consensus,
            stop,
            server,
            formation,
        }
    }

    /// Waits until the set is formed and this replica has applied the cluster's id.
    async fn formed(&self) {
        let mut progress = self.consensus.subscribe();
        let named = progress.wait_for(|progress| progress.revision > Revision::ZERO);
        within("cluster id", named).await.unwrap();
    }

    async fn stop(self) {
        self.formation.abort();
        self.consensus.shutdown().await;
        let _ = self.stop.send(());
        self.server.abort();
        let _ = self.server.await;
    }
}

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(20), future).await {
        Ok(value) => value,
        Err(_) => panic!("no {what} within 20 seconds"),
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}
