//! The axes.

use std::sync::Arc;

use synod_client::{
    Attributes, Client, MemberEpoch, MemberId, ObjectKind, Preconditions, ReportEntry,
    StatementNumber, TtlChange, UpdateObject, WatchMessage, WatchOptions,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::axis::{Axis, Point};
use crate::entry::entry;
use crate::load::measure;
use crate::replicas::{Replicas, long_lived};
use crate::usage::Meter;
use crate::waiting::within;
use crate::{BYTES, SPAN, stored};

pub(crate) const OBJECTS: &str = "objects stored";
pub(crate) const SIZES: &str = "bytes of an object";
pub(crate) const MEMBERS: &str = "members";
pub(crate) const RESOURCES: &str = "resources reported";
pub(crate) const WATCHES: &str = "watches";
pub(crate) const REPLICAS: &str = "replicas";

/// Objects that are written where their number does not matter.
const FEW: usize = 1_000;

/// Writes one object over what there is.
async fn update(client: Client, at: usize, number: u64, bytes: usize) {
    let update = UpdateObject {
        key: stored::key(at),
        attributes: Attributes::default(),
        content: stored::content(number, bytes),
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Default::default(),
    };
    let updated = client.raw_objects().update(update).await;
    updated.expect("an object can be updated");
}

/// A place among so many that follows from who asks for the how-manieth time: all places come up, none twice in a row.
fn place(caller: usize, turn: u64, count: usize) -> usize {
    let mixed = (turn + caller as u64 * 1_000_003).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    usize::try_from(mixed).expect("it has 32 bits") % count
}

/// Updates of small objects, with a thousand to so many of them stored.
pub(crate) async fn objects(most: usize) -> Axis {
    let replicas = Replicas::start().await;
    stored::declare(&replicas.client().await).await;
    let mut axis = Axis::new(OBJECTS, "update of one, 256 bytes");
    let (mut stored, mut wanted) = (0, FEW.min(most));
    loop {
        stored::store_all(&replicas, stored..wanted).await;
        stored = wanted;
        let point = measure(&replicas, stored, move |(client, caller, turn)| {
            update(client, place(caller, turn, stored), turn + 1, BYTES)
        });
        axis.push(point.await);
        if stored == most {
            return axis;
        }
        wanted = (stored * 10).min(most);
    }
}

/// Updates of objects of 64 bytes to a megabyte.
pub(crate) async fn sizes() -> Axis {
    let replicas = Replicas::start().await;
    stored::declare(&replicas.client().await).await;
    stored::store_all(&replicas, 0..64).await;
    let mut axis = Axis::new(SIZES, "update of one of 64");
    for bytes in [64, 1 << 10, 16 << 10, 256 << 10, 1 << 20] {
        let point = measure(&replicas, bytes, move |(client, caller, turn)| {
            update(client, caller, turn, bytes)
        });
        axis.push(point.await);
    }
    axis
}

/// Renewals, with ten to ten thousand members.
pub(crate) async fn members() -> Axis {
    let replicas = Replicas::start().await;
    let client = replicas.client().await;
    let mut axis = Axis::new(MEMBERS, "renewal of one");
    let mut joined = Vec::new();
    for count in [10, 100, 1_000, 10_000] {
        let first = joined.len();
        joined.extend(join(&client, first, count).await);
        let members = Arc::new(joined.clone());
        let point = measure(&replicas, count, move |(client, caller, turn)| {
            let member = members[place(caller, turn, count)].clone();
            async move {
                let renewed = client.send_renew(&member).await;
                renewed.expect("a member can renew");
            }
        });
        axis.push(point.await);
    }
    axis
}

/// Joins members from this number up to that one, some at a time.
async fn join(client: &Client, from: usize, to: usize) -> Vec<MemberEpoch> {
    let (places, mut joins) = (Arc::new(Semaphore::new(64)), JoinSet::new());
    for number in from..to {
        let (client, places) = (client.clone(), Arc::clone(&places));
        joins.spawn(async move {
            let _place = places.acquire().await.expect("it is never closed");
            let name = format!("member-{number}");
            let joined = client.send_join(long_lived(&name)).await;
            let epoch = joined.expect("a member can join").epoch;
            MemberEpoch {
                member: MemberId::parse(&name).expect("it is a name"),
                epoch,
                cluster: None,
            }
        });
    }
    joins.join_all().await
}

/// Reports of one resource, by a member that has reported ten to ten thousand.
pub(crate) async fn resources() -> Axis {
    let replicas = Replicas::start().await;
    let client = replicas.client().await;
    let members = Arc::new(join(&client, 0, 65).await);
    let mut axis = Axis::new(RESOURCES, "report of one by each of 64 members, beside");
    let mut number = StatementNumber::FIRST;
    let mut turns = 0;
    let mut reported = 0;
    for count in [10, 100, 1_000, 10_000] {
        for from in (reported..count).step_by(1_000) {
            let entries = (from..(from + 1_000).min(count)).map(|at| resource(at, true));
            let sent = client.send_report(&members[64], number, entries.collect(), false);
            sent.await.expect("it is reported");
            number = number.next().expect("reports are few");
        }
        reported = count;
        let (members, first) = (Arc::clone(&members), turns);
        let point = measure(&replicas, count, move |(client, caller, turn)| {
            let member = members[caller].clone();
            async move {
                let turn = first + turn;
                let number = StatementNumber::new(turn + 1).expect("turns begin with 0");
                let entries = vec![resource(place(caller, turn, count), turn % 2 == 0)];
                let sent = client.send_report(&member, number, entries, true);
                sent.await.expect("it is reported");
            }
        });
        axis.push(point.await);
        // More than any caller has had turns: numbers only grow.
        turns += 1 << 32;
    }
    axis
}

fn resource(at: usize, both: bool) -> ReportEntry {
    entry(&format!("scale{at}s"), both)
}

/// Events, which ten to ten thousand watches want: each counts for each watch.
pub(crate) async fn watches() -> Axis {
    let replicas = Replicas::start().await;
    let writer = replicas.client().await;
    stored::declare(&writer).await;
    stored::store_all(&replicas, 0..FEW).await;
    let mut axis = Axis::new(WATCHES, "delivery of one event to one watch");
    for count in [10, 100, 1_000, 10_000] {
        let mut readers = Readers::start(&replicas, count).await;
        let (meter, begin) = (Meter::start(replicas.processes()), Instant::now());
        let mut writes = 0;
        while begin.elapsed() < SPAN {
            writes += 1;
            update(writer.clone(), 0, writes, BYTES).await;
            readers.have_seen(writes).await;
        }
        let events = writes * count as u64;
        axis.push(Point::of(count, events, &meter.read(), &replicas));
    }
    axis
}

/// Watches over a few connections, which count what they see.
struct Readers {
    seen: Vec<tokio::sync::watch::Receiver<u64>>,
    _tasks: JoinSet<()>,
}

impl Readers {
    async fn start(replicas: &Replicas, count: usize) -> Self {
        let mut clients = Vec::new();
        for _ in 0..8 {
            clients.push(replicas.client().await);
        }
        let (mut seen, mut tasks) = (Vec::new(), JoinSet::new());
        for number in 0..count {
            let options = WatchOptions::new().kinds(vec![ObjectKind::Object]);
            let watch = clients[number % clients.len()].watch(options).await;
            let mut watch = watch.expect("a watch can be opened");
            let (saw, sees) = tokio::sync::watch::channel(0);
            seen.push(sees);
            tasks.spawn(async move {
                while let Some(message) = watch.next().await {
                    if let WatchMessage::Events(events) = message.expect("the watch works") {
                        saw.send_modify(|seen| *seen += events.events.len() as u64);
                    }
                }
            });
        }
        Self {
            seen,
            _tasks: tasks,
        }
    }

    /// Waits until every watch has seen so many events.
    async fn have_seen(&mut self, events: u64) {
        for seen in &mut self.seen {
            let reached = seen.wait_for(|seen| *seen >= events);
            let reached = within("an event at every watch", reached).await;
            reached.expect("the watches go on");
        }
    }
}

/// Updates of small objects, with one, three and five replicas.
pub(crate) async fn replicas() -> Axis {
    let mut axis = Axis::new(REPLICAS, "update of one, 256 bytes");
    for count in [1, 3, 5] {
        let replicas = Replicas::start_of(count).await;
        stored::declare(&replicas.client().await).await;
        stored::store_all(&replicas, 0..FEW).await;
        let point = measure(&replicas, count, move |(client, caller, turn)| {
            update(client, place(caller, turn, FEW), turn + 1, BYTES)
        });
        axis.push(point.await);
    }
    axis
}
