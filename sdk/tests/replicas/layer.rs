//! The write gate in front of a real HTTP server.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use synod_client::{Client, GateLayer, JoinOptions, Membership};

use crate::cluster::{Cluster, fixed, id, resource, voting, within};
use crate::http::Server;

const PODS: &str = "/api/v1/namespaces/default/pods";

async fn join(client: &Client) -> Membership {
    within(client.join(JoinOptions::new(id("server"))))
        .await
        .unwrap()
}

#[tokio::test]
async fn the_handler_is_told_in_which_version_to_encode() {
    let cluster = Cluster::start(1).await;
    let membership = join(&cluster.client().await).await;
    let server = Server::start(GateLayer::new(membership.gate()), membership.gate()).await;
    let entries = vec![
        voting("pods", &["v1", "v2"], "v2"),
        fixed("things.example.com", &["example.com/v1"], "example.com/v1"),
    ];
    within(membership.report(entries)).await.unwrap();
    let created = server.send(Method::POST, PODS).await;
    assert_eq!(created.body, "create core.pods in v2");
    let patched = server
        .send(Method::PATCH, &format!("{PODS}/one/status"))
        .await;
    assert_eq!(patched.body, "patch core.pods in v2");
    let things = "/apis/example.com/v2beta1/things/one";
    let deleted = server.send(Method::DELETE, things).await;
    assert_eq!(deleted.body, "delete example.com.things in example.com/v1");
    let read = server.send(Method::GET, PODS).await;
    assert_eq!(read.body, "list without a permit");
    assert!(membership.gate().is_drained());
}

#[tokio::test]
async fn a_write_that_may_wait_passes_when_its_resource_is_reported() {
    let cluster = Cluster::start(1).await;
    let membership = join(&cluster.client().await).await;
    let layer = GateLayer::new(membership.gate()).wait(Duration::from_secs(30));
    let server = Server::start(layer, membership.gate()).await;
    let entries = vec![fixed("pods", &["v1"], "v1")];
    let both = async { tokio::join!(server.send(Method::POST, PODS), membership.report(entries)) };
    let (created, reported) = within(both).await;
    reported.unwrap();
    assert_eq!(created.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_not_stored_needs_no_report_and_what_has_no_name_cannot_be_written() {
    let cluster = Cluster::start(1).await;
    let membership = join(&cluster.client().await).await;
    let layer = GateLayer::new(membership.gate()).not_stored(vec![resource("reviews.example.com")]);
    let server = Server::start(layer, membership.gate()).await;
    let review = server
        .send(Method::POST, "/apis/example.com/v1/reviews")
        .await;
    assert_eq!(review.body, "create without a permit");
    within(membership.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let nameless = server
        .send(Method::POST, "/apis/example.com/v1/No_Name")
        .await;
    assert_eq!(nameless.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        nameless
            .body
            .contains("for resource: No_Name.example.com, last seen error: <nil>")
    );
}

#[tokio::test]
async fn the_server_is_ready_with_its_first_full_report_and_not_after_it_was_replaced() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let first = join(&client).await;
    let server = Server::start(GateLayer::new(first.gate()), first.gate()).await;
    let waiting = server.send(Method::GET, "/readyz").await;
    assert_eq!(waiting.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(waiting.body.contains("report"), "{waiting:?}");
    within(first.report(vec![fixed("pods", &["v1"], "v1")]))
        .await
        .unwrap();
    let ready = server.send(Method::GET, "/readyz").await;
    assert_eq!((ready.status, ready.body.as_str()), (StatusCode::OK, "ok"));

    let _second = join(&client).await;
    within(first.ended()).await;
    let replaced = server.send(Method::GET, "/readyz").await;
    assert_eq!(replaced.status, StatusCode::SERVICE_UNAVAILABLE);
    let refused = server.send(Method::POST, PODS).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.body.contains("another instance"), "{refused:?}");
}
