//! Three ZooKeeper servers of Debian's package with default settings, each with files of its own.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::waiting::eventually;
use synod_tests::free_address;

/// Where Debian puts programs for Java.
const PROGRAMS: &str = "/usr/share/java";

/// The folder of the settings of Debian's package, of which only those of the log are used.
const SETTINGS: &str = "/etc/zookeeper/conf";

/// The most memory for objects, as ZooKeeper's own script has it.
const HEAP: &str = "-Xmx1000m";

pub(crate) struct ZooKeeper {
    children: Vec<Child>,
    addresses: Vec<SocketAddr>,
    _folder: TempDir,
}

impl ZooKeeper {
    pub(crate) fn start() -> Self {
        let folder = TempDir::with_prefix_in("zookeeper-", env!("CARGO_TARGET_TMPDIR"))
            .expect("the folder can be written");
        let addresses: Vec<SocketAddr> = (0..3).map(|_| free_address()).collect();
        let servers = (1..=3).map(|id| {
            let (quorum, election) = (free_address(), free_address().port());
            format!("server.{id}={quorum}:{election}\n")
        });
        let servers: String = servers.collect();
        let children = addresses.iter().enumerate().map(|(at, address)| {
            let settings = configure(
                &folder.path().join(format!("m{at}")),
                at,
                *address,
                &servers,
            );
            Command::new("java")
                .arg(HEAP)
                .arg("-cp")
                .arg(format!("{SETTINGS}:{PROGRAMS}/zookeeper.jar"))
                .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
                .arg(settings)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .expect("java can be started")
        });
        Self {
            children: children.collect(),
            addresses,
            _folder: folder,
        }
    }

    /// The addresses for clients.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.clone()
    }

    /// The position of the leader.
    pub(crate) async fn leader(&self) -> usize {
        eventually("a leader of ZooKeeper", async || {
            for (at, address) in self.addresses.iter().enumerate() {
                if state(*address).await.contains("Mode: leader") {
                    return Ok(at);
                }
            }
            Err("none leads".to_owned())
        })
        .await
    }

    pub(crate) fn processes(&self) -> Vec<u32> {
        let ids = self.children.iter().map(Child::id);
        ids.map(|id| id.expect("ZooKeeper runs")).collect()
    }

    /// Kills the servers, and waits until they have ended.
    pub(crate) async fn stop(mut self) {
        for child in &mut self.children {
            child.kill().await.expect("a child can be killed");
        }
    }
}

/// The version of the package that is installed.
pub(crate) fn version() -> Option<String> {
    let files = fs::read_dir(PROGRAMS).ok()?;
    let mut names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.find_map(|name| {
        let version = name.strip_prefix("zookeeper-")?.strip_suffix(".jar")?;
        let is_version = version.starts_with(|first: char| first.is_ascii_digit());
        is_version.then(|| format!("ZooKeeper {version}"))
    })
}

/// Writes the settings of one server, and returns their path. What is not said is as ZooKeeper has it.
fn configure(data: &Path, at: usize, address: SocketAddr, servers: &str) -> PathBuf {
    fs::create_dir(data).expect("the folder can be written");
    fs::write(data.join("myid"), (at + 1).to_string()).expect("the folder can be written");
    let settings = format!(
        "tickTime=2000\ninitLimit=10\nsyncLimit=5\ndataDir={}\nclientPort={}\nclientPortAddress={}\n\
         maxClientCnxns=0\nadmin.enableServer=false\n4lw.commands.whitelist=srvr\n{servers}",
        data.display(),
        address.port(),
        address.ip(),
    );
    let path = data.with_extension("cfg");
    fs::write(&path, settings).expect("the folder can be written");
    path
}

/// What a server says of itself; nothing if it does not answer.
async fn state(address: SocketAddr) -> String {
    let mut answer = String::new();
    if let Ok(mut stream) = TcpStream::connect(address).await
        && stream.write_all(b"srvr").await.is_ok()
        && stream.read_to_string(&mut answer).await.is_ok()
    {
        return answer;
    }
    String::new()
}
