//! A replica that forms a set by itself: consensus on a real disk, without peers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Command, Envelope, Initialize, LogEntry, Outcome};
use synod_model::stored::to_bytes;
use synod_model::{ClusterId, LogTime, RequestId, Settings, WallTime};
use synod_server::consensus::{self, Consensus, ConsensusConfig, Published, ReplicaId};
use synod_server::peer::{Formation, form};
use synod_server::seams::Seams;
use synod_store::RealDisk;

/// Small, so that the repository does not carry megabytes of zeros.
const SEGMENT_BYTES: u64 = 16 << 10;

/// Never dialled, since there is no other replica.
const PEER: &str = "127.0.0.1:1";

pub(crate) struct Alone {
    consensus: Consensus,
}

impl Alone {
    /// Starts the replica on the data directory `data`, which is made if it does not exist.
    pub(crate) async fn start(data: &Path) -> Self {
        let id = ReplicaId::new(1);
        let config = ConsensusConfig {
            segment_bytes: SEGMENT_BYTES,
            ..ConsensusConfig::new(data.to_owned(), id, "compat".to_owned())
        };
        let seams = Seams::real(Arc::new(RealDisk));
        let consensus = consensus::start(config, seams).await.unwrap();
        let formation = Formation {
            replicas: [(id, PEER.to_owned())].into(),
            first_entry: Box::new(first_entry),
        };
        within(form(consensus.clone(), formation)).await;
        let mut leadership = consensus.leadership();
        within(leadership.wait_for(|now| now.is_me)).await.unwrap();
        let alone = Self { consensus };
        // Once an entry of this term is applied, all earlier commits are applied too.
        let position = within(alone.consensus.read_index()).await.unwrap();
        let soon = tokio::time::Instant::now() + LIMIT;
        alone
            .consensus
            .wait_applied(position.index, soon)
            .await
            .unwrap();
        alone
    }

    /// Executes a command in an entry of its own with this log time.
    pub(crate) async fn execute(
        &self,
        log_time: u64,
        request: Option<RequestId>,
        command: Command,
    ) -> Outcome {
        let payload = entry(log_time, request, command);
        let applied = within(self.consensus.propose(payload, None)).await.unwrap();
        applied.applied.outcomes[0].clone()
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        self.consensus.published()
    }

    /// Writes a checkpoint, and waits until it is there.
    pub(crate) async fn checkpoint(&self) {
        self.consensus.checkpoint().await.unwrap();
        let written = async {
            while self.consensus.status().checkpoint.is_none() {
                tokio::task::yield_now().await;
            }
        };
        within(written).await;
    }

    pub(crate) async fn stop(self) {
        self.consensus.shutdown().await;
    }
}

const LIMIT: Duration = Duration::from_secs(20);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap()
}

fn first_entry(cluster: ClusterId) -> Bytes {
    let settings = Settings::default();
    entry(
        1,
        None,
        Command::Initialize(Initialize { cluster, settings }),
    )
}

fn entry(log_time: u64, request: Option<RequestId>, command: Command) -> Bytes {
    to_bytes(&LogEntry {
        log_time: LogTime::from_millis(log_time),
        lift_deadlines: false,
        wall: WallTime::from_millis(1_795_219_200_000 + log_time),
        commands: vec![Envelope {
            actor: None,
            request,
            command: Arc::new(command),
        }],
    })
}
