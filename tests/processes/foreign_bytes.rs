//! Bytes that no client of Synod sends, on every port of a replica, do no harm: the replica still serves its clients.

use std::net::SocketAddr;

use synod_client::ReadOptions;
use synod_server::peer::messages::VoteRequest;
use synod_server::peer::protocol::peer_client::PeerClient;
use synod_store::{LogId, Vote};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::Endpoint;
use tonic::{Code, Request};

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS, NAME};
use crate::requests::timely;
use crate::waiting::within;

/// As far ahead no term comes by elections.
const FAR: u64 = 1_000_000;

/// The first bytes of every HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The garbage, each of which a server parses differently.
fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let noise: Vec<u8> = (0..1 << 20)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .collect();
    // A SETTINGS frame; then a frame of an unknown type and stream, with more bytes than its header says.
    let frames = [
        &[0, 0, 0, 4, 0, 0, 0, 0, 0][..],
        &[0, 0, 8, 0xFE, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF],
        &noise[..64],
    ];
    vec![
        (
            "HTTP/1.1",
            b"GET / HTTP/1.1\r\nhost: synod\r\n\r\n".to_vec(),
        ),
        (
            "a TLS handshake",
            [&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3][..], &noise[..512]].concat(),
        ),
        ("noise", noise.clone()),
        (
            "HTTP/2 that turns to noise",
            [PREFACE, &noise[..4096]].concat(),
        ),
        (
            "HTTP/2 frames that make no sense",
            [PREFACE, &frames.concat()].concat(),
        ),
        ("half a beginning", PREFACE[..9].to_vec()),
        ("nothing", Vec::new()),
    ]
}

// Guarantee: W-13, TM-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_and_other_protocols_on_any_port_do_no_harm() {
    let cluster = Cluster::start().await;
    let before = agree(&cluster).await;
    let mut open = Vec::new();
    for id in IDS {
        for port in cluster.ports(id) {
            for (what, bytes) in garbage() {
                let sent = within(what, send(port, &bytes)).await;
                // Connections that the replica does not close stay open while it serves clients.
                open.extend(sent);
            }
        }
        let client = cluster.client_of(id).await;
        client
            .settings(ReadOptions::linearizable())
            .await
            .expect("a replica serves on");
    }
    println!("{} connections were left open", open.len());
    assert_eq!(agree(&cluster).await, before);
    drop(open);
    cluster.finish().await;
}

/// Sends as many of the bytes as the replica takes, and returns the connection.
async fn send(port: SocketAddr, bytes: &[u8]) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(port).await.ok()?;
    stream.write_all(bytes).await.ok()?;
    Some(stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_served_to_whoever_asks_over_http() {
    let cluster = Cluster::start().await;
    for id in IDS {
        let [_, _, metrics] = cluster.ports(id);
        let mut stream = TcpStream::connect(metrics).await.expect("the port is open");
        let request = b"GET /metrics HTTP/1.1\r\nhost: synod\r\nconnection: close\r\n\r\n";
        stream
            .write_all(request)
            .await
            .expect("the request is taken");
        let mut answer = String::new();
        within("the metrics", stream.read_to_string(&mut answer))
            .await
            .expect("they are text");
        assert!(answer.starts_with("HTTP/1.1 200"), "replica {id}: {answer}");
        assert!(answer.contains("# EOF"), "replica {id}: {answer}");
    }
    cluster.finish().await;
}

// Guarantee: W-13, TM-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_belong_to_the_replica_set_moves_no_term() {
    let cluster = Cluster::start().await;
    agree(&cluster).await;
    let leader = cluster.leader().await;
    let term = cluster
        .status(leader)
        .await
        .expect("it answers")
        .header
        .raft_term;
    for id in IDS {
        let [_, port, _] = cluster.ports(id);
        let endpoint = Endpoint::from_shared(format!("http://{port}")).expect("it is an address");
        let mut service = PeerClient::new(endpoint.connect_lazy());
        let strangers = [
            ("nobody", vec![]),
            ("another cluster", names("other", "1", &"0".repeat(32))),
            (
                "a directory that it does not have",
                names(NAME, "1", &"0".repeat(32)),
            ),
        ];
        for (who, names) in strangers {
            let vote = Vote {
                term: term + FAR,
                leader: 1,
                committed: false,
            };
            let last = LogId {
                term: term + FAR,
                leader: 1,
                index: FAR,
            };
            let mut request: Request<VoteRequest> = timely(VoteRequest {
                vote,
                last: Some(last),
                leadership_transfer: false,
            });
            for (name, value) in names {
                request
                    .metadata_mut()
                    .insert(name, value.parse().expect("it is a text"));
            }
            let refused = service.vote(request).await.expect_err("it is refused");
            assert_eq!(
                refused.code(),
                Code::FailedPrecondition,
                "replica {id}, {who}: {refused:?}"
            );
        }
    }
    agree(&cluster).await;
    for id in IDS {
        let status = cluster.status(id).await.expect("it answers");
        // On a busy machine the replicas may have voted for each other meanwhile.
        assert!(
            status.header.raft_term < term + FAR,
            "replica {id}: {status:?}"
        );
    }
    cluster.finish().await;
}

/// The headers by which a replica names itself in calls to others.
fn names(cluster: &str, from: &str, directory: &str) -> Vec<(&'static str, String)> {
    vec![
        ("synod-cluster", cluster.to_owned()),
        ("synod-from", from.to_owned()),
        ("synod-from-directory", directory.to_owned()),
    ]
}
