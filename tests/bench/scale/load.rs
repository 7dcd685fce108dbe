//! Closed loops: each caller makes its next call when the last one is answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use synod_client::Client;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::SPAN;
use crate::axis::Point;
use crate::replicas::Replicas;
use crate::usage::Meter;

/// Callers, and the clients that they share.
const CALLERS: usize = 64;
const CLIENTS: usize = 8;

/// What a caller does in its turn: the client that it has, which caller it is, and which turn.
pub(crate) type Turn = (Client, usize, u64);

/// Has callers call, and measures what the servers take for each call. `step` panics if its call fails.
pub(crate) async fn measure<S, F>(replicas: &Replicas, at: usize, step: S) -> Point
where
    S: Fn(Turn) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send,
{
    let step = Arc::new(step);
    let is_over = Arc::new(AtomicBool::new(false));
    let (calls, mut callers) = (Arc::new(AtomicU64::new(0)), JoinSet::new());
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(replicas.client().await);
    }
    for caller in 0..CALLERS {
        let client = clients[caller % CLIENTS].clone();
        let (step, calls, is_over) = (Arc::clone(&step), Arc::clone(&calls), Arc::clone(&is_over));
        callers.spawn(async move {
            let mut turn = 0;
            while !is_over.load(Ordering::Relaxed) {
                step((client.clone(), caller, turn)).await;
                calls.fetch_add(1, Ordering::Relaxed);
                turn += 1;
            }
        });
    }
    sleep(SPAN / 3).await;
    let (meter, before) = (
        Meter::start(replicas.processes()),
        calls.load(Ordering::Relaxed),
    );
    sleep(SPAN).await;
    let usage = meter.read();
    let made = calls.load(Ordering::Relaxed) - before;
    is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = callers.join_next().await {
        ended.expect("no call fails");
    }
    Point::of(at, made, &usage, replicas)
}
