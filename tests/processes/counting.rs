//! Many clients increment one object while its leaders are killed: every increment is counted once.

use std::sync::Arc;
use std::time::Duration;

use synod_client::{
    ApiVersion, Attributes, Client, Codec, CodecError, CollectionRules, Content, CreateCollection,
    Current, Error, ErrorKind, Kind, MediaType, NewObject, ObjectKey, Objects, Outcome,
    OutcomeAnswer, Preconditions, ReadOptions, RequestKey, StoredObject, TtlChange, UpdateObject,
    Verdict,
};
use synod_client::{GroupResource, Namespace, NamespacedName, ObjectName};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::waiting::{LIMIT, span, within};

const CLIENTS: usize = 64;

/// The request timeout of a client: short, so that some outcomes are unknown.
const PATIENCE: Duration = Duration::from_secs(2);

/// The least number of leaders to kill.
const LEADERS: usize = 2;

/// The number of increments to acknowledge before a leader is killed, and again before it is restarted.
const BETWEEN: usize = 20;

const LEGAL: &str = "it is legal";

/// A codec of a number as JSON.
#[derive(Clone, Debug)]
struct Number;

impl Codec<u64> for Number {
    fn preferred(&self) -> ApiVersion {
        ApiVersion::parse("example.io/v1").expect(LEGAL)
    }

    fn encode(&self, _: &ObjectKey, value: &u64, of: &ApiVersion) -> Result<Content, CodecError> {
        Ok(Content {
            encoding: of.clone(),
            media_type: MediaType::JSON,
            data: value.to_string().into(),
        })
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<u64, CodecError> {
        Ok(std::str::from_utf8(&content.data)?.parse()?)
    }
}

fn resource() -> GroupResource {
    GroupResource::parse_qualified("counters.example.io").expect(LEGAL)
}

fn counter() -> NamespacedName {
    let namespace = Namespace::parse("a").expect(LEGAL);
    NamespacedName::new(Some(&namespace), &ObjectName::parse("one").expect(LEGAL))
}

fn key() -> ObjectKey {
    ObjectKey {
        resource: resource(),
        name: counter(),
    }
}

fn counters(client: &Client) -> Objects<u64> {
    client.objects(resource(), Number)
}

/// The way in which a client increments.
#[derive(Clone, Copy, Debug)]
enum How {
    /// By compare and set. After a conflict it takes the present value from the refusal.
    Compare,
    /// By the client's update loop, which retries until it succeeds.
    Guaranteed,
}

/// The results of a client's increments.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: u64,
    /// The requests of unknown outcome, each with the client whose session remembers it.
    unknown: Vec<(Client, RequestKey)>,
}

/// One of the clients.
struct Counting {
    endpoints: Vec<String>,
    how: How,
    stop: watch::Receiver<bool>,
    acknowledged: Arc<watch::Sender<usize>>,
}

impl Counting {
    async fn run(self) -> Tally {
        let mut tally = Tally::default();
        let mut client = self.connect().await;
        while !*self.stop.borrow() {
            let incremented = match self.how {
                How::Compare => compare(&client).await,
                How::Guaranteed => guaranteed(&client).await,
            };
            match incremented {
                Ok(true) => {
                    tally.acknowledged += 1;
                    self.acknowledged.send_modify(|count| *count += 1);
                }
                Ok(false) => {}
                // Without a request key, no change was sent.
                Err(error) if error.execution() == Verdict::Unknown => {
                    if let Some(key) = error.request_key() {
                        tally.unknown.push((client, key.clone()));
                        // The next increments use another session, so that this one keeps its outcomes.
                        client = self.connect().await;
                    }
                }
                Err(error) => assert!(error.retryable(), "{:?}: {error}", self.how),
            }
        }
        tally
    }

    async fn connect(&self) -> Client {
        let builder = Client::builder().endpoints(self.endpoints.clone());
        let client = builder.request_timeout(PATIENCE).connect().await;
        client.expect("endpoints are addresses")
    }
}

/// Reads, and compares and sets until it succeeds. False: it has lost too many times.
async fn compare(client: &Client) -> Result<bool, Error> {
    let objects = client.raw_objects();
    let mut present = objects.get(&key(), ReadOptions::default()).await?.object;
    for _ in 0..CLIENTS {
        match objects.update(next(&present)).await {
            Ok(written) => return Ok(written.result.changed),
            Err(error) => match error.current() {
                Some(Current::Object(current)) => present = (**current).clone(),
                // The refusal of a retry does not carry the present object.
                _ if error.kind() == ErrorKind::Conflict => {
                    present = objects.get(&key(), ReadOptions::default()).await?.object;
                }
                _ => return Err(error),
            },
        }
    }
    Ok(false)
}

fn next(present: &StoredObject) -> UpdateObject {
    let number = Number.decode(&present.key, &present.content);
    let number = number.expect("a counter holds a number") + 1;
    let content = Number.encode(&present.key, &number, &present.content.encoding);
    UpdateObject {
        key: present.key.clone(),
        attributes: Attributes::default(),
        content: content.expect("a number can be written"),
        ttl: TtlChange::Keep,
        preconditions: Preconditions {
            uid: Some(present.metadata.uid),
            resource_version: Some(present.metadata.resource_version),
        },
        fences: Default::default(),
    }
}

async fn guaranteed(client: &Client) -> Result<bool, Error> {
    let (objects, counter) = (counters(client), counter());
    let updated = objects.guaranteed_update(&counter, None, |draft| {
        draft.value += 1;
        Ok::<_, Error>(())
    });
    match updated.await {
        Ok(updated) => Ok(updated.changed),
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an increment of unknown outcome was executed.
async fn was_made((client, key): &(Client, RequestKey)) -> bool {
    let client = client.with_timeout(LIMIT);
    match client.outcome(key).await.expect("the session is kept") {
        Outcome::NotExecuted { .. } => false,
        Outcome::Executed { answer, .. } => match answer {
            OutcomeAnswer::Object(result) => result.changed,
            OutcomeAnswer::Refused(_) => false,
            other => panic!("an update is not answered so: {other:?}"),
        },
    }
}

/// Waits until this many more increments are acknowledged.
async fn acknowledge(count: &mut watch::Receiver<usize>, more: usize) {
    let wanted = *count.borrow_and_update() + more;
    let waiting = timeout(LIMIT, count.wait_for(|count| *count >= wanted));
    let waited = waiting.await.expect("increments go on");
    waited.expect("clients increment until they are stopped");
}

async fn declare(client: &Client) {
    let create = CreateCollection {
        resource: resource(),
        kind: Kind::parse("Counter").expect(LEGAL),
        namespaced: true,
        rules: CollectionRules::default(),
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
    let created = counters(client).create(NewObject::new(counter(), 0)).await;
    created.expect("an object can be stored");
}

// Guarantee: O-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_increment_is_counted_once_while_leaders_are_killed() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await.with_timeout(LIMIT);
    declare(&client).await;
    let (stop, stopped) = watch::channel(false);
    let (sender, mut count) = watch::channel(0);
    let sender = Arc::new(sender);
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let counting = Counting {
            endpoints: cluster.endpoints(),
            how: [How::Compare, How::Guaranteed][number % 2],
            stop: stopped.clone(),
            acknowledged: Arc::clone(&sender),
        };
        clients.spawn(counting.run());
    }
    let (end, mut killed) = (Instant::now() + span(), 0);
    while killed < LEADERS || Instant::now() < end {
        acknowledge(&mut count, BETWEEN).await;
        let leader = cluster.leader().await;
        cluster.kill(leader).await;
        acknowledge(&mut count, BETWEEN).await;
        cluster.restart(leader).await;
        killed += 1;
    }
    stop.send_replace(true);
    let mut acknowledged = 0;
    let mut unknown = Vec::new();
    while let Some(tally) = within("a client to stop", clients.join_next()).await {
        let tally = tally.expect("no client panics");
        acknowledged += tally.acknowledged;
        unknown.extend(tally.unknown);
    }
    // After this, no request is in flight, and the outcome of every request is still remembered.
    cluster.kill_all().await;
    IDS.into_iter().for_each(|id| cluster.launch(id));
    for id in IDS {
        cluster.serving(id).await;
    }
    let mut made = 0;
    for increment in &unknown {
        made += u64::from(was_made(increment).await);
    }
    let stored = counters(&client)
        .get(&counter(), ReadOptions::default())
        .await;
    let stored = stored.expect("the cluster serves");
    println!(
        "{acknowledged} increments were acknowledged, {made} of {} unknown ones were made, {killed} leaders were killed",
        unknown.len()
    );
    assert_eq!(stored.value, acknowledged + made);
    // The object's generation counts the changes as well.
    assert_eq!(stored.object.metadata.generation, acknowledged + made + 1);
    agree(&cluster).await;
    cluster.finish().await;
}
