//! What Kubernetes' migrator does with a migration, and what it lets a user write into one: here a worker does it, at a
//! real replica and at a store that answers as the case says.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use synod_client::{
    Client, ContinueToken, JoinOptions, ListMigrations, Membership, Migration, MigrationId,
    MigrationPhase, Migrator, MigratorOptions, Revision, Settings, Store, StoreError, StorePage,
    WorkerName,
};

use super::suite::{self, Case};
use super::text;
use crate::cluster::{Cluster, fixed, id, legal, pass, resource, within};

const ITEMS: &str = "items.shop.io";

/// Runs the cases at one replica each.
fn run<F: AsyncFn(&Client, &Case<'_>) -> Result<(), String>>(file: &str, count: usize, check: F) {
    suite::run(file, count, &[], |_, case| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let cluster = Cluster::start(1).await;
            check(&cluster.client().await, case).await
        })
    });
}

#[test]
fn a_migration_is_worked_at_as_kubernetes_works_at_it() {
    run("svm_sync.json", 3, async |client, case| {
        let _membership = reports(client, ITEMS).await;
        let before = newest(client).await;
        let (wanted, store) = match text(case, "name") {
            "SVM not found" => {
                let unheard = MigrationId::new(resource(ITEMS), Revision::new(1 << 40));
                (unheard, Closed::default())
            }
            "fatal rewrite error" => {
                let refuses = Closed::refusing_writes();
                (before.1.clone(), refuses)
            }
            "cache RV 'abc' not comparable" => (before.1.clone(), Closed::default()),
            name => return Err(format!("an unknown case: {name}")),
        };
        let seen = Arc::clone(&store.seen);
        let worker = legal(WorkerName::parse("one"));
        let options = MigratorOptions::new(worker, BTreeSet::from([resource(ITEMS)]));
        let worked = within(Migrator::new(client.clone(), store, options).run_one(&wanted)).await;
        expect_eq("error", json!(worked.is_err()), &case["error"])?;
        let after = newest(client).await;
        if let Some(writes) = case["writes"].as_u64() {
            let written = after.0.get() - before.0.get();
            return expect_eq("writes", json!(written), &json!(writes));
        }
        let mut phases: Vec<MigrationPhase> = seen.lock().unwrap().clone();
        phases.push(after.2);
        phases.dedup();
        let told: Vec<Value> = phases.into_iter().map(conditions).collect();
        expect_eq("conditions", json!(told), &case["conditions"])
    });
}

/// A member that decodes two versions of the resource and encodes in the first, which makes that version agreed on.
async fn reports(client: &Client, of: &str) -> Membership {
    let options = JoinOptions::new(id("server"));
    let membership = within(client.join(options)).await.unwrap();
    // What it may have written before it came behind its gate has landed then, so that a worker waits for nothing.
    pass(Settings::default().write_grace).await;
    let entry = fixed(of, &["shop.io/v1", "shop.io/v2"], "shop.io/v1");
    within(membership.report(vec![entry])).await.unwrap();
    membership
}

/// The revision, and the newest migration with its phase.
async fn newest(client: &Client) -> (Revision, MigrationId, MigrationPhase) {
    let page = within(client.migrations(ListMigrations::new()).all())
        .await
        .unwrap();
    let newest: &Migration = page.items.last().unwrap();
    (page.header.revision, newest.id.clone(), newest.phase)
}

/// The conditions that Kubernetes writes into the status for a phase, in the words of the file.
fn conditions(phase: MigrationPhase) -> Value {
    match phase {
        MigrationPhase::Running => json!(["Running", "True"]),
        MigrationPhase::Failed => json!(["Running False + Failed True"]),
        MigrationPhase::Succeeded => json!(["Running False + Succeeded True"]),
        MigrationPhase::Pending | MigrationPhase::Aborted => json!([]),
    }
}

fn expect_eq(what: &str, found: Value, expected: &Value) -> Result<(), String> {
    if found == *expected {
        Ok(())
    } else {
        Err(format!("{what}: {found} and not {expected}"))
    }
}

/// A store that cannot be listed, or one whose only object cannot be written; it records what it sees of the migration.
#[derive(Default)]
struct Closed {
    holds_one: bool,
    seen: Arc<Mutex<Vec<MigrationPhase>>>,
}

impl Closed {
    fn refusing_writes() -> Self {
        Self {
            holds_one: true,
            ..Self::default()
        }
    }
}

impl Store for Closed {
    type Object = ();

    async fn list_page(
        &self,
        migration: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<()>, StoreError> {
        self.seen.lock().unwrap().push(migration.phase);
        if !self.holds_one {
            return Err(StoreError::NotSupported);
        }
        Ok(StorePage {
            objects: vec![()],
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(&self, migration: &Migration, _: &()) -> Result<(), StoreError> {
        self.seen.lock().unwrap().push(migration.phase);
        Err(StoreError::NotSupported)
    }
}
