//! What it costs to encode events, and to give them to one more watcher; see [`crate::costs`].

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Command, Initialize, LogEntry, State};
use synod_model::stored::to_bytes;
use synod_model::{LogTime, MemberId, ObjectKind, Revision, Settings, WallTime};
use synod_proto::{WatchFilter, WatchStart};
use synod_store::RealDisk;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::encoded::{EncodedHistory, WatchMessage};
use super::{Cursor, Step, Watches};
use crate::consensus::{self, ConsensusConfig, ReplicaId};
use crate::costs::Count;
use crate::health::health;
use crate::metrics::Metrics;
use crate::peer::{self, Formation};
use crate::read::Reader;
use crate::samples::{envelope, join};
use crate::seams::Seams;
use crate::stop::{Stopper, stop};

/// The members whose joins a stream of a replica delivers, each a revision.
const MEMBERS: usize = 100;

/// The watches of a replica, and what keeps it running.
struct Running {
    watches: Watches,
    _stopper: Stopper,
    _tasks: JoinSet<()>,
    _directory: tempfile::TempDir,
}

/// Reads the events after `begin` for a first watcher, for another one, and for one with a filter that they pass. Returns
/// the messages of one watcher.
pub(crate) fn watch(
    count: &mut Count<'_>,
    kind: &str,
    state: &State,
    begin: Revision,
) -> Vec<WatchMessage> {
    let encoded = EncodedHistory::new(Metrics::new(|| 0).watch);
    let read = |filter: &WatchFilter| {
        let (mut seen, mut messages) = (begin, Vec::new());
        while let Ok(Some(events)) = state.history().next_after(seen) {
            seen = events.revision;
            messages.extend(encoded.messages(events, filter, None));
        }
        messages
    };
    let everything = WatchFilter::default();
    let by_kind = WatchFilter {
        kinds: ObjectKind::ALL.iter().copied().collect(),
        ..WatchFilter::default()
    };
    // Renewals make none.
    if state.revision() == begin {
        return Vec::new();
    }
    let revisions = (state.revision().get() - begin.get()) as usize;
    let mut messages = Vec::new();
    for (name, filter) in [
        ("encode events of", &everything),
        ("one more watch of", &everything),
        ("watch by kind of", &by_kind),
    ] {
        messages.clear();
        count(&format!("{name} {kind}"), revisions, &mut || {
            messages = read(filter);
        });
    }
    messages
}

/// Delivers what a replica has published to a stream, step by step, after another stream has had it encoded.
pub(crate) fn steps(count: &mut Count<'_>, runtime: &Runtime) {
    let running = runtime.block_on(Running::start());
    let first = runtime.block_on(delivered(&mut runtime.block_on(running.open())));
    let mut cursor = runtime.block_on(running.open());
    let mut messages = 0;
    count("step of one more watch", MEMBERS, &mut || {
        messages = runtime.block_on(delivered(&mut cursor));
    });
    assert!(messages > MEMBERS && messages == first);
}

/// The number of messages until the stream has caught up.
async fn delivered(cursor: &mut Cursor) -> usize {
    let mut messages = 0;
    loop {
        match cursor.step().await {
            Step::Message(message) => {
                cursor.sent(&message, 1);
                messages += 1;
            }
            Step::CaughtUp => return messages,
            Step::Ended => panic!("the replica runs"),
        }
    }
}

impl Running {
    /// A replica alone, whose first entry has all members join.
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let id = ReplicaId::new(1);
        let config = ConsensusConfig::new(directory.path().to_owned(), id, "costs".to_owned());
        let seams = Seams::real(Arc::new(RealDisk));
        let consensus = consensus::start(config, seams).await.unwrap();
        let (stopper, stop) = stop();
        let mut tasks = JoinSet::new();
        let metrics = Metrics::new(|| 0);
        let reader = Reader::new(&consensus, &metrics.read, &stop, &mut tasks);
        let (_, health) = health(reader.clone(), consensus.clone());
        let formation = Formation {
            replicas: [(id, String::new())].into(),
            first_entry: Box::new(|cluster| {
                let settings = Settings::default();
                let begin = Command::Initialize(Initialize { cluster, settings });
                let joins = (0..MEMBERS).map(|number| {
                    let member = MemberId::parse(&format!("member-{number}")).unwrap();
                    Command::Join(join(&member, "instance"))
                });
                to_bytes(&LogEntry {
                    log_time: LogTime::from_millis(0),
                    lift_deadlines: false,
                    wall: WallTime::from_millis(0),
                    commands: std::iter::once(begin).chain(joins).map(envelope).collect(),
                })
            }),
        };
        tasks.spawn(peer::form(consensus.clone(), formation));
        let mut progress = consensus.subscribe();
        let joined = progress.wait_for(|progress| progress.revision.get() > MEMBERS as u64);
        joined.await.unwrap();
        Self {
            watches: Watches::new(consensus, reader, health, &metrics.watch, stop),
            _stopper: stopper,
            _tasks: tasks,
            _directory: directory,
        }
    }

    async fn open(&self) -> Cursor {
        let start = WatchStart {
            from: Some(Revision::new(1)),
            filter: WatchFilter::default(),
            bookmark_interval: Duration::from_secs(30),
            cluster: None,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        self.watches.open(start, false, deadline).await.unwrap()
    }
}
