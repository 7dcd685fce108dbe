//! A key is rotated, under load and while a leader dies: no live server ever meets an object that it cannot read.

#[path = "../rotation/rotation.rs"]
mod keys;

use std::num::NonZeroUsize;
use std::time::Duration;

use synod_client::{Client, Ttl};

use crate::cluster::Cluster;
use crate::waiting::{LIMIT, objects};
use keys::{Load, rotates};

// Guarantee: T-01, T-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_rotated_under_load_and_every_live_server_reads_every_object_at_any_moment() {
    let mut cluster = Cluster::start().await;
    let client: Client = cluster.client().await.with_timeout(LIMIT);
    let objects = objects(2_000);
    let load = Load {
        objects,
        at_once: 4,
        rewrites: NonZeroUsize::new(16).expect("it is not zero"),
        store: Duration::from_millis(5),
        // Longer than a machine stalls. The test waits for the end of the one that is killed only.
        ttl: Ttl::from_millis(60_000).expect("it is legal"),
        ttl_of_killed: Ttl::from_millis(3_000).expect("it is legal"),
        // Time for a fail-over, after which everybody has a whole TTL, before the last write lands.
        grace: Duration::from_secs(10),
        // For the smoke share a floor, and beyond it as many objects as any machine rewrites.
        limit: Duration::from_secs(120)
            + Duration::from_millis(5) * u32::try_from(objects).expect("so many are not stored"),
    };
    let rotated = rotates(&client, load, async || {
        let leader = cluster.leader().await;
        cluster.kill(leader).await;
        cluster.restart(leader).await;
    });
    let rotated = rotated.await;
    println!(
        "{} objects were rewritten; for each of them servers wrote {:.2} and read {:.2} meanwhile, and the old key was called \
         needed {} times, until it was free; did the last write outlive the membership of its server? {}",
        rotated.objects,
        rotated.writes as f64 / rotated.objects as f64,
        rotated.reads as f64 / rotated.objects as f64,
        rotated.refusals,
        rotated.outlived,
    );
    cluster.finish().await;
}
