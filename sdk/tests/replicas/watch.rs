//! Watches and the cache over them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_client::{
    Client, ErrorKind, Event, Events, InstanceId, Join, MemberId, ObjectKind, ReadOptions,
    Revision, Settings, Ttl, Watch, WatchFrom, WatchMessage, WatchOptions, WatchedObject,
};
use tokio::time::Instant;

use crate::cluster::{Cluster, endpoint, fixed, id, legal, pass, resource, version, within};
use crate::network::Weather;

async fn join(client: &Client, member: &str) -> Revision {
    join_as(client, member, "one").await
}

async fn join_as(client: &Client, member: &str, instance: &str) -> Revision {
    let join = Join {
        id: id(member),
        instance: legal(InstanceId::parse(instance)),
        ttl: Ttl::MAX,
        labels: Default::default(),
        version: Default::default(),
        endpoint: Default::default(),
        lost_epoch: None,
        gated: true,
    };
    within(client.send_join(join))
        .await
        .unwrap()
        .header
        .revision
}

async fn leave(client: &Client, member: &str) -> Revision {
    let view = within(client.member(&id(member), ReadOptions::default()))
        .await
        .unwrap();
    let member = synod_client::MemberEpoch {
        member: id(member),
        epoch: view.member.epoch,
        cluster: None,
    };
    within(client.send_leave(&member, &view.member.instance, true))
        .await
        .unwrap()
        .revision
}

async fn report(client: &Client, member: &str, name: &str, encoding: &str) -> Revision {
    let view = within(client.member(&id(member), ReadOptions::default()))
        .await
        .unwrap();
    let member = synod_client::MemberEpoch {
        member: id(member),
        epoch: view.member.epoch,
        cluster: None,
    };
    let entries = vec![fixed(name, &["v1", "v2"], encoding)];
    static SAID: AtomicU64 = AtomicU64::new(1);
    let number = synod_client::StatementNumber::new(SAID.fetch_add(1, Ordering::Relaxed)).unwrap();
    within(client.send_report(&member, number, entries, false))
        .await
        .unwrap()
        .header
        .revision
}

/// The next message that is not a bookmark.
async fn next(watch: &mut Watch) -> WatchMessage {
    within(async {
        loop {
            match watch.next().await.unwrap().unwrap() {
                WatchMessage::Bookmark(_) => {}
                message => return message,
            }
        }
    })
    .await
}

pub(crate) async fn events(watch: &mut Watch) -> Events {
    match next(watch).await {
        WatchMessage::Events(events) => events,
        message => panic!("{message:?}"),
    }
}

pub(crate) async fn resync(watch: &mut Watch) -> Events {
    match next(watch).await {
        WatchMessage::Resync(events) => events,
        message => panic!("{message:?}"),
    }
}

/// `ADDED Member a` of each event.
pub(crate) fn lines(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| format!("{} {} {}", event.change, event.kind, event.name);
    events.iter().map(line).collect()
}

fn members() -> WatchOptions {
    WatchOptions::new().kinds(vec![ObjectKind::Member])
}

#[tokio::test(start_paused = true)]
async fn a_watch_delivers_what_changes_from_its_call_on() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    join(&client, "before").await;
    let mut watch = within(client.watch(members())).await.unwrap();
    let joined = join(&client, "a").await;
    let seen = events(&mut watch).await;
    assert_eq!(seen.revision, joined);
    assert_eq!(lines(&seen.events), ["ADDED Member a"]);
    let left = leave(&client, "a").await;
    let seen = events(&mut watch).await;
    assert_eq!(
        (seen.revision, lines(&seen.events)),
        (left, vec!["REMOVED Member a".to_owned()])
    );
    let Some(WatchedObject::Member(last)) = &seen.events[0].object else {
        panic!("{seen:?}");
    };
    assert_eq!(last.id, id("a"), "a removed object comes as it was last");
}

#[tokio::test(start_paused = true)]
async fn a_list_and_a_watch_from_the_next_revision_miss_nothing() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let listed = join(&client, "a").await;
    let second = join(&client, "b").await;
    let options = members().from(WatchFrom::Revision(listed.next()));
    let mut watch = within(client.watch(options)).await.unwrap();
    let third = join(&client, "c").await;
    for expected in [second, third] {
        assert_eq!(events(&mut watch).await.revision, expected);
    }
    let mut watch = within(client.watch(members().from(WatchFrom::List)))
        .await
        .unwrap();
    let list = resync(&mut watch).await;
    assert_eq!(list.revision, third);
    assert_eq!(
        lines(&list.events),
        ["ADDED Member a", "ADDED Member b", "ADDED Member c"]
    );
    let fourth = join(&client, "d").await;
    assert_eq!(events(&mut watch).await.revision, fourth);
}

#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_at_another_replica_without_a_gap_or_a_duplicate() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let writer = cluster.client().await;
    let mut watch = within(client.watch(members())).await.unwrap();
    let mut expected = Vec::new();
    let mut seen = Vec::new();
    for (round, number) in [1, 2, 3, 1, 2, 3].into_iter().enumerate() {
        for member in 0..4 {
            expected.push(join(&writer, &format!("m{round}-{member}")).await);
        }
        seen.push(events(&mut watch).await.revision);
        cluster.kill(number);
        for member in 4..8 {
            expected.push(join(&writer, &format!("m{round}-{member}")).await);
        }
        while seen.len() < expected.len() {
            seen.push(events(&mut watch).await.revision);
        }
        cluster.start_replica(number).await;
        cluster.serving(number).await;
    }
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_stops_in_order_hands_its_watches_over() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let writer = cluster.client().await;
    let mut watch = within(client.watch(members())).await.unwrap();
    for number in 1..=3 {
        cluster.stop(number).await;
        let joined = join(&writer, &format!("m{number}")).await;
        assert_eq!(events(&mut watch).await.revision, joined);
        cluster.start_replica(number).await;
        cluster.serving(number).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_died_in_silence_is_noticed_by_its_missing_bookmarks() {
    let cluster = Cluster::start(3).await;
    // Keepalive would notice it too, and is not tested here.
    let hour = Duration::from_secs(3_600);
    let endpoints = vec![endpoint(1), endpoint(2), endpoint(3)];
    let builder = Client::builder()
        .endpoints(endpoints)
        .seams(cluster.seams());
    let client = builder.keepalive(hour, hour).connect().await.unwrap();
    let writer = cluster.client().await;
    let watched = within(client.status()).await.unwrap().header.replica_id;
    let options = members().bookmark_interval(Duration::from_secs(3));
    let mut watch = within(client.watch(options)).await.unwrap();
    within(watch.next()).await.unwrap().unwrap();
    cluster.network.set(&endpoint(watched), Weather::Silent);
    let joined = join(&writer, "a").await;
    let began = Instant::now();
    assert_eq!(events(&mut watch).await.revision, joined);
    let took = began.elapsed();
    // Two bookmark intervals and two seconds.
    assert!(
        took >= Duration::from_secs(5) && took <= Duration::from_secs(9),
        "{took:?}"
    );
}

// Guarantee: E-09
#[tokio::test(start_paused = true)]
async fn a_watch_leaves_a_replica_that_is_cut_off_from_the_others() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let writer = cluster.client_of(vec![2, 3]).await;
    let mut watch = within(client.watch(members())).await.unwrap();
    let first = join(&writer, "a").await;
    assert_eq!(events(&mut watch).await.revision, first);
    // A watch there gets bookmarks, and would get nothing else for as long as that lasts.
    let watched = within(client.status()).await.unwrap().header.replica_id;
    assert_eq!(watched, 1);
    cluster.isolate(watched);
    let second = join(&writer, "b").await;
    assert_eq!(events(&mut watch).await.revision, second);
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_history_is_gone_says_what_changed_meanwhile_removed_before_added() {
    let settings = Settings {
        history_revisions: 3,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(3, settings).await;
    let client = cluster.client_of(vec![1]).await;
    let writer = cluster.client_of(vec![2, 3]).await;
    for member in ["stays", "goes", "returns", "changes"] {
        join(&writer, member).await;
    }
    report(&writer, "stays", "pods", "v1").await;
    report(&writer, "goes", "pods", "v1").await;
    let kinds = vec![ObjectKind::Member, ObjectKind::StorageVersion];
    let options = WatchOptions::new().kinds(kinds).from(WatchFrom::List);
    let mut watch = within(client.watch(options)).await.unwrap();
    assert_eq!(resync(&mut watch).await.events.len(), 5);

    cluster.network.set(&endpoint(1), Weather::Cut);
    leave(&writer, "goes").await;
    leave(&writer, "returns").await;
    join(&writer, "returns").await;
    join_as(&writer, "changes", "two").await;
    join(&writer, "arrives").await;
    report(&writer, "arrives", "nodes", "v1").await;
    let last = report(&writer, "stays", "pods", "v2").await;
    cluster.network.set(&endpoint(1), Weather::Fair);
    let gap = resync(&mut watch).await;
    assert_eq!(gap.revision, last);
    assert_eq!(
        lines(&gap.events),
        [
            "REMOVED Member goes",
            "REMOVED Member returns",
            "ADDED Member arrives",
            "ADDED Member returns",
            "ADDED StorageVersion core.nodes",
            "MODIFIED Member changes",
            "MODIFIED StorageVersion core.pods",
        ]
    );
    let Some(WatchedObject::StorageVersion(pods)) = &gap.events[6].object else {
        panic!("{gap:?}");
    };
    assert_eq!(pods.removed_members, [id("goes")]);
    assert_eq!(pods.changed_entries[0].encoding, Some(version("v2")));
    // From there on the watch continues as before.
    let joined = join(&writer, "later").await;
    assert_eq!(events(&mut watch).await.revision, joined);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_move_a_watch_past_what_its_filter_keeps_out() {
    let settings = Settings {
        history_revisions: 3,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(1, settings).await;
    let client = cluster.client().await;
    let options = members().names(vec!["wanted".to_owned()]);
    let options = options.bookmark_interval(Duration::from_secs(1));
    let mut watch = within(client.watch(options)).await.unwrap();
    let mut last = Revision::ZERO;
    for member in ["a", "b", "c", "d", "e"] {
        last = join(&client, member).await;
    }
    within(async {
        loop {
            match watch.next().await.unwrap().unwrap() {
                WatchMessage::Bookmark(revision) if revision == last => return,
                WatchMessage::Bookmark(_) => {}
                message => panic!("{message:?}"),
            }
        }
    })
    .await;
    // The history of the filtered-out changes is gone, which does not matter to this watch.
    cluster.network.set(&endpoint(1), Weather::Cut);
    cluster.network.set(&endpoint(1), Weather::Fair);
    let joined = join(&client, "wanted").await;
    assert_eq!(events(&mut watch).await.revision, joined);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_may_not_wait_for_ever_ends_with_an_error() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await.with_timeout(Duration::from_secs(3));
    let options = members().disconnect_limit(Duration::from_secs(5));
    let mut watch = within(client.watch(options)).await.unwrap();
    within(watch.next()).await.unwrap().unwrap();
    cluster.network.set(&endpoint(1), Weather::Cut);
    let error = within(watch.next()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(within(watch.next()).await.is_none());
    // A watch that cannot even begin fails within the client's timeout.
    let error = within(client.watch(members())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let error = within(client.watch(members().from(WatchFrom::List)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_the_cluster_refuses_says_why() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let options = members().bookmark_interval(Duration::from_millis(1));
    let error = within(client.watch(options)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.violations()[0].field, "bookmarkIntervalMs");
}

#[tokio::test(start_paused = true)]
async fn a_report_of_a_thousand_resources_arrives_as_one() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    join(&client, "a").await;
    let kinds = vec![ObjectKind::StorageVersion];
    let mut watch = within(client.watch(WatchOptions::new().kinds(kinds)))
        .await
        .unwrap();
    let view = within(client.member(&id("a"), ReadOptions::default()))
        .await
        .unwrap();
    let member = synod_client::MemberEpoch {
        member: id("a"),
        epoch: view.member.epoch,
        cluster: None,
    };
    let entries = (0..1_000).map(|number| fixed(&format!("r{number}.example.com"), &["v1"], "v1"));
    let number = synod_client::StatementNumber::FIRST;
    let reported = client.send_report(&member, number, entries.collect(), true);
    let reported = within(reported).await.unwrap();
    let seen = events(&mut watch).await;
    assert_eq!(seen.revision, reported.header.revision);
    assert_eq!(seen.events.len(), 1_000);
}

#[tokio::test(start_paused = true)]
async fn a_cache_follows_the_cluster_also_across_a_gap() {
    let settings = Settings {
        history_revisions: 3,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(3, settings).await;
    let client = cluster.client_of(vec![1]).await;
    let writer = cluster.client_of(vec![2, 3]).await;
    join(&writer, "a").await;
    join(&writer, "b").await;
    report(&writer, "a", "pods", "v1").await;
    let cache = within(client.reflect(vec![])).await.unwrap();
    let ids = || -> Vec<MemberId> {
        cache
            .members()
            .iter()
            .map(|member| member.id.clone())
            .collect()
    };
    assert_eq!(ids(), [id("a"), id("b")]);
    assert!(cache.settings().is_some());

    let seen = within(cache.changed(Revision::ZERO)).await.unwrap();
    let changed = report(&writer, "b", "pods", "v2").await;
    assert_eq!(within(cache.changed(seen)).await.unwrap(), changed);
    let pods = cache.storage_version(&resource("pods")).unwrap();
    assert_eq!(pods.entries.len(), 2);
    assert_eq!(pods.status.common, None);
    assert_eq!(
        cache
            .storage_state(&resource("pods"))
            .unwrap()
            .persisted
            .len(),
        3
    );

    cluster.network.set(&endpoint(1), Weather::Cut);
    leave(&writer, "b").await;
    for member in ["c", "d", "e"] {
        join(&writer, member).await;
    }
    let last = join(&writer, "f").await;
    cluster.network.set(&endpoint(1), Weather::Fair);
    within(cache.reached(last, Duration::from_secs(30)))
        .await
        .unwrap();
    assert_eq!(ids(), ["a", "c", "d", "e", "f"].map(id));
    let pods = cache.storage_version(&resource("pods")).unwrap();
    assert_eq!(pods.entries.len(), 1);
    assert_eq!(pods.status.common, Some(version("v1")));
    // The cache shows what the cluster answers.
    let read = within(client.storage_version(&resource("pods"), ReadOptions::default())).await;
    assert_eq!(read.unwrap().storage_version.as_ref(), Some(&*pods));
    let error = within(cache.reached(Revision::new(1_000), Duration::from_secs(2))).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::DeadlineExceeded);
    pass(Duration::from_secs(1)).await;
}
