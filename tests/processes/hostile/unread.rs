//! Answers that a client never reads take a limited amount of memory.

use std::net::{Ipv4Addr, SocketAddr};

use prost::Message;
use synod_proto::v1;

use super::frames::Hostile;
use super::good::Good;
use super::memory::{most, resident};
use crate::cards;
use crate::cluster::Cluster;
use crate::waiting::eventually;

/// Streams of a connection that reads nothing.
const STREAMS: usize = 1_000;

/// The memory that such a connection may cost: the bytes that are held for it, the answers that two threads have just
/// made, and a thousand waiting calls.
const COST: u64 = 64 << 20;

/// The memory that may still be in use afterwards.
const LEFT: u64 = 16 << 20;

/// The writes that the watches see, and the bytes of each.
const WRITES: usize = 2;
const WRITTEN: usize = 900_000;

/// The memory of these writes themselves: in the state, in the log that is kept in memory, and in flight.
const STORED: u64 = 3 * (WRITES * WRITTEN) as u64;

// Guarantee: P-02, TM-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_takes_cost_a_stated_number_of_bytes() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    cards::declare(&client, 0).await;
    for number in 0..40 {
        cards::create_large(&client, &format!("page-{number}"), 50_000).await;
    }
    for number in 0..8 {
        cards::create_large(&client, &format!("large-{number}"), 1_000_000).await;
    }
    let list = v1::ObjectsListRequest {
        resource: Some((&cards::resource()).into()),
        ..v1::ObjectsListRequest::default()
    };
    let get = |number: usize| v1::ObjectsGetRequest {
        key: Some(v1::ObjectKey {
            resource: Some((&cards::resource()).into()),
            namespace: String::new(),
            name: format!("large-{}", number % 8),
        }),
        read: None,
    };
    // With a window of zero no answer can be sent; with one byte some of it is sent, and the rest waits.
    for window in [0, 1] {
        attack(&cluster, "lists", window, "/synod.v1.Objects/List", |_| {
            list.clone()
        })
        .await;
        attack(&cluster, "objects", window, "/synod.v1.Objects/Get", get).await;
        let watch = |_| v1::WatchRequest::default();
        attack(&cluster, "watches", window, "/synod.v1.Watch/Watch", watch).await;
    }
    cluster.finish().await;
}

/// Asks the leader for more than it could hold, reads nothing of it, and measures what that costs.
async fn attack<M: Message>(
    cluster: &Cluster,
    what: &str,
    window: u32,
    path: &str,
    message: impl Fn(usize) -> M,
) {
    let leader = cluster.leader().await;
    let process = cluster.process(leader);
    let to: SocketAddr = cluster.endpoint(leader).parse().expect("it is an address");
    let good = Good::start(cluster, leader).await;
    let before = resident(process);
    let during = async {
        let hostile = Hostile::connect(to, Ipv4Addr::LOCALHOST, window).await;
        let hostile = hostile.expect("there is a place");
        for number in 0..STREAMS {
            // The replica may close the connection at any point.
            if hostile.call(path, &message(number)).await.is_err() {
                break;
            }
        }
        let client = cluster.client().await;
        // Events for the watches: few enough bytes that what is stored stays far below the limits.
        for number in 0..WRITES {
            let name = format!("{what}-{window}-{number}");
            cards::create_large(&client, &name, WRITTEN).await;
        }
        tokio::time::timeout(std::time::Duration::from_secs(3), hostile.closed()).await
    };
    let (during, _) = most(process, during).await;
    let fared = good.fared().await;
    let mib = |bytes: u64| bytes >> 20;
    eprintln!(
        "{what} with a window of {window}: {} MiB before, at most {}; {fared:?}",
        mib(before),
        mib(during)
    );
    fared.well();
    assert!(
        during < before + COST,
        "{what}: {before} before, {during} at most"
    );
    eventually("the memory of an attacker", async || {
        let after = resident(process);
        let is_back = after < before + LEFT + STORED;
        is_back
            .then_some(())
            .ok_or_else(|| format!("{what}: {} MiB before, {} after", mib(before), mib(after)))
    })
    .await;
}

// Guarantee: P-02, TM-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_stops_reading_its_watch_is_closed_and_its_memory_is_free() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    cards::declare(&client, 0).await;
    let to: SocketAddr = cluster.endpoint(1).parse().expect("it is an address");
    let window = 0x7fff_ffff;
    let mut hostile = Hostile::connect(to, Ipv4Addr::LOCALHOST, window)
        .await
        .expect("there is a place");
    hostile.stop_reading();
    let watch = v1::WatchRequest::default();
    hostile
        .call("/synod.v1.Watch/Watch", &watch)
        .await
        .expect("it is open");
    eventually("the watch", async || {
        let text = super::scrape(&cluster, 1).await;
        let text = text.map_err(|error| error.to_string())?;
        text.contains("synod_watch_streams 1\n")
            .then_some(())
            .ok_or(text)
    })
    .await;
    // More than the buffers of the two sockets hold.
    for number in 0..12 {
        cards::create_large(&client, &format!("watched-{number}"), 900_000).await;
    }
    // The replica closes the connection because its answers are not read, or because it does not answer a ping.
    eventually("the end of who reads nothing", async || {
        let text = super::scrape(&cluster, 1).await;
        let text = text.map_err(|error| error.to_string())?;
        let free = [
            "synod_watch_streams 0\n",
            "synod_answer_bytes_held{door=\"client\"} 0\n",
        ];
        let is_free = free.iter().all(|line| text.contains(line));
        is_free.then_some(()).ok_or(text)
    })
    .await;
    cluster.finish().await;
}
