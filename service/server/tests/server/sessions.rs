//! Tests of sessions: every request is executed exactly once.

use synod_proto::v1;
use synod_proto::v1::recorded_outcome::Answer;

use crate::cluster::{Clients, Cluster, entry, get_deployments, join, reason, report};

struct Session {
    id: u64,
    cluster_id: String,
}

async fn open(clients: &mut Clients) -> Session {
    let opened = clients
        .sessions
        .open(v1::SessionsOpenRequest {})
        .await
        .unwrap()
        .into_inner();
    assert!(opened.ttl_ms > 0 && opened.outcomes_max > 0);
    Session {
        id: opened.session,
        cluster_id: opened.header.unwrap().cluster_id,
    }
}

impl Session {
    fn request(&self, sequence: u64) -> Option<v1::RequestId> {
        Some(v1::RequestId {
            session: self.id,
            sequence,
            lowest_unanswered: 1,
            cluster_id: self.cluster_id.clone(),
        })
    }

    fn outcome_of(&self, sequence: u64) -> v1::SessionsGetOutcomeRequest {
        v1::SessionsGetOutcomeRequest {
            session: self.id,
            sequence,
            cluster_id: String::new(),
        }
    }
}

// Guarantee: V-04
#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_was_given_up_is_refused_on_whichever_replica_it_arrives_late() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let session = open(&mut clients).await;
    let member = clients.join("server-a", 60_000).await;
    // The first request is cancelled in transit, so its number in the session stays open below the second.
    let numbered = |number: u64, version: &str| v1::StorageVersionsReportRequest {
        request_id: session.request(number),
        number,
        ..report(&member, vec![entry("deployments", version)])
    };
    let (given_up, later) = (numbered(1, "apps/v1"), numbered(2, "apps/v2"));
    let taken = clients.storage_versions.report(later).await.unwrap();
    assert!(taken.into_inner().changed);
    for id in cluster.ids() {
        let mut clients = cluster.clients(id).await;
        let without_session = v1::StorageVersionsReportRequest {
            request_id: None,
            ..given_up.clone()
        };
        for late in [given_up.clone(), without_session] {
            let refused = clients.storage_versions.report(late).await.unwrap_err();
            assert_eq!(reason(&refused), "CONFLICT");
        }
        let found = clients.storage_versions.get(get_deployments(None)).await;
        let version = found.unwrap().into_inner().storage_version.unwrap();
        assert_eq!(
            version.status.unwrap().agreed_version.as_deref(),
            Some("apps/v2"),
            "replica {id}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_on_another_replica_gets_the_first_answer_and_changes_nothing() {
    let cluster = Cluster::start(3).await;
    let mut first = cluster.clients(1).await;
    let session = open(&mut first).await;
    let request = v1::MembershipJoinRequest {
        request_id: session.request(1),
        ..join("server-a", 60_000)
    };
    let answer = first
        .membership
        .join(request.clone())
        .await
        .unwrap()
        .into_inner();
    first.join("server-b", 60_000).await;
    for id in cluster.ids() {
        let mut clients = cluster.clients(id).await;
        let again = clients
            .membership
            .join(request.clone())
            .await
            .unwrap()
            .into_inner();
        assert_eq!((again.epoch, again.changed), (answer.epoch, answer.changed));
        assert_eq!(
            again.header.unwrap().revision,
            answer.header.as_ref().unwrap().revision
        );
        let outcome = clients
            .sessions
            .get_outcome(session.outcome_of(1))
            .await
            .unwrap()
            .into_inner()
            .outcome
            .unwrap();
        assert!(
            matches!(outcome.answer, Some(Answer::Joined(joined)) if joined.epoch == answer.epoch)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_never_sent_has_no_outcome_and_what_nobody_knows_is_expired() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let session = open(&mut clients).await;
    let nothing = clients
        .sessions
        .get_outcome(session.outcome_of(5))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(nothing.outcome, None);

    let unknown = Session {
        id: session.id + 1_000,
        cluster_id: String::new(),
    };
    let refused = clients
        .sessions
        .get_outcome(unknown.outcome_of(1))
        .await
        .unwrap_err();
    assert_eq!(reason(&refused), "REQUEST_EXPIRED");
    let request = v1::MembershipJoinRequest {
        request_id: unknown.request(1),
        ..join("server-a", 60_000)
    };
    assert_eq!(
        reason(&clients.membership.join(request).await.unwrap_err()),
        "REQUEST_EXPIRED"
    );

    let foreign = Session {
        id: session.id,
        cluster_id: "6f662f7d-cca5-8e94-817e-f4a9c76dcdd5".to_owned(),
    };
    let request = v1::MembershipJoinRequest {
        request_id: foreign.request(1),
        ..join("server-a", 60_000)
    };
    assert_eq!(
        reason(&clients.membership.join(request).await.unwrap_err()),
        "REQUEST_EXPIRED"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_closed_takes_nothing_more() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let session = open(&mut clients).await;
    let close = v1::SessionsCloseRequest {
        session: session.id,
        cluster_id: session.cluster_id.clone(),
    };
    assert!(
        clients
            .sessions
            .close(close.clone())
            .await
            .unwrap()
            .into_inner()
            .changed
    );
    assert!(
        !clients
            .sessions
            .close(close)
            .await
            .unwrap()
            .into_inner()
            .changed
    );
    let request = v1::MembershipJoinRequest {
        request_id: session.request(1),
        ..join("server-a", 60_000)
    };
    assert_eq!(
        reason(&clients.membership.join(request).await.unwrap_err()),
        "REQUEST_EXPIRED"
    );
}
