//! A worker that rewrites what older keys have encrypted, and dies now and then.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt;
use synod_client::{
    ContinueToken, Migration, Migrator, MigratorOptions, Store, StoreError, StorePage, WorkerName,
};
use tokio::time::{sleep, timeout};

use super::ledger::Stored;
use super::{Ledger, Participant, name, number, secrets, ttl};

/// Works until the run is over.
pub(super) async fn run(mut worker: Participant) {
    let who = WorkerName::parse(&format!("worker-{}", worker.host)).unwrap();
    let options = MigratorOptions::new(who, BTreeSet::from([secrets()])).ttl(ttl());
    while !worker.is_over() {
        let store = Rewriting(worker.ledger.clone());
        let migrator = Migrator::new(worker.client.clone(), store, options.clone());
        let life = Duration::from_millis(worker.rng.random_range(1_000..8_000));
        // Its claim runs out by itself.
        let _ = timeout(life, migrator.run()).await;
        worker.pause(10..500).await;
    }
}

/// The store as the worker sees it. It has all keys.
struct Rewriting(Ledger);

impl Store for Rewriting {
    type Object = (usize, Stored);

    async fn list_page(
        &self,
        migration: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<Self::Object>, StoreError> {
        let start = migration.start_revision();
        let mut objects = self.0.objects();
        objects.retain(|(_, stored)| migration.rewrites(&name(stored.key), start));
        Ok(StorePage {
            objects,
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        (object, read): &Self::Object,
    ) -> Result<(), StoreError> {
        sleep(Duration::from_millis(1)).await;
        let target = migration.target.version.as_ref();
        let target = number(target.expect("the migration of a key names it"));
        match self.0.rewrite(*object, *read, target) {
            true => Ok(()),
            false => Err(StoreError::Conflict),
        }
    }
}
