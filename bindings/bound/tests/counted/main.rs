//! A dropped handle is counted no more. The counts are of a process, so this test has its own one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[expect(dead_code, reason = "the client's own tests use all of it")]
#[path = "../../../../sdk/tests/replicas/cluster.rs"]
mod cluster;
#[expect(dead_code, reason = "the client's own tests use all of it")]
#[path = "../../../../sdk/tests/replicas/network.rs"]
mod network;

use std::time::Duration;

use serde_json::json;
use synod_bound::{Bound, Counts, counts};

use cluster::{Cluster, pass, within};

#[tokio::test(start_paused = true)]
async fn what_is_dropped_is_counted_no_more() {
    let cluster = Cluster::start(1).await;
    assert_eq!(counts(), Counts::default());
    let bound = Bound::over(cluster.client().await);
    for round in 0..20 {
        let watch = within(bound.watch("{}")).await.unwrap();
        let id = json!({"id": format!("server-{round}")}).to_string();
        let joining = bound.join(&id).unwrap();
        let membership = within(joining.next()).await.unwrap().unwrap();
        let lease = json!({"lease": {"namespace": "n", "name": format!("l{round}")}}).to_string();
        let locking = bound.lock(&lease).unwrap();
        let lock = within(locking.next()).await.unwrap().unwrap();
        // This one is never popped.
        let untaken = bound.join(r#"{"id": "untaken"}"#).unwrap();
        assert!(within(untaken.ready()).await.unwrap());
        let cache = within(bound.reflect("{}")).await.unwrap();
        let expected = Counts {
            clients: 1,
            calls: 0,
            feeds: 4,
            memberships: 2,
            permits: 0,
            locks: 1,
            reflectors: 1,
        };
        assert_eq!(counts(), expected);
        lock.release().await.unwrap();
        drop((watch, membership, joining, lock, locking, untaken, cache));
        // What was never popped is given back in the background.
        pass(Duration::from_secs(1)).await;
    }
    let expected = Counts {
        clients: 1,
        ..Counts::default()
    };
    assert_eq!(counts(), expected);
    let members = bound.call("synod.v1.Membership/Get", r#"{"id": "untaken"}"#, None);
    assert_eq!(members.await.unwrap_err().kind, "NOT_FOUND");
    drop(bound);
    assert_eq!(counts(), Counts::default());
}
