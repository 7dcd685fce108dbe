//! Endless frames to every port that speaks HTTP/2.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use synod_proto::v1;
use tokio::time::{Instant, timeout};

use super::frames::{Hostile, flag, frame, kind};
use super::good::Good;
use super::memory::{most, resident};
use crate::cluster::Cluster;
use crate::waiting::within;

/// The memory that a flood may cost, in bytes.
const COST: u64 = 32 << 20;

/// Frames that are sent at once.
const BURST: usize = 500;

// Guarantee: P-04, TM-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_that_ask_for_nothing_close_their_connection_on_every_door() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let [client, peer, _] = cluster.ports(leader);
    let window = 1_u32.to_be_bytes();
    let floods = [
        ("PING", frame(kind::PING, 0, 0, &[7; 8])),
        ("PING ACK", frame(kind::PING, flag::ACK, 0, &[7; 8])),
        ("SETTINGS", frame(kind::SETTINGS, 0, 0, &[])),
        ("PRIORITY", frame(kind::PRIORITY, 0, 3, &[0, 0, 0, 1, 0])),
        ("WINDOW_UPDATE", frame(kind::WINDOW_UPDATE, 0, 0, &window)),
    ];
    let good = Good::start(&cluster, leader).await;
    for (what, flood) in floods {
        for door in [client, peer] {
            let began = Instant::now();
            let hostile = Hostile::connect(door, Ipv4Addr::LOCALHOST, 65_535).await;
            let hostile = hostile.expect("there is a place");
            let sent = within(what, pour(&hostile, &flood)).await;
            eprintln!(
                "{what} at {door}: closed after {sent} frames, {:?}",
                began.elapsed()
            );
        }
    }
    good.fared().await.well();
    // Who leads is not asked: a busy machine may let a leader wait for too long.
    cluster.leader().await;
    cluster.finish().await;
}

/// Sends frames until the connection is closed, and returns how many.
async fn pour(hostile: &Hostile, flood: &[u8]) -> usize {
    let burst = flood.repeat(BURST);
    let mut sent = 0;
    while !hostile.is_closed() {
        if hostile.send(&burst).await.is_err() {
            break;
        }
        sent += BURST;
        tokio::task::yield_now().await;
    }
    sent
}

/// A client that makes the replica itself reset streams, so that the limit on resets by clients does not apply.
// Guarantee: P-04, TM-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_the_replica_is_made_to_reset_cost_little_on_every_door() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let [client, peer, _] = cluster.ports(leader);
    let process = cluster.process(leader);
    let good = Good::start(&cluster, leader).await;
    let before = resident(process);
    for (door, path) in [
        (client, "/synod.v1.Watch/Watch"),
        (peer, "/synod.peer.v1.Peer/Append"),
    ] {
        let (during, ()) = most(process, made_to_reset(door, path)).await;
        eprintln!(
            "{path}: {} MiB before, at most {}",
            before >> 20,
            during >> 20
        );
        assert!(
            during < before + COST,
            "{path}: {before} before, {during} at most"
        );
    }
    good.fared().await.well();
    // Who leads is not asked: a busy machine may let a leader wait for too long.
    cluster.leader().await;
    cluster.finish().await;
}

/// Makes the replica reset streams of four connections for five seconds, and reconnects when it closes one.
async fn made_to_reset(door: SocketAddr, path: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    let attacker = async || {
        while Instant::now() < until {
            let connected = Hostile::connect(door, Ipv4Addr::LOCALHOST, 65_535).await;
            let Ok(hostile) = connected else { continue };
            while !hostile.is_closed() && Instant::now() < until {
                let called = hostile.call(path, &v1::WatchRequest::default()).await;
                let Ok(stream) = called else { break };
                // A window update that overflows the window.
                let overflow = 0x7fff_ffff_u32.to_be_bytes();
                let overflow = frame(kind::WINDOW_UPDATE, 0, stream, &overflow);
                if hostile.send(&overflow.repeat(2)).await.is_err() {
                    break;
                }
            }
        }
    };
    let all = futures::future::join_all((0..4).map(|_| attacker()));
    let _ = timeout(Duration::from_secs(30), all).await;
}
