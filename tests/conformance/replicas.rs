//! Three replicas, each a process, that cases can kill and start.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use synod_client::{Client, ReadOptions, SettingsPatch};
use tempfile::TempDir;

use crate::document::Role;
use crate::process::Process;
use crate::waiting::{LIMIT, eventually};
use synod_tests::free_address;

/// Three replicas. All of them are killed when this is dropped.
pub(crate) struct Replicas {
    /// By id minus 1: ids begin with 1.
    replicas: Vec<Replica>,
    /// Declared last, so that it is deleted only after the processes are gone.
    _folder: TempDir,
}

/// One replica, whether or not its process runs.
struct Replica {
    arguments: Vec<String>,
    log: PathBuf,
    client: SocketAddr,
    process: Option<Process>,
}

impl Replicas {
    /// Three replicas that have formed a cluster.
    pub(crate) async fn start() -> Self {
        // Below the target folder, which is on a disk: the system's folder for temporary files may be in memory.
        let folder = TempDir::with_prefix_in("conformance-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let peers = [(); 3].map(|()| free_address());
        let set: Vec<String> = (1..)
            .zip(peers)
            .map(|(id, peer)| format!("{id}={peer}"))
            .collect();
        let replicas = (1..).zip(peers);
        let mut replicas = Self {
            replicas: replicas
                .map(|(id, peer)| Replica::new(id, &set.join(","), folder.path(), peer))
                .collect(),
            _folder: folder,
        };
        replicas.start_missing().await;
        replicas.let_writes_land_soon().await;
        replicas
    }

    /// Says that a write lands within a second, so that a case waits no longer for what was written before it.
    async fn let_writes_land_soon(&self) {
        let patch = SettingsPatch {
            write_grace: Some(Duration::from_secs(1)),
            ..SettingsPatch::default()
        };
        let client = self.replicas[0].ask().await.with_timeout(LIMIT);
        let changed = client.update_settings(patch, None).await;
        changed.expect("the settings can be changed");
    }

    /// The addresses where the replicas serve clients.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        let clients = self.replicas.iter();
        clients.map(|replica| replica.client.to_string()).collect()
    }

    /// Starts every replica that does not run, and waits until all of them serve.
    pub(crate) async fn start_missing(&mut self) {
        for (id, replica) in (1..).zip(&mut self.replicas) {
            if replica.process.is_none() {
                let name = format!("replica {id}");
                let process = Process::start(&name, &replica.arguments, &replica.log);
                replica.process = Some(process);
            }
        }
        for replica in &self.replicas {
            let read = replica.ask().await.with_timeout(LIMIT);
            let read = read.settings(ReadOptions::linearizable()).await;
            read.unwrap_or_else(|error| panic!("a replica does not serve: {error}"));
        }
    }

    /// Kills a running replica, as `kill -9` does, and returns its id.
    pub(crate) async fn kill(&mut self, role: Role, connected: Option<u64>) -> Result<u64, String> {
        let id = match role {
            Role::Leader => self.leader().await,
            Role::Follower => {
                let leader = self.leader().await;
                let running = (1..).zip(&self.replicas);
                let mut others = running
                    .filter(|(id, replica)| *id != leader && replica.process.is_some())
                    .map(|(id, _)| id);
                others.next().ok_or("no follower runs")?
            }
            Role::Connected => connected.ok_or("no replica has answered yet")?,
        };
        let place = usize::try_from(id - 1).map_err(|error| error.to_string())?;
        let replica = self.replicas.get_mut(place);
        let process = replica.and_then(|replica| replica.process.take());
        let process = process.ok_or_else(|| format!("replica {id} does not run"))?;
        process.kill().await;
        Ok(id)
    }

    /// Kills all that run.
    pub(crate) async fn kill_all(&mut self) {
        for replica in &mut self.replicas {
            if let Some(process) = replica.process.take() {
                process.kill().await;
            }
        }
    }

    /// The leader, as a running replica sees it. After two kills, the replica that is left still knows the leader.
    async fn leader(&self) -> u64 {
        eventually("a leader", async || {
            for replica in &self.replicas {
                if replica.process.is_none() {
                    continue;
                }
                let status = replica.ask().await.with_timeout(LIMIT / 10).status().await;
                let status = status.map_err(|error| error.to_string())?;
                if let Some(leader) = status.leader_id {
                    return Ok(leader);
                }
            }
            Err("none is known".to_owned())
        })
        .await
    }
}

impl Replica {
    fn new(id: u64, set: &str, folder: &Path, peer: SocketAddr) -> Self {
        let client = free_address();
        let values = [
            ("--replica-id", id.to_string()),
            (
                "--data-dir",
                folder.join(format!("{id}")).display().to_string(),
            ),
            ("--cluster-name", "conformance".to_owned()),
            ("--replicas", set.to_owned()),
            ("--listen-client", client.to_string()),
            ("--listen-peer", peer.to_string()),
            ("--listen-metrics", free_address().to_string()),
        ];
        let flags = values
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]);
        Self {
            arguments: ["serve".to_owned()].into_iter().chain(flags).collect(),
            log: folder.join(format!("{id}.log")),
            client,
            process: None,
        }
    }

    /// A client of this replica alone.
    async fn ask(&self) -> Client {
        let builder = Client::builder().endpoints(vec![self.client.to_string()]);
        let client = builder.connect().await;
        client.expect("an address is an endpoint")
    }
}
