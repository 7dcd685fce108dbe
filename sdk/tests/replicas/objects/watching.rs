use std::time::Duration;

use synod_client::{
    Attributes, CollectionRules, LabelSelector, Labels, Namespace, NewObject, ObjectMessage,
    ObjectWatch, ReadOptions, TtlChange, WatchFrom, WatchObjects,
};

use super::{V1, create, declare, named, numbers};
use crate::cluster::{Cluster, legal, within};

/// The next changes, as texts.
async fn next(watch: &mut ObjectWatch<u64>) -> Vec<String> {
    loop {
        match within(watch.next()).await.unwrap().unwrap() {
            ObjectMessage::Bookmark(_) => {}
            ObjectMessage::Events(_, events) | ObjectMessage::Resync(_, events) => {
                return events
                    .into_iter()
                    .map(|event| {
                        let value = event.stored.map(|stored| stored.value);
                        format!("{} {} {value:?}", event.change, event.name)
                    })
                    .collect();
            }
        }
    }
}

fn labelled(name: &str, label: &str) -> NewObject<u64> {
    NewObject {
        attributes: Attributes {
            labels: legal(Labels::parse([("app", label)])),
            ..Attributes::default()
        },
        ..NewObject::new(named("a", name), 1)
    }
}

// Guarantee: O-15
#[tokio::test(start_paused = true)]
async fn a_watch_sees_its_namespaces_and_its_labels_come_and_go() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "b", "there", 7).await;
    let in_b = WatchObjects::new()
        .with_namespaces(vec![legal(Namespace::parse("b"))])
        .with_from(WatchFrom::List);
    let mut in_b = within(objects.watch(in_b)).await.unwrap();
    let web = WatchObjects::new().with_labels(legal(LabelSelector::parse("app in (web,site)")));
    let mut web = within(objects.watch(web)).await.unwrap();
    assert_eq!(next(&mut in_b).await, ["ADDED b/there Some(7)"]);

    let stored = within(objects.create(labelled("w", "api"))).await.unwrap();
    let becomes = |label: &str, mut stored: synod_client::Stored<u64>| {
        stored.object.attributes.labels = legal(Labels::parse([("app", label)]));
        let objects = objects.clone();
        async move {
            within(objects.update(stored, TtlChange::Keep))
                .await
                .unwrap()
                .stored
        }
    };
    let stored = becomes("web", stored).await;
    assert_eq!(next(&mut web).await, ["ADDED a/w Some(1)"]);
    let stored = becomes("site", stored).await;
    assert_eq!(next(&mut web).await, ["MODIFIED a/w Some(1)"]);
    becomes("api", stored).await;
    assert_eq!(next(&mut web).await, ["REMOVED a/w Some(1)"]);
    create(&objects, "b", "new", 8).await;
    assert_eq!(next(&mut in_b).await, ["ADDED b/new Some(8)"]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_objects_follows_over_the_death_of_its_replica() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "one", 1).await;
    let cache = within(objects.reflect(WatchObjects::new())).await.unwrap();
    assert_eq!(cache.all().len(), 1);
    let watched = within(client.status()).await.unwrap().header.replica_id;
    cluster.kill(watched);
    create(&objects, "a", "two", 2).await;
    let deleted = within(objects.delete(&named("a", "one"), Default::default(), None))
        .await
        .unwrap();
    let limit = Duration::from_secs(30);
    let reached = cache.reached(deleted.header.revision, limit);
    within(reached).await.unwrap();
    assert_eq!(cache.get(&named("a", "two")).unwrap().value, 2);
    assert!(cache.get(&named("a", "one")).is_none());
    let name = named("a", "two");
    let read = objects.get(&name, ReadOptions::default());
    assert_eq!(
        within(read).await.unwrap(),
        *cache.get(&named("a", "two")).unwrap()
    );
}
