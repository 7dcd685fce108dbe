//! Handshakes of transport security that are begun and not ended, and connections that do nothing after theirs.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::future::join_all;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustls::SupportedProtocolVersion;
use rustls::version::TLS13;
use synod_client::ReadOptions;
use tokio::io::{AsyncWriteExt as _, split};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::frames::{Hostile, dial};
use super::good::Good;
use super::memory::resident;
use super::slots::source;
use crate::certificates::secured;
use crate::cluster::Cluster;
use crate::waiting::{LIMIT, eventually, rounds};

/// A part of a first message that promises 512 bytes.
const HALF: &[u8] = &[
    0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13];

/// Handshakes that are begun.
const HALVES: usize = 10_000;

/// Connections in one round. Half of them say nothing after their handshakes, and half are introduced and answer pings. As many
/// as halves of handshakes are begun in a hundred rounds, which `cargo xtask endure` asks for: more of each than there are places
/// (`CONNECTIONS_MAX`), so that the first of them give way. Usually in ten, since both ends of each compute for some
/// milliseconds, in which nothing else is tested.
const IDLE: usize = 100;

/// The rounds with as many connections as halves.
const ALL_ROUNDS: usize = 100;

/// Handshakes that are ended at a time: few, since each has some seconds for it, in which the others compute, too.
const AT_ONCE: usize = 10;

/// How often something is tried that a busy machine does not get done in time: a handshake, or that a new client is served.
const ATTEMPTS: usize = 3;

/// Open files of this process beside the connections of a test.
const OTHER_FILES: u64 = 1_000;

// Guarantee: N-08, TM-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_finished_handshakes_and_idle_connections_keep_nobody_out() {
    let cluster = Cluster::start_secured().await;
    let leader = cluster.leader().await;
    let to: SocketAddr = cluster.endpoint(leader).parse().expect("it is an address");
    let process = cluster.process(leader);
    Good::start(&cluster, leader).await.fared().await.well();
    let before = resident(process);
    let good = Good::start(&cluster, leader).await;
    let mut held = Vec::new();
    for number in 0..HALVES.min(files()) {
        let mut stream = dial(to, source(number)).await.expect("it is accepted");
        // It may be closed already, to make room for the next.
        let _ = stream.write_all(HALF).await;
        held.push(stream);
    }
    let halves = held.len();
    let first = served(&cluster, leader).await;
    // Those that gave way take no place here, either.
    held.retain(|stream| !is_closed(stream));
    let certificates = cluster.certificates();
    let admin = certificates.shown("admin");
    let connector = certificates.connector("server-ca", Some(&admin), VERSIONS);
    let (mut silent, mut idle) = (Vec::new(), Vec::new());
    let wanted = IDLE * rounds(10);
    if rounds(10) >= ALL_ROUNDS {
        let room = files();
        assert!(
            room >= HALVES.max(wanted),
            "{room} files may be open beside others, which are too few: raise the limit (ulimit -Hn)"
        );
    }
    for round in 0..wanted.min(files()) / AT_ONCE {
        let connecting = (0..AT_ONCE).map(|number| let_in(&connector, to, source(round + number)));
        for (number, stream) in join_all(connecting).await.into_iter().enumerate() {
            if number % 2 == 0 {
                silent.push(stream);
            } else if let Ok(hostile) = introduced(stream).await {
                idle.push(hostile);
            }
        }
    }
    good.fared().await.well();
    let second = served(&cluster, leader).await;
    let took = resident(process).saturating_sub(before);
    let begun = silent.len() + idle.len();
    idle.retain(|hostile| !hostile.is_closed());
    println!(
        "a new client is served within {first:?} beside {halves} halves, and within {second:?} beside {begun} idle connections, \
         of which {} are left; they take {} KiB",
        idle.len(),
        took >> 10
    );
    // The others had no place any more, or had said nothing for too long.
    assert!(!idle.is_empty(), "none of {begun} is left");
    drop((held, silent, idle));
    eventually("the memory that they took", async || {
        let more = resident(process).saturating_sub(before);
        let most = 64 << 20;
        (more < most)
            .then_some(())
            .ok_or_else(|| format!("{more} bytes more"))
    })
    .await;
    cluster.finish().await;
}

/// A connection whose handshake is over.
async fn let_in(connector: &TlsConnector, to: SocketAddr, from: Ipv4Addr) -> TlsStream<TcpStream> {
    let mut faults = Vec::new();
    for _ in 0..ATTEMPTS {
        let stream = dial(to, from).await.expect("it is accepted");
        match secured(connector, stream).await {
            Ok(stream) => return stream,
            Err(fault) => faults.push(fault),
        }
    }
    panic!("it is not let in: {faults:?}")
}

/// Says what is spoken over a connection. From then on it answers pings, and asks for nothing.
async fn introduced(stream: TlsStream<TcpStream>) -> std::io::Result<Hostile> {
    let (read, write) = split(stream);
    Hostile::over(Box::new(read), Box::new(write), 65_535).await
}

/// How long it takes until a new client is served. Beside other tests the machine is busy with other things: then one of a few
/// is served in time.
async fn served(cluster: &Cluster, id: u64) -> Duration {
    let most = if rounds(10) >= ALL_ROUNDS { 1 } else { 5 };
    let mut tried = Vec::new();
    for _ in 0..ATTEMPTS {
        let began = Instant::now();
        let fresh = cluster.client_of(id).await.with_timeout(LIMIT);
        let read = fresh.settings(ReadOptions::linearizable()).await;
        read.expect("a new client is served");
        let took = began.elapsed();
        if took < Duration::from_secs(most) {
            return took;
        }
        tried.push(took);
    }
    panic!("no new client is served within {most} s: {tried:?}");
}

/// The connections that this process may have open, after as many were allowed as may be.
fn files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).expect("a limit may be raised to the hard one");
    let files = limit
        .maximum
        .unwrap_or(u64::MAX)
        .saturating_sub(OTHER_FILES);
    usize::try_from(files).unwrap_or(usize::MAX)
}

/// Whether the other end has closed a connection, once everything that it has sent before is read.
fn is_closed(stream: &TcpStream) -> bool {
    let mut read = [0; 4_096];
    loop {
        match stream.try_read(&mut read) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}
