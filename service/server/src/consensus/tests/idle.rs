use tokio::runtime::Handle;
use tokio::time::sleep;

use super::three::Cluster;
use super::*;

/// How often the thread of a test went to sleep in a second, and so was woken.
async fn sleeps_in_a_second() -> f64 {
    let parked = || Handle::current().metrics().worker_park_count(0);
    let (before, begin) = (parked(), Instant::now());
    sleep(Duration::from_secs(1)).await;
    let parked = u32::try_from(parked() - before).unwrap();
    f64::from(parked) / begin.elapsed().as_secs_f64()
}

/// Ticks of openraft alone would wake three replicas 200 times a second.
#[tokio::test]
async fn openraft_does_not_tick_while_nothing_is_due() {
    let cluster = Cluster::start(|_| ()).await;
    let leader = cluster.leader().await;
    let mut least = f64::INFINITY;
    for _ in 0..10 {
        least = least.min(sleeps_in_a_second().await);
        if least < 150.0 {
            break;
        }
    }
    assert!(
        least < 150.0,
        "three replicas slept {least:.0} times a second"
    );
    assert_eq!(cluster.leader().await, leader);
    cluster.stop_all().await;
}
