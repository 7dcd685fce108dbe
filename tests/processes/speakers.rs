//! Requests under an epoch that is not a member's present one are refused: never joined, expired, left, or replaced.

use synod_client::ErrorKind;
use synod_model::Refusal;
use synod_proto::status::key;
use synod_proto::v1;

use crate::agreement::agree;
use crate::bad_requests::{legal_entry, legal_join, report_of, speaker};
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, refusal, timely};
use crate::waiting::eventually;

/// An invalid speaker, and the refusal that it must get.
struct Intruder {
    member: v1::MemberEpoch,
    kind: ErrorKind,
    /// A part of the refusal's message.
    told: String,
    /// The present epoch that the refusal names.
    current_epoch: Option<u64>,
}

/// Sends every request that a member can send, and returns the refusals.
async fn all_refusals(wire: &Wire, member: &v1::MemberEpoch) -> Vec<Refusal> {
    let speaks = Some(member.clone());
    let report = report_of(member, vec![legal_entry("others")]);
    let adopt = v1::StorageVersionsAdoptRequest {
        member: speaks.clone(),
        resource: legal_entry("things").resource,
        selected_revision: 1,
        number: 1,
        ..v1::StorageVersionsAdoptRequest::default()
    };
    let ready = v1::MembershipReadyRequest {
        member: speaks.clone(),
        ..v1::MembershipReadyRequest::default()
    };
    let leave = v1::MembershipLeaveRequest {
        member: speaks,
        drained: true,
        ..v1::MembershipLeaveRequest::default()
    };
    vec![
        refusal(wire.storage_versions().report(timely(report)).await),
        refusal(wire.storage_versions().adopt(timely(adopt)).await),
        refusal(wire.membership().ready(timely(ready)).await),
        refusal(wire.membership().leave(timely(leave)).await),
        refused_renewal(wire, member).await,
    ]
}

/// The refusal of a renewal, which comes in the stream's answer.
async fn refused_renewal(wire: &Wire, member: &v1::MemberEpoch) -> Refusal {
    use v1::membership_renew_response::Result as Answer;
    let renewal = v1::MembershipRenewRequest {
        member: Some(member.clone()),
        correlation: 77,
    };
    let renewals = timely(once(renewal));
    let answers = wire.membership().renew(renewals).await;
    let mut answers = answers.expect("a stream is opened").into_inner();
    let answer = answers.message().await.expect("the stream goes on");
    let answer = answer.expect("every renewal is answered");
    assert_eq!(answer.correlation, 77);
    match answer.result {
        Some(Answer::Refusal(refusal)) => refusal.into(),
        other => panic!("it was heard: {other:?}"),
    }
}

fn once<T: Send + 'static>(item: T) -> impl futures::Stream<Item = T> + Send + 'static {
    futures::stream::once(std::future::ready(item))
}

/// All kinds of invalid speakers: a stranger, an old epoch, an expired member, one that has left, a future epoch, and a
/// member of another cluster.
async fn intruders(cluster: &Cluster) -> Vec<Intruder> {
    let wire = Wire::to(&cluster.endpoint(1));
    let present = speaker(cluster, "present").await;
    let old = speaker(cluster, "replaced").await;
    let newer = wire
        .membership()
        .join(timely(legal_join("replaced")))
        .await
        .expect("another instance takes the id")
        .into_inner();
    let left = speaker(cluster, "left").await;
    let leave = v1::MembershipLeaveRequest {
        member: Some(left.clone()),
        drained: true,
        ..v1::MembershipLeaveRequest::default()
    };
    let answer = wire.membership().leave(timely(leave)).await;
    answer.expect("it leaves");
    let brief = v1::MembershipJoinRequest {
        ttl_ms: Some(1_000),
        ..legal_join("expired")
    };
    let joined = wire.membership().join(timely(brief)).await;
    let expired = v1::MemberEpoch {
        member: "expired".to_owned(),
        epoch: joined.expect("it joins").into_inner().epoch,
        cluster_id: String::new(),
    };
    gone(&wire, "expired").await;
    let absent = |member: v1::MemberEpoch| Intruder {
        told: format!(
            "member \"{}\" is not in the cluster with epoch {}",
            member.member, member.epoch
        ),
        member,
        kind: ErrorKind::NotAMember,
        current_epoch: None,
    };
    vec![
        absent(v1::MemberEpoch {
            member: "stranger".to_owned(),
            ..present.clone()
        }),
        absent(expired),
        absent(left),
        absent(v1::MemberEpoch {
            epoch: present.epoch + 1_000,
            ..present.clone()
        }),
        Intruder {
            told: format!("epoch {} was replaced by epoch {}", old.epoch, newer.epoch),
            member: old,
            kind: ErrorKind::StaleEpoch,
            current_epoch: Some(newer.epoch),
        },
        Intruder {
            told: "the epoch was given by cluster 216a7937-95db-887e-91c8-3ec270c5e7e5".to_owned(),
            member: v1::MemberEpoch {
                cluster_id: "216a7937-95db-887e-91c8-3ec270c5e7e5".to_owned(),
                ..present
            },
            kind: ErrorKind::NotAMember,
            current_epoch: None,
        },
    ]
}

/// Waits until a member is removed.
async fn gone(wire: &Wire, id: &str) {
    eventually("a member that does not renew to be gone", async || {
        let get = v1::MembershipGetRequest {
            id: id.to_owned(),
            ..v1::MembershipGetRequest::default()
        };
        match wire.membership().get(timely(get)).await {
            Ok(found) => Err(format!("{found:?}")),
            Err(status) => {
                assert_eq!(refusal::<()>(Err(status)).kind, ErrorKind::NotFound);
                Ok(())
            }
        }
    })
    .await;
}

// Guarantee: M-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_no_member_by_this_epoch_is_told_so_by_every_call_and_changes_nothing() {
    let cluster = Cluster::start().await;
    let intruders = intruders(&cluster).await;
    let before = agree(&cluster).await;
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for intruder in &intruders {
            for refused in all_refusals(&wire, &intruder.member).await {
                assert_eq!(refused.kind, intruder.kind, "replica {id}: {refused}");
                assert!(refused.message.contains(&intruder.told), "{refused}");
                let epoch = refused.metadata.get(key::CURRENT_EPOCH);
                let epoch = epoch.map(|text| text.parse().expect("an epoch is a number"));
                assert_eq!(epoch, intruder.current_epoch, "{refused}");
                assert!(refused.violations.is_empty(), "{refused}");
            }
        }
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}
