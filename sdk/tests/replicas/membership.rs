//! Memberships: staying one, losing it, and being replaced.

use std::time::Duration;

use synod_client::{
    Client, Drain, Drained, Ended, ErrorKind, JoinOptions, ListMembers, Membership,
    MembershipState, Persisted, Phase, ReadOptions, StorageState, StorageVersionView, Ttl,
};

use crate::cluster::{
    Cluster, endpoint, fixed, id, legal, pass, resource, version, voting, within,
};
use crate::network::Weather;

const TTL: Duration = Duration::from_secs(6);

async fn join(client: &Client, member: &str) -> Membership {
    let options = JoinOptions::new(id(member)).ttl(legal(Ttl::from_millis(6_000)));
    within(client.join(options)).await.unwrap()
}

/// Waits until a membership meets the condition.
async fn until(membership: &Membership, so: impl Fn(&MembershipState) -> bool) -> MembershipState {
    within(async {
        let mut state = membership.state();
        while !so(&state) {
            state = membership.state_changed(&state).await;
        }
        state
    })
    .await
}

async fn members(client: &Client) -> Vec<String> {
    let members = within(client.members(ListMembers::new()).all())
        .await
        .unwrap();
    members
        .items
        .iter()
        .map(|item| item.member.id.to_string())
        .collect()
}

async fn read(client: &Client, name: &str) -> StorageVersionView {
    let resource = resource(name);
    within(client.storage_version(&resource, ReadOptions::default()))
        .await
        .unwrap()
}

/// The drains of versions, without what was written before anybody spoke.
fn drains(state: &StorageState) -> Vec<Drain> {
    let mut drains = state.drains.clone();
    drains.retain(|drain| drain.encoding != Drained::Unknown);
    drains
}

#[tokio::test(start_paused = true)]
async fn a_member_is_kept_for_as_long_as_its_membership_is() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let epoch = membership.epoch();
    pass(TTL * 10).await;
    assert_eq!(membership.epoch(), epoch);
    assert!(membership.state().proved);
    assert_eq!(members(&client).await, ["a"]);
    drop(membership);
    pass(TTL * 2).await;
    assert_eq!(members(&client).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_member_reports_is_ready_and_leaves() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    assert!(membership.gate().readiness().is_err());
    let entries = vec![
        fixed("pods", &["v1"], "v1"),
        fixed("things.example.com", &["v1"], "v1"),
    ];
    let reported = within(membership.report(entries)).await.unwrap();
    assert_eq!(reported.resources.len(), 2);
    within(membership.ready()).await.unwrap();
    let state = membership.state();
    assert!(state.reported && state.ready && state.proved, "{state:?}");
    assert_eq!(membership.gate().readiness(), Ok(()));
    let view = within(client.member(&id("a"), ReadOptions::default()))
        .await
        .unwrap();
    assert_eq!(view.member.phase, Phase::Ready);
    assert!(view.member.reported);

    within(membership.leave(Duration::ZERO)).await.unwrap();
    assert_eq!(within(membership.ended()).await, Ended::Left);
    assert_eq!(members(&client).await, Vec::<String>::new());
    let error = within(membership.ready()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAMember);
    within(membership.leave(Duration::ZERO)).await.unwrap();
    // No permit was out, so nothing drains.
    let state = read(&client, "pods").await.storage_state.unwrap();
    assert_eq!(drains(&state), vec![]);
    assert!(state.persisted.iter().any(|persisted| {
        matches!(persisted, Persisted::Version { version: Some(text), .. } if *text == version("v1"))
    }));
}

#[tokio::test(start_paused = true)]
async fn who_leaves_with_an_open_permit_leaves_a_drain_behind() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    permit.check().unwrap();
    within(membership.leave(Duration::from_secs(3)))
        .await
        .unwrap();
    // Nothing can be sent under the permit any more.
    assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::NotAMember);
    let view = read(&client, "pods").await;
    let drains = drains(&view.storage_state.unwrap());
    assert_eq!(drains.len(), 1);
    assert!(drains[0].until.since(view.log_time) > Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn who_leaves_waits_for_its_permits() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let gate = membership.gate();
    let permit = within(gate.permit(&resource("pods"))).await.unwrap();
    let leaving = membership.leave(Duration::from_secs(30));
    let writing = async {
        pass(Duration::from_secs(2)).await;
        assert!(gate.try_permit(&resource("pods")).is_err());
        permit.check().unwrap();
        permit.done();
    };
    let (left, ()) = within(async { tokio::join!(leaving, writing) }).await;
    left.unwrap();
    let state = read(&client, "pods").await.storage_state.unwrap();
    assert_eq!(drains(&state), vec![]);
}

#[tokio::test(start_paused = true)]
async fn renewals_go_on_at_another_replica() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    let epoch = membership.epoch();
    for number in [1, 2, 3] {
        cluster.kill(number);
        pass(TTL * 2).await;
        assert_eq!(
            membership.epoch(),
            epoch,
            "after replica {number} was killed"
        );
        assert!(
            membership.state().proved,
            "after replica {number} was killed"
        );
        cluster.start_replica(number).await;
        cluster.serving(number).await;
    }
    for number in [1, 2, 3] {
        cluster.network.set(&endpoint(number), Weather::Silent);
        pass(TTL * 2).await;
        assert_eq!(
            membership.epoch(),
            epoch,
            "while replica {number} was silent"
        );
        assert!(
            membership.state().proved,
            "while replica {number} was silent"
        );
        cluster.network.set(&endpoint(number), Weather::Fair);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_member_joins_and_reports_again_and_is_ready_again() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client_of(vec![1]).await;
    let other = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    within(membership.ready()).await.unwrap();
    let before = membership.epoch().unwrap();
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    permit.check().unwrap();

    cluster.network.set(&endpoint(1), Weather::Silent);
    let unproved = until(&membership, |state| !state.proved).await;
    // As far as it knows it is still a member; but it cannot prove it.
    assert_eq!(unproved.epoch, Some(before));
    assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::NotAMember);
    let error = membership.gate().try_permit(&resource("pods")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(
        membership.gate().readiness(),
        Ok(()),
        "it can still be read from"
    );
    pass(TTL * 3).await;
    cluster.network.set(&endpoint(1), Weather::Cut);
    cluster.network.set(&endpoint(1), Weather::Fair);
    assert_eq!(members(&other).await, Vec::<String>::new());

    let state = until(&membership, |state| {
        state.ready && state.epoch != Some(before)
    })
    .await;
    assert!(state.reported && state.proved, "{state:?}");
    assert!(state.epoch.unwrap() > before);
    // A permit of the previous epoch is void for ever.
    assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::NotAMember);
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    assert_eq!(Some(permit.epoch()), state.epoch);
    let view = read(&other, "pods").await;
    assert!(view.storage_version.unwrap().entry(&id("a")).is_some());
    // Writes that may have been made under the old epoch drain.
    assert_eq!(drains(&view.storage_state.unwrap()).len(), 1);
}

/// A server that has expired while the others moved on to a version that its last report does not name.
async fn left_behind(cluster: &Cluster, other: &Client) -> (Membership, Membership) {
    let client = cluster.client_of(vec![1]).await;
    let membership = join(&client, "a").await;
    let entries = vec![
        voting("pods", &["v1"], "v1"),
        voting("things.example.com", &["v1"], "v1"),
    ];
    within(membership.report(entries)).await.unwrap();
    let before = membership.epoch();
    cluster.network.set(&endpoint(1), Weather::Silent);
    pass(TTL * 3).await;
    let moved = join(other, "b").await;
    within(moved.report(vec![voting("pods", &["v1", "v2"], "v2")]))
        .await
        .unwrap();
    cluster.network.set(&endpoint(1), Weather::Cut);
    cluster.network.set(&endpoint(1), Weather::Fair);
    let refused = until(&membership, |state| {
        let error = state.last_error.as_ref();
        error.is_some_and(|error| error.kind() == ErrorKind::NotDecodable)
    })
    .await;
    assert!(refused.epoch > before && !refused.reported, "{refused:?}");
    (membership, moved)
}

#[tokio::test(start_paused = true)]
async fn who_was_left_behind_mends_its_report_by_the_one_entry_that_was_refused() {
    let cluster = Cluster::start(3).await;
    let other = cluster.client().await;
    let (membership, _moved) = left_behind(&cluster, &other).await;
    let unfit = membership.report_change(voting("things.example.com", &["v1", "v2"], "v1"));
    let error = within(unfit).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDecodable);
    assert!(
        error
            .message()
            .starts_with("what was reported before is refused, so all was reported in one: "),
        "{error}"
    );
    within(membership.report_change(voting("pods", &["v1", "v2"], "v2")))
        .await
        .unwrap();
    assert!(membership.state().reported);
    let gate = membership.gate();
    let encodes = |name| gate.try_permit(&resource(name)).unwrap().encoding().clone();
    assert_eq!(encodes("pods"), version("v2"));
    // It was reported with the other, under the same epoch.
    assert_eq!(encodes("things.example.com"), version("v1"));
}

#[tokio::test(start_paused = true)]
async fn who_was_left_behind_mends_its_report_by_another_one() {
    let cluster = Cluster::start(3).await;
    let other = cluster.client().await;
    let (membership, _moved) = left_behind(&cluster, &other).await;
    within(membership.report(vec![voting("pods", &["v1", "v2"], "v2")]))
        .await
        .unwrap();
    let permit = membership.gate().try_permit(&resource("pods")).unwrap();
    assert_eq!(permit.encoding(), &version("v2"));
    assert!(
        membership
            .gate()
            .try_permit(&resource("things.example.com"))
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_counts_again_once_the_others_have_gone() {
    let cluster = Cluster::start(3).await;
    let other = cluster.client().await;
    let (membership, moved) = left_behind(&cluster, &other).await;
    let same = membership.report_change(voting("pods", &["v1"], "v1"));
    within(same).await.unwrap_err();
    within(moved.leave(Duration::ZERO)).await.unwrap();
    within(other.reset_storage_states(Some(&resource("pods"))))
        .await
        .unwrap();
    until(&membership, |state| state.reported).await;
}

#[tokio::test(start_paused = true)]
async fn a_replaced_member_stops_for_good() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let first = join(&client, "a").await;
    within(first.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let permit = within(first.gate().permit(&resource("pods")))
        .await
        .unwrap();
    let second = join(&client, "a").await;
    assert_eq!(within(first.ended()).await, Ended::Replaced);
    assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::StaleEpoch);
    let error = first.gate().try_permit(&resource("pods")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleEpoch);
    assert!(first.gate().readiness().is_err());
    let error = within(first.report(vec![])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StaleEpoch);
    pass(TTL * 5).await;
    assert_eq!(first.state().epoch, None);
    assert_eq!(second.state().ended, None);
    assert!(second.state().proved);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_was_away_while_it_was_replaced_stops_too() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client_of(vec![1]).await;
    let other = cluster.client_of(vec![2, 3]).await;
    let first = join(&client, "a").await;
    cluster.network.set(&endpoint(1), Weather::Silent);
    pass(TTL * 3).await;
    let second = join(&other, "a").await;
    pass(TTL * 3).await;
    cluster.network.set(&endpoint(1), Weather::Cut);
    cluster.network.set(&endpoint(1), Weather::Fair);
    // Its join names the epoch that it lost, and the present one is later.
    assert_eq!(within(first.ended()).await, Ended::Replaced);
    assert!(second.state().proved);
}

// Guarantee: G-03
#[tokio::test(start_paused = true)]
async fn a_machine_that_slept_closes_its_gate_before_any_timer_fires() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let permit = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    permit.check().unwrap();
    cluster.clock.suspend(TTL);
    assert_eq!(permit.check().unwrap_err().kind(), ErrorKind::NotAMember);
    assert!(membership.gate().try_permit(&resource("pods")).is_err());
    // The cluster was not suspended in this test: the next renewal proves the same epoch.
    let proved = within(membership.gate().permit(&resource("pods")))
        .await
        .unwrap();
    assert_eq!(proved.epoch(), permit.epoch());
    permit.check().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_membership_closes_its_gate() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let membership = join(&client, "a").await;
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let gate = membership.gate();
    drop(membership);
    assert!(gate.try_permit(&resource("pods")).is_err());
    assert!(gate.readiness().is_err());
}

// Guarantee: M-07
#[tokio::test(start_paused = true)]
async fn a_restart_with_an_unchanged_program_changes_no_storage_version() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let entries = vec![fixed("pods", &["v1", "v2"], "v1")];
    let first = join(&client, "a").await;
    within(first.report(entries.clone())).await.unwrap();
    let before = read(&client, "pods").await.storage_version.unwrap();
    let second = join(&client, "a").await;
    within(second.report(entries)).await.unwrap();
    let after = read(&client, "pods").await.storage_version.unwrap();
    assert_eq!(before, after);
}
