//! A client that takes leases, acts under them, and releases them or lets them expire.

use std::time::Duration;

use rand::RngExt;
use synod_client::{HolderIdentity, LeaseKey, Lock, LockOptions, Ttl};

use super::User;

/// The number of leases that all holders compete for.
const LEASES: usize = 2;

/// Short, so that some leases expire.
const TTL_MS: u64 = 2_000;

/// Takes leases until the run is over.
pub(super) async fn run(mut user: User) {
    let mut holds = 0;
    while !user.is_over() {
        user.pause(50..800).await;
        let number = user.rng.random_range(0..LEASES);
        let key = LeaseKey::new("default", &format!("lease-{number}")).unwrap();
        holds += 1;
        // Another holder each time, as from another process.
        let holder = format!("holder-{}-{holds}", user.host);
        let options = LockOptions::new(key.clone())
            .holder(HolderIdentity::parse(&holder).unwrap())
            .ttl(Ttl::from_millis(TTL_MS).unwrap());
        let waits = user.rng.random_ratio(3, 4);
        let lock = if waits {
            let patience = Duration::from_millis(user.rng.random_range(500..6_000));
            let over = tokio::time::sleep(patience);
            user.client.lock_unless(options, over).await.ok().flatten()
        } else {
            user.client.try_lock(options).await.ok()
        };
        let Some(lock) = lock else { continue };
        let token = lock.token().revision();
        user.trace
            .add(format_args!("{holder} has {key} by {token}"));
        user.ledger.give(&key, token, holder, waits);
        hold(&mut user, &key, lock).await;
    }
}

/// Holds one lease for as long as it is let, without another call than renewals, until the run is over.
pub(super) async fn keep(mut user: User) {
    let key = LeaseKey::new("default", "kept").unwrap();
    while !user.is_over() {
        user.pause(50..200).await;
        let options = LockOptions::new(key.clone()).ttl(Ttl::from_millis(TTL_MS).unwrap());
        let Ok(lock) = user.client.try_lock(options).await else {
            continue;
        };
        let token = lock.token().revision();
        user.trace
            .add(format_args!("{} keeps {key} by {token}", user.host));
        while !user.is_over() && lock.check().is_ok() {
            user.ledger.act(&key, token);
            user.pause(20..60).await;
        }
    }
}

async fn hold(user: &mut User, key: &LeaseKey, lock: Lock) {
    for _ in 0..user.rng.random_range(1..60) {
        if lock.check().is_err() {
            return;
        }
        user.ledger.act(key, lock.token().revision());
        user.pause(10..100).await;
    }
    // A third of them is not released, and expires.
    if user.rng.random_ratio(2, 3) {
        let _ = lock.release().await;
    }
}
