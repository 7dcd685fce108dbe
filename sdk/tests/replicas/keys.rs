//! Keys that are rotated while servers write: no live server ever meets an object that it cannot read.

#[path = "../../../tests/rotation/rotation.rs"]
mod rotation;

use std::num::NonZeroUsize;
use std::time::Duration;

use synod_client::Ttl;

use crate::cluster::Cluster;
use rotation::{Load, rotates};

// Guarantee: T-01, T-02
#[tokio::test(start_paused = true)]
async fn a_key_is_rotated_while_three_servers_write_one_is_killed_and_one_is_rolled_back() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let load = Load {
        objects: 2_000,
        at_once: 1,
        rewrites: NonZeroUsize::MIN,
        store: Duration::from_millis(20),
        ttl: Ttl::DEFAULT,
        ttl_of_killed: Ttl::DEFAULT,
        grace: Duration::from_secs(20),
        limit: Duration::from_secs(200),
    };
    let rotated = rotates(&client, load, async || {}).await;
    let load = rotated.writes.min(rotated.reads);
    assert!(load > rotated.objects / 2, "{load}");
    assert!(rotated.outlived, "its entry kept the key, not the drain");
    assert!(rotated.refusals > 100, "{}", rotated.refusals);
}
