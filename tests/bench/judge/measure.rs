//! Measures one case of one service once.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::audience::Audience;
use crate::cases::{At, CONNECTIONS, Case, Work};
use crate::load::{
    Client, Get, Granted, Put, Renewed, Running, Swapper, VALUE_BYTES, fill, random,
};
use crate::rows::Quantity;
use crate::sample::{private_kib, resident_kib};
use crate::services::Servers;
use crate::session::{Answered, Keys, Reading, Session};
use crate::usage::{Meter, Usage, syncs};

/// The numbers of keys that random writes and reads choose from.
const WRITTEN_KEYS: u64 = 10_000;
const READ_KEYS: u64 = 1_000;

/// Where the keys begin that are written for nothing but to be there.
const FILLED_FROM: u64 = 1_000_000;

/// The clients that write keys before they are read.
const FILLING: usize = 64;

/// How long servers are watched that nobody asks for anything: processor time is counted in hundredths of a second.
const IDLE_SPAN: Duration = Duration::from_secs(10);

/// How long the last of all watches may take for an event, and the servers for what they do after a fill.
const DELIVERY_MAX: Duration = Duration::from_secs(20);
const SETTLING: Duration = Duration::from_secs(2);

/// What one measurement came to.
pub(crate) struct Measured {
    pub(crate) quantities: Vec<(Quantity, f64)>,
    pub(crate) conflicts: u64,
    pub(crate) failures: u64,
    pub(crate) failure: Option<String>,
    pub(crate) others: f64,
}

/// The servers under measurement, and for how long they are measured.
pub(crate) struct Bench<'a> {
    pub(crate) servers: &'a Servers,
    pub(crate) span: Duration,
}

impl Bench<'_> {
    pub(crate) async fn measure<S: Session<Lease: Sync>>(&self, case: &Case) -> Answered<Measured> {
        match case.work {
            Work::Idle => Ok(self.idle().await),
            Work::Filled(keys) => {
                let sessions = self.sessions::<S>(case).await?;
                fill(
                    sessions,
                    Keys::Plain,
                    FILLED_FROM..FILLED_FROM + keys,
                    VALUE_BYTES,
                )
                .await?;
                Ok(self.memory().await)
            }
            Work::Put => self.load(self.puts::<S>(case).await?).await,
            Work::Get(reading) => self.load(self.gets::<S>(case, reading).await?).await,
            Work::Swap { one_key } => self.load(self.swaps::<S>(case, one_key).await?).await,
            Work::Grant => {
                let sessions = self.sessions::<S>(case).await?;
                self.load(sessions.into_iter().map(Granted).collect()).await
            }
            Work::Renew => self.load(self.renewals::<S>(case).await?).await,
            Work::Watch(watches) => self.watch::<S>(case, watches).await,
        }
    }

    /// The clients of a case, on connections that they share.
    async fn sessions<S: Session>(&self, case: &Case) -> Answered<Vec<S>> {
        let places = match case.at {
            At::Leader => vec![self.servers.leader().await],
            At::All => self.servers.places(),
        };
        let mut sessions: Vec<S> = Vec::new();
        for at in 0..case.clients {
            sessions.push(match at.checked_sub(CONNECTIONS) {
                Some(before) => sessions[before].beside(),
                None => S::open(&places[at % places.len()]).await?,
            });
        }
        Ok(sessions)
    }

    async fn puts<S: Session>(&self, case: &Case) -> Answered<Vec<Put<S>>> {
        let sessions = self.sessions::<S>(case).await?.into_iter();
        let clients = sessions.map(|session| Put {
            session,
            keys: WRITTEN_KEYS,
            random: random(),
        });
        Ok(clients.collect())
    }

    async fn gets<S: Session>(&self, case: &Case, reading: Reading) -> Answered<Vec<Get<S>>> {
        let sessions = self.sessions::<S>(case).await?;
        let writers = sessions.iter().cycle().take(FILLING).map(S::beside);
        fill(writers.collect(), Keys::Plain, 0..READ_KEYS, VALUE_BYTES).await?;
        let clients = sessions.into_iter().map(|session| Get {
            session,
            keys: READ_KEYS,
            reading,
            random: random(),
        });
        Ok(clients.collect())
    }

    async fn swaps<S: Session>(&self, case: &Case, one_key: bool) -> Answered<Vec<Swapper<S>>> {
        let sessions = self.sessions::<S>(case).await?;
        let keys = if one_key { 1 } else { case.clients };
        let keys = u64::try_from(keys)?;
        let writers = sessions.iter().take(FILLING).map(S::beside);
        fill(writers.collect(), Keys::Swapped, 0..keys, VALUE_BYTES).await?;
        let mut clients = Vec::new();
        for (mut session, number) in sessions.into_iter().zip((0..keys).cycle()) {
            let key = Keys::Swapped.key(number);
            clients.push(Swapper {
                version: session.get(key, Reading::Linearizable).await?,
                session,
                key,
                random: random(),
            });
        }
        Ok(clients)
    }

    async fn renewals<S: Session>(&self, case: &Case) -> Answered<Vec<Renewed<S>>> {
        let mut clients = Vec::new();
        for mut session in self.sessions::<S>(case).await? {
            let lease = session.grant().await?;
            clients.push(Renewed { session, lease });
        }
        Ok(clients)
    }

    async fn load(&self, clients: Vec<impl Client>) -> Answered<Measured> {
        let metrics = self.servers.metrics();
        let running = Running::start(clients).await;
        let syncs_before = syncs(&metrics).await;
        let meter = Meter::start(self.servers.processes());
        running.count();
        sleep(self.span).await;
        running.stop();
        let usage = meter.read();
        let syncs = syncs(&metrics).await.zip(syncs_before);
        let tally = running.tally().await;
        if tally.taken.is_empty() {
            return Err(tally
                .first_failure
                .unwrap_or_else(|| "no call ended".to_owned())
                .into());
        }
        let syncs = syncs.map(|(after, before)| after - before);
        Ok(Measured {
            quantities: quantities(tally.taken, tally.lost, &usage, syncs),
            conflicts: tally.lost,
            failures: tally.failed,
            failure: tally.first_failure,
            others: usage.others,
        })
    }

    /// One writer, which writes again when all watches have seen the last value.
    async fn watch<S: Session>(&self, case: &Case, watches: u64) -> Answered<Measured> {
        let audience = Arc::new(Audience::new());
        let mut sessions = self.sessions::<S>(case).await?;
        // On a connection of its own, so that no event is before its answers.
        let mut writer = S::open(&self.servers.leader().await).await?;
        let streams = u64::try_from(sessions.len())?;
        let mut tasks: Vec<JoinSet<()>> = Vec::new();
        for session in &mut sessions {
            tasks.push(
                session
                    .watch(watches / streams, Arc::clone(&audience))
                    .await?,
            );
        }
        let meter = Meter::start(self.servers.processes());
        let begin = Instant::now();
        let mut writes = 0;
        while begin.elapsed() < self.span {
            let key = Keys::Watched.key(writes % 100);
            writer.put(key, audience.value()).await?;
            writes += 1;
            let seen = timeout(DELIVERY_MAX, audience.have_seen(writes * watches)).await;
            seen.map_err(|_| {
                let seen = audience.seen();
                format!("{writes} writes to {watches} watches were seen {seen} times")
            })?;
        }
        let usage = meter.read();
        Ok(Measured {
            quantities: quantities(audience.taken(), 0, &usage, None),
            conflicts: 0,
            failures: 0,
            failure: None,
            others: usage.others,
        })
    }

    /// What each server takes while nobody asks it for anything.
    async fn idle(&self) -> Measured {
        let mut measured = self.memory().await;
        let meter = Meter::start(self.servers.processes());
        sleep(IDLE_SPAN).await;
        let usage = meter.read();
        let percent = usage.cpu_micros / (usage.seconds * 1e6) * 100.0;
        let each = percent / self.servers_count();
        measured.quantities.push((Quantity::Idle, each));
        measured.others = usage.others;
        measured
    }

    /// The memory of each server, which is not less for what others do.
    async fn memory(&self) -> Measured {
        sleep(SETTLING).await;
        let servers = self.servers_count();
        let each = |kib: fn(u32) -> f64| {
            let processes = self.servers.processes().into_iter();
            processes.map(kib).sum::<f64>() / 1024.0 / servers
        };
        Measured {
            quantities: vec![
                (Quantity::Memory, each(resident_kib)),
                (Quantity::Private, each(private_kib)),
            ],
            conflicts: 0,
            failures: 0,
            failure: None,
            others: 0.0,
        }
    }

    fn servers_count(&self) -> f64 {
        let count = self.servers.processes().len();
        f64::from(u8::try_from(count).expect("there are three"))
    }
}

/// What follows from the times of all calls, in microseconds, of which the lost ones cost the servers as much.
fn quantities(
    mut taken: Vec<u32>,
    lost: u64,
    usage: &Usage,
    syncs: Option<f64>,
) -> Vec<(Quantity, f64)> {
    taken.sort_unstable();
    let count = |count: usize| f64::from(u32::try_from(count).expect("a case is short"));
    let calls = count(taken.len()) + count(usize::try_from(lost).expect("a case is short"));
    let millis = |percent: usize| {
        let at = (taken.len() * percent / 100).min(taken.len().saturating_sub(1));
        f64::from(taken.get(at).copied().unwrap_or_default()) / 1_000.0
    };
    let mut quantities = vec![
        (Quantity::PerSecond, count(taken.len()) / usage.seconds),
        (Quantity::Middle, millis(50)),
        (Quantity::Late, millis(99)),
        (Quantity::Cpu, usage.cpu_micros / calls),
    ];
    let written = usage
        .written_bytes
        .map(|bytes| (Quantity::Written, bytes / calls));
    quantities.extend(written);
    quantities.extend(syncs.map(|syncs| (Quantity::Syncs, syncs / calls)));
    quantities
}
