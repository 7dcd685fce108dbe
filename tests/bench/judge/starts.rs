//! What servers that hold many keys take in memory, and how long they take to start: one after it was killed, and all of
//! them after all were.
//!
//! A server has started when it answers a linearizable read. Services whose servers keep everything on disks take turns,
//! each round afresh.

use std::time::Duration;

use futures::future::{select_ok, try_join_all};
use tokio::time::{Instant, sleep, timeout};

use crate::load::fill;
use crate::options::Options;
use crate::sample::{Sample, resident_kib};
use crate::services::{Protocol, SERVICES, Servers, Service};
use crate::session::{Answered, Keys, Place, Reading, Session};
use crate::{pipeline, to_etcd, unary};

/// The length of every value.
const VALUE_BYTES: usize = 64;

/// The connections to the leader over which keys are written, and the clients on each.
const CONNECTIONS: usize = 8;
const CLIENTS: usize = 64;

/// How long an answer of a server that starts is waited for, and the pause until it is asked again.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// A server that takes longer has failed.
const START_MAX: Duration = Duration::from_secs(300);

const FIGURES: [&str; 4] = [
    "memory, MiB",
    "start of one, s",
    "start of all, s",
    "memory after it, MiB",
];

/// One of each of [`FIGURES`].
type Figures = [f64; FIGURES.len()];

/// Measures the services that are wanted, and prints medians and their ratios to the first one.
pub(crate) async fn measure(options: &Options, keys: u64) {
    let is_wanted = |service: &&Service| {
        let usual = !service.is_secured && service.protocol != Protocol::Pipeline;
        options.has_service(service.name, usual)
            && matches!(service.protocol, Protocol::Unary | Protocol::Etcd)
            && service.version().is_ok()
    };
    let services: Vec<&Service> = SERVICES.iter().filter(is_wanted).collect();
    let mut samples = vec![FIGURES.map(|_| Sample::default()); services.len()];
    for round in 0..options.rounds {
        for (service, samples) in services.iter().zip(&mut samples) {
            let figures = match service.protocol {
                // Written by a pipeline, which is faster and leaves the same.
                Protocol::Unary => figures::<pipeline::Pipeline, unary::Unary>(service, keys).await,
                _ => figures::<to_etcd::Etcd, to_etcd::Etcd>(service, keys).await,
            };
            let figures = figures.expect("the servers can be filled and started");
            eprintln!("round {round} {:<11}{figures:.2?}", service.name);
            for (sample, figure) in samples.iter_mut().zip(figures) {
                sample.push(figure);
            }
        }
    }
    println!(
        "\n{keys} keys with values of {VALUE_BYTES} bytes; medians, and their ratios to the first service"
    );
    for (at, figure) in FIGURES.iter().enumerate() {
        println!("\n{figure}");
        for (service, sample) in services.iter().zip(&samples) {
            let ratio = sample[at].median() / samples[0][at].median();
            println!(
                "  {:<11}{:>28} {ratio:>8.2}",
                service.name,
                sample[at].spread()
            );
        }
    }
}

/// Fills servers by one kind of session, and asks them by another.
async fn figures<F: Session, R: Session>(service: &Service, keys: u64) -> Answered<Figures> {
    let mut servers = service.start().await?;
    let leader = servers.leader().await;
    let mut sessions = Vec::new();
    for _ in 0..CONNECTIONS {
        let first = F::open(&leader).await?;
        sessions.extend((1..CLIENTS).map(|_| first.beside()));
        sessions.push(first);
    }
    fill(sessions, Keys::Plain, 0..keys, VALUE_BYTES).await?;
    let memory = resident(&servers);

    let places = servers.places();
    let follower = places.iter().position(|it| it.address != leader.address);
    let follower = follower.ok_or("there is no follower")?;
    servers.kill(follower).await;
    let begin = Instant::now();
    servers.launch(follower);
    reads::<R>(&places[follower]).await?;
    let one = begin.elapsed();

    for at in 0..places.len() {
        servers.kill(at).await;
    }
    let begin = Instant::now();
    for at in 0..places.len() {
        servers.launch(at);
    }
    let each = places.iter().map(|place| Box::pin(reads::<R>(place)));
    let (_, others) = select_ok(each).await?;
    let all = begin.elapsed();
    try_join_all(others).await?;
    let after = resident(&servers);
    servers.stop().await;
    Ok([memory, one.as_secs_f64(), all.as_secs_f64(), after])
}

/// The median of the servers' memory, in MiB.
fn resident(servers: &Servers) -> f64 {
    let mut sample = Sample::default();
    for process in servers.processes() {
        sample.push(resident_kib(process) / 1_024.0);
    }
    sample.median()
}

/// Waits until a server answers a linearizable read.
async fn reads<S: Session>(place: &Place) -> Answered<()> {
    let begin = Instant::now();
    loop {
        let read = async {
            let mut session = S::open(place).await?;
            session.get(Keys::Plain.key(0), Reading::Linearizable).await
        };
        match timeout(PATIENCE, read).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) if begin.elapsed() > START_MAX => return Err(error),
            Err(error) if begin.elapsed() > START_MAX => return Err(error.into()),
            Ok(Err(_)) | Err(_) => sleep(PAUSE).await,
        }
    }
}
