//! Tests of watches: where they begin, what they deliver, and when they end.

use std::collections::BTreeMap;

use synod_proto::v1;
use synod_proto::v1::watch_response::Message;

use crate::cluster::{
    Clients, Cluster, entry, group_resource, join, next, next_events, reason, report, within,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_from_a_revision_begins_with_exactly_that_one() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let first = clients.join("server-a", 60_000).await.epoch;
    let second = clients.join("server-b", 60_000).await.epoch;
    let mut watch = clients.watch(Some(second)).await;
    let Message::Bookmark(begin) = next(&mut watch).await else {
        panic!("a watch begins with a bookmark")
    };
    assert_eq!(begin.revision, second - 1);
    assert_eq!(next_events(&mut watch).await.revision, second);
    let mut watch = clients.watch(Some(first)).await;
    assert_eq!(next_events(&mut watch).await.revision, first);
    assert_eq!(next_events(&mut watch).await.revision, second);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_carries_thousands_of_watches() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-a", 60_000).await.epoch;
    let mut watches = Vec::new();
    for _ in 0..1_500 {
        watches.push(within("a stream", clients.watch(Some(first))).await);
    }
    for watch in &mut watches {
        assert_eq!(next_events(watch).await.revision, first);
    }
    // What is no watch has room on the connection still.
    assert_eq!(clients.join("server-b", 60_000).await.epoch, first + 1);
    let last = watches.last_mut().expect("there are watches");
    assert_eq!(next_events(last).await.revision, first + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_revision_can_be_watched_and_a_later_one_cannot() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let newest = clients.join("server-a", 60_000).await.epoch;
    let mut watch = clients.watch(Some(newest + 1)).await;
    let request = v1::WatchRequest {
        from_revision: Some(newest + 2),
        ..v1::WatchRequest::default()
    };
    assert_eq!(
        reason(&clients.watch.watch(request).await.unwrap_err()),
        "FUTURE_REVISION"
    );
    let second = clients.join("server-b", 60_000).await.epoch;
    assert_eq!(next_events(&mut watch).await.revision, second);
}

// Guarantee: E-03
#[tokio::test(flavor = "multi_thread")]
async fn a_history_that_is_gone_is_answered_by_one_message_and_the_end() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-a", 60_000).await.epoch;
    let patch = v1::SettingsPatch {
        history_revisions: Some(1),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    clients.cluster.update_settings(update).await.unwrap();
    let newest = clients.join("server-b", 60_000).await.epoch;

    let mut watch = clients.watch(Some(first)).await;
    let Message::Compacted(compacted) = next(&mut watch).await else {
        panic!("that history is gone")
    };
    assert_eq!(
        (compacted.oldest_revision, compacted.current_revision),
        (newest, newest)
    );
    assert_eq!(within("the end", watch.message()).await.unwrap(), None);
    let mut watch = clients.watch(Some(compacted.oldest_revision)).await;
    assert_eq!(next_events(&mut watch).await.revision, newest);

    let foreign = v1::WatchRequest {
        from_revision: Some(newest),
        cluster_id: "6f662f7d-cca5-8e94-817e-f4a9c76dcdd5".to_owned(),
        ..v1::WatchRequest::default()
    };
    let mut watch = clients.watch.watch(foreign).await.unwrap().into_inner();
    assert!(matches!(next(&mut watch).await, Message::Compacted(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_lets_pass_what_it_names_and_bookmarks_tell_of_the_rest() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let request = v1::WatchRequest {
        filter: Some(v1::WatchFilter {
            kinds: vec![v1::ObjectKind::Member.into()],
            labels: BTreeMap::from([("zone".to_owned(), "east".to_owned())]),
            ..v1::WatchFilter::default()
        }),
        bookmark_interval_ms: Some(1_000),
        ..v1::WatchRequest::default()
    };
    let mut watch = clients.watch.watch(request).await.unwrap().into_inner();
    let zone = |zone: &str| BTreeMap::from([("zone".to_owned(), zone.to_owned())]);
    let east = v1::MembershipJoinRequest {
        labels: zone("east"),
        ..join("server-a", 60_000)
    };
    clients.membership.join(east).await.unwrap();
    let member = clients.join("server-b", 60_000).await;
    clients.report(&member, "apps/v1").await;
    let west = v1::MembershipJoinRequest {
        labels: zone("west"),
        ..join("server-a", 60_000)
    };
    clients.membership.join(west).await.unwrap();
    let last = clients.join("server-c", 60_000).await.epoch;

    let appeared = next_events(&mut watch).await;
    assert_eq!(appeared.events.len(), 1);
    assert_eq!(
        (&*appeared.events[0].name, appeared.events[0].r#type()),
        ("server-a", v1::EventType::Added)
    );
    let disappeared = next_events(&mut watch).await;
    assert_eq!(
        (&*disappeared.events[0].name, disappeared.events[0].r#type()),
        ("server-a", v1::EventType::Removed)
    );
    loop {
        match next(&mut watch).await {
            Message::Bookmark(bookmark) if bookmark.revision >= last => break,
            Message::Bookmark(_) => {}
            other => panic!("nothing else passes, but {other:?}"),
        }
    }
}

// Guarantee: E-09
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_without_a_quorum_ends_its_watches_and_takes_no_new_ones() {
    let mut cluster = Cluster::start_usual(3).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let mut watch = clients.watch(Some(member.epoch)).await;
    for other in [2, 3] {
        cluster.kill(other);
    }
    assert_eq!(next_events(&mut watch).await.revision, member.epoch);
    let ended = loop {
        match next(&mut watch).await {
            Message::Ended(ended) => break ended,
            Message::Bookmark(_) => {}
            other => panic!("no end but {other:?}"),
        }
    };
    assert_eq!(ended.reason(), v1::WatchEndReason::CutOff);
    assert!(ended.resume_revision > member.epoch);
    let again = v1::WatchRequest {
        from_revision: Some(ended.resume_revision),
        ..v1::WatchRequest::default()
    };
    let refused = clients.watch.watch(again).await.unwrap_err();
    assert_eq!(reason(&refused), "UNAVAILABLE", "{refused:?}");
    for other in [2, 3] {
        cluster.restart(other).await;
    }
    cluster.serving(1).await;
    let mut watch = clients.watch(Some(ended.resume_revision)).await;
    let later = within("a join", clients.join("server-b", 60_000)).await;
    assert_eq!(next_events(&mut watch).await.revision, later.epoch);
}

// Guarantee: E-02
#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_many_resources_arrives_at_one_revision_in_marked_fragments() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let mut watches = Vec::new();
    for id in cluster.ids() {
        watches.push(
            cluster
                .clients(id)
                .await
                .watch(Some(member.epoch + 1))
                .await,
        );
    }
    let count = 3_000;
    let entries = (0..count)
        .map(|number| entry(&format!("resource-{number}"), "apps/v1"))
        .collect();
    let answer = clients
        .storage_versions
        .report(report(&member, entries))
        .await
        .unwrap()
        .into_inner();
    let revision = answer.header.unwrap().revision;
    assert_eq!(answer.resources.len(), count);
    let mut seen = Vec::new();
    for watch in &mut watches {
        let mut fragments = vec![next_events(watch).await];
        while fragments.last().unwrap().more_fragments {
            fragments.push(next_events(watch).await);
        }
        assert!(
            fragments.len() > 1
                && fragments
                    .iter()
                    .all(|fragment| fragment.revision == revision)
        );
        seen.push(
            fragments
                .into_iter()
                .flat_map(|fragment| fragment.events)
                .collect::<Vec<_>>(),
        );
    }
    let changed = seen[0]
        .iter()
        .filter(|event| event.kind() == v1::ObjectKind::StorageVersion)
        .count();
    assert_eq!(changed, count);
    assert!(
        seen[1] == seen[0] && seen[2] == seen[0],
        "every replica tells the same"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stands_still_holds_up_nobody_and_learns_where_to_go_on() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let patch = v1::SettingsPatch {
        history_revisions: Some(2),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    clients.cluster.update_settings(update).await.unwrap();

    let mut stands = cluster.clients(1).await.watch(None).await;
    let mut moves = cluster.clients(1).await.watch(None).await;
    let mut newest = 0;
    for round in 0..40 {
        // More than fits into the buffers between a server and a client that does not read.
        let version = if round % 2 == 0 { "apps/v1" } else { "apps/v2" };
        let entries = (0..200)
            .map(|number| entry(&format!("resource-{number}"), version))
            .collect();
        let answer = clients
            .storage_versions
            .report(report(&member, entries))
            .await
            .unwrap()
            .into_inner();
        newest = answer.header.unwrap().revision;
        while next_events(&mut moves).await.revision < newest {}
    }
    let mut seen = 0;
    let ended = loop {
        match next(&mut stands).await {
            Message::Events(events) => seen = events.revision,
            Message::Bookmark(_) => {}
            Message::Ended(ended) => break ended,
            other => panic!("the end, not {other:?}"),
        }
    };
    assert_eq!(ended.reason(), v1::WatchEndReason::TooSlow);
    assert_eq!(ended.resume_revision, seen + 1);
    assert!(seen < newest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_watch_names_every_fault() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let request = v1::WatchRequest {
        from_revision: Some(0),
        bookmark_interval_ms: Some(5),
        ..v1::WatchRequest::default()
    };
    let refused = clients.watch.watch(request).await.unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    let violations = synod_proto::status::from_status(&refused).violations;
    let fields: Vec<&str> = violations
        .iter()
        .map(|violation| &*violation.field)
        .collect();
    assert_eq!(fields, ["fromRevision", "bookmarkIntervalMs"]);
}

/// Moves the revision as often as given, and changes nothing of the upgrade history.
async fn is_busy(clients: &mut Clients, times: usize) {
    for _ in 0..times {
        let open = v1::SessionsOpenRequest::default();
        clients.sessions.open(open).await.unwrap();
    }
}

async fn keep_revisions(clients: &mut Clients, history_revisions: u64) {
    let patch = v1::SettingsPatch {
        history_revisions: Some(history_revisions),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    clients.cluster.update_settings(update).await.unwrap();
}

/// A watch of these kinds from a revision on.
fn of_kinds(from: u64, kinds: &[v1::ObjectKind]) -> v1::WatchRequest {
    v1::WatchRequest {
        from_revision: Some(from),
        filter: Some(v1::WatchFilter {
            kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
            ..v1::WatchFilter::default()
        }),
        ..v1::WatchRequest::default()
    }
}

// Guarantee: E-04
#[tokio::test(flavor = "multi_thread")]
async fn the_history_of_an_upgrade_outlives_that_of_everything_else() {
    use v1::ObjectKind::{Lease, Member, StorageVersion};
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    keep_revisions(&mut clients, 10).await;
    let member = clients.join("server-a", 600_000).await;
    let reported = clients.report(&member, "apps/v1").await;
    is_busy(&mut clients, 30).await;

    let status = clients.cluster.status(v1::ClusterStatusRequest {}).await;
    let status = status.unwrap().into_inner();
    assert!(status.oldest_revision > reported);
    assert!(status.oldest_upgrade_revision <= member.epoch);

    let watch = of_kinds(member.epoch, &[Member, StorageVersion]);
    let mut watch = clients.watch.watch(watch).await.unwrap().into_inner();
    let first = next_events(&mut watch).await;
    assert_eq!((first.revision, first.events.len()), (member.epoch, 1));
    assert!(first.time_ms.is_some_and(|time| time > 0));
    assert_eq!(next_events(&mut watch).await.revision, reported);
    let later = clients.join("server-b", 600_000).await.epoch;
    assert_eq!(
        next_events(&mut watch).await.revision,
        later,
        "and it goes on"
    );

    for kinds in [&[][..], &[Lease], &[Member, Lease]] {
        let watch = of_kinds(member.epoch, kinds);
        let mut watch = clients.watch.watch(watch).await.unwrap().into_inner();
        let Message::Compacted(compacted) = next(&mut watch).await else {
            panic!("{kinds:?}: that history is gone")
        };
        assert!(compacted.oldest_revision > reported);
    }

    let then = v1::ReadOptions {
        at_revision: Some(member.epoch),
        ..v1::ReadOptions::default()
    };
    let list = v1::MembershipListRequest {
        read: Some(then),
        ..v1::MembershipListRequest::default()
    };
    let members = clients.membership.list(list).await.unwrap().into_inner();
    assert_eq!(members.items.len(), 1);
    let leases = v1::LeasesListRequest {
        read: Some(then),
        ..v1::LeasesListRequest::default()
    };
    let refused = clients.leases.list(leases).await.unwrap_err();
    assert_eq!(reason(&refused), "COMPACTED");
    let drop = v1::StorageVersionsCheckDropRequest {
        resource: Some(group_resource("deployments")),
        version: "apps/v1".to_owned(),
        read: Some(then),
    };
    let refused = clients.storage_versions.check_drop(drop).await.unwrap_err();
    assert_eq!(reason(&refused), "COMPACTED", "snapshots count, too");
}

// Guarantee: E-05
#[tokio::test(flavor = "multi_thread")]
async fn a_time_has_a_revision() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let joined = clients.join("server-a", 600_000).await.epoch;
    let mut watch = clients.watch(Some(joined)).await;
    let time = next_events(&mut watch).await.time_ms.unwrap();
    let at = |time_ms: u64| v1::ClusterRevisionAtRequest {
        time_ms,
        read: None,
    };
    let found = clients.cluster.revision_at(at(time)).await.unwrap();
    let found = found.into_inner();
    assert_eq!((found.time_ms, found.caller), (time, None));
    assert!(found.revision >= joined);
    let newest = clients.cluster.revision_at(at(time + 1_000_000)).await;
    assert!(newest.unwrap().into_inner().revision >= found.revision);
    let refused = clients.cluster.revision_at(at(1)).await.unwrap_err();
    assert_eq!(reason(&refused), "COMPACTED");
    assert!(refused.message().contains("the oldest that has a time is"));
}
