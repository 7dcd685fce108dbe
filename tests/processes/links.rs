//! The network between the replicas: a proxy in front of each peer port, which finds out who opened a connection.
//!
//! Each replica has one peer address for all others, so a proxy sees the connections of all of them. It looks up under
//! `/proc` which process holds the other end, and so can hold each direction between two replicas separately.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::relay::{Flow, relay};

/// The greatest id of a replica in any test.
const IDS_MAX: u64 = 9;

/// The sender and the receiver.
type Direction = (u64, u64);

/// The network between the replicas.
pub(crate) struct Links {
    addresses: BTreeMap<u64, SocketAddr>,
    shared: Arc<LinksParts>,
    accepting: Vec<JoinHandle<()>>,
}

struct LinksParts {
    flows: BTreeMap<Direction, watch::Sender<Flow>>,
    /// The ids of the replicas' processes.
    processes: Mutex<BTreeMap<u64, u32>>,
}

impl Links {
    /// Starts proxies for the peer ports of these replicas, which pass everything on at first.
    pub(crate) async fn before(replicas: &BTreeMap<u64, SocketAddr>) -> Self {
        // Whoever is added later has no proxy of its own, and calls the others through theirs.
        let to = || replicas.keys();
        let pairs = (1..=IDS_MAX).flat_map(|from| to().map(move |to| (from, *to)));
        let pairs = pairs.flat_map(|(from, to)| [(from, to), (to, from)]);
        let flows = pairs
            .map(|pair| (pair, watch::channel(Flow::Open).0))
            .collect();
        let shared = Arc::new(LinksParts {
            flows,
            processes: Mutex::default(),
        });
        let mut addresses = BTreeMap::new();
        let mut accepting = Vec::new();
        for (&replica, &target) in replicas {
            let listener = TcpListener::bind((target.ip(), 0))
                .await
                .expect("a port is free");
            let address = listener.local_addr().expect("a listener has an address");
            addresses.insert(replica, address);
            accepting.push(tokio::spawn(accept(
                Arc::clone(&shared),
                listener,
                replica,
                target,
            )));
        }
        Self {
            addresses,
            shared,
            accepting,
        }
    }

    /// The proxy's address for each replica.
    pub(crate) fn addresses(&self) -> &BTreeMap<u64, SocketAddr> {
        &self.addresses
    }

    /// Starts the process of a replica and records its id, before it can open a connection.
    pub(crate) fn known<P>(&self, replica: u64, start: impl FnOnce() -> (P, u32)) -> P {
        let mut processes = self
            .shared
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (process, number) = start();
        processes.insert(replica, number);
        process
    }

    /// Holds everything from and to this replica from now on. No connection breaks.
    pub(crate) fn isolate(&self, replica: u64) {
        self.set(Flow::Held, |(from, to)| from == replica || to == replica);
    }

    /// Holds everything from one replica to the other from now on; the other direction stays open.
    pub(crate) fn hold(&self, from: u64, to: u64) {
        self.set(Flow::Held, |pair| pair == (from, to));
    }

    /// Delivers everything again, with what was held.
    pub(crate) fn heal(&self) {
        self.set(Flow::Open, |_| true);
    }

    fn set(&self, flow: Flow, of: impl Fn(Direction) -> bool) {
        for (_, sender) in self.shared.flows.iter().filter(|(pair, _)| of(**pair)) {
            sender.send_replace(flow);
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.accepting.iter().for_each(JoinHandle::abort);
    }
}

async fn accept(shared: Arc<LinksParts>, listener: TcpListener, to: u64, target: SocketAddr) {
    while let Ok((inbound, _)) = listener.accept().await {
        // The process that connected may have been killed since.
        let Some(from) = shared.opener(&inbound) else {
            continue;
        };
        let gate = |pair: Direction| shared.flows[&pair].subscribe();
        tokio::spawn(relay(inbound, target, gate((from, to)), gate((to, from))));
    }
}

impl LinksParts {
    /// The replica that opened a connection.
    fn opener(&self, inbound: &TcpStream) -> Option<u64> {
        let opened = format!(
            "socket:[{}]",
            inode(inbound.peer_addr().ok()?, inbound.local_addr().ok()?)?
        );
        let processes = self
            .processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut owners = processes
            .iter()
            .filter(|(_, process)| holds(**process, &opened));
        owners.next().map(|(replica, _)| *replica)
    }
}

/// The inode of the socket with the address `local` and the peer `remote`, both on IPv4 loopback.
fn inode(local: SocketAddr, remote: SocketAddr) -> Option<String> {
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    // Not taken to pieces line by line: in some tests there are ten thousand connections, and others wait here.
    let ends = [local, remote].map(in_table);
    let (_, rest) = table.split_once(&format!(" {} {} ", ends[0], ends[1]))?;
    rest.split_whitespace().nth(6).map(str::to_owned)
}

/// An address as the table has it: the number of the host as this machine reads it from memory.
fn in_table(address: SocketAddr) -> String {
    let host = match address.ip() {
        IpAddr::V4(host) => u32::from_ne_bytes(host.octets()),
        IpAddr::V6(host) => panic!("{host} is in another table"),
    };
    format!("{host:08X}:{:04X}", address.port())
}

/// Whether a process has the file of this name open.
fn holds(process: u32, name: &str) -> bool {
    let files = fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten();
    files
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .any(|file| file == Path::new(name))
}
