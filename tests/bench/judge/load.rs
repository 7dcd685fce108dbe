//! Closed loops: each client makes its next call when the last one is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, sleep};

use crate::session::{Answered, Key, Keys, Reading, Session, Swap, Version};

/// The length of every value.
pub(crate) const VALUE_BYTES: usize = 256;

/// How long clients run before they are measured.
const WARM_UP: Duration = Duration::from_secs(1);

/// How long a client waits after a call that failed, so that failures do not become the load.
const PAUSE: Duration = Duration::from_millis(10);

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const STOPPED: u8 = 2;

/// What a client came to with one step.
pub(crate) enum Step {
    Done,
    /// A compare-and-set that lost.
    Lost,
}

pub(crate) trait Client: Send + 'static {
    fn step(&mut self) -> impl Future<Output = Answered<Step>> + Send;
}

/// What all clients came to while they were measured.
#[derive(Default)]
pub(crate) struct Tally {
    /// The time of each call that succeeded, in microseconds.
    pub(crate) taken: Vec<u32>,
    pub(crate) lost: u64,
    pub(crate) failed: u64,
    pub(crate) first_failure: Option<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.taken.extend(other.taken);
        self.lost += other.lost;
        self.failed += other.failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }
}

/// Clients that run, until they are stopped.
pub(crate) struct Running {
    phase: Arc<AtomicU8>,
    tasks: Vec<tokio::task::JoinHandle<Tally>>,
}

impl Running {
    /// Starts the clients, and returns when they are warm.
    pub(crate) async fn start<C: Client>(clients: Vec<C>) -> Self {
        let phase = Arc::new(AtomicU8::new(WARMING));
        let tasks = clients
            .into_iter()
            .map(|client| tokio::spawn(run(client, Arc::clone(&phase))));
        let running = Self {
            tasks: tasks.collect(),
            phase,
        };
        sleep(WARM_UP).await;
        running
    }

    /// Counts what is done from now on.
    pub(crate) fn count(&self) {
        self.phase.store(MEASURING, Ordering::Relaxed);
    }

    /// Counts no more.
    pub(crate) fn stop(&self) {
        self.phase.store(STOPPED, Ordering::Relaxed);
    }

    /// Waits for the last answers.
    pub(crate) async fn tally(self) -> Tally {
        let mut tally = Tally::default();
        for task in self.tasks {
            tally.add(task.await.expect("a client does not panic"));
        }
        tally
    }
}

async fn run(mut client: impl Client, phase: Arc<AtomicU8>) -> Tally {
    let mut tally = Tally::default();
    while phase.load(Ordering::Relaxed) != STOPPED {
        let begin = Instant::now();
        let answered = client.step().await;
        let counts = phase.load(Ordering::Relaxed) == MEASURING;
        match answered {
            Ok(Step::Done) if counts => tally.taken.push(micros(begin.elapsed())),
            Ok(Step::Lost) if counts => tally.lost += 1,
            Ok(_) => {}
            Err(error) => {
                tally.failed += u64::from(counts);
                tally.first_failure.get_or_insert_with(|| error.to_string());
                sleep(PAUSE).await;
            }
        }
    }
    tally
}

/// Microseconds; of a longer time than an hour, an hour's.
pub(crate) fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

/// Writes random keys, or each key of a range once.
pub(crate) struct Put<S> {
    pub(crate) session: S,
    pub(crate) keys: u64,
    pub(crate) random: StdRng,
}

impl<S: Session> Client for Put<S> {
    async fn step(&mut self) -> Answered<Step> {
        let key = Keys::Plain.key(self.random.random_range(..self.keys));
        self.session
            .put(key, value(&mut self.random, VALUE_BYTES))
            .await?;
        Ok(Step::Done)
    }
}

/// Reads random keys, which are there.
pub(crate) struct Get<S> {
    pub(crate) session: S,
    pub(crate) keys: u64,
    pub(crate) reading: Reading,
    pub(crate) random: StdRng,
}

impl<S: Session> Client for Get<S> {
    async fn step(&mut self) -> Answered<Step> {
        let key = Keys::Plain.key(self.random.random_range(..self.keys));
        self.session.get(key, self.reading).await?;
        Ok(Step::Done)
    }
}

/// Writes one key if it is as this client has last seen it.
pub(crate) struct Swapper<S> {
    pub(crate) session: S,
    pub(crate) key: Key,
    pub(crate) version: Version,
    pub(crate) random: StdRng,
}

impl<S: Session> Client for Swapper<S> {
    async fn step(&mut self) -> Answered<Step> {
        let value = value(&mut self.random, VALUE_BYTES);
        let (version, step) = match self.session.swap(self.key, self.version, value).await? {
            Swap::Done(version) => (version, Step::Done),
            Swap::Lost(version) => (version, Step::Lost),
        };
        self.version = version;
        Ok(step)
    }
}

/// Takes leases.
pub(crate) struct Granted<S>(pub(crate) S);

impl<S: Session> Client for Granted<S> {
    async fn step(&mut self) -> Answered<Step> {
        self.0.grant().await?;
        Ok(Step::Done)
    }
}

/// Renews its lease.
pub(crate) struct Renewed<S: Session> {
    pub(crate) session: S,
    pub(crate) lease: S::Lease,
}

impl<S: Session<Lease: Sync>> Client for Renewed<S> {
    async fn step(&mut self) -> Answered<Step> {
        self.session.renew(&self.lease).await?;
        Ok(Step::Done)
    }
}

/// Writes each of these keys once.
///
/// # Errors
///
/// A write failed.
pub(crate) async fn fill<S: Session>(
    sessions: Vec<S>,
    keys: Keys,
    numbers: std::ops::Range<u64>,
    bytes: usize,
) -> Answered<()> {
    let next = Arc::new(AtomicU64::new(numbers.start));
    let mut tasks = tokio::task::JoinSet::new();
    for mut session in sessions {
        let (next, mut random) = (Arc::clone(&next), random());
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Answered::Ok(());
                }
                session
                    .put(keys.key(number), value(&mut random, bytes))
                    .await?;
            }
        });
    }
    while let Some(filled) = tasks.join_next().await {
        filled??;
    }
    Ok(())
}

/// Numbers that no client of this run has had before: Synod takes a write of what is there already for none.
pub(crate) fn random() -> StdRng {
    static CLIENTS: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(CLIENTS.fetch_add(1, Ordering::Relaxed))
}

/// A value of so many bytes, at least 8, unlike those before.
fn value(random: &mut StdRng, bytes: usize) -> Bytes {
    let mut value = BytesMut::zeroed(bytes);
    (&mut value[..8]).put_u64(random.random());
    value.freeze()
}
