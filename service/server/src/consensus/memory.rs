//! A data directory that went back in time is found out by whoever remembers.
//!
//! A leader knows what each replica has on its disk. What of that is committed it remembers, over restarts too: a log
//! that held a committed entry never ends before it again, in the order of terms, leaders and indexes, unless its disk
//! forgot. Every call and every answer between replicas says where a log ends. One that ends before what was remembered of
//! the same directory when it was asked is refused for good: its votes are neither asked for nor counted, nothing is sent
//! to it, and its process ends. A replaced replica has another directory, of which nothing is remembered.
//!
//! Only an answer proves it. A call says where a log ended when it was sent; until it is read that log may have grown, and
//! what it holds by then be remembered. So a call for votes that says too little is answered after a question back.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_store::peers::{Peers, PeersError, PeersFile, Remembered};

use super::ballot::Ballot;
use super::facade::{Consensus, Shared};
use super::inbound::InboundError;
use super::published::Publisher;
use super::record::{of_store_id, to_store_id};
use super::types::{LogId, log_id_of, position_of};
use super::{DirectoryId, ReplicaId};
use crate::peer::{LogEnd, PeerError, Refusal};

/// What is new is written down so often. Nothing waits for it.
const PERIOD: Duration = Duration::from_secs(1);

/// A replica is given so long to say where its log ends.
const QUESTION_MAX: Duration = Duration::from_secs(1);

/// What this replica remembers of the others. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    file: PeersFile,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    peers: Peers,
    changed: bool,
}

impl Memory {
    /// Reads what was remembered. A damaged file is forgotten.
    ///
    /// # Errors
    ///
    /// When a newer build wrote it, or the disk refuses.
    pub(super) fn open(file: PeersFile) -> io::Result<Self> {
        let peers = match file.read() {
            Ok(peers) => peers,
            Err(damaged @ PeersError::Damaged { .. }) => {
                tracing::error!(%damaged, "forgot how far the other replicas had come");
                Peers::new()
            }
            Err(other) => return Err(other.into()),
        };
        let known = Known {
            peers,
            changed: false,
        };
        Ok(Self {
            file,
            known: Arc::new(Mutex::new(known)),
        })
    }

    /// What is remembered of this directory, to be held against an answer that is asked for now.
    pub(crate) fn of(&self, directory: DirectoryId) -> Option<Remembered> {
        self.lock().peers.get(directory.as_bytes()).copied()
    }

    /// Whether the log of this directory ends where it may, after an answer to a question that was asked when so much was
    /// remembered. One that does not never does again.
    pub(crate) fn accepts(
        &self,
        directory: DirectoryId,
        asked: Option<Remembered>,
        end: LogEnd,
    ) -> bool {
        let mut known = self.lock();
        let Some(remembered) = known.peers.get_mut(directory.as_bytes()) else {
            return true;
        };
        if remembered.went_back {
            return false;
        }
        let Some(asked) = asked.filter(|asked| is_before(end, asked)) else {
            return true;
        };
        tracing::error!(replica = asked.replica, %directory, ?end, held = %asked.held, "a data directory went back in time: it is refused");
        remembered.went_back = true;
        known.changed = true;
        false
    }

    /// Takes note of what replicas hold that is committed, and forgets the directories that are in no set any more.
    fn note(&self, set: &BTreeMap<ReplicaId, DirectoryId>, held: &BTreeMap<ReplicaId, LogId>) {
        let mut known = self.lock();
        let before = known.peers.len();
        known
            .peers
            .retain(|directory, _| set.values().any(|known| known.as_bytes() == directory));
        known.changed |= known.peers.len() != before;
        for (replica, directory) in set {
            let Some(held) = held.get(replica).map(to_store_id) else {
                continue;
            };
            match known.peers.get_mut(directory.as_bytes()) {
                Some(remembered) if remembered.held >= held => continue,
                Some(remembered) => remembered.held = held,
                None => {
                    let remembered = Remembered {
                        replica: replica.get(),
                        held,
                        went_back: false,
                    };
                    known.peers.insert(*directory.as_bytes(), remembered);
                }
            }
            known.changed = true;
        }
    }

    /// Writes down what is new.
    fn save(&self) -> io::Result<()> {
        let mut known = self.lock();
        if !std::mem::take(&mut known.changed) {
            return Ok(());
        }
        let peers = known.peers.clone();
        drop(known);
        Ok(self.file.save(&peers)?)
    }

    fn went_back(&self) -> Vec<Remembered> {
        let known = self.lock();
        let peers = known.peers.values();
        peers.filter(|peer| peer.went_back).copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a log ends before what is remembered of it.
fn is_before(end: LogEnd, remembered: &Remembered) -> bool {
    let end = match end {
        LogEnd::Unsaid => return false,
        LogEnd::Empty => None,
        LogEnd::At(position) => Some(to_store_id(&log_id_of(&position))),
    };
    end < Some(remembered.held)
}

/// Remembers what a leader learns. Never ends.
pub(super) async fn keep(shared: &Shared) {
    loop {
        tokio::time::sleep(PERIOD).await;
        let (set, held) = learned(shared);
        if !set.is_empty() {
            shared.memory.note(&set, &held);
        }
        let memory = shared.memory.clone();
        if let Err(error) = shared.seams.offload.run(move || memory.save()).await {
            tracing::warn!(%error, "cannot write down how far the other replicas have come");
        }
    }
}

/// The other replicas of the set, and what of their logs is committed, if this replica leads.
fn learned(shared: &Shared) -> (BTreeMap<ReplicaId, DirectoryId>, BTreeMap<ReplicaId, LogId>) {
    let me = shared.me.replica;
    let server = shared.raft.server_metrics();
    let membership = server.borrow().committed_membership_config.clone();
    let others = membership.membership().nodes().filter(|(id, _)| **id != me);
    let set = others
        .map(|(id, address)| (*id, address.directory))
        .collect();
    let metrics = shared.raft.metrics();
    let metrics = metrics.borrow();
    let (Some(replication), Some(committed)) = (&metrics.replication, &metrics.cluster_committed)
    else {
        return (set, BTreeMap::new());
    };
    // Both are positions of one log, this leader's.
    let held = replication.iter().filter_map(|(id, matched)| {
        let matched = matched.as_ref()?;
        let held = if matched.index <= committed.index {
            matched
        } else {
            committed
        };
        Some((*id, *held))
    });
    (set, held.collect())
}

/// Where the log of this replica ends, to be told the others.
pub(super) fn log_end(log: &synod_store::Log, publisher: &Publisher, ballot: &Ballot) -> LogEnd {
    if !ballot.is_open() {
        return LogEnd::Unsaid;
    }
    let last = log
        .last_log_id()
        .map(|last| position_of(&of_store_id(&last)));
    // A checkpoint that was installed may reach further than the log for a moment.
    match last.max(publisher.latest().applied) {
        Some(position) => LogEnd::At(position),
        None => LogEnd::Empty,
    }
}

impl Consensus {
    /// Up to which index a replica is known to have held what is committed, as it is written down.
    #[cfg(test)]
    pub(super) fn remembered(&self, replica: ReplicaId) -> Option<u64> {
        let written = self.shared.memory.file.read().ok()?;
        let mut written = written.values();
        let peer = written.find(|peer| peer.replica == replica.get())?;
        Some(peer.held.index)
    }

    /// Where the log of this replica ends.
    pub(crate) fn log_end(&self) -> LogEnd {
        let shared = &*self.shared;
        log_end(&shared.log, &shared.publisher, &shared.ballot)
    }

    /// Whether this directory is known to have gone back in time.
    pub(crate) fn has_gone_back(&self, directory: DirectoryId) -> bool {
        let remembered = self.shared.memory.of(directory);
        remembered.is_some_and(|remembered| remembered.went_back)
    }

    /// Makes sure that the log of whoever asks for a vote ends where it may. Its call says where, and is asked back where
    /// that is less than is remembered.
    pub(crate) async fn ensure_holds(
        &self,
        replica: ReplicaId,
        directory: DirectoryId,
        end: LogEnd,
    ) -> Result<(), InboundError> {
        let remembered = self.shared.memory.of(directory);
        if !remembered.is_some_and(|remembered| is_before(end, &remembered)) {
            return Ok(());
        }
        let address = self.address(replica).ok_or(InboundError::Unproved)?;
        let link = self.shared.peers.link(replica, &address);
        match link.digest(0, QUESTION_MAX).await {
            Ok(_) => Ok(()),
            Err(PeerError::WentBack) => Err(InboundError::Refused(Refusal::CallerWentBack)),
            Err(_) => Err(InboundError::Unproved),
        }
    }

    /// The replicas whose data directories went back in time and are refused, with what to do.
    #[must_use]
    pub fn went_back(&self) -> Vec<(ReplicaId, String)> {
        let told = |peer: Remembered| {
            let Remembered { replica, held, .. } = peer;
            let text = format!(
                "the data directory of replica {replica} went back in time: it had acknowledged {held} and its log ended \
                 before that later, so it is refused and does not vote; keep its files, and replace it by a fresh one \
                 (`synod cluster replace`)"
            );
            (ReplicaId::new(replica), text)
        };
        self.shared
            .memory
            .went_back()
            .into_iter()
            .map(told)
            .collect()
    }
}
