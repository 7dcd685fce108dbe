//! The cases of Kubernetes on what its migrator does with a StorageVersionMigration. Here a worker of the Rust client migrates,
//! on a store that answers as the case says, and the conditions are those that the Kubernetes API shows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use synod_client::{
    Attempt, ContinueToken, ErrorKind, GroupResource, Migration, MigrationId, Migrator,
    MigratorOptions, Revision, Store, StoreError, StorePage, WorkerName,
};

use super::stage::{Stage, conditions, path};
use super::{expect_eq, run, text};
use crate::api::Api;

#[test]
fn a_migration_is_worked_at_as_kubernetes_works_at_it() {
    run("svm_sync.json", 3, async |_, case| {
        let stage = Stage::encoding("shop.io", "items", "shop.io/v1").await;
        let name = stage.only().await;
        let own = MigrationId::parse(&name).map_err(|faults| faults.to_string())?;
        let resource = own.resource().clone();
        let unheard = MigrationId::new(resource.clone(), Revision::new(1 << 40));
        let (wanted, holds_one) = match text(case, "name") {
            "SVM not found" => (unheard, false),
            "fatal rewrite error" => (own, true),
            "cache RV 'abc' not comparable" => (own, false),
            name => return Err(format!("an unknown case: {name}")),
        };
        let store = ClosedStore {
            holds_one,
            api: Api(stage.api.0.clone()),
            name: name.clone(),
            seen: Arc::default(),
        };
        let seen = Arc::clone(&store.seen);
        let before = stage.list().await;
        let is_failed = work(&stage, store, resource, &wanted).await.is_err();
        expect_eq("error", &json!(is_failed), &case["error"])?;
        if let Some(writes) = case["writes"].as_u64() {
            let after = stage.list().await;
            let written = after.iter().filter(|shown| !before.contains(shown)).count();
            return expect_eq("writes", &json!(written), &json!(writes));
        }
        let mut shown: Vec<Value> = seen.lock().unwrap().clone();
        shown.push(summary(&stage.shown(&name).await));
        shown.dedup();
        expect_eq("conditions", &json!(shown), &case["conditions"])
    });
}

/// Lets a worker migrate, if the migration can be claimed once nothing drains.
async fn work(
    stage: &Stage,
    store: ClosedStore,
    resource: GroupResource,
    migration: &MigrationId,
) -> Result<Attempt, synod_client::Error> {
    let worker = WorkerName::parse("one").unwrap();
    let options = MigratorOptions::new(worker, BTreeSet::from([resource]));
    let migrator = Migrator::new(stage.client().await, store, options);
    loop {
        match migrator
            .run_one_until(migration, std::future::pending())
            .await?
        {
            Attempt::Refused(refusal) if refusal.kind() == ErrorKind::Draining => {
                tokio::task::yield_now().await;
            }
            attempt => return Ok(attempt),
        }
    }
}

/// The conditions that are shown, in the words of the file.
fn summary(shown: &Value) -> Value {
    let all = conditions(shown);
    match all.as_slice() {
        [[kind, status, _]] => json!([kind, status]),
        several => {
            let several = several
                .iter()
                .map(|[kind, status, _]| format!("{kind} {status}"));
            json!([several.collect::<Vec<_>>().join(" + ")])
        }
    }
}

/// A store that cannot be listed, or one whose only object cannot be written. It records the conditions that are shown meanwhile.
struct ClosedStore {
    holds_one: bool,
    api: Api,
    /// The name of the migration.
    name: String,
    seen: Arc<Mutex<Vec<Value>>>,
}

impl ClosedStore {
    async fn look(&self) {
        let answer = self.api.get(&path(&self.name)).await;
        self.seen.lock().unwrap().push(summary(&answer.body));
    }
}

impl Store for ClosedStore {
    type Object = ();

    async fn list_page(
        &self,
        _: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<()>, StoreError> {
        self.look().await;
        if !self.holds_one {
            return Err(StoreError::NotSupported);
        }
        Ok(StorePage {
            objects: vec![()],
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(&self, _: &Migration, (): &()) -> Result<(), StoreError> {
        self.look().await;
        Err(StoreError::NotSupported)
    }
}
