//! Watches and caches of ControllerRevisions, leases and candidates.

use std::time::Duration;

use synod_client::{
    AcquireLease, ApiVersion, Client, ControllerHistory, HolderIdentity, Kind, Labels, LeaseKey,
    MediaType, Namespace, ObjectKind, ObjectName, OwnerReference, Preconditions, PutLeaseCandidate,
    ReleaseLease, Revision, RevisionData, SemanticVersion, Settings, Strategy, Ttl, Uid, Wanted,
    WatchFrom, WatchOptions,
};

use crate::cluster::{Cluster, endpoint, legal, within};
use crate::network::Weather;
use crate::watch::{events, lines, resync};

fn kinds() -> Vec<ObjectKind> {
    vec![
        ObjectKind::ControllerRevision,
        ObjectKind::Lease,
        ObjectKind::LeaseCandidate,
    ]
}

fn key(name: &str) -> LeaseKey {
    legal(LeaseKey::new("a", name))
}

fn holder(identity: &str) -> HolderIdentity {
    legal(HolderIdentity::parse(identity))
}

/// Records a ControllerRevision for this size.
async fn wants(client: &Client, namespace: &str, size: u32) -> Revision {
    let history = client.history(ControllerHistory {
        namespace: legal(Namespace::parse(namespace)),
        owner: OwnerReference {
            api_version: legal(ApiVersion::parse("apps/v1")),
            kind: legal(Kind::parse("StatefulSet")),
            name: legal(ObjectName::parse("web")),
            uid: Uid::from_bytes([1; 16]),
            controller: true,
            block_owner_deletion: false,
        },
        selector: legal(Labels::parse([("app", "web")])),
    });
    let data = format!("{{\"size\":{size}}}").into_bytes().into();
    let wanted = Wanted::new(legal(RevisionData::new(MediaType::JSON, data)));
    let answered = Box::pin(within(history.create(wanted))).await.unwrap();
    answered.header.revision
}

async fn acquires(client: &Client, name: &str, identity: &str) -> Revision {
    let acquire = AcquireLease {
        key: key(name),
        holder: holder(identity),
        ttl: Ttl::MAX,
        wait: None,
        if_member: None,
    };
    let acquired = within(client.send_acquire_lease(acquire)).await.unwrap();
    acquired.header.revision
}

async fn releases(client: &Client, name: &str, identity: &str) -> Revision {
    let release = ReleaseLease {
        key: key(name),
        holder: holder(identity),
        token: None,
    };
    let released = within(client.send_release_lease(release)).await.unwrap();
    released.header.revision
}

/// Becomes a candidate by a strategy of its own, so that nobody is elected and the lease need not exist.
async fn stands(client: &Client, name: &str, identity: &str) -> Revision {
    let put = PutLeaseCandidate {
        key: key(name),
        identity: holder(identity),
        binary_version: legal(SemanticVersion::parse("1.33.0")),
        emulation_version: None,
        strategy: legal(Strategy::parse("example.com/Mine")),
        ttl: Ttl::MAX,
    };
    let stood = within(client.send_put_candidate(put)).await.unwrap();
    stood.header.revision
}

async fn withdraws(client: &Client, name: &str, identity: &str) -> Revision {
    let (key, identity) = (key(name), holder(identity));
    let withdrawn = client.send_withdraw_candidate(&key, &identity);
    within(withdrawn).await.unwrap().header.revision
}

/// The lines without the hash at the end of a ControllerRevision's name.
fn plain(lines: Vec<String>) -> Vec<String> {
    let cut = |line: String| match line.split_once(" web-") {
        Some((start, _)) => start.to_owned(),
        None => line,
    };
    lines.into_iter().map(cut).collect()
}

#[tokio::test(start_paused = true)]
async fn snapshots_leases_and_candidates_are_watched_by_kind_namespace_and_label() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let of = |namespace: &str| {
        let namespaces = vec![legal(Namespace::parse(namespace))];
        WatchOptions::new().namespaces(namespaces)
    };
    let mut all = within(client.watch(of("a").kinds(kinds()))).await.unwrap();
    let mut labelled = WatchOptions::new().kinds(kinds());
    labelled = labelled.labels(legal(Labels::parse([("app", "web")])));
    let mut labelled = within(client.watch(labelled)).await.unwrap();
    let mut expected = vec![wants(&client, "a", 1).await];
    let elsewhere = wants(&client, "b", 1).await;
    expected.push(stands(&client, "lock", "c").await);
    expected.push(acquires(&client, "lock", "h").await);
    let leader = cluster.leader(&client).await;
    cluster.kill(leader);
    expected.push(withdraws(&client, "lock", "c").await);
    expected.push(releases(&client, "lock", "h").await);
    let mut seen = Vec::new();
    let mut said = Vec::new();
    while seen.len() < expected.len() {
        let events = events(&mut all).await;
        seen.push(events.revision);
        said.extend(lines(&events.events));
    }
    assert_eq!(seen, expected);
    assert_eq!(
        plain(said),
        [
            "ADDED ControllerRevision",
            "ADDED LeaseCandidate c",
            "ADDED Lease lock",
            "REMOVED LeaseCandidate c",
            "MODIFIED Lease lock",
        ]
    );
    for revision in [expected[0], elsewhere] {
        assert_eq!(events(&mut labelled).await.revision, revision);
    }
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_snapshots_leases_and_candidates_is_closed_removed_before_added() {
    let settings = Settings {
        history_revisions: 3,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(3, settings).await;
    let client = cluster.client_of(vec![1]).await;
    let writer = cluster.client_of(vec![2, 3]).await;
    wants(&writer, "a", 1).await;
    acquires(&writer, "changes", "h").await;
    acquires(&writer, "stays", "h").await;
    // One identity is a candidate for two leases, which do not exist.
    stands(&writer, "one", "c").await;
    stands(&writer, "two", "c").await;
    let options = WatchOptions::new().kinds(kinds()).from(WatchFrom::List);
    let mut watch = within(client.watch(options)).await.unwrap();
    let cache = within(client.reflect(kinds())).await.unwrap();
    assert_eq!(resync(&mut watch).await.events.len(), 5);
    assert_eq!(cache.lease_candidates().len(), 2);

    cluster.network.set(&endpoint(1), Weather::Cut);
    withdraws(&writer, "one", "c").await;
    releases(&writer, "changes", "h").await;
    stands(&writer, "three", "d").await;
    let history = writer.controller_revisions(Default::default()).await;
    let first = history.unwrap().items.remove(0);
    let deleted = writer.delete_controller_revision(first.key.clone(), Preconditions::default());
    within(deleted).await.unwrap();
    let last = wants(&writer, "a", 2).await;
    cluster.network.set(&endpoint(1), Weather::Fair);
    let gap = resync(&mut watch).await;
    assert_eq!(gap.revision, last);
    assert_eq!(
        plain(lines(&gap.events)),
        [
            "REMOVED ControllerRevision",
            "REMOVED LeaseCandidate c",
            "ADDED ControllerRevision",
            "ADDED LeaseCandidate d",
            "MODIFIED Lease changes",
        ]
    );
    assert_eq!(gap.events[1].lease, Some(key("one")));

    within(cache.reached(last, Duration::from_secs(30)))
        .await
        .unwrap();
    assert!(cache.controller_revision(&first.key).is_none());
    assert_eq!(cache.controller_revisions().len(), 1);
    assert!(cache.lease(&key("changes")).unwrap().hold.is_none());
    let standing = cache.lease_candidates();
    let standing = standing.iter().map(|candidate| candidate.lease.clone());
    assert_eq!(standing.collect::<Vec<_>>(), ["three", "two"].map(key));
    // From there on the watch continues as before.
    let later = acquires(&writer, "changes", "i").await;
    assert_eq!(events(&mut watch).await.revision, later);
}
