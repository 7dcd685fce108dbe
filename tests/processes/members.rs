//! Members that expire, and processes that are replaced by another one under the same id.

use std::time::Duration;

use synod_client::{
    Client, Ended, ErrorKind, GroupResource, InstanceId, JoinOptions, ListMembers,
    ListStorageVersions, MemberEpoch, MemberId, ReadOptions, StatementNumber, Ttl,
};
use synod_proto::v1;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::durability::watch_each;
use crate::waiting::{LIMIT, within};
use crate::writers::{fixed, join};

fn resource(name: &str) -> GroupResource {
    GroupResource::new("example.com", name).expect("it is a name")
}

// Guarantee: M-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_member_leaves_no_entry_on_any_replica() {
    let cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let client = cluster.client().await;
    let staying = join(&client, "staying", "staying", 600_000).await;
    client
        .send_report(
            &staying,
            StatementNumber::FIRST,
            vec![fixed(resource("shared"))],
            true,
        )
        .await
        .expect("the cluster serves");
    // Long enough to report before it is gone, on a busy machine, too.
    let going = join(&client, "going", "going", 10_000).await;
    let entries = ["shared", "only-a", "only-b"].map(|name| fixed(resource(name)));
    let reported = client
        .send_report(&going, StatementNumber::FIRST, entries.into(), true)
        .await
        .expect("the cluster serves");

    // The member does not renew. One revision removes it with everything that belongs to it.
    let removed = removal(&watchers[0].1, reported.header.revision.get()).await;
    let group = watchers[0]
        .1
        .log()
        .group(removed)
        .expect("it was just seen")
        .clone();
    let changed = |kind: v1::ObjectKind, name: &str| {
        let event = group
            .events
            .iter()
            .find(|event| event.kind() == kind && event.name == name);
        event.map(v1::Event::r#type)
    };
    let versions = v1::ObjectKind::StorageVersion;
    assert_eq!(
        changed(v1::ObjectKind::Member, "going"),
        Some(v1::EventType::Removed)
    );
    assert_eq!(
        changed(versions, "example.com.only-a"),
        Some(v1::EventType::Removed)
    );
    assert_eq!(
        changed(versions, "example.com.only-b"),
        Some(v1::EventType::Removed)
    );
    assert_eq!(
        changed(versions, "example.com.shared"),
        Some(v1::EventType::Modified)
    );

    assert_left_nothing(&cluster, &going, &staying).await;
    agree(&cluster).await;
    cluster.finish().await;
}

/// Checks that no replica has anything of `going`, and that each has the entry of `staying`.
async fn assert_left_nothing(cluster: &Cluster, going: &MemberEpoch, staying: &MemberEpoch) {
    for id in IDS {
        let client = cluster.client_of(id).await;
        let gone = client
            .member(&going.member, ReadOptions::linearizable())
            .await;
        assert_eq!(
            gone.expect_err("it is gone").kind(),
            ErrorKind::NotFound,
            "replica {id}"
        );
        let all = client
            .storage_versions(ListStorageVersions::new())
            .all()
            .await
            .expect("it serves")
            .items;
        let versions: Vec<_> = all
            .iter()
            .filter_map(|item| item.storage_version.as_ref())
            .collect();
        assert_eq!(versions.len(), 1, "replica {id}");
        assert!(
            versions[0].entry(&going.member).is_none()
                && versions[0].entry(&staying.member).is_some()
        );
        let error = client.send_renew(going).await.expect_err("it is gone");
        assert_eq!(error.kind(), ErrorKind::NotAMember, "replica {id}");
    }
}

/// The first revision after `after` at which a member is removed.
async fn removal(watcher: &crate::watcher::Watcher, after: u64) -> u64 {
    let is_removal = |event: &v1::Event| {
        event.kind() == v1::ObjectKind::Member && event.r#type() == v1::EventType::Removed
    };
    let mut reached = after;
    loop {
        let found = {
            let log = watcher.log();
            let mut groups = log.groups().iter().filter(|group| group.revision > after);
            groups
                .find(|group| group.events.iter().any(is_removal))
                .map(|group| group.revision)
        };
        match found {
            Some(revision) => return revision,
            None => {
                reached += 1;
                watcher.reached(synod_client::Revision::new(reached)).await;
            }
        }
    }
}

// Guarantee: M-11, TM-20
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_processes_with_one_id_the_later_goes_on_and_the_earlier_stops_for_good() {
    let cluster = Cluster::start().await;
    let options = || {
        let id = MemberId::parse("apiserver").expect("it is an id");
        JoinOptions::new(id).ttl(Ttl::from_millis(3_000).expect("it is within bounds"))
    };
    let pods = resource("pods");
    let earlier = cluster
        .client_of(1)
        .await
        .join(options())
        .await
        .expect("it joins");
    earlier
        .report(vec![fixed(pods.clone())])
        .await
        .expect("the report is taken");
    let gate = earlier.gate();
    let held = gate.permit(&pods).await.expect("the gate is open");
    held.check().expect("the permit holds");
    let old = epoch_of(&earlier);

    let later = cluster
        .client_of(2)
        .await
        .join(options())
        .await
        .expect("it joins");
    let ended = within("the earlier process to be told", earlier.ended()).await;
    assert_eq!(ended, Ended::Replaced);
    held.check().expect_err("its permit is over");
    gate.try_permit(&pods).expect_err("its gate stays closed");
    assert!(later.epoch() > earlier.epoch());

    let before = agree(&cluster).await;
    assert_fenced(&cluster, &old).await;
    later
        .report(vec![fixed(pods.clone())])
        .await
        .expect("the later one reports");
    later
        .gate()
        .permit(&pods)
        .await
        .expect("its gate is open")
        .done();
    let seen = resources(&cluster.client().await).await;
    assert_eq!(seen, ["example.com.pods"]);
    later
        .leave(Duration::from_secs(5))
        .await
        .expect("it leaves");
    assert!(agree(&cluster).await > before);
    cluster.finish().await;
}

/// Checks that every replica refuses every request under the old epoch.
async fn assert_fenced(cluster: &Cluster, old: &MemberEpoch) {
    for id in IDS {
        let client = cluster.client_of(id).await;
        let instance = InstanceId::parse("another").expect("it is legal");
        let kinds = [
            client.send_renew(old).await.map(drop),
            client
                .send_report(
                    old,
                    StatementNumber::FIRST,
                    vec![fixed(resource("other"))],
                    true,
                )
                .await
                .map(drop),
            client.send_ready(old).await.map(drop),
            client.send_leave(old, &instance, true).await.map(drop),
        ];
        for refused in kinds {
            assert_eq!(
                refused.expect_err("it is fenced").kind(),
                ErrorKind::StaleEpoch,
                "replica {id}"
            );
        }
        client.close().await.expect("the cluster serves");
    }
}

/// The epoch that a membership speaks under.
fn epoch_of(membership: &synod_client::Membership) -> MemberEpoch {
    let epoch = membership.epoch().expect("it is a member");
    MemberEpoch {
        member: membership.id().clone(),
        epoch,
        cluster: None,
    }
}

/// The names of the storage versions.
async fn resources(client: &Client) -> Vec<String> {
    let all = client
        .storage_versions(ListStorageVersions::new())
        .all()
        .await
        .expect("the cluster serves")
        .items;
    all.into_iter()
        .filter_map(|item| Some(item.storage_version?.name))
        .collect()
}

// Guarantee: M-12, TM-20
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_by_a_stranger_or_an_old_epoch_is_refused_and_changes_nothing() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let first = join(&client, "some", "first", 600_000).await;
    client
        .send_report(
            &first,
            StatementNumber::FIRST,
            vec![fixed(resource("pods"))],
            true,
        )
        .await
        .expect("it is taken");
    join(&client, "some", "second", 600_000).await;
    let stranger = MemberEpoch {
        member: MemberId::parse("nobody").expect("an id"),
        ..first.clone()
    };
    // All clients open their sessions first, since opening one is a change.
    let mut clients = Vec::new();
    for id in IDS {
        let client = cluster.client_of(id).await;
        client
            .send_ready(&stranger)
            .await
            .expect_err("nobody has joined under this id");
        clients.push(client);
    }
    let before = agree(&cluster).await;
    for client in &clients {
        for (member, kind) in [
            (&stranger, ErrorKind::NotAMember),
            (&first, ErrorKind::StaleEpoch),
        ] {
            let report = client
                .send_report(
                    member,
                    StatementNumber::FIRST,
                    vec![fixed(resource("other"))],
                    true,
                )
                .await;
            assert_eq!(report.expect_err("it is refused").kind(), kind);
        }
    }
    assert_eq!(agree(&cluster).await, before);
    assert_eq!(resources(&client).await, ["example.com.pods"]);
    let members = client
        .with_timeout(LIMIT)
        .members(ListMembers::new())
        .all()
        .await
        .expect("it serves")
        .items;
    assert_eq!(members.len(), 1);
    cluster.finish().await;
}
