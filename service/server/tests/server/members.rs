//! Tests of members: renewed, replaced, expired.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use synod_proto::v1;
use synod_proto::v1::membership_renew_response::Result as Renewal;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::cluster::{
    Clients, Cluster, entry, get_deployments, get_member, join, next_events, reason, report, within,
};

/// The TTL of members that are to be expired: longer than a busy machine holds up their renewals.
const TTL: Duration = Duration::from_millis(TTL_MS);
const TTL_MS: u64 = 4_000;

/// More than a TTL: whoever is still there then has been renewed.
const BEYOND_TTL: Duration = Duration::from_millis(TTL_MS + 1_000);

/// A stream of renewals.
struct Renewals {
    requests: mpsc::Sender<v1::MembershipRenewRequest>,
    answers: Streaming<v1::MembershipRenewResponse>,
}

impl Renewals {
    async fn open(clients: &mut Clients) -> Self {
        let (requests, queue) = mpsc::channel(64);
        let answers = clients
            .membership
            .renew(ReceiverStream::new(queue))
            .await
            .unwrap()
            .into_inner();
        Self { requests, answers }
    }

    async fn send(&self, member: &v1::MemberEpoch, correlation: u64) {
        let request = v1::MembershipRenewRequest {
            member: Some(member.clone()),
            correlation,
        };
        self.requests.send(request).await.unwrap();
    }

    async fn answer(&mut self) -> v1::MembershipRenewResponse {
        within("an answer to a renewal", self.answers.message())
            .await
            .unwrap()
            .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn renewals_are_answered_in_their_order_and_a_refused_one_ends_nothing() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let member = clients.join("server-a", 15_000).await;
    let gone = v1::MemberEpoch {
        member: "server-z".to_owned(),
        ..member.clone()
    };
    let mut renewals = Renewals::open(&mut clients).await;
    for correlation in 0..40 {
        renewals
            .send(
                if correlation % 10 == 3 {
                    &gone
                } else {
                    &member
                },
                correlation,
            )
            .await;
    }
    for correlation in 0..40 {
        let answer = renewals.answer().await;
        assert_eq!(answer.correlation, correlation);
        match answer.result.unwrap() {
            Renewal::Renewed(renewed) => assert_eq!(renewed.ttl_ms, 15_000),
            Renewal::Refusal(refusal) => {
                assert_eq!(refusal.reason(), v1::ErrorReason::NotAMember);
                assert_eq!(correlation % 10, 3);
            }
        }
    }
    let malformed = v1::MembershipRenewRequest {
        member: None,
        correlation: 77,
    };
    renewals.requests.send(malformed).await.unwrap();
    let answer = renewals.answer().await;
    let Some(Renewal::Refusal(refusal)) = answer.result else {
        panic!("it names nobody")
    };
    assert_eq!(
        (answer.correlation, refusal.reason()),
        (77, v1::ErrorReason::InvalidArgument)
    );
}

// Guarantee: M-09
#[tokio::test(flavor = "multi_thread")]
async fn no_renewal_is_answered_with_the_ttl_of_who_has_replaced_the_member() {
    const BATCH: u64 = 60;
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let mut successor = clients.clone();
    for round in 0..20 {
        let id = format!("server-{round}");
        let member = clients.join(&id, 15_000).await;
        let mut renewals = Renewals::open(&mut clients).await;
        // Some of the renewals are in the same log entry as the join.
        for correlation in 0..BATCH {
            renewals.send(&member, correlation).await;
        }
        let replaces = v1::MembershipJoinRequest {
            instance: "another".to_owned(),
            ..join(&id, 86_400_000)
        };
        let replaced = successor.membership.join(replaces);
        let answered = async {
            for _ in 0..BATCH {
                match renewals.answer().await.result.unwrap() {
                    Renewal::Renewed(renewed) => assert_eq!(renewed.ttl_ms, 15_000),
                    Renewal::Refusal(refusal) => {
                        assert_eq!(refusal.reason(), v1::ErrorReason::StaleEpoch);
                    }
                }
            }
        };
        let (replaced, ()) = tokio::join!(replaced, answered);
        replaced.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_moves_no_revision() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 15_000).await;
    let mut renewals = Renewals::open(&mut clients).await;
    let revision = |answer: v1::MembershipRenewResponse| answer.header.unwrap().revision;
    renewals.send(&member, 1).await;
    let before = revision(renewals.answer().await);
    renewals.send(&member, 2).await;
    assert_eq!(revision(renewals.answer().await), before);
}

/// The last log index that the replica has applied.
async fn applied_index(clients: &mut Clients) -> u64 {
    let status = clients.cluster.status(v1::ClusterStatusRequest {}).await;
    status.unwrap().into_inner().applied_index
}

/// Whether a renewal was carried out. If not, there was no leader for a moment.
fn has_renewed(answer: v1::MembershipRenewResponse) -> bool {
    match answer.result.unwrap() {
        Renewal::Renewed(_) => true,
        Renewal::Refusal(refusal) => {
            let passing = [
                v1::ErrorReason::Unavailable,
                v1::ErrorReason::UnknownOutcome,
            ];
            assert!(passing.contains(&refusal.reason()), "{refusal:?}");
            false
        }
    }
}

/// Renews through a stream, until the renewal is carried out.
async fn renew(renewals: &mut Renewals, member: &v1::MemberEpoch) {
    let renewed = async {
        loop {
            renewals.send(member, 0).await;
            if has_renewed(renewals.answer().await) {
                return;
            }
        }
    };
    within("a renewal", renewed).await;
}

/// Renews through a stream, every 100 ms for so long.
async fn renew_for(renewals: &mut Renewals, member: &v1::MemberEpoch, span: Duration) {
    let mut every = tokio::time::interval(Duration::from_millis(100));
    for _ in 0..span.as_millis() / 100 {
        every.tick().await;
        renew(renewals, member).await;
    }
}

/// Waits until the member is removed.
async fn removed(clients: &mut Clients, member: &v1::MemberEpoch) {
    let mut watch = clients.watch(Some(member.epoch + 1)).await;
    let is_it =
        |event: &v1::Event| event.name == member.member && event.r#type() == v1::EventType::Removed;
    while !next_events(&mut watch).await.events.iter().any(is_it) {}
}

// Guarantee: M-02
#[tokio::test(flavor = "multi_thread")]
async fn renewals_write_nothing_to_the_log_and_keep_a_member_alive_through_any_replica() {
    let cluster = Cluster::start(3).await;
    let mut members = Vec::new();
    for id in [cluster.leader().await, cluster.follower().await] {
        let mut clients = cluster.clients(id).await;
        let member = clients.join(&format!("server-{id}"), TTL_MS).await;
        let renewals = Renewals::open(&mut clients).await;
        members.push((clients, member, renewals));
    }
    let began = Instant::now();
    let before = applied_index(&mut members[0].0).await;
    let renewing = members
        .iter_mut()
        .map(|(_, member, renewals)| renew_for(renewals, member, BEYOND_TTL));
    join_all(renewing).await;
    let entries = applied_index(&mut members[0].0).await - before;
    // The leader writes the log time down every five seconds. A few more are what is announced again, or of an election.
    let most = began.elapsed().as_secs() / 5 + 10;
    assert!(entries < most, "{entries} entries for 100 renewals");
    for (clients, member, _) in &mut members {
        removed(clients, member).await;
    }
}

// Guarantee: M-02
#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_over_gives_a_whole_ttl_to_whom_only_the_old_leader_knew() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let other = cluster.follower().await;
    let mut clients = cluster.clients(leader).await;
    let member = clients.join("server-a", TTL_MS).await;
    let mut renewals = Renewals::open(&mut clients).await;
    // Longer than its deadline by the log.
    renew_for(&mut renewals, &member, BEYOND_TTL).await;
    let sent = Instant::now();
    renew(&mut renewals, &member).await;
    cluster.kill(leader);
    removed(&mut cluster.clients(other).await, &member).await;
    assert!(sent.elapsed() >= TTL, "after {:?}", sent.elapsed());
}

/// The members that are about to expire, as a replica answers; `None` if it does not know.
async fn expiring(clients: &mut Clients) -> Option<Vec<String>> {
    let request = v1::StorageVersionsCheckUpgradeRequest::default();
    let answer = clients.storage_versions.check_upgrade(request).await;
    let answer = answer.unwrap().into_inner();
    let obstacles = answer.obstacles.into_iter();
    let expiring = obstacles.filter(|it| it.reason() == v1::UpgradeReason::Expiring);
    let members = expiring.flat_map(|it| it.members).collect();
    answer.expiring_known.then_some(members)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_alone_names_members_that_are_about_to_expire() {
    let cluster = Cluster::start(3).await;
    let mut leader = cluster.clients(cluster.leader().await).await;
    let mut follower = cluster.clients(cluster.follower().await).await;
    let member = leader.join("server-a", 2 * TTL_MS).await;
    let mut renewals = Renewals::open(&mut leader).await;
    renew_for(&mut renewals, &member, BEYOND_TTL).await;
    // By the log, which the follower knows, nobody has renewed it for more than half its TTL.
    renew(&mut renewals, &member).await;
    assert_eq!(expiring(&mut leader).await, Some(Vec::new()));
    assert_eq!(expiring(&mut follower).await, None);
    let mut every = tokio::time::interval(Duration::from_millis(100));
    let named = async {
        while expiring(&mut leader).await != Some(vec!["server-a".to_owned()]) {
            every.tick().await;
        }
    };
    within("the member to be about to expire", named).await;
    assert_eq!(expiring(&mut follower).await, None);
}

/// The first events of an object by this name, while a member is renewed.
async fn told_while_renewing(
    watch: &mut Streaming<v1::WatchResponse>,
    name: &str,
    renewals: &mut Renewals,
    member: &v1::MemberEpoch,
) -> v1::WatchEvents {
    let mut every = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            biased;
            events = next_events(watch) => {
                if events.events.iter().any(|event| event.name == name) {
                    return events;
                }
            }
            _ = every.tick() => renewals.send(member, 0).await,
            // One that is not carried out is followed by another one soon.
            answer = renewals.answers.next() => {
                has_renewed(answer.unwrap().unwrap());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_renews_stays_and_who_does_not_is_expired_with_its_entries_at_one_revision() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let stays = clients.join("server-stays", TTL_MS).await;
    let goes = clients.join("server-goes", TTL_MS).await;
    clients.report(&stays, "apps/v1").await;
    let reported = clients.report(&goes, "apps/v2").await;
    let mut watch = clients.watch(Some(reported + 1)).await;
    let mut renewals = Renewals::open(&mut clients).await;

    let expired = told_while_renewing(&mut watch, "server-goes", &mut renewals, &stays);
    let expired = within("the expiry", expired).await;
    let removed: Vec<(&str, v1::EventType)> = expired
        .events
        .iter()
        .map(|event| (&*event.name, event.r#type()))
        .collect();
    assert!(
        removed.contains(&("server-goes", v1::EventType::Removed)),
        "{removed:?}"
    );
    assert!(
        removed.contains(&("apps.deployments", v1::EventType::Modified)),
        "{removed:?}"
    );

    let found = clients
        .membership
        .get(get_member("server-goes"))
        .await
        .unwrap_err();
    assert_eq!(reason(&found), "NOT_FOUND");
    assert!(
        clients
            .membership
            .get(get_member("server-stays"))
            .await
            .is_ok()
    );
    let found = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap()
        .into_inner();
    let status = found.storage_version.unwrap().status.unwrap();
    assert_eq!(status.common_encoding_version.as_deref(), Some("apps/v1"));
}

// Guarantee: M-06
#[tokio::test(flavor = "multi_thread")]
async fn another_instance_fences_the_first_for_good() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-a", 15_000).await;
    let other = v1::MembershipJoinRequest {
        instance: "another".to_owned(),
        ..join("server-a", 15_000)
    };
    let second = clients.membership.join(other).await.unwrap().into_inner();
    assert!(second.epoch > first.epoch);
    let refused = clients
        .storage_versions
        .report(report(&first, vec![entry("deployments", "apps/v1")]))
        .await;
    assert_eq!(reason(&refused.unwrap_err()), "STALE_EPOCH");
    let again = v1::MembershipJoinRequest {
        lost_epoch: Some(first.epoch),
        ..join("server-a", 15_000)
    };
    assert_eq!(
        reason(&clients.membership.join(again).await.unwrap_err()),
        "STALE_EPOCH"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_epoch_of_another_cluster_is_worth_nothing() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 15_000).await;
    let foreign = v1::MemberEpoch {
        cluster_id: "6f662f7d-cca5-8e94-817e-f4a9c76dcdd5".to_owned(),
        ..member
    };
    let request = v1::MembershipReadyRequest {
        request_id: None,
        member: Some(foreign),
    };
    assert_eq!(
        reason(&clients.membership.ready(request).await.unwrap_err()),
        "NOT_A_MEMBER"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_leaves_is_gone_at_once() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 15_000).await;
    clients.report(&member, "apps/v1").await;
    let ready = v1::MembershipReadyRequest {
        request_id: None,
        member: Some(member.clone()),
    };
    assert!(
        clients
            .membership
            .ready(ready.clone())
            .await
            .unwrap()
            .into_inner()
            .changed
    );
    assert!(
        !clients
            .membership
            .ready(ready)
            .await
            .unwrap()
            .into_inner()
            .changed
    );
    let leave = v1::MembershipLeaveRequest {
        request_id: None,
        member: Some(member),
        drained: true,
        ..v1::MembershipLeaveRequest::default()
    };
    clients.membership.leave(leave).await.unwrap();
    assert_eq!(
        reason(
            &clients
                .membership
                .get(get_member("server-a"))
                .await
                .unwrap_err()
        ),
        "NOT_FOUND"
    );
    let left = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(left.storage_version, None);
    assert!(
        left.storage_state.is_some(),
        "what stays of a resource stays"
    );
}
