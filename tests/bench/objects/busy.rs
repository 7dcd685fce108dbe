//! Measures whether leadership is stable on a machine whose processors are overloaded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::MANY;
use crate::replicas::Replicas;
use crate::stored::store_all;

/// Busy threads for each processor.
const TURNING: usize = 4;

/// Stores as many objects again while busy threads take the processors, and prints how many elections there were.
pub(crate) async fn leadership(replicas: &Replicas) {
    let over = Arc::new(AtomicBool::new(false));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let turning: Vec<_> = (0..TURNING * processors)
        .map(|_| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let before = term(replicas).await;
    store_all(replicas, MANY..2 * MANY).await;
    let elections = term(replicas).await - before;
    over.store(true, Ordering::Relaxed);
    for thread in turning {
        thread.join().expect("it only turns");
    }
    let name = "elections while 1,000,000 objects are stored on a busy machine";
    println!("{name:<64} {elections:>10}");
}

async fn term(replicas: &Replicas) -> u64 {
    let status = replicas.client().await.status().await;
    status.expect("a replica answers").header.raft_term
}
