//! Connections that are idle or silent are closed when their places are needed.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::frames::{Hostile, dial};
use super::good::Good;
use super::scrape;
use crate::cluster::Cluster;
use crate::security::value;
use crate::waiting::{eventually, within};

/// The addresses that the hostile clients come from.
pub(super) fn source(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(
        127,
        0,
        1,
        u8::try_from(1 + number % 8).expect("it is small"),
    )
}

// Guarantee: P-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_only_answer_pings_keep_nobody_out() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let to: SocketAddr = cluster.endpoint(leader).parse().expect("it is an address");
    let mut idle = Vec::new();
    // More than the replica has places for, half of them from one address.
    for number in 0..4_200 {
        let from = if number % 2 == 0 {
            Ipv4Addr::new(127, 0, 2, 1)
        } else {
            source(number)
        };
        idle.push(
            Hostile::connect(to, from, 65_535)
                .await
                .expect("it is let in"),
        );
    }
    let good = Good::start(&cluster, leader).await;
    good.fared().await.well();
    let open = idle.iter().filter(|hostile| !hostile.is_closed()).count();
    assert!(
        open > 1_000,
        "{open} are left, and only as many as are needed give way"
    );
    // Who leads is not asked: a busy machine may let a leader wait for too long.
    cluster.leader().await;
    cluster.finish().await;
}

// Guarantee: P-03, TM-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_keep_nobody_out() {
    let cluster = Cluster::start().await;
    let leader = cluster.leader().await;
    let to: SocketAddr = cluster.endpoint(leader).parse().expect("it is an address");
    let good = Good::start(&cluster, leader).await;
    let mut silent = Vec::new();
    for number in 0..6_000 {
        silent.push(dial(to, source(number)).await.expect("it is accepted"));
    }
    good.fared().await.well();
    cluster.finish().await;
}

// Guarantee: P-03, TM-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_at_the_port_of_replicas_are_gone_within_a_second_and_keep_no_replica_out() {
    let mut cluster = Cluster::start().await;
    let follower = cluster.follower().await;
    let [_, peer, _] = cluster.ports(follower);
    cluster.kill(follower).await;
    cluster.launch(follower);
    // They connect as soon as the replica listens, and again as soon as they are closed.
    let attackers: Vec<_> = (0..400)
        .map(|number| tokio::spawn(come_again(peer, source(number))))
        .collect();
    let began = Instant::now();
    cluster.serving(follower).await;
    eprintln!(
        "it serves {:?} after its start, with 400 strangers at its port",
        began.elapsed()
    );
    for attacker in &attackers {
        attacker.abort();
    }
    let stranger = Hostile::connect(peer, Ipv4Addr::LOCALHOST, 65_535).await;
    let stranger = stranger.expect("it is accepted");
    // After a second, which a busy machine may stretch: `connections/tests.rs` of the server counts it on a paused clock.
    within("the end of a stranger", stranger.closed()).await;
    eventually("that strangers are cut for their silence", async || {
        let text = scrape(&cluster, follower).await;
        let text = text.map_err(|error| error.to_string())?;
        let series = "synod_connections_cut_total{door=\"peer\",reason=\"silent\"} ";
        let cut = value(&text, series);
        (cut > 0.0).then_some(()).ok_or_else(|| cut.to_string())
    })
    .await;
    // Who leads is not asked: two replicas alone lose their leader as soon as the machine lets one of them wait for too long.
    cluster.leader().await;
    cluster.finish().await;
}

/// Opens an HTTP/2 connection and sends nothing more; reconnects when it is closed.
async fn come_again(to: SocketAddr, from: Ipv4Addr) {
    let mut beat = interval(Duration::from_millis(20));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        if let Ok(hostile) = Hostile::connect(to, from, 65_535).await {
            hostile.closed().await;
        } else {
            beat.tick().await;
        }
    }
}

// Guarantee: P-03, TM-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_at_the_port_for_metrics_keep_nobody_out() {
    let cluster = Cluster::start().await;
    let [_, _, metrics] = cluster.ports(1);
    let mut silent = Vec::new();
    for number in 0..200 {
        silent.push(dial(metrics, source(number)).await.expect("it is accepted"));
    }
    eventually("metrics", async || {
        let text = timeout(Duration::from_secs(2), scrape(&cluster, 1)).await;
        let text = text.map_err(|_| "nothing is answered".to_owned())?;
        let text = text.map_err(|error| error.to_string())?;
        text.contains("synod_connections").then_some(()).ok_or(text)
    })
    .await;
    cluster.finish().await;
}
