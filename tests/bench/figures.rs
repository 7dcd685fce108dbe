//! Measures three Synod processes and, in the same rounds, three etcd processes on this machine.
//!
//! On a shared machine absolute numbers do not repeat, so every rate is printed with its ratio to etcd's rate in the
//! same round, as the median of several rounds with the least and the most. The processor time that the servers spend
//! on a call says the same with less noise.
//!
//! Words after `--` select figures: only those whose name contains one of the words are taken.

use std::time::Duration;

#[path = "../processes/ports.rs"]
mod ports;
#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;

#[path = "figures/etcd.rs"]
mod etcd;
#[path = "figures/failover.rs"]
mod failover;
#[path = "figures/fan_out.rs"]
mod fan_out;
#[path = "figures/rates.rs"]
mod rates;
#[path = "figures/replicas.rs"]
#[expect(dead_code, reason = "the figures of objects use the rest of it")]
mod replicas;
#[path = "figures/sample.rs"]
mod sample;
#[path = "figures/wanted.rs"]
mod wanted;

use etcd::Etcd;
use rates::Where;
use replicas::Replicas;
use wanted::Wanted;

/// The length of each round of a rate.
const ROUND: Duration = Duration::from_secs(2);

/// The number of rounds of each rate.
const ROUNDS: usize = 5;

fn main() {
    let wanted = Wanted::by_arguments();
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let etcd = Etcd::start().await;
        let mut replicas = Replicas::start().await;
        println!(
            "compared with {}, three members, default settings\n",
            etcd::version()
        );
        println!(
            "{:<52} {:>12} {:>24} {:>12} {:>22} {:>22}",
            "figure", "median", "least to most", "etcd", "ratio to etcd", "CPU us a call, etcd's"
        );
        if wanted.has("memory") {
            sample::memory(
                "memory of an idle replica",
                &replicas.resident_kib(),
                &etcd.resident_kib(),
            );
        }
        if wanted.has("reports") {
            for callers in [1, 64, 256] {
                rates::durable_reports(&replicas, &etcd, callers, Where::Anywhere).await;
            }
            rates::durable_reports(&replicas, &etcd, 256, Where::AtTheLeader).await;
        }
        if wanted.has("reads") {
            rates::linearizable_reads(&replicas, &etcd, 64).await;
        }
        drop(etcd);
        if wanted.has("watchers") {
            fan_out::thousand_resources(&replicas).await;
        }
        if wanted.has("SIGKILL") {
            failover::leader_killed(&mut replicas).await;
        }
    });
}
