//! Measures for how long three Synod processes acknowledge no write when the leader is killed or asked to end. What etcd and
//! ZooKeeper have too, `judge` measures beside theirs.
//!
//! Words after `--` select figures: only those whose name contains one of the words are taken.

#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;

#[path = "figures/entry.rs"]
mod entry;
#[path = "figures/failover.rs"]
mod failover;
#[path = "figures/hand_over.rs"]
mod hand_over;
#[path = "peers/replicas.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod replicas;
#[path = "figures/rolling.rs"]
mod rolling;
#[path = "peers/sample.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest of it")]
mod sample;
#[path = "peers/wanted.rs"]
mod wanted;

use replicas::Replicas;
use wanted::Wanted;

fn main() {
    let wanted = Wanted::by_arguments();
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let mut replicas = Replicas::start().await;
        println!("{:<52} {:>12} {:>24}", "figure", "median", "least to most");
        if wanted.has("SIGKILL") {
            failover::leader_killed(&mut replicas).await;
        }
        if wanted.has("SIGTERM") {
            hand_over::leader_hands_over(&mut replicas).await;
            rolling::restarts(&mut replicas).await;
        }
    });
}
