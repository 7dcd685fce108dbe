//! Three etcd members with default settings, and the two etcd calls that Synod is compared with.

use std::net::SocketAddr;
use std::process::Stdio;

use prost::Message;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

use crate::ports::free_address;
use crate::sample::{Sample, resident_kib};
use crate::waiting::eventually;

pub(crate) struct Etcd {
    children: Vec<Child>,
    leader: SocketAddr,
    _folder: TempDir,
}

/// `etcdserverpb.PutRequest`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}

/// `etcdserverpb.RangeRequest`, as far as it is used: linearizable unless told otherwise.
#[derive(Clone, PartialEq, Message)]
struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
}

/// `etcdserverpb.StatusResponse`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct StatusResponse {
    #[prost(message, optional, tag = "1")]
    header: Option<Header>,
    #[prost(uint64, tag = "4")]
    leader: u64,
}

/// `etcdserverpb.ResponseHeader`, as far as it is used.
#[derive(Clone, PartialEq, Message)]
struct Header {
    #[prost(uint64, tag = "2")]
    member_id: u64,
}

/// A response whose content is not read.
#[derive(Clone, PartialEq, Message)]
struct Ignored {}

impl Etcd {
    /// Starts the members and finds their leader.
    pub(crate) async fn start() -> Self {
        let folder = TempDir::with_prefix_in("etcd-", env!("CARGO_TARGET_TMPDIR"))
            .expect("the folder can be written");
        let members: Vec<(SocketAddr, SocketAddr)> =
            (0..3).map(|_| (free_address(), free_address())).collect();
        let set = members
            .iter()
            .enumerate()
            .map(|(at, (_, peer))| format!("m{at}=http://{peer}"));
        let set = set.collect::<Vec<_>>().join(",");
        let children = members.iter().enumerate().map(|(at, (client, peer))| {
            Command::new("etcd")
                .args([
                    "--name",
                    &format!("m{at}"),
                    "--initial-cluster",
                    &set,
                    "--log-level",
                    "error",
                ])
                .arg("--data-dir")
                .arg(folder.path().join(format!("m{at}")))
                .args(["--listen-client-urls", &format!("http://{client}")])
                .args(["--advertise-client-urls", &format!("http://{client}")])
                .args(["--listen-peer-urls", &format!("http://{peer}")])
                .args(["--initial-advertise-peer-urls", &format!("http://{peer}")])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .expect("etcd is installed (in Debian: etcd-server)")
        });
        let children = children.collect();
        let leader = leader(&members).await;
        Self {
            children,
            leader,
            _folder: folder,
        }
    }

    /// A connection to the leader.
    pub(crate) fn channel(&self) -> Channel {
        channel(self.leader)
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let ids = self.children.iter().map(Child::id);
        ids.map(|id| id.expect("etcd runs")).collect()
    }

    pub(crate) fn resident_kib(&self) -> Sample {
        let mut sample = Sample::default();
        for process in self.processes() {
            sample.push(resident_kib(process));
        }
        sample
    }
}

/// The version that `etcd --version` prints.
pub(crate) fn version() -> String {
    let output = std::process::Command::new("etcd").arg("--version").output();
    let output = output.expect("etcd is installed (in Debian: etcd-server)");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().unwrap_or("etcd").to_owned()
}

/// Writes 256 bytes under a key.
pub(crate) async fn put(channel: &Channel, key: &str) -> bool {
    let request = PutRequest {
        key: key.into(),
        value: vec![b'x'; 256],
    };
    call::<_, Ignored>(channel, "/etcdserverpb.KV/Put", request)
        .await
        .is_some()
}

/// Reads a key, linearizably.
pub(crate) async fn get(channel: &Channel, key: &str) -> bool {
    let request = RangeRequest { key: key.into() };
    call::<_, Ignored>(channel, "/etcdserverpb.KV/Range", request)
        .await
        .is_some()
}

async fn leader(members: &[(SocketAddr, SocketAddr)]) -> SocketAddr {
    eventually("a leader of etcd", async || {
        for (client, _) in members {
            let path = "/etcdserverpb.Maintenance/Status";
            let status = call::<_, StatusResponse>(&channel(*client), path, Ignored {})
                .await
                .ok_or("no answer")?;
            if status.leader != 0
                && status
                    .header
                    .is_some_and(|header| header.member_id == status.leader)
            {
                return Ok(*client);
            }
        }
        Err("none leads".to_owned())
    })
    .await
}

fn channel(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("it is an address");
    endpoint.tcp_nodelay(true).connect_lazy()
}

async fn call<Q, A>(channel: &Channel, path: &'static str, request: Q) -> Option<A>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.ok()?;
    let codec: ProstCodec<Q, A> = ProstCodec::default();
    let request = tonic::Request::new(request);
    let answer = client
        .unary(request, PathAndQuery::from_static(path), codec)
        .await
        .ok()?;
    Some(answer.into_inner())
}
