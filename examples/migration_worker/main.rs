//! A migration worker.
//!
//! Objects of a collection are stored in an old version. An API server that votes for a newer one joins, the new
//! version is agreed on, and this starts a migration: the worker rewrites every object in the new version. Run it
//! against a cluster: `cargo run --example migration_worker -- 127.0.0.1:4600`.

mod codec;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use codec::{Widget, Widgets, version};
use synod_client::{
    Client, CollectionRules, CollectionStore, CreateCollection, DeleteCollection, GroupResource,
    JoinOptions, Kind, Membership, MigrationPhase, Migrator, MigratorOptions, NamespacedName,
    NewObject, ObjectKind, ObjectName, Persisted, Preconditions, Propagation, ReadOptions,
    ReportEntry, Revision, Stance, StoredIn, WorkerName, apiserver_id,
};
use tokio::time::sleep;

type Failed = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut out = std::io::stdout();
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let widgets = GroupResource::new("migrated.example.io", "widgets")?;
    let names = store_old_objects(&client, &widgets).await?;
    writeln!(out, "{} objects are stored in v1", names.len())?;

    let membership = vote_for_the_new_version(&client, &widgets).await?;
    let reflector = client.reflect(vec![ObjectKind::Migration]).await?;
    let mut seen = Revision::ZERO;
    let migration = loop {
        let migrations = reflector.migrations();
        if let Some(found) = migrations
            .iter()
            .find(|one| one.id.resource() == &widgets && one.phase == MigrationPhase::Pending)
        {
            break found.id.clone();
        }
        seen = reflector.changed(seen).await?;
    };
    writeln!(out, "v2 is agreed on, and a migration waits")?;

    // A worker in production calls `run`, which works at every present and future migration.
    let options = MigratorOptions::new(
        WorkerName::parse("example")?,
        BTreeSet::from([widgets.clone()]),
    );
    let store = CollectionStore::new(client.clone(), Widgets);
    let worked = Migrator::new(client.clone(), store, options)
        .run_one(&migration)
        .await?;
    writeln!(out, "the worker ended: {worked:?}")?;

    let state = client
        .storage_version(&widgets, ReadOptions::linearizable())
        .await?;
    for stored in state
        .storage_state
        .into_iter()
        .flat_map(|state| state.persisted)
    {
        writeln!(out, "objects are stored in {}", name_of(&stored))?;
    }
    clean_up(&client, &widgets, &names, membership).await
}

/// Declares the collection and stores objects in v1, as an older release would have done.
async fn store_old_objects(
    client: &Client,
    widgets: &GroupResource,
) -> Result<Vec<NamespacedName>, Failed> {
    let declared = CreateCollection {
        resource: widgets.clone(),
        kind: Kind::parse("Widget")?,
        namespaced: false,
        rules: CollectionRules::default(),
    };
    client.collections().create(declared).await?;
    let objects = client.objects::<Widget>(widgets.clone(), Widgets);
    let mut names = Vec::new();
    for size in 0..5 {
        let name = NamespacedName::new(None, &ObjectName::parse(&format!("widget-{size}"))?);
        objects
            .create(NewObject::new(name.clone(), Widget { size }))
            .await?;
        names.push(name);
    }
    Ok(names)
}

/// Joins as an API server that decodes both versions and votes for the new one.
async fn vote_for_the_new_version(
    client: &Client,
    widgets: &GroupResource,
) -> Result<Membership, Failed> {
    let membership = client
        .join(JoinOptions::new(apiserver_id("migration-worker")))
        .await?;
    let entry = ReportEntry {
        resource: widgets.clone(),
        kind: Kind::parse("Widget")?,
        decodable: [version(1), version(2)].into_iter().collect(),
        served: [version(1), version(2)].into_iter().collect(),
        stance: Stance::Voting {
            preferred: version(2),
        },
        serve_until: None,
        stored: StoredIn::Collection,
        equivalents: BTreeSet::new(),
    };
    membership.report(vec![entry]).await?;
    membership.ready().await?;
    Ok(membership)
}

/// Removes everything, so that the example can be run again.
async fn clean_up(
    client: &Client,
    widgets: &GroupResource,
    names: &[NamespacedName],
    membership: Membership,
) -> Result<(), Failed> {
    let objects = client.objects::<Widget>(widgets.clone(), Widgets);
    for name in names {
        objects
            .delete(
                name,
                Preconditions::default(),
                Some(Propagation::Background),
            )
            .await?;
    }
    let gone = DeleteCollection {
        resource: widgets.clone(),
        preconditions: Preconditions::default(),
    };
    client.collections().delete(gone).await?;
    membership.leave(Duration::from_secs(5)).await?;
    forget(client, widgets).await?;
    client.close().await?;
    Ok(())
}

/// Forgets the resource, once what may have been written before its members spoke has landed.
async fn forget(client: &Client, resource: &GroupResource) -> Result<(), Failed> {
    loop {
        let Err(error) = client.forget_resource(resource, None).await else {
            return Ok(());
        };
        let left_ms = error.metadata().get("left_ms");
        let Some(left_ms) = left_ms.and_then(|text| text.parse().ok()) else {
            return Err(error.into());
        };
        sleep(Duration::from_millis(left_ms)).await;
    }
}

fn name_of(stored: &Persisted) -> String {
    match stored {
        Persisted::Version {
            version: Some(version),
            ..
        } => version.to_string(),
        Persisted::Version { hash, .. } => format!("what hashes to {hash}"),
        Persisted::Unknown => "versions that nobody knows".to_owned(),
    }
}

fn endpoints() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return vec!["127.0.0.1:4600".to_owned()];
    }
    given
}
