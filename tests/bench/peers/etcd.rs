//! Three etcd members with default settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use prost::Message;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

#[path = "etcd/messages.rs"]
pub(crate) mod messages;

use crate::secured::SecuredBy;
use crate::session::{Place, dial};
use crate::waiting::eventually;
use messages::{Nothing, StatusResponse};
use synod_tests::free_address;

pub(crate) struct Etcd {
    program: PathBuf,
    /// Of each member.
    arguments: Vec<Vec<String>>,
    children: Vec<Child>,
    addresses: Vec<SocketAddr>,
    _folder: TempDir,
}

impl Etcd {
    /// Starts three members of this program.
    pub(crate) fn start(program: &Path, security: Option<&SecuredBy>) -> Self {
        let scheme = if security.is_some() { "https" } else { "http" };
        // Synod's flags have the names of etcd's.
        let mut flags = security.map_or_else(Vec::new, |by| by.certificates.flags());
        if security.is_some() {
            flags.extend(["--client-cert-auth", "--peer-client-cert-auth"].map(str::to_owned));
        }
        let folder = TempDir::with_prefix_in("etcd-", env!("CARGO_TARGET_TMPDIR"))
            .expect("the folder can be written");
        let members: Vec<(SocketAddr, SocketAddr)> =
            (0..3).map(|_| (free_address(), free_address())).collect();
        let set = members
            .iter()
            .enumerate()
            .map(|(at, (_, peer))| format!("m{at}={scheme}://{peer}"));
        let set = set.collect::<Vec<_>>().join(",");
        let arguments = members.iter().enumerate().map(|(at, (client, peer))| {
            let data = folder.path().join(format!("m{at}"));
            let (client, peer) = (format!("{scheme}://{client}"), format!("{scheme}://{peer}"));
            let values = [
                ("--name", format!("m{at}")),
                ("--initial-cluster", set.clone()),
                ("--log-level", "error".to_owned()),
                ("--data-dir", data.display().to_string()),
                ("--listen-client-urls", client.clone()),
                ("--advertise-client-urls", client),
                ("--listen-peer-urls", peer.clone()),
                ("--initial-advertise-peer-urls", peer),
            ];
            let values = values
                .into_iter()
                .flat_map(|(flag, value)| [flag.to_owned(), value]);
            values.chain(flags.iter().cloned()).collect()
        });
        let arguments: Vec<Vec<String>> = arguments.collect();
        let children = arguments.iter().map(|arguments| spawn(program, arguments));
        Self {
            program: program.to_owned(),
            children: children.collect(),
            arguments,
            addresses: members.into_iter().map(|(client, _)| client).collect(),
            _folder: folder,
        }
    }

    pub(crate) async fn kill(&mut self, at: usize) {
        let killed = self.children[at].kill().await;
        killed.expect("a child can be killed");
    }

    /// Starts a member again that was killed.
    pub(crate) fn launch(&mut self, at: usize) {
        self.children[at] = spawn(&self.program, &self.arguments[at]);
    }

    /// The addresses for clients, where the members tell their metrics too.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    /// The position of the leader.
    pub(crate) async fn leader(&self, places: &[Place]) -> usize {
        eventually("a leader of etcd", async || {
            for (at, place) in places.iter().enumerate() {
                if leads(place).await? {
                    return Ok(at);
                }
            }
            Err("none leads".to_owned())
        })
        .await
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let ids = self.children.iter().map(Child::id);
        ids.map(|id| id.expect("etcd runs")).collect()
    }

    /// Kills the members, and waits until they have ended.
    pub(crate) async fn stop(mut self) {
        for at in 0..self.children.len() {
            self.kill(at).await;
        }
    }
}

fn spawn(program: &Path, arguments: &[String]) -> Child {
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    spawned.expect("etcd can be started")
}

async fn leads(place: &Place) -> Result<bool, String> {
    let channel = dial(place).await.map_err(|error| error.to_string())?;
    let mut client = Grpc::new(channel);
    let status: StatusResponse = call(&mut client, "/etcdserverpb.Maintenance/Status", Nothing {})
        .await
        .map_err(|error| error.to_string())?;
    let asked = status.header.map(|header| header.member_id);
    Ok(status.leader != 0 && asked == Some(status.leader))
}

/// Calls a method with one answer.
pub(crate) async fn call<Q, A>(
    client: &mut Grpc<Channel>,
    path: &'static str,
    request: Q,
) -> Result<A, Box<dyn std::error::Error + Send + Sync>>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    client.ready().await?;
    let codec: ProstCodec<Q, A> = ProstCodec::default();
    let request = tonic::Request::new(request);
    let path = PathAndQuery::from_static(path);
    Ok(client.unary(request, path, codec).await?.into_inner())
}
