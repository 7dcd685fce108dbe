//! A waiter that is cancelled loses no result of a watch or a lock.

use std::time::Duration;

use serde_json::json;
use synod_bound::{Bound, Watch};
use tokio::time::timeout;

use crate::cluster::{Cluster, pass, within};
use crate::{bound, call, key, parsed, widgets};

async fn create(bound: &Bound, name: &str) {
    let content = json!({"encodingVersion": "example.io/v1", "data": "e30="});
    call(
        bound,
        "Objects/Create",
        json!({"key": key(name), "content": content}),
    )
    .await;
}

/// The next message that is not a bookmark.
async fn next_events(watch: &Watch) -> String {
    loop {
        let message = within(watch.next()).await.unwrap().unwrap();
        if !message.starts_with(r#"{"bookmark""#) {
            return message;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_waiters_give_up_again_and_again_loses_no_event() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let watch = bound.watch(r#"{"filter": {"kinds": ["OBJECT_KIND_OBJECT"]}}"#);
    let watch = watch.await.unwrap();
    let writing = async {
        for number in 0..50 {
            create(&bound, &format!("w{number}")).await;
        }
    };
    let reading = async {
        let mut names = Vec::new();
        while names.len() < 50 {
            // Shorter than an event takes to arrive.
            let waited = timeout(Duration::from_micros(700), watch.ready()).await;
            let Ok(ready) = waited else { continue };
            assert!(ready.unwrap());
            let message = parsed(&watch.pop().unwrap());
            let events = message["events"]["events"].as_array().cloned();
            for event in events.unwrap_or_default() {
                names.push(event["name"].as_str().unwrap().to_owned());
            }
        }
        names
    };
    let (names, ()) = within(async { tokio::join!(reading, writing) }).await;
    let expected: Vec<String> = (0..50).map(|number| format!("w{number}")).collect();
    assert_eq!(names, expected);
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_where_another_one_stopped() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let options = json!({"filter": {"kinds": ["OBJECT_KIND_OBJECT"]}});
    let watch = bound.watch(&options.to_string()).await.unwrap();
    assert_eq!(watch.position(), None);
    create(&bound, "a").await;
    let name = |message: &str| parsed(message)["events"]["events"][0]["name"].clone();
    assert_eq!(name(&next_events(&watch).await), "a");
    let position = watch.position().unwrap();
    // A waiter learns that the watch is closed, and so does a later one.
    let closing = async { watch.close() };
    let (waited, ()) = within(async { tokio::join!(watch.next(), closing) }).await;
    assert_eq!(waited.unwrap(), None);
    assert_eq!(watch.next().await.unwrap(), None);

    create(&bound, "b").await;
    let mut options = options;
    options["fromRevision"] = json!(position.to_string());
    let watch = bound.watch(&options.to_string()).await.unwrap();
    assert_eq!(name(&next_events(&watch).await), "b");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_does_not_list_again_ends_with_the_oldest_revision() {
    let cluster = Cluster::start_with(1, short_history()).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    for number in 0..40 {
        create(&bound, &format!("w{number}")).await;
    }
    let watch = bound.watch(r#"{"fromRevision": "1", "resync": false}"#);
    let failure = match watch.await {
        Err(failure) => failure,
        Ok(watch) => within(watch.next()).await.unwrap_err(),
    };
    assert_eq!(failure.kind, "COMPACTED", "{failure}");
    let oldest: u64 = failure.metadata["oldest_revision"].parse().unwrap();
    assert!(oldest > 1);
    let again = json!({"fromRevision": oldest.to_string(), "resync": false});
    let watch = bound.watch(&again.to_string()).await.unwrap();
    let events = parsed(&next_events(&watch).await);
    assert_eq!(events["events"]["revision"], oldest.to_string());
}

fn short_history() -> synod_client::Settings {
    synod_client::Settings {
        history_revisions: 16,
        ..synod_client::Settings::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_nobody_takes_is_given_back() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let options =
        json!({"lease": {"namespace": "n", "name": "l"}, "holder": "one", "ttlMs": 60_000});
    let lock = bound.lock(&options.to_string()).unwrap();
    assert!(within(lock.ready()).await.unwrap());
    // The granted lock is dropped with its feed: another holder gets it.
    drop(lock);
    let other = json!({"lease": {"namespace": "n", "name": "l"}, "holder": "two", "ttlMs": 60_000});
    let lock = bound.lock(&other.to_string()).unwrap();
    let given = timeout(Duration::from_secs(10), lock.next()).await;
    let given = given.unwrap().unwrap().unwrap();
    assert_eq!(given.holder(), "two");
    assert_eq!(parsed(given.proof())["token"], given.token().to_string());

    // A waiter that leaves gives up its place at once.
    let waiting = bound.lock(&options.to_string()).unwrap();
    assert!(
        timeout(Duration::from_secs(1), waiting.ready())
            .await
            .is_err()
    );
    drop(waiting);
    pass(Duration::from_secs(1)).await;
    given.release().await.unwrap();
    assert_eq!(given.check().unwrap_err().kind, "INVALID_ARGUMENT");
    let third = json!({"lease": {"namespace": "n", "name": "l"}, "holder": "three"});
    let lock = bound.try_lock(&third.to_string()).unwrap();
    assert_eq!(
        within(lock.next()).await.unwrap().unwrap().holder(),
        "three"
    );
}
