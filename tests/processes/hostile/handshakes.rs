//! Handshakes of transport security that are begun and not ended, and connections that do nothing after theirs.

use std::net::SocketAddr;
use std::time::Duration;

use rustls::SupportedProtocolVersion;
use rustls::version::TLS13;
use synod_client::ReadOptions;
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

use super::frames::dial;
use super::good::Good;
use super::memory::resident;
use super::slots::source;
use crate::cluster::Cluster;
use crate::waiting::{eventually, rounds};

/// A part of a first message that promises 512 bytes.
const HALF: &[u8] = &[
    0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13];

/// A hundred times as many of either kind, if rounds are asked for.
const HALVES: usize = 100;
const IDLE: usize = 10;

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
    for number in 0..HALVES * rounds(60).min(100) {
        let mut stream = dial(to, source(number)).await.expect("it is accepted");
        // It may be closed already, to make room for the next.
        let _ = stream.write_all(HALF).await;
        held.push(stream);
    }
    let certificates = cluster.certificates();
    let admin = certificates.shown("admin");
    let mut idle = Vec::new();
    for _ in 0..IDLE * rounds(60) {
        let connected = certificates
            .connect(to, "server-ca", Some(&admin), VERSIONS)
            .await;
        idle.push(connected.expect("it is let in"));
    }
    good.fared().await.well();
    let began = Instant::now();
    let fresh = cluster.client_of(leader).await;
    let read = fresh.settings(ReadOptions::linearizable()).await;
    read.expect("a new client is served");
    let took = began.elapsed();
    eprintln!(
        "a new client is served within {took:?}, beside {} halves",
        held.len()
    );
    assert!(took < Duration::from_secs(5), "{took:?}");
    drop((held, idle));
    eventually("the memory that they took", async || {
        let more = resident(process).saturating_sub(before);
        let most = 64 << 20;
        (more < most)
            .then_some(())
            .ok_or_else(|| format!("{more} bytes more"))
    })
    .await;
    assert_eq!(cluster.leader().await, leader, "another one leads");
    cluster.finish().await;
}
