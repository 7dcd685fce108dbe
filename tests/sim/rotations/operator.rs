//! The operator, who throws away a key once nothing may need it, and the worker that rewrites what it encrypts.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_client::{
    ApiVersion, ContinueToken, Migration, Migrator, MigratorOptions, ReadOptions, Store,
    StoreError, StorePage, WorkerName,
};

use super::ledger::Ledger;
use super::{Participant, key, topics};

pub(super) async fn run(mut operator: Participant) {
    let [keys, _] = topics();
    while !operator.is_over() {
        operator.pause(50..300).await;
        let oldest = key(operator.ledger.oldest());
        let checked = operator
            .client
            .check_drop(keys.resource(), &oldest, ReadOptions::default());
        if let Ok(safety) = checked.await
            && safety.is_safe_for_sure()
        {
            operator.trace.add(format_args!("{oldest} is thrown away"));
            operator.ledger.throw_away_the_oldest();
        }
    }
}

/// Rewrites for as long as the run lasts.
pub(super) async fn rewrite(mut worker: Participant) {
    let [keys, _] = topics();
    let name = WorkerName::parse("worker").unwrap();
    let options = MigratorOptions::new(name, BTreeSet::from([keys.resource().clone()]));
    let store = Rewriting(worker.ledger.clone());
    let migrator = Migrator::new(worker.client.clone(), store, options);
    while !worker.is_over() {
        let until = Duration::from_secs(2);
        if let Ok(Err(error)) = tokio::time::timeout(until, migrator.run()).await {
            worker
                .trace
                .add(format_args!("the worker has ended: {error}"));
        }
        worker.pause(50..300).await;
    }
}

/// The store as the worker sees it.
struct Rewriting(Ledger);

impl Store for Rewriting {
    type Object = (u64, ApiVersion);

    async fn list_page(
        &self,
        migration: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<Self::Object>, StoreError> {
        let objects = self.0.objects().into_iter();
        let stale = objects.filter(|(_, key)| migration.rewrites(key, migration.start_revision()));
        Ok(StorePage {
            objects: stale.collect(),
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        (object, read): &Self::Object,
    ) -> Result<(), StoreError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let target = migration.target.version.as_ref().unwrap();
        let since = migration.start_revision();
        match self.0.rewrite(*object, read, target, since) {
            true => Ok(()),
            false => Err(StoreError::Conflict),
        }
    }
}
