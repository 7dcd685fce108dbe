//! The calls that every language makes, and how Rust makes them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use synod_client::{
    ApiVersion, Attributes, Client, CollectionRules, Content, CreateCollection, GroupResource,
    Kind, MediaType, ObjectKey, ObjectName, Preconditions, RawObjects, ReadOptions, TtlChange,
    UpdateObject,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::{CALLERS, ROUND};

const LEGAL: &str = "every name is legal";

/// Bytes of data of each object.
const BYTES: usize = 256;

/// The kind of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    /// A linearizable read of the caller's object.
    Get,
    /// A change of the caller's object, a revision on two disks.
    Update,
}

/// One kind of call, repeated by this many callers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) call: Call,
    pub(crate) callers: usize,
}

impl Call {
    /// The name by which the programs of the other languages know it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Update => "update",
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.callers == 1 { "" } else { "s" };
        write!(f, "{}, {} caller{plural}", self.call.name(), self.callers)
    }
}

/// Declares the collection, and stores an object for each caller.
pub(crate) async fn store_objects(client: &Client) {
    let rules = CollectionRules {
        unconditional_update: true,
        create_on_update: true,
        ..CollectionRules::default()
    };
    let create = CreateCollection {
        resource: resource(),
        kind: Kind::parse("Widget").expect(LEGAL),
        namespaced: false,
        rules,
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
    let most = CALLERS.into_iter().max().unwrap_or(0);
    for caller in 0..most {
        // No caller makes a call with this number.
        let stored = update(caller, u64::MAX);
        let stored = client.raw_objects().update(stored).await;
        stored.expect("an object can be stored");
    }
}

/// The number of calls per second that Rust makes.
pub(crate) async fn rate(client: Client, load: Load) -> f64 {
    let numbers = Arc::new(AtomicU64::new(0));
    closed_loop(&client, load, ROUND / 2, &numbers).await;
    closed_loop(&client, load, ROUND, &numbers).await
}

async fn closed_loop(client: &Client, load: Load, span: Duration, numbers: &Arc<AtomicU64>) -> f64 {
    let first = numbers.load(Ordering::Relaxed);
    let begin = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..load.callers {
        let (objects, numbers) = (client.raw_objects(), Arc::clone(numbers));
        callers.spawn(async move {
            while begin.elapsed() < span {
                let number = numbers.fetch_add(1, Ordering::Relaxed);
                make(&objects, load.call, caller, number).await;
            }
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended.expect("every call succeeds");
    }
    let calls = numbers.load(Ordering::Relaxed) - first;
    f64::from(u32::try_from(calls).expect("rounds are short")) / begin.elapsed().as_secs_f64()
}

async fn make(objects: &RawObjects, call: Call, caller: usize, number: u64) {
    match call {
        Call::Get => {
            let read = objects.get(&key(caller), ReadOptions::linearizable()).await;
            read.expect("an object can be read");
        }
        Call::Update => {
            let written = objects.update(update(caller, number)).await;
            let written = written.expect("an object can be written");
            assert!(written.result.changed, "the update changed nothing");
        }
    }
}

fn resource() -> GroupResource {
    GroupResource::parse_qualified("widgets.example.io").expect(LEGAL)
}

fn key(caller: usize) -> ObjectKey {
    let name = ObjectName::parse(&format!("widget-{caller}")).expect(LEGAL);
    ObjectKey::new(resource(), None, &name)
}

/// An update that differs from all others of this process, so that each changes something.
fn update(caller: usize, number: u64) -> UpdateObject {
    let digits = BYTES - 2;
    UpdateObject {
        key: key(caller),
        attributes: Attributes::default(),
        content: Content {
            encoding: ApiVersion::parse("example.io/v1").expect(LEGAL),
            media_type: MediaType::JSON,
            data: Bytes::from(format!("\"{number:0digits$}\"")),
        },
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Default::default(),
    }
}
