//! What a cluster does while disks fill up.

use std::time::Duration;

use synod_client::{AlarmKind, Client, CollectionRules, ErrorKind, NewObject, Preconditions};

use super::{V1, declare, named, numbers};
use crate::cluster::{Cluster, pass, within};

// Guarantee: D-16, TM-36
#[tokio::test(start_paused = true)]
async fn a_disk_that_is_nearly_full_stops_what_grows_and_nothing_else_until_it_has_room() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    let create = async |name| within(objects.create(NewObject::new(named("a", name), 1))).await;
    create("one").await.unwrap();
    cluster.leave_room(2, Some(10 << 20));
    until(async || alarms(&client).await == [(AlarmKind::DiskFull, Some(2))]).await;
    let refused = create("two").await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Quota, "{refused}");
    assert!(refused.to_string().contains("replica 2"), "{refused}");
    let one = named("a", "one");
    let delete = objects.delete(&one, Preconditions::default(), None);
    within(delete).await.unwrap();
    cluster.leave_room(2, None);
    until(async || create("two").await.is_ok()).await;
    assert_eq!(alarms(&client).await, []);
}

async fn alarms(client: &Client) -> Vec<(AlarmKind, Option<u64>)> {
    let status = within(client.status()).await.unwrap();
    let alarms = status.alarms.iter();
    alarms.map(|alarm| (alarm.kind, alarm.replica_id)).collect()
}

async fn until(holds: impl AsyncFn() -> bool) {
    for _ in 0..60 {
        if holds().await {
            return;
        }
        pass(Duration::from_millis(500)).await;
    }
    panic!("it does not come to hold");
}
