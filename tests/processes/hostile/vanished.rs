//! Clients that are gone without a word, as behind a cable that was pulled.
//!
//! It needs Python and the right to close a socket without telling the other end (CAP_NET_ADMIN). Without either the test says
//! so and checks nothing.

use std::net::SocketAddr;
use std::process::Output;

use tokio::process::Command;

use crate::cluster::Cluster;
use crate::security::value;
use crate::waiting::{eventually, within};
use crate::watched_over::shown_at;

/// Opens a watch that has no bookmarks, and forgets the socket once it is answered: by `TCP_REPAIR`, nothing is sent.
const VANISHES: &str = r#"
import socket, sys
watch = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30)
watch.setsockopt(socket.IPPROTO_TCP, 19, 0)
watch.sendall(b"GET /apis/coordination.k8s.io/v1/leases?watch=true HTTP/1.1\r\nhost: synod\r\n\r\n")
head = watch.recv(4096)
assert head.startswith(b"HTTP/1.1 200 "), head
watch.setsockopt(socket.IPPROTO_TCP, 19, 1)
watch.close()
"#;

/// What Python says if it may not do that.
const NOT_ALLOWED: &str = "PermissionError";

// Guarantee: P-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_over_the_kubernetes_api_whose_client_is_gone_ends() {
    let (cluster, kube) = Cluster::start_with_kube().await;
    let leader = cluster.leader().await;
    let [_, _, metrics] = cluster.ports(leader);
    match vanishes(kube[&leader]).await {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(NOT_ALLOWED), "{said}");
            println!("checks nothing: no socket may be forgotten here");
            return cluster.finish().await;
        }
        Err(error) => {
            println!("checks nothing: there is no python3: {error}");
            return cluster.finish().await;
        }
    }
    let open = async || value(&shown_at(metrics).await, "synod_connections{door=\"kube\"}");
    assert_eq!(open().await, 1.0, "nobody has said that it ended");
    eventually("the end of the connection", async || match open().await {
        0.0 => Ok(()),
        open => Err(format!("{open} are open")),
    })
    .await;
    cluster.finish().await;
}

async fn vanishes(at: SocketAddr) -> std::io::Result<Output> {
    let (host, port) = (at.ip().to_string(), at.port().to_string());
    let mut python = Command::new("python3");
    python.args(["-c", VANISHES, &host, &port]);
    within("a client that vanishes", python.output()).await
}
