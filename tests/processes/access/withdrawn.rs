//! Streams that are open when the rights of who opened them are withdrawn: renewals, and watches over the Kubernetes API.

use std::fs;

use futures::StreamExt as _;
use prost::Message as _;
use rustls::SupportedProtocolVersion;
use rustls::version::TLS13;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::leases_renew_response::Result as LeaseRenewed;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::membership_renew_response::Result as MemberRenewed;
use synod_proto::v1::{self, leases_renew_request::What};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

use super::raw::Raw;
use super::{OWN, holds_as, of_folder, policy, withdrawn_in_time};
use crate::cluster::Cluster;
use crate::waiting::{eventually, within};

/// A member with a lease, and a reader.
const GRANTS: &str = "[[grant]]\nwho = \"spiffe://synod/member/*\"\nrole = \"member\"\nname = \"*\"\n\
                      [[grant]]\nwho = \"spiffe://synod/reader\"\nrole = \"reader\"";

/// What a watch asks for.
const WATCH: &str = "/apis/coordination.k8s.io/v1/leases?watch=true";

const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13];

// Guarantee: TM-11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn withdrawn_rights_end_renewals_and_watches_over_the_kubernetes_api() {
    let (cluster, kube) = Cluster::start_with_kube_and_policy(&policy(GRANTS)).await;
    let member = of_folder(&cluster, "member-apiserver-1").await;
    let at = kube[&cluster.follower().await];
    let shown = cluster.certificates().shown("reader");
    let certificates = cluster.certificates();
    let connect = async || {
        let connected = certificates.connect(at, "server-ca", Some(&shown), VERSIONS);
        connected.await.expect("the replica lets it in")
    };
    // What is told first of a watch.
    let begun = async || {
        let mut watch = connect().await;
        asks(&mut watch, WATCH).await;
        read_until(&mut watch, "\r\n\r\n").await
    };
    withdrawn_in_time(async || {
        fs::write(cluster.policy(), policy(GRANTS)).expect("it can be written");
        eventually("the rights", async || {
            let status = member.unary("synod.v1.Cluster/Status", bytes::Bytes::new());
            status.await.map_err(|refused| refused.to_string())?;
            let told = begun().await;
            told.starts_with("HTTP/1.1 200 ").then_some(()).ok_or(told)
        })
        .await;
        let token = holds_as(&member, OWN).await;
        let mut members = renews_membership(&member).await;
        let mut leases = renews_lease(&member, token).await;
        let mut watch = connect().await;
        // It tells what there is, and nothing happens behind that.
        asks(&mut watch, WATCH).await;
        let mut told = read_until(&mut watch, "\"ADDED\"").await;
        assert!(told.starts_with("HTTP/1.1 200 "), "{told}");

        fs::write(cluster.policy(), policy("")).expect("it can be written");
        let began = Instant::now();
        within("the end of renewals", async {
            let more = members.next().await;
            assert!(more.is_none(), "nothing was asked: {more:?}");
            let more = leases.next().await;
            assert!(more.is_none(), "nothing was asked: {more:?}");
        })
        .await;
        told += &read_until(&mut watch, "\r\n0\r\n\r\n").await;
        let took = began.elapsed();
        assert!(!told.contains("\"ERROR\""), "{told}");
        took
    })
    .await;
    // Neither opens another one.
    let refused = begun().await;
    assert!(refused.starts_with("HTTP/1.1 403 "), "{refused}");
    let method = "synod.v1.Membership/Renew";
    let again = member.unary(method, bytes::Bytes::new()).await;
    let refused = again.expect_err("nothing is granted to it");
    assert_eq!(refused.code(), tonic::Code::PermissionDenied, "{refused}");
    cluster.finish().await;
}

/// A stream that has renewed a member once, and stays open.
async fn renews_membership(member: &Raw) -> tonic::Streaming<v1::MembershipRenewResponse> {
    let join = v1::MembershipJoinRequest {
        id: OWN.to_owned(),
        instance: "process".to_owned(),
        ttl_ms: Some(60 * 60 * 1_000),
        ..v1::MembershipJoinRequest::default()
    };
    let joined = member
        .unary("synod.v1.Membership/Join", join.encode_to_vec().into())
        .await;
    let joined = v1::MembershipJoinResponse::decode(joined.expect("it may")).expect("an answer");
    let renewal = v1::MembershipRenewRequest {
        member: Some(v1::MemberEpoch {
            member: OWN.to_owned(),
            epoch: joined.epoch,
            ..v1::MemberEpoch::default()
        }),
        correlation: 1,
    };
    let renewals = futures::stream::iter([renewal]).chain(futures::stream::pending());
    let opened = MembershipClient::new(member.channel())
        .renew(renewals)
        .await;
    let mut answers = opened.expect("it may").into_inner();
    let first = within("a renewal", answers.next())
        .await
        .expect("it is answered");
    let result = first.expect("it is no error").result;
    assert!(
        matches!(result, Some(MemberRenewed::Renewed(_))),
        "{result:?}"
    );
    answers
}

/// The same of a lease.
async fn renews_lease(
    member: &Raw,
    token: v1::LeaseToken,
) -> tonic::Streaming<v1::LeasesRenewResponse> {
    let renewal = v1::LeasesRenewRequest {
        what: Some(What::Lease(token)),
        correlation: 1,
    };
    let renewals = futures::stream::iter([renewal]).chain(futures::stream::pending());
    let opened = LeasesClient::new(member.channel()).renew(renewals).await;
    let mut answers = opened.expect("it may").into_inner();
    let first = within("a renewal", answers.next())
        .await
        .expect("it is answered");
    let result = first.expect("it is no error").result;
    assert!(
        matches!(result, Some(LeaseRenewed::Renewed(_))),
        "{result:?}"
    );
    answers
}

async fn asks(stream: &mut TlsStream<TcpStream>, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nhost: synod\r\n\r\n");
    let sent = stream.write_all(request.as_bytes()).await;
    sent.expect("the connection is open");
}

/// What is sent up to this text.
async fn read_until(stream: &mut TlsStream<TcpStream>, end: &str) -> String {
    let mut read = Vec::new();
    let reading = async {
        while !String::from_utf8_lossy(&read).contains(end) {
            let got = stream
                .read_buf(&mut read)
                .await
                .expect("it is not broken off");
            assert!(
                got > 0,
                "it ended before {end:?}: {}",
                String::from_utf8_lossy(&read)
            );
        }
    };
    within("what is sent", reading).await;
    String::from_utf8_lossy(&read).into_owned()
}
