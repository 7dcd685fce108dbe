//! The operator, who hands out a new key to one server after the other, and throws away what is free.

use rand::RngExt;
use rand::seq::SliceRandom;
use synod_client::ReadOptions;

use super::ledger::Ring;
use super::{Participant, SERVERS, name, secrets};

/// How many keys there may be at once. With more than two the next rotation begins before the last one has ended.
const KEYS_MAX: u64 = 4;

/// Rotates keys until the run is over. The last key is handed out to everybody at once.
pub(super) async fn run(mut operator: Participant) {
    let mut ring = Ring {
        oldest: 1,
        newest: 1,
    };
    while !operator.is_over() {
        operator.pause(300..2_000).await;
        throw_away(&operator, &mut ring).await;
        if ring.newest - ring.oldest + 1 < KEYS_MAX {
            ring.newest += 1;
        }
        let mut servers = SERVERS;
        servers.shuffle(&mut operator.rng);
        for host in servers {
            operator.ledger.hand_out(host, ring);
            operator.pause(0..800).await;
        }
        operator
            .trace
            .add(format_args!("everybody has been handed out {ring:?}"));
        if operator.rng.random_ratio(1, 3) {
            wait(&mut operator, &mut ring).await;
        }
    }
    ring.newest += 1;
    for host in SERVERS {
        operator.ledger.hand_out(host, ring);
    }
    operator.ledger.end_with(ring.newest);
}

/// Waits until the newest key alone is needed, for some seconds at most.
async fn wait(operator: &mut Participant, ring: &mut Ring) {
    for _ in 0..40 {
        if operator.is_over() || ring.oldest == ring.newest {
            return;
        }
        operator.pause(200..400).await;
        throw_away(operator, ring).await;
    }
}

/// Throws away the oldest keys that are free for sure.
async fn throw_away(operator: &Participant, ring: &mut Ring) {
    while ring.oldest < ring.newest {
        let (key, options) = (name(ring.oldest), ReadOptions::linearizable());
        let checked = operator.client.check_drop(&secrets(), &key, options).await;
        if !checked.is_ok_and(|checked| checked.is_safe_for_sure()) {
            return;
        }
        operator.trace.add(format_args!("{key} is thrown away"));
        operator.ledger.count(|told| told.thrown_away += 1);
        ring.oldest += 1;
    }
}
