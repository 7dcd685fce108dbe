//! Many watches by the client library, and the check that each of them delivered every event once, in order.

use std::sync::{Arc, Mutex, PoisonError};

use synod_client::{
    Client, Event, ObjectKind, Revision, WatchFrom, WatchMessage, WatchOptions, WatchedObject,
};
use synod_proto::v1;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cards;
use crate::cluster::Cluster;
use crate::waiting::within;
use crate::watch_log::WatchLog;

/// Watches with a client each, so that each has a stream of its own.
const ALONE: usize = 40;

/// Clients that share their watches' streams: calls that overlap go over one pipeline.
const SHARING: usize = 6;

/// The watches of each client that shares.
const SHARED: usize = 10;

/// How often a replica that has nothing else to send sends a bookmark: as often as is allowed.
const BOOKMARKS: std::time::Duration = std::time::Duration::from_secs(1);

/// What a watch selects. Watches take turns at these.
#[derive(Clone, Copy, Debug)]
enum Selected {
    Everything,
    Settings,
    StorageVersions,
    Objects,
    Members,
    Cards,
    Named,
    NamedObject,
}

/// The name of the object that all writers change.
const NAMED: &str = "shared";

/// All watches. They end when this value is dropped.
pub(crate) struct Followers {
    watches: Vec<Follower>,
    tasks: JoinSet<()>,
}

/// One watch, as its reader has it.
struct Follower {
    selected: Selected,
    record: Arc<Mutex<Record>>,
    progress: watch::Receiver<Progress>,
}

/// What a watch has delivered: for each revision its events, in words.
#[derive(Debug, Default)]
struct Record(Vec<(u64, Vec<String>)>);

#[derive(Clone, Debug, Default)]
struct Progress {
    reached: u64,
    /// The promise that the watch broke, if any.
    fault: Option<String>,
}

impl Selected {
    const ALL: [Self; 8] = [
        Self::Everything,
        Self::Settings,
        Self::StorageVersions,
        Self::Objects,
        Self::Members,
        Self::Cards,
        Self::Named,
        Self::NamedObject,
    ];

    fn options(self, from: Revision) -> WatchOptions {
        let options = WatchOptions::new()
            .from(WatchFrom::Revision(from))
            .bookmark_interval(BOOKMARKS)
            .without_resync();
        let named = vec![NAMED.to_owned()];
        match self {
            Self::Everything => options,
            Self::Settings => options.kinds(vec![ObjectKind::Settings]),
            Self::StorageVersions => options.kinds(vec![ObjectKind::StorageVersion]),
            Self::Objects => options.kinds(vec![ObjectKind::Object]),
            Self::Members => options.kinds(vec![ObjectKind::Member]),
            Self::Cards => options.resources(vec![cards::resource()]),
            Self::Named => options.names(named),
            Self::NamedObject => options.kinds(vec![ObjectKind::Object]).names(named),
        }
    }

    fn has(self, event: &v1::Event) -> bool {
        let kind = event.kind();
        match self {
            Self::Everything => true,
            Self::Settings => kind == v1::ObjectKind::Settings,
            Self::StorageVersions => kind == v1::ObjectKind::StorageVersion,
            Self::Objects => kind == v1::ObjectKind::Object,
            Self::Members => kind == v1::ObjectKind::Member,
            Self::Cards => event.resource == Some((&cards::resource()).into()),
            Self::Named => event.name == NAMED,
            Self::NamedObject => kind == v1::ObjectKind::Object && event.name == NAMED,
        }
    }
}

impl Followers {
    /// Opens all watches, each from this revision on.
    pub(crate) async fn start(cluster: &Cluster, from: Revision) -> Self {
        let mut followers = Self {
            watches: Vec::new(),
            tasks: JoinSet::new(),
        };
        for number in 0..ALONE {
            let client = spread(cluster, number).await;
            followers.open(&client, from).await;
        }
        for number in 0..SHARING {
            let client = spread(cluster, number).await;
            for _ in 0..SHARED {
                followers.open(&client, from).await;
            }
        }
        followers
    }

    async fn open(&mut self, client: &Client, from: Revision) {
        let selected = Selected::ALL[self.watches.len() % Selected::ALL.len()];
        let opened = client.watch(selected.options(from)).await;
        let watch = opened.unwrap_or_else(|error| panic!("{selected:?}: {error}"));
        let record = Arc::default();
        let (sender, progress) = watch::channel(Progress::default());
        self.tasks.spawn(read(watch, Arc::clone(&record), sender));
        self.watches.push(Follower {
            selected,
            record,
            progress,
        });
    }

    /// Waits until every watch has delivered everything up to `revision`, and checks each of them against a watch of
    /// everything that is known to have no gap. Returns the number of watches and of events.
    pub(crate) async fn check(&self, revision: Revision, log: &WatchLog) -> (usize, usize) {
        let mut events = 0;
        for (number, follower) in self.watches.iter().enumerate() {
            let what = format!("watch {number}, of {:?}", follower.selected);
            let mut progress = follower.progress.clone();
            let waiting =
                progress.wait_for(|it| it.fault.is_some() || it.reached >= revision.get());
            let reached = within(&what, waiting).await.expect("a watch goes on");
            assert_eq!(reached.fault, None, "{what}");
            let record = follower.record.lock();
            let record = record.unwrap_or_else(PoisonError::into_inner);
            record
                .check(follower.selected, revision, log)
                .unwrap_or_else(|fault| panic!("{what}: {fault}"));
            events += record
                .0
                .iter()
                .map(|(_, events)| events.len())
                .sum::<usize>();
        }
        (self.watches.len(), events)
    }
}

impl Record {
    /// Checks that these are the events up to `revision` that were selected among all.
    fn check(&self, selected: Selected, revision: Revision, log: &WatchLog) -> Result<(), String> {
        let ours = self.0.iter().filter(|(at, _)| *at <= revision.get());
        let mut ours = ours.cloned();
        for group in log.groups() {
            let events = group.events.iter().filter(|event| selected.has(event));
            let events: Vec<String> = events.map(of_wire).collect();
            if events.is_empty() || group.revision > revision.get() {
                continue;
            }
            let expected = (group.revision, events);
            match ours.next() {
                Some(delivered) if delivered == expected => {}
                other => return Err(format!("{other:?} was delivered in place of {expected:?}")),
            }
        }
        match ours.next() {
            Some(more) => Err(format!("{more:?} was delivered, and nothing is there")),
            None => Ok(()),
        }
    }
}

/// A client of all replicas. Which of them it asks first depends on the number.
async fn spread(cluster: &Cluster, number: usize) -> Client {
    let mut endpoints = cluster.endpoints();
    let first = number % endpoints.len();
    endpoints.rotate_left(first);
    let client = cluster.builder(endpoints).connect().await;
    client.expect("endpoints are addresses")
}

async fn read(
    mut watch: synod_client::Watch,
    record: Arc<Mutex<Record>>,
    progress: watch::Sender<Progress>,
) {
    loop {
        let taken = match watch.next().await {
            Some(Ok(message)) => take(&record, &progress, message),
            Some(Err(error)) => Err(format!("it was refused: {error}")),
            None => Err("it has ended".to_owned()),
        };
        if let Err(fault) = taken {
            progress.send_modify(|progress| progress.fault = Some(fault));
            return;
        }
    }
}

fn take(
    record: &Mutex<Record>,
    progress: &watch::Sender<Progress>,
    message: WatchMessage,
) -> Result<(), String> {
    let before = progress.borrow().reached;
    let reached = match message {
        WatchMessage::Events(events) => {
            let revision = events.revision.get();
            if revision <= before {
                return Err(format!("{revision} was delivered after {before}"));
            }
            let events = events.events.iter().map(in_words).collect();
            let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
            record.0.push((revision, events));
            revision
        }
        WatchMessage::Bookmark(revision) if revision.get() < before => {
            return Err(format!("bookmark {revision} came after {before}"));
        }
        WatchMessage::Bookmark(revision) => revision.get(),
        WatchMessage::Resync(_) => return Err("it was listed anew".to_owned()),
    };
    progress.send_modify(|progress| progress.reached = reached);
    Ok(())
}

fn in_words(event: &Event) -> String {
    let kind = event.object.as_ref().map(WatchedObject::kind);
    let kind = kind.map(v1::ObjectKind::from);
    let resource = event.resource.as_ref().map(v1::GroupResource::from);
    let name = (event.namespace.as_str(), event.name.as_str());
    said(event.change.as_str(), kind, resource.as_ref(), name)
}

fn of_wire(event: &v1::Event) -> String {
    let change = event.r#type().as_str_name();
    let change = change.strip_prefix("EVENT_TYPE_").unwrap_or(change);
    let name = (event.namespace.as_str(), event.name.as_str());
    said(change, Some(event.kind()), event.resource.as_ref(), name)
}

fn said(
    change: &str,
    kind: Option<v1::ObjectKind>,
    resource: Option<&v1::GroupResource>,
    (namespace, name): (&str, &str),
) -> String {
    format!("{change} {kind:?} {resource:?} {namespace}/{name}")
}
