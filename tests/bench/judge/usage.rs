//! What the servers, and everything else on the machine, use while a case is measured.

use std::fs;
use std::net::SocketAddr;

use futures::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::sample::cpu_micros;

/// The counter of synced writes to the log, which Synod names as etcd does.
const SYNCS: &str = "etcd_disk_wal_fsync_duration_seconds_count";

/// What was used since the meter was started.
pub(crate) struct Usage {
    pub(crate) seconds: f64,
    /// The servers' processor time, in microseconds.
    pub(crate) cpu_micros: f64,
    /// The bytes that the servers have written to disks, if the system tells.
    pub(crate) written_bytes: Option<f64>,
    /// The part of the whole machine that processes took which are neither the servers nor this one.
    pub(crate) others: f64,
}

pub(crate) struct Meter {
    servers: Vec<u32>,
    begin: Instant,
    before: Counters,
}

struct Counters {
    machine_micros: f64,
    own_micros: f64,
    servers_micros: f64,
    written_bytes: Option<f64>,
}

impl Meter {
    pub(crate) fn start(servers: Vec<u32>) -> Self {
        Self {
            begin: Instant::now(),
            before: Counters::read(&servers),
            servers,
        }
    }

    pub(crate) fn read(&self) -> Usage {
        let seconds = self.begin.elapsed().as_secs_f64();
        let (before, after) = (&self.before, Counters::read(&self.servers));
        let servers = after.servers_micros - before.servers_micros;
        let known = servers + after.own_micros - before.own_micros;
        let others = after.machine_micros - before.machine_micros - known;
        Usage {
            seconds,
            cpu_micros: servers,
            written_bytes: after
                .written_bytes
                .zip(before.written_bytes)
                .map(|(a, b)| a - b),
            others: (others / (seconds * 1e6 * cores())).max(0.0),
        }
    }
}

impl Counters {
    fn read(servers: &[u32]) -> Self {
        Self {
            machine_micros: machine_micros(),
            own_micros: cpu_micros(std::process::id()),
            servers_micros: servers.iter().map(|server| cpu_micros(*server)).sum(),
            written_bytes: servers.iter().map(|server| written_bytes(*server)).sum(),
        }
    }
}

pub(crate) fn cores() -> f64 {
    let cores = std::thread::available_parallelism();
    f64::from(u16::try_from(cores.map_or(1, usize::from)).unwrap_or(u16::MAX))
}

/// The processor time that all processes together have had. Interrupts are left out: no process is charged with them.
fn machine_micros() -> f64 {
    let stat = fs::read_to_string("/proc/stat").expect("Linux tells it");
    let line = stat.lines().next().expect("the first line is of all cores");
    let ticks = line.split_whitespace().skip(1).take(3);
    let ticks = ticks.map(|ticks| ticks.parse::<f64>().expect("times are numbers"));
    // In hundredths of a second on every Linux.
    ticks.sum::<f64>() * 10_000.0
}

fn written_bytes(process: u32) -> Option<f64> {
    let io = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    let written = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes:"))?;
    written.trim().parse().ok()
}

/// How often the servers have synced their logs, if all of them tell.
pub(crate) async fn syncs(metrics: &[SocketAddr]) -> Option<f64> {
    let counters = metrics.iter().map(|address| counter(*address, SYNCS));
    let sum: Option<f64> = join_all(counters).await.into_iter().sum();
    sum.filter(|_| !metrics.is_empty())
}

async fn counter(address: SocketAddr, name: &str) -> Option<f64> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    // By the first version of HTTP, whose answers are not in chunks and end with the connection.
    stream
        .write_all(b"GET /metrics HTTP/1.0\r\n\r\n")
        .await
        .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let mut lines = answer.lines();
    lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}
