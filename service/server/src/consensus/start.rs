//! Starts a replica's consensus: opens the data directory, builds all parts, and runs them.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use openraft::Raft;
use rand::RngExt;
use synod_store::identity::{Claim, IdentityError};
use synod_store::peers::{PeersFile, Remembered};
use synod_store::{DataDirectory, Disk, DoubtFile, Log, LogConfig, Recovery, VoteFile};

use super::acknowledgements::Acknowledgements;
use super::ballot::Ballot;
use super::checkpoints::Checkpoints;
use super::config::{ConsensusConfig, InvalidConfig};
use super::contact::Contact;
use super::digests::Digests;
use super::doubt::Doubt;
use super::facade::{Consensus, ConsensusParts};
use super::fatal::{Alarm, Fatal};
use super::leadership::Leadership;
use super::log_end::log_end;
use super::log_storage::LogStorage;
use super::memory::Memory;
use super::network::Network;
use super::noted::Noted;
use super::published::Publisher;
use super::restored::Restored;
use super::state_machine::{CheckpointDue, StateMachine};
use super::stated_cuts::StatedCuts;
use super::timing::Timing;
use super::types::TypeConfig;
use super::upkeep::Upkeep;
use super::{DirectoryId, ReplicaId};
use crate::limits::{LOG_CACHE_BYTES_MAX, LOG_QUEUE_BYTES_MAX};
use crate::peer::{Acquaintance, LogEnd, PeerClients, PeerIdentity, Refusal};
use crate::seams::{Offload, Seams, random, watch};

/// Why a replica cannot run. Nothing was taken from its files: at most what a crash had left half written was mended or
/// removed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration contradicts itself.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The data directory is not this replica's, is in use, or cannot be read.
    #[error(transparent)]
    Directory(#[from] IdentityError),
    /// The log, the vote or the checkpoints cannot be read, or contradict each other.
    #[error("the data directory cannot be used: {0}")]
    Storage(#[from] io::Error),
    /// openraft refused the configuration or the data.
    #[error("consensus cannot start: {0}")]
    Raft(String),
}

/// The opened parts of the data directory.
struct Opened {
    directory: DataDirectory,
    log: Log,
    recovery: Recovery,
    vote: VoteFile,
    checkpoints: Checkpoints,
    restored: Restored,
    memory: Memory,
    doubt: Doubt,
}

impl Opened {
    fn ballot(&self) -> io::Result<Ballot> {
        let (log, vote) = (self.log.clone(), self.vote.read());
        Ballot::new(log, &self.recovery, vote, self.restored.index_max())
    }
}

/// Opens the data directory, formatting a new one if there is none, and takes part in consensus from then on. Calls of
/// other replicas are answered once [`crate::peer::serve()`] runs.
///
/// # Errors
///
/// See [`StartError`].
pub async fn start(config: ConsensusConfig, seams: Seams) -> Result<Consensus, StartError> {
    let raft_config = config.raft()?;
    let opened = open(&config, &seams).await?;
    let ballot = opened.ballot()?;
    let me = identity(&config, &opened.directory);
    let (alarm, doubt) = (Alarm::new(), opened.doubt.clone());
    let publisher = Publisher::new(opened.restored.published());
    let known = Known::new(&opened, &me, &publisher, &ballot, &alarm, &doubt);
    let peers = PeerClients::new(me.clone(), Arc::clone(&seams.dialer), known);
    let (digests, timing) = (Digests::default(), Timing::default());
    let checkpoint_due = opened.checkpoints.damage.another_is_due();
    let checkpoints = opened.checkpoints;
    let storage = LogStorage::new(opened.log, opened.vote, &checkpoints, &alarm, seams.offload);
    let state_machine = StateMachine::new(
        opened.restored,
        publisher.clone(),
        digests.clone(),
        storage.clone(),
        CheckpointDue::new(config.checkpoint_bytes, Arc::clone(&checkpoint_due)),
        timing.clone(),
        seams.traces.is_some(),
    );
    // The flusher must run before openraft is built: building may already purge the log and wait for that.
    let flusher = seams
        .flushing
        .start(storage.log.clone(), Arc::clone(&storage.enqueued))?;
    let network = network(&peers, &storage);
    let Network {
        back,
        acknowledgements,
        ..
    } = network.clone();
    let logs = storage.clone();
    let raft = Raft::build(me.replica, raft_config, network, logs, state_machine).await;
    let raft = run(raft, &ballot)?;
    let (leadership, followed) = watch::channel(Leadership::default());
    let shared = Arc::new(ConsensusParts {
        raft,
        config,
        storage,
        me,
        publisher,
        leadership: followed,
        alarm,
        ballot,
        may_stand: AtomicBool::new(true),
        stated_cuts: StatedCuts::default(),
        memory: opened.memory,
        digests,
        doubt,
        lost: Noted::default(),
        back,
        acknowledgements,
        contact: Contact::default(),
        timing,
        checkpoints,
        peers,
        changing: Arc::default(),
        seams,
        upkeep: Mutex::new(None),
    });
    let upkeep = Upkeep {
        directory: opened.directory,
        flusher,
        leadership,
        checkpoint_due,
    };
    shared.set_upkeep(tokio::spawn(upkeep.run(Arc::clone(&shared))));
    Ok(Consensus { shared })
}

/// Runs what was built.
fn run<E: Display>(
    built: Result<Raft<TypeConfig, StateMachine>, E>,
    ballot: &Ballot,
) -> Result<Raft<TypeConfig, StateMachine>, StartError> {
    let raft = built.map_err(|error| StartError::Raft(error.to_string()))?;
    raft.runtime_config().elect(ballot.is_open());
    raft.run();
    Ok(raft)
}

fn network(peers: &PeerClients, storage: &LogStorage) -> Network {
    Network {
        peers: peers.clone(),
        log: storage.log.clone(),
        checkpoints: storage.checkpoints.clone(),
        offload: storage.offload,
        back: Arc::default(),
        acknowledgements: Arc::new(Acknowledgements::new()),
    }
}

/// The identity by which other replicas know this one.
fn identity(config: &ConsensusConfig, directory: &DataDirectory) -> PeerIdentity {
    PeerIdentity {
        cluster: config.cluster_name.clone(),
        replica: config.replica,
        directory: DirectoryId::from_bytes(directory.identity().directory_id),
    }
}

async fn open(config: &ConsensusConfig, seams: &Seams) -> Result<Opened, StartError> {
    let disk = Arc::clone(&seams.disk);
    let path = config.data_dir.clone();
    let claim = Claim {
        cluster_name: config.cluster_name.clone(),
        replica_id: config.replica.get(),
        directory_id: random::rng().random(),
    };
    let (segment_bytes, offload) = (config.segment_bytes, seams.offload);
    // In one piece: the directory stays locked until all of it has ended, whoever waits for it.
    offload
        .run(move || open_now(&disk, &path, &claim, segment_bytes, offload))
        .await
}

fn open_now(
    disk: &Arc<dyn Disk>,
    path: &Path,
    claim: &Claim,
    segment_bytes: u64,
    offload: Offload,
) -> Result<Opened, StartError> {
    let directory = DataDirectory::open(Arc::clone(disk), path, claim)?;
    if directory.formatted() {
        tracing::info!(path = %path.display(), "formatted a new data directory");
    }
    if let Some(mode) = directory.tightened_from() {
        tracing::warn!(path = %path.display(), mode = format!("{mode:o}"), "others could enter the data directory");
    }
    let vote = VoteFile::open(Arc::clone(disk), path).map_err(io::Error::from)?;
    let log_config = LogConfig {
        segment_bytes,
        queue_bytes_max: LOG_QUEUE_BYTES_MAX,
        cache_bytes_max: LOG_CACHE_BYTES_MAX,
        ..LogConfig::new(directory.identity().directory_id)
    };
    // Neither needs the other before both are there.
    let cluster = directory.identity().cluster_id;
    let (log, checkpoint) = offload.both(
        || Log::open(Arc::clone(disk), &directory.wal_path(), log_config),
        || Checkpoints::load(disk, &directory.checkpoints_path(), cluster),
    );
    let (log, recovery) = log.map_err(io::Error::from)?;
    let (checkpoints, restored) = checkpoint?;
    checkpoints.join(recovery.purged)?;
    let memory = Memory::open(PeersFile::new(Arc::clone(disk), path))?;
    let doubt = Doubt::open(DoubtFile::new(Arc::clone(disk), path))?;
    Ok(Opened {
        directory,
        log,
        recovery,
        vote,
        checkpoints,
        restored,
        memory,
        doubt,
    })
}

/// The knowledge of this replica about itself and the others that calls between replicas are checked against.
struct Known {
    me: ReplicaId,
    log: Log,
    publisher: Publisher,
    ballot: Ballot,
    memory: Memory,
    alarm: Alarm,
    doubt: Doubt,
}

impl Known {
    fn new(
        opened: &Opened,
        me: &PeerIdentity,
        publisher: &Publisher,
        ballot: &Ballot,
        alarm: &Alarm,
        doubt: &Doubt,
    ) -> Self {
        Self {
            me: me.replica,
            log: opened.log.clone(),
            publisher: publisher.clone(),
            ballot: ballot.clone(),
            memory: opened.memory.clone(),
            alarm: alarm.clone(),
            doubt: doubt.clone(),
        }
    }
}

impl Acquaintance for Known {
    fn log_end(&self) -> LogEnd {
        log_end(&self.log, &self.publisher, &self.ballot)
    }

    fn remembered(&self, directory: DirectoryId) -> Option<Remembered> {
        self.memory.of(directory)
    }

    fn accepts(&self, directory: DirectoryId, asked: Option<Remembered>, end: LogEnd) -> bool {
        self.memory.accepts(directory, asked, end)
    }

    fn refused(&self, by: ReplicaId, refusal: Refusal) {
        match refusal {
            Refusal::CallerLacksCommitted => self.doubt.histories_parted(by),
            Refusal::CallerWentBack => self.alarm.raise(Fatal::WentBack {
                replica: self.me,
                by,
            }),
            Refusal::CallerWrongDirectory => self.alarm.raise(Fatal::WrongDirectory {
                replica: self.me,
                detail: format!("replica {by} knows it with another one"),
            }),
            Refusal::CallerLeft => self.alarm.raise(Fatal::Left {
                replica: self.me,
                by,
            }),
            Refusal::WrongCluster
            | Refusal::WrongReplica
            | Refusal::WrongDirectory
            | Refusal::Unnamed => {
                tracing::warn!(replica = %by, %refusal, "a replica refused a call of this one");
            }
        }
    }
}
