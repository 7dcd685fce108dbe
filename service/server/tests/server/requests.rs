//! Tests of the limits on requests: their length, and the time that they may take.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::StreamBody;
use prost::Message;
use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};
use synod_proto::v1;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use crate::answers::{hurried, of_replica};
use crate::cluster::{Cluster, entry, join, reason, report, shown, within};

/// The message that `of` makes of a text just long enough to fill it up to `bytes` bytes.
fn filled<M: Message>(bytes: usize, of: impl Fn(String) -> M) -> M {
    let mut length = bytes;
    loop {
        let message = of("x".repeat(length));
        match message.encoded_len() - bytes {
            0 => return message,
            more => length -= more,
        }
    }
}

// Guarantee: W-14
#[tokio::test(flavor = "multi_thread")]
async fn a_message_may_be_as_long_as_its_method_takes_and_not_a_byte_longer() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    for (more, refused) in [
        (-1, "INVALID_ARGUMENT"),
        (0, "INVALID_ARGUMENT"),
        (1, "TOO_LARGE"),
    ] {
        let long = filled(REQUEST_BYTES_MAX.strict_add_signed(more), |endpoint| {
            v1::MembershipJoinRequest {
                endpoint,
                ..join("server-b", 60_000)
            }
        });
        let status = clients.membership.join(long).await.unwrap_err();
        assert_eq!(reason(&status), refused, "a join, {more}");
        let long = filled(REPORT_BYTES_MAX.strict_add_signed(more), |kind| {
            let mut large = entry("deployments", "apps/v1");
            large.kind = kind;
            report(&member, vec![large])
        });
        let status = clients.storage_versions.report(long).await.unwrap_err();
        assert_eq!(reason(&status), refused, "a report, {more}");
        // A call of the same service that is no report.
        let long = filled(REQUEST_BYTES_MAX.strict_add_signed(more), |group| {
            v1::StorageVersionsHistoryRequest {
                resource: Some(v1::GroupResource {
                    group,
                    resource: "deployments".to_owned(),
                }),
                ..v1::StorageVersionsHistoryRequest::default()
            }
        });
        let status = clients.storage_versions.history(long).await.unwrap_err();
        assert_eq!(reason(&status), refused, "a history, {more}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_is_long_ends_its_stream() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let long = v1::MembershipRenewRequest {
        member: Some(v1::MemberEpoch {
            member: "x".repeat(5_000),
            ..v1::MemberEpoch::default()
        }),
        correlation: 1,
    };
    let renewals = futures::stream::iter([long]).chain(futures::stream::pending());
    let answers = clients.membership.renew(renewals).await.unwrap();
    let ended = within("the end of the stream", answers.into_inner().message()).await;
    assert_eq!(reason(&ended.unwrap_err()), "TOO_LARGE");
}

/// A request with this timeout, and a message of 100 bytes, of which only three arrive.
fn stalled(timeout: Duration) -> http::Request<Body> {
    let begun = Bytes::from_static(&[0, 0, 0, 0, 100, 1, 2, 3]);
    let begun = futures::stream::iter([Ok::<_, Status>(http_body::Frame::data(begun))]);
    let body = Body::new(StreamBody::new(begun.chain(futures::stream::pending())));
    http::Request::post("http://replica/synod.v1.Membership/Join")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("grpc-timeout", format!("{}m", timeout.as_millis()))
        .body(body)
        .unwrap()
}

// Guarantee: W-14
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_stalls_is_given_up_at_its_deadline_with_its_place_and_its_bytes() {
    let cluster = Cluster::start(1).await;
    let mut channel = cluster.connect(1).await;
    let answer = hurried("the answer", async |patience| {
        let answer = channel.ready().await.unwrap().call(stalled(patience)).await;
        of_replica(answer.map_err(|error| Status::from_error(error.into())))
    });
    let answer = answer.await.unwrap();
    let status = Status::from_header_map(answer.headers()).unwrap();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let refusal = synod_proto::status::from_status(&status);
    assert_eq!(refusal.metadata["not_executed"], "true");

    for line in [
        r#"synod_requests_in_flight{class="renewal"} 0"#,
        r#"synod_request_bytes_held{class="renewal"} 0"#,
    ] {
        shown(&cluster, line).await;
    }
}

// Guarantee: W-14
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_does_not_begin_is_closed() {
    let cluster = Cluster::start(1).await;
    for begun in ["", "PRI * HTTP/2.0"] {
        let mut stream = TcpStream::connect(cluster.client_address(1)).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let closed = within("the connection to be closed", stream.read_to_end(&mut rest));
        // The connection may be reset instead, which counts as closed.
        let _ = closed.await;
    }
}
