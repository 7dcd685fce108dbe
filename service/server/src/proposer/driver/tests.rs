//! Tests of followers whose leader takes batches and never answers although it is alive: three replicas over loopback.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::stream::{self, BoxStream};
use synod_machine::{Command, Initialize, LogEntry, Outcome};
use synod_model::stored::to_bytes;
use synod_model::{ErrorKind, LogTime, MemberId, Refusal, Revision, Settings, WallTime};
use synod_store::RealDisk;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::*;
use crate::consensus::{self, ConsensusConfig};
use crate::metrics::Metrics;
use crate::peer::messages::{ForwardRequest, ForwardResponse};
use crate::peer::{self, Formation, ForwardHandler};
use crate::proposer::Proposer;
use crate::read::Reader;
use crate::samples::{envelope, join, steady};
use crate::seams::{Seams, tcp};
use crate::stop::Stopper;
use crate::traces::Span;

const FAR: Duration = Duration::from_secs(60);

/// Forwards to the proposer until it is told to be silent: then it takes batches and answers none.
struct Handler {
    proposer: Proposer,
    silent: AtomicBool,
    taken: watch::Sender<usize>,
}

impl ForwardHandler for Handler {
    fn forward(
        &self,
        from: ReplicaId,
        batches: BoxStream<'static, ForwardRequest>,
    ) -> BoxStream<'static, ForwardResponse> {
        if !self.silent.load(Ordering::Relaxed) {
            return self.proposer.forward(from, batches);
        }
        let taken = self.taken.clone();
        batches
            .filter_map(move |_| {
                taken.send_if_modified(|taken| {
                    *taken += 1;
                    true
                });
                std::future::ready(None)
            })
            .chain(stream::pending())
            .boxed()
    }
}

struct Running {
    consensus: Consensus,
    handler: Arc<Handler>,
    taken: watch::Receiver<usize>,
    _stopper: Stopper,
    _tasks: JoinSet<()>,
    _directory: TempDir,
}

impl Running {
    async fn start(id: ReplicaId, set: BTreeMap<ReplicaId, String>, listener: TcpListener) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut config = ConsensusConfig::new(directory.path().to_owned(), id, "driver".to_owned());
        steady(&mut config);
        let seams = Seams::real(Arc::new(RealDisk));
        let consensus = consensus::start(config, seams.clone()).await.unwrap();
        let (stopper, stop) = crate::stop::stop();
        let mut tasks = JoinSet::new();
        let metrics = Metrics::new(|| 0);
        let reader = Reader::new(&consensus, &metrics.read, &stop, &mut tasks);
        let (proposer, _) = Proposer::new(
            &consensus,
            &reader,
            &seams,
            &metrics.proposer,
            &stop,
            &mut tasks,
        );
        let (sender, taken) = watch::channel(0);
        let handler = Arc::new(Handler {
            proposer,
            silent: AtomicBool::new(true),
            taken: sender,
        });
        let (served, forward) = (consensus.clone(), Arc::clone(&handler));
        tasks.spawn(async move {
            let stop = async move { stop.requested().await };
            peer::serve(served, forward, tcp::incoming(listener), stop)
                .await
                .unwrap();
        });
        let formation = Formation {
            replicas: set,
            first_entry: Box::new(|cluster| {
                let settings = Settings::default();
                let begin = Command::Initialize(Initialize { cluster, settings });
                to_bytes(&LogEntry {
                    log_time: LogTime::from_millis(0),
                    lift_deadlines: false,
                    wall: WallTime::from_millis(0),
                    commands: vec![envelope(begin)],
                })
            }),
        };
        tasks.spawn(peer::form(consensus.clone(), formation));
        Self {
            consensus,
            handler,
            taken,
            _stopper: stopper,
            _tasks: tasks,
            _directory: directory,
        }
    }

    /// Makes a member join through this replica.
    fn join(&self, number: usize, patience: Duration) -> JoinHandle<Result<Outcome, Refusal>> {
        let proposer = self.handler.proposer.clone();
        let member = MemberId::parse(&format!("member-{number}")).unwrap();
        let envelope = envelope(Command::Join(join(&member, "instance")));
        tokio::spawn(async move {
            let deadline = Instant::now() + patience;
            let none = Span::default();
            proposer
                .execute(&envelope, deadline, "".into(), &none)
                .await
        })
    }
}

/// Three replicas with a leader that never answers a forwarded batch.
struct Cluster {
    replicas: BTreeMap<ReplicaId, Running>,
    leader: ReplicaId,
}

impl Cluster {
    async fn start() -> Self {
        let mut listeners = BTreeMap::new();
        for id in (1..=3).map(ReplicaId::new) {
            listeners.insert(id, TcpListener::bind("127.0.0.1:0").await.unwrap());
        }
        let address = |listener: &TcpListener| listener.local_addr().unwrap().to_string();
        let set: BTreeMap<_, _> = listeners
            .iter()
            .map(|(id, listener)| (*id, address(listener)))
            .collect();
        let mut replicas = BTreeMap::new();
        for (id, listener) in listeners {
            replicas.insert(id, Running::start(id, set.clone(), listener).await);
        }
        let mut leader = None;
        for running in replicas.values() {
            let mut progress = running.consensus.subscribe();
            let formed = progress.wait_for(|progress| progress.revision > Revision::ZERO);
            within("a cluster", formed).await.unwrap();
            let mut leadership = running.consensus.leadership();
            let led = leadership.wait_for(|now| now.leader.is_some());
            leader = within("a leader", led).await.unwrap().leader;
        }
        let leader = leader.unwrap();
        for (id, running) in &replicas {
            running
                .handler
                .silent
                .store(*id == leader, Ordering::Relaxed);
        }
        Self { replicas, leader }
    }

    fn followers(&self) -> [ReplicaId; 2] {
        let mut others = self.replicas.keys().filter(|id| **id != self.leader);
        [(); 2].map(|()| *others.next().unwrap())
    }

    /// Fills the link of `follower`, one batch after the other, with requests that get no answer.
    async fn fill(
        &mut self,
        follower: ReplicaId,
        patience: Duration,
    ) -> Vec<JoinHandle<Result<Outcome, Refusal>>> {
        let mut waiting = Vec::new();
        for number in 0..FORWARDED_BATCHES_MAX {
            waiting.push(self.replicas[&follower].join(number, patience));
            self.has_taken(number + 1).await;
        }
        waiting
    }

    async fn has_taken(&mut self, batches: usize) {
        let taken = &mut self.replicas.get_mut(&self.leader).unwrap().taken;
        let taken = taken.wait_for(|taken| *taken >= batches);
        within("batch at the leader", taken).await.unwrap();
    }

    async fn transfer(&self, to: ReplicaId) {
        let leader = &self.replicas[&self.leader].consensus;
        leader.transfer_leadership(Some(to)).await.unwrap();
    }
}

/// A future that takes longer than this is waiting for the deadline of its requests.
async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(FAR / 3, future).await;
    waited.unwrap_or_else(|_| panic!("no {what} in time"))
}

// Guarantee: W-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_old_leader_owes_keeps_nothing_from_the_new_one() {
    let mut cluster = Cluster::start().await;
    let [follower, next] = cluster.followers();
    let owed = cluster.fill(follower, FAR).await;
    cluster.transfer(next).await;
    let later = cluster.replicas[&follower].join(100, FAR);
    within("answer of the new leader", later)
        .await
        .unwrap()
        .unwrap();
    for request in owed {
        let answered = within("answer in place of the old leader", request).await;
        assert_eq!(
            answered.unwrap().unwrap_err().kind,
            ErrorKind::UnknownOutcome
        );
    }
}

// Guarantee: W-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_comes_to_lead_does_not_wait_for_what_it_has_forwarded() {
    let mut cluster = Cluster::start().await;
    let [follower, _] = cluster.followers();
    let owed = cluster.fill(follower, FAR).await;
    cluster.transfer(follower).await;
    let later = cluster.replicas[&follower].join(100, FAR);
    within("answer", later).await.unwrap().unwrap();
    drop(owed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_whose_deadline_has_passed_make_room_on_the_link() {
    let mut cluster = Cluster::start().await;
    let [follower, _] = cluster.followers();
    for request in cluster.fill(follower, FAR / 12).await {
        let answered = within("answer at the deadline", request).await;
        assert!(answered.unwrap().is_err());
    }
    let _later = cluster.replicas[&follower].join(100, FAR);
    cluster.has_taken(FORWARDED_BATCHES_MAX + 1).await;
}
