//! One replica of a cluster, and how it is started.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::NAME;
use crate::process::Process;
use crate::release::Release;
use synod_tests::free_address;

/// One replica, whether or not its process runs.
pub(super) struct Replica {
    /// The release that it runs.
    pub(super) release: Release,
    pub(super) arguments: Vec<String>,
    pub(super) data_dir: PathBuf,
    pub(super) log: PathBuf,
    pub(super) client: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) metrics: SocketAddr,
    pub(super) process: Option<Process>,
    pub(super) paused: bool,
}

impl Replica {
    pub(super) fn new(id: u64, set: &str, folder: &Path, peer: SocketAddr) -> Self {
        let (client, metrics) = (free_address(), free_address());
        let data_dir = folder.join(format!("replica-{id}"));
        let values = [
            ("--replica-id", id.to_string()),
            ("--data-dir", data_dir.display().to_string()),
            ("--cluster-name", NAME.to_owned()),
            ("--replicas", set.to_owned()),
            ("--listen-client", client.to_string()),
            ("--listen-peer", peer.to_string()),
            ("--listen-metrics", metrics.to_string()),
            ("--log", log_filter()),
        ];
        let flags = values
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]);
        Self {
            release: Release::Present,
            arguments: ["serve".to_owned()].into_iter().chain(flags).collect(),
            data_dir,
            log: folder.join(format!("replica-{id}.log")),
            client,
            peer,
            metrics,
            process: None,
            paused: false,
        }
    }
}

impl Replica {
    pub(super) fn pause(&mut self) {
        self.process.as_ref().expect("the replica runs").pause();
        self.paused = true;
    }

    pub(super) fn resume(&mut self) {
        let process = self.process.as_ref().expect("the replica runs");
        process.signal(Signal::CONT);
        self.paused = false;
    }

    /// Changes what is logged.
    pub(super) fn log_by(&mut self, filter: &str) {
        let place = self.arguments.iter().position(|it| it == "--log");
        self.arguments[place.expect("it is said what is logged") + 1] = filter.to_owned();
    }
}

/// The log filter of the replicas, unless the environment gives another.
fn log_filter() -> String {
    std::env::var("SYNOD_PROCESS_LOG").unwrap_or_else(|_| "info,synod_server=debug".to_owned())
}
