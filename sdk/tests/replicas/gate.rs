//! The write gate under reports, changes and votes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use futures::FutureExt as _;
use synod_client::{
    ApiVersion, Client, Ended, ErrorKind, Gate, GateLayer, GroupResource, JoinOptions, Membership,
    Permit, ReadOptions, Settings, StatementNumber, StorageVersion, Verdict,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::cluster::{
    Cluster, endpoint, fixed, id, pass, resource, short_grace, version, voting, within,
};
use crate::http::Server;
use crate::network::Weather;

/// The `write_grace` of these tests.
const GRACE: Duration = Duration::from_secs(20);

async fn join(client: &Client, member: &str) -> Membership {
    within(client.join(JoinOptions::new(id(member))))
        .await
        .unwrap()
}

async fn read(client: &Client, name: &str) -> StorageVersion {
    let resource = resource(name);
    let view = within(client.storage_version(&resource, ReadOptions::default())).await;
    view.unwrap().storage_version.unwrap()
}

/// A permit, waited for half a minute at most.
async fn permit(gate: Gate, name: &str) -> Permit {
    let resource = resource(name);
    gate.permit_within(&resource, Duration::from_secs(30))
        .await
        .unwrap()
}

fn encoding(gate: &Gate, name: &str) -> Result<ApiVersion, ErrorKind> {
    let permit = gate
        .try_permit(&resource(name))
        .map_err(|error| error.kind())?;
    Ok(permit.encoding().clone())
}

/// Waits until a resource meets the condition.
async fn until(client: &Client, name: &str, so: impl Fn(&StorageVersion) -> bool) {
    within(async {
        let cache = client
            .reflect(vec![synod_client::ObjectKind::StorageVersion])
            .await
            .unwrap();
        let mut revision = synod_client::Revision::ZERO;
        loop {
            if cache
                .storage_version(&resource(name))
                .is_some_and(|version| so(&version))
            {
                return;
            }
            revision = cache.changed(revision).await.unwrap();
        }
    })
    .await;
}

// Guarantee: G-01
#[tokio::test(start_paused = true)]
async fn the_gate_opens_for_each_resource_with_its_report() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let gate = membership.gate();
    let error = gate.try_permit(&resource("pods")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(
        error.message(),
        "wait for storage version registration to complete for resource: pods, last seen error: <nil>"
    );
    let waiting = permit(gate.clone(), "pods");
    let reporting = async {
        pass(Duration::from_secs(3)).await;
        membership
            .report(vec![fixed("pods", &["v1"], "v1")])
            .await
            .unwrap();
    };
    let (permit, ()) = within(async { tokio::join!(waiting, reporting) }).await;
    assert_eq!(permit.encoding(), &version("v1"));
    assert_eq!(encoding(&gate, "nodes"), Err(ErrorKind::Unavailable));
}

#[tokio::test(start_paused = true)]
async fn a_write_waits_no_longer_than_its_limit() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let options = JoinOptions::new(id("a")).permit_wait(Duration::from_secs(4));
    let membership = within(client.join(options)).await.unwrap();
    let began = Instant::now();
    let error = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.retryable());
    assert!(began.elapsed() >= Duration::from_secs(4));
    assert!(began.elapsed() < Duration::from_millis(4_100));
}

#[tokio::test(start_paused = true)]
async fn one_resource_is_changed_under_load_and_no_write_overlaps_the_report() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let entries = vec![
        fixed("things.example.com", &["v1", "v2"], "v1"),
        fixed("pods", &["v1"], "v1"),
    ];
    within(membership.report(entries)).await.unwrap();
    let stop = Arc::new(Notify::new());
    let writers: Vec<_> = (0..20)
        .map(|writer| {
            let name = if writer % 2 == 0 {
                "things.example.com"
            } else {
                "pods"
            };
            tokio::spawn(write(
                client.clone(),
                membership.gate(),
                resource(name),
                writer,
                stop.clone(),
            ))
        })
        .collect();
    pass(Duration::from_secs(2)).await;
    let change = fixed("things.example.com", &["v1", "v2"], "v2");
    let reported = within(membership.report_change(change)).await.unwrap();
    let changed_at = reported.header.revision;
    pass(Duration::from_secs(2)).await;
    stop.notify_waiters();

    let mut landed: BTreeMap<(GroupResource, ApiVersion), usize> = BTreeMap::new();
    for writer in writers {
        for (permit, revision) in within(writer).await.unwrap() {
            let key = (permit.resource().clone(), permit.encoding().clone());
            *landed.entry(key).or_default() += 1;
            if *permit.resource() == resource("things.example.com") {
                let expected = if revision < changed_at { "v1" } else { "v2" };
                assert_eq!(
                    permit.encoding(),
                    &version(expected),
                    "landed at {revision}"
                );
            }
        }
    }
    let count = |name: &str, text: &str| landed.get(&(resource(name), version(text))).copied();
    assert!(
        count("things.example.com", "v1").unwrap_or_default() > 10,
        "{landed:?}"
    );
    assert!(
        count("things.example.com", "v2").unwrap_or_default() > 10,
        "{landed:?}"
    );
    assert!(count("pods", "v1").unwrap_or_default() > 40, "{landed:?}");
    assert_eq!(count("pods", "v2"), None);
}

/// Writes until it is told to stop. A write lands some time after its check; returns the revision at which each landed.
async fn write(
    client: Client,
    gate: Gate,
    resource: GroupResource,
    writer: u64,
    stop: Arc<Notify>,
) -> Vec<(Permit, synod_client::Revision)> {
    let mut landed = Vec::new();
    let stopped = stop.notified();
    tokio::pin!(stopped);
    loop {
        let writing = async {
            let permit = gate.permit(&resource).await.unwrap();
            pass(Duration::from_millis(10 + writer)).await;
            permit.check().unwrap();
            pass(Duration::from_millis(40 + 3 * writer)).await;
            let read = client.settings(ReadOptions::default()).await.unwrap();
            permit.done();
            (permit, read.header.revision)
        };
        tokio::select! {
            biased;
            () = &mut stopped => return landed,
            write = writing => landed.push(write),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_of_unknown_outcome_holds_a_change_back_for_the_write_grace() {
    let cluster = Cluster::start_with(1, short_grace(GRACE)).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    let gate = membership.gate();
    let permit = within(gate.permit(&resource("pods"))).await.unwrap();
    permit.check().unwrap();
    permit.unknown_outcome();
    assert!(!gate.is_drained());
    let began = Instant::now();
    let changing = membership.report_change(fixed("pods", &["v1", "v2"], "v2"));
    let looking = async {
        pass(GRACE - Duration::from_secs(1)).await;
        assert_eq!(encoding(&gate, "pods"), Err(ErrorKind::Unavailable));
        assert_eq!(
            read(&client, "pods").await.status.common,
            Some(version("v1"))
        );
    };
    let (changed, ()) = within(Box::pin(async { tokio::join!(changing, looking) })).await;
    changed.unwrap();
    assert!(began.elapsed() >= GRACE);
    assert_eq!(encoding(&gate, "pods"), Ok(version("v2")));
    assert!(gate.is_drained());
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_was_never_checked_comes_back_when_it_is_dropped() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let gate = membership.gate();
    let unused = within(gate.permit(&resource("pods"))).await.unwrap();
    assert!(!gate.is_drained());
    drop(unused);
    assert!(gate.is_drained());
    // A permit that was checked may have been used.
    let used = within(gate.permit(&resource("pods"))).await.unwrap();
    used.check().unwrap();
    drop(used);
    assert!(!gate.is_drained());
    // Clones are the same permit, which is given back once.
    let given_back = within(gate.permit(&resource("pods"))).await.unwrap();
    let clone = given_back.clone();
    clone.done();
    let error = given_back.check().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    given_back.unknown_outcome();
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_permits_do_not_come_back_is_given_up() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let options = JoinOptions::new(id("a")).drain_limit(Duration::from_secs(5));
    let membership = within(client.join(options)).await.unwrap();
    within(membership.report(vec![fixed("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    let change = fixed("pods", &["v1", "v2"], "v2");
    let error = within(membership.report_change(change.clone()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Draining);
    assert!(
        error.message().contains("1 permits are still out"),
        "{error}"
    );
    // The earlier report still holds.
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
    permit.done();
    within(membership.report_change(change)).await.unwrap();
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v2")));
}

#[tokio::test(start_paused = true)]
async fn a_stuck_report_ends_with_an_error_and_opens_nothing() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await.with_timeout(Duration::from_secs(2));
    let membership = join(&client, "a").await;
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Cut);
    }
    let began = Instant::now();
    let entries = vec![fixed("pods", &["v1"], "v1")];
    let error = within(membership.report(entries.clone()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.execution(), Verdict::NotExecuted);
    // Three tries of two seconds, one second apart.
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(7) && took < Duration::from_secs(9),
        "{took:?}"
    );
    let waiting = membership.gate().try_permit(&resource("pods")).unwrap_err();
    assert!(
        waiting.message().contains("last seen error: UNAVAILABLE: "),
        "{waiting}"
    );
    assert!(membership.gate().readiness().is_err());
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Fair);
    }
    within(membership.report(entries)).await.unwrap();
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_unknown_outcome_closes_the_gate_until_what_stands_is_known() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await.with_timeout(Duration::from_secs(2));
    let other = cluster.client_of(vec![1, 2, 3]).await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Mute);
    }
    let change = fixed("pods", &["v1", "v2"], "v2");
    let error = within(membership.report_change(change)).await.unwrap_err();
    assert_eq!(error.execution(), Verdict::Unknown);
    assert_eq!(
        encoding(&membership.gate(), "pods"),
        Err(ErrorKind::Unavailable)
    );
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Cut);
        cluster.network.set(&endpoint(number), Weather::Fair);
    }
    // It was executed; the earlier report is then sent again, and only after that the gate opens.
    let permit = within(permit(membership.gate(), "pods")).await;
    assert_eq!(permit.encoding(), &version("v1"));
    assert_eq!(
        read(&other, "pods").await.status.common,
        Some(version("v1"))
    );
}

// Guarantee: V-05
#[tokio::test(start_paused = true)]
async fn a_vote_of_unknown_outcome_leaves_nobody_without_an_agreement() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await.with_timeout(Duration::from_secs(2));
    let other = cluster.client_of(vec![1, 2, 3]).await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![voting("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Mute);
    }
    // It is executed, and moves the selection; sending the earlier report again moves it back.
    let vote = voting("pods", &["v1", "v2"], "v2");
    let error = within(membership.report_change(vote)).await.unwrap_err();
    assert_eq!(error.execution(), Verdict::Unknown);
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Cut);
        cluster.network.set(&endpoint(number), Weather::Fair);
    }
    let permit = within(permit(membership.gate(), "pods")).await;
    assert_eq!(permit.encoding(), &version("v1"));
    permit.done();
    until(&other, "pods", |pods| {
        pods.status.agreed == Some(version("v1"))
            && pods.entries[0].adopted_revision == Some(pods.status.selected_revision)
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_overtaken_says_what_is_true_after_what_overtook_it() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    // Another statement of this very epoch has a number that the membership does not know of.
    let member = synod_client::MemberEpoch {
        member: id("a"),
        epoch: membership.epoch().unwrap(),
        cluster: None,
    };
    let number = |number| StatementNumber::new(number).unwrap();
    let v2 = || vec![fixed("pods", &["v1", "v2"], "v2")];
    within(client.send_report(&member, number(1_000), v2(), false))
        .await
        .unwrap();
    let error = within(client.send_report(&member, number(999), v2(), false))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.metadata()["last_number"], "1000");
    within(membership.report_change(fixed("pods", &["v1", "v2", "v3"], "v1")))
        .await
        .unwrap();
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
    let pods = read(&client, "pods").await;
    assert_eq!(pods.status.common, Some(version("v1")));
    let late = within(client.send_report(&member, number(1_000), v2(), false));
    assert_eq!(late.await.unwrap_err().kind(), ErrorKind::Conflict);
}

// Guarantee: W-08
#[tokio::test(start_paused = true)]
async fn a_refused_change_leaves_what_was_reported() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let (membership, other) = (join(&client, "a").await, join(&client, "b").await);
    let entries = || vec![voting("pods", &["v1", "v2"], "v1")];
    within(membership.report(entries())).await.unwrap();
    within(other.report(entries())).await.unwrap();
    let error = within(membership.report_change(voting("pods", &["v2"], "v2")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDecodable);
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
    let twice = vec![fixed("pods", &["v1"], "v1"), fixed("pods", &["v1"], "v1")];
    let error = within(membership.report(twice)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.violations()[0].field, "entries[1].resource");
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_is_reported_no_more_has_a_closed_gate() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let error = within(membership.report_change(fixed("pods", &["v1"], "v1")))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::InvalidArgument,
        "nothing was reported yet"
    );
    let both = vec![fixed("pods", &["v1"], "v1"), fixed("nodes", &["v1"], "v1")];
    within(membership.report(both)).await.unwrap();
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    assert_eq!(
        encoding(&membership.gate(), "nodes"),
        Err(ErrorKind::Unavailable)
    );
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
    within(membership.report_change(fixed("nodes", &["v1"], "v1")))
        .await
        .unwrap();
    assert_eq!(encoding(&membership.gate(), "nodes"), Ok(version("v1")));
    assert_eq!(encoding(&membership.gate(), "pods"), Ok(version("v1")));
}

#[tokio::test(start_paused = true)]
async fn equivalent_resources_are_reported_once_and_pass_together() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let (old, new) = ("ingresses.extensions", "ingresses.networking.k8s.io");
    let options = JoinOptions::new(id("a")).equivalents(vec![vec![resource(new), resource(old)]]);
    let membership = within(client.join(options)).await.unwrap();
    let entries = vec![
        fixed(new, &["networking.k8s.io/v1"], "networking.k8s.io/v1"),
        fixed(old, &["extensions/v1beta1"], "extensions/v1beta1"),
    ];
    let reported = within(membership.report(entries)).await.unwrap();
    assert_eq!(reported.resources.len(), 1);
    assert_eq!(reported.resources[0].resource, resource(old));
    assert_eq!(
        encoding(&membership.gate(), new),
        Ok(version("extensions/v1beta1"))
    );
    let version_of_both = read(&client, old).await;
    let decodable: Vec<String> = version_of_both.entries[0]
        .decodable
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(decodable, ["extensions/v1beta1", "networking.k8s.io/v1"]);
}

#[tokio::test(start_paused = true)]
async fn voters_take_up_what_is_selected_and_agree_when_their_permits_are_back() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let (first, second) = (join(&client, "a").await, join(&client, "b").await);
    let old = || vec![voting("pods", &["v1", "v2"], "v1")];
    within(first.report(old())).await.unwrap();
    within(second.report(old())).await.unwrap();
    until(&client, "pods", |version| version.status.agreed.is_some()).await;
    let permit = within(first.gate().permit(&resource("pods")))
        .await
        .unwrap();
    assert_eq!(permit.encoding(), &version("v1"));
    permit.check().unwrap();

    // An unchanged entry waits for no permits.
    within(first.report_change(voting("pods", &["v1", "v2"], "v1")))
        .await
        .unwrap();
    // The voters change their votes: the selection moves with the last one.
    let new = || voting("pods", &["v1", "v2"], "v2");
    within(second.report_change(new())).await.unwrap();
    let changing = first.report_change(new());
    let finishing = async {
        pass(Duration::from_secs(1)).await;
        permit.done();
    };
    let (changed, ()) = within(async { tokio::join!(changing, finishing) }).await;
    let told = changed.unwrap().resources;
    assert_eq!(told[0].selected, Some(version("v2")));
    assert_eq!(encoding(&first.gate(), "pods"), Ok(version("v2")));
    until(&client, "pods", |version_of| {
        version_of.status.agreed == Some(version("v2"))
    })
    .await;
    assert_eq!(encoding(&second.gate(), "pods"), Ok(version("v2")));
    let pods = read(&client, "pods").await;
    for entry in &pods.entries {
        assert_eq!(entry.adopted_revision, Some(pods.status.selected_revision));
    }
}

#[tokio::test(start_paused = true)]
async fn a_permit_names_a_revision_at_which_its_encoding_was_allowed() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let prefers = |preferred| voting("pods", &["v1", "v2"], preferred);
    within(membership.report(vec![prefers("v1")]))
        .await
        .unwrap();
    let mut last = synod_client::Revision::ZERO;
    for encoding in ["v1", "v2"] {
        within(membership.report_change(prefers(encoding)))
            .await
            .unwrap();
        // Another change moves the revision; the permit need not know of it.
        let _other = join(&client, &format!("b-{encoding}")).await;
        let permit = permit(membership.gate(), "pods").await;
        assert_eq!(permit.encoding(), &version(encoding));
        assert!(permit.revision() > last, "{permit:?}");
        last = permit.revision();
        permit.done();
        let then = ReadOptions::at_revision(last);
        let view = within(client.storage_version(&resource("pods"), then)).await;
        let pods = view.unwrap().storage_version.unwrap();
        let entry = pods.entry(&id("a")).unwrap();
        assert_eq!(entry.encoding, Some(version(encoding)));
        assert_eq!(pods.status.selected, Some(version(encoding)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_voter_with_an_open_permit_keeps_the_others_waiting_for_agreement() {
    let cluster = Cluster::start_with(1, short_grace(GRACE)).await;
    let client = cluster.client().await;
    let (first, second) = (join(&client, "a").await, join(&client, "b").await);
    within(first.report(vec![voting("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    within(second.report(vec![voting("pods", &["v1", "v2"], "v2")]))
        .await
        .unwrap();
    assert_eq!(encoding(&second.gate(), "pods"), Ok(version("v1")));
    let held = within(second.gate().permit(&resource("pods")))
        .await
        .unwrap();
    held.check().unwrap();
    within(first.report_change(voting("pods", &["v1", "v2"], "v2")))
        .await
        .unwrap();
    until(&client, "pods", |seen| {
        seen.status.selected == Some(version("v2"))
    })
    .await;
    pass(Duration::from_secs(1)).await;
    // New writes are encoded in it at once; a write whose permit is out may still be sent in the old version.
    assert_eq!(encoding(&second.gate(), "pods"), Ok(version("v2")));
    held.check().unwrap();
    let pods = read(&client, "pods").await;
    assert_eq!(pods.entry(&id("b")).unwrap().encoding, Some(version("v1")));
    assert_eq!(pods.status.agreed, None);
    held.unknown_outcome();
    pass(GRACE - Duration::from_secs(1)).await;
    assert_eq!(read(&client, "pods").await.status.agreed, None);
    until(&client, "pods", |seen| {
        seen.status.agreed == Some(version("v2"))
    })
    .await;
    assert_eq!(held.check().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[tokio::test(start_paused = true)]
async fn a_voter_whom_nothing_is_selected_for_waits_for_the_others() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let (first, second) = (join(&client, "a").await, join(&client, "b").await);
    within(first.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    // Its preference cannot be decoded by all, so it cannot be selected.
    within(second.report(vec![voting("pods", &["v1", "v2"], "v2")]))
        .await
        .unwrap();
    let error = second.gate().try_permit(&resource("pods")).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("no storage version is selected yet"),
        "{error}"
    );
    let waiting = permit(second.gate(), "pods");
    let leaving = async {
        pass(Duration::from_secs(1)).await;
        first.leave(Duration::ZERO).await.unwrap();
    };
    let (permit, ()) = within(async { tokio::join!(waiting, leaving) }).await;
    assert_eq!(permit.encoding(), &version("v2"));
    assert_eq!(within(first.ended()).await, Ended::Left);
    until(&client, "pods", |seen| {
        seen.status.agreed == Some(version("v2"))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_write_grace_is_learned_by_watch() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1", "v2"], "v1")]))
        .await
        .unwrap();
    let patch = synod_client::SettingsPatch {
        write_grace: Some(GRACE),
        ..Default::default()
    };
    within(client.update_settings(patch, None)).await.unwrap();
    pass(Duration::from_secs(1)).await;
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    permit.check().unwrap();
    permit.unknown_outcome();
    let began = Instant::now();
    within(membership.report_change(fixed("pods", &["v1", "v2"], "v2")))
        .await
        .unwrap();
    let took = began.elapsed();
    assert!(
        took >= GRACE && took < GRACE * 2,
        "{took:?} and not {:?}",
        Settings::default().write_grace
    );
}

/// A store behind a handler that has its permit and stops right before it writes.
#[derive(Clone, Default)]
struct SlowWrites {
    /// Notified when a request has its permit.
    begun: Arc<Notify>,
    /// Lets the request go on.
    goes_on: Arc<Notify>,
    stored: Arc<AtomicUsize>,
}

impl SlowWrites {
    async fn handle(self, request: Request<Body>) -> (StatusCode, String) {
        let permit = request.extensions().get::<Permit>().unwrap();
        self.begun.notify_one();
        self.goes_on.notified().await;
        match permit.check() {
            Ok(()) => {
                self.stored.fetch_add(1, Ordering::Relaxed);
                permit.done();
                (StatusCode::CREATED, "stored".to_owned())
            }
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        }
    }
}

// Guarantee: G-06
#[tokio::test(start_paused = true)]
async fn a_membership_that_is_lost_in_the_middle_of_a_request_keeps_it_from_the_store() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let pods = || vec![fixed("pods", &["v1"], "v1")];
    within(membership.report(pods())).await.unwrap();
    let writes = SlowWrites::default();
    let handler = writes.clone();
    let objects = Router::new().fallback(move |request| handler.clone().handle(request));
    let gate = membership.gate();
    let server = Server::start_with(GateLayer::new(gate.clone()), gate.clone(), objects).await;
    let path = "/api/v1/namespaces/default/pods";
    let write = |goes_on| {
        let (server, writes) = (&server, &writes);
        async move {
            let meanwhile = async {
                writes.begun.notified().await;
                goes_on.await;
                writes.goes_on.notify_one();
            };
            let (answer, ()) = tokio::join!(server.send(Method::POST, path), meanwhile);
            answer
        }
    };
    let untouched = std::future::ready(()).boxed();
    assert_eq!(write(untouched).await.status, StatusCode::CREATED);

    // Another process takes the id while the request is on its way to the store.
    let second = Mutex::new(None);
    let replaced = async {
        *second.lock().unwrap() = Some(join(&client, "a").await);
        within(membership.ended()).await;
    };
    let refused = write(replaced.boxed()).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.body.contains("STALE_EPOCH"), "{}", refused.body);
    assert_eq!(writes.stored.load(Ordering::Relaxed), 1);

    // The proof of the second instance ends in the middle, too; its permit is given back with the answer.
    let second = second.into_inner().unwrap().unwrap();
    within(second.report(pods())).await.unwrap();
    let gate = second.gate();
    let objects = {
        let handler = writes.clone();
        Router::new().fallback(move |request| handler.clone().handle(request))
    };
    let server = Server::start_with(GateLayer::new(gate.clone()), gate, objects).await;
    let slept = async {
        writes.begun.notified().await;
        cluster.clock.suspend(Duration::from_secs(60));
        writes.goes_on.notify_one();
    };
    let (refused, ()) = tokio::join!(server.send(Method::POST, path), slept);
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.body.contains("NOT_A_MEMBER"), "{}", refused.body);
    assert_eq!(writes.stored.load(Ordering::Relaxed), 1);
    let drains = async || {
        let pods = resource("pods");
        let view = within(client.storage_version(&pods, ReadOptions::default())).await;
        view.unwrap().storage_state.unwrap().drains
    };
    let before = drains().await;
    within(second.leave(Duration::from_secs(5))).await.unwrap();
    assert_eq!(drains().await, before, "its permits were back");
}
