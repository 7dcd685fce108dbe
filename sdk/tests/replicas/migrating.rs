//! A worker that carries migrations out.

mod at_once;
mod killed;
mod released;
mod store;
mod walking;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use synod_client::{
    Assumption, Client, ClusterId, CollectionRules, CollectionStore, DeleteMigration, Error,
    ErrorKind, FailureClass, Fence, FenceGuard, Header, JoinOptions, Membership, Migration,
    MigrationId, MigrationPhase, Migrator, MigratorOptions, Preconditions, Revision, Settings, Ttl,
    Worked, WorkerName,
};
use tokio::time::Instant;

use crate::cluster::{Cluster, endpoint, fixed, id, legal, pass, resource, version, within};
use crate::network::Weather;
use crate::objects::{Numbers, V1, V2, WIDGETS, create, declare, numbers};
use store::{Shop, ShopStore};

const LOOSE: CollectionRules = CollectionRules {
    strict_storage_version: false,
    create_on_update: false,
    unconditional_update: false,
    status_subresource: false,
};

const ITEMS: &str = "items.shop.io";

fn options(worker: &str) -> MigratorOptions {
    let resources = [WIDGETS, ITEMS].map(resource);
    let worker = legal(WorkerName::parse(worker));
    MigratorOptions::new(worker, BTreeSet::from(resources)).ttl(legal(Ttl::from_millis(15_000)))
}

/// A member that decodes both versions and encodes in one.
async fn encodes(client: &Client, of: &str, encoding: &str) -> Membership {
    let options = JoinOptions::new(id("server")).ttl(legal(Ttl::from_millis(3_600_000)));
    let membership = within(client.join(options)).await.unwrap();
    // What it may have written before it came behind its gate has landed then, so that a worker waits for nothing.
    pass(Settings::default().write_grace).await;
    let entry = fixed(of, &[V1, V2], encoding);
    within(membership.report(vec![entry])).await.unwrap();
    membership
}

/// The newest migration of a resource.
async fn newest(client: &Client, of: &str) -> Migration {
    let list = synod_client::ListMigrations::new();
    let page = within(client.migrations(list).all()).await.unwrap();
    let of = resource(of);
    let mut all = page.items.into_iter();
    all.rfind(|migration| *migration.id.resource() == of)
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_rewritten_by_its_codec() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, LOOSE).await;
    let objects = numbers(&client, V1);
    for number in 0..25 {
        create(&objects, "a", &format!("w-{number}"), number).await;
    }
    let _membership = encodes(&client, WIDGETS, V2).await;
    let store = CollectionStore::new(client.clone(), Numbers(version(V2))).page_size(7);
    let worker = Migrator::new(client.clone(), store, options("one"));
    let id = newest(&client, WIDGETS).await.id;
    let worked = within(worker.run_one(&id)).await.unwrap();
    let Some(Worked::Completed { assumptions }) = worked else {
        panic!("it is completed: {worked:?}");
    };
    // No roster names who must report, and the worker's answer says so.
    let assumed = assumptions.iter().map(|assumed| assumed.reason);
    assert_eq!(assumed.collect::<Vec<_>>(), [Assumption::NoRoster]);
    assert_eq!(assumptions[0].resources, [resource(WIDGETS)]);
    let done = newest(&client, WIDGETS).await;
    assert_eq!((done.phase, done.done), (MigrationPhase::Succeeded, 25));
    let (collections, widgets) = (client.collections(), resource(WIDGETS));
    let state = within(collections.get(&widgets, Default::default())).await;
    let counts = state.unwrap().item.counts;
    assert_eq!(counts.len(), 1);
    assert_eq!(counts[0].version, version(V2));
    let name = crate::objects::named("a", "w-7");
    let stored = within(objects.get(&name, Default::default())).await;
    assert_eq!(stored.unwrap().value, 7);
}

// Guarantee: MG-12
#[tokio::test(start_paused = true)]
async fn an_object_that_nobody_can_read_is_named_and_blocks_the_end() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, LOOSE).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "good", 1).await;
    crate::objects::broken(&client, "a", "bad").await;
    create(&objects, "a", "late", 2).await;
    let _membership = encodes(&client, WIDGETS, V2).await;
    let store = CollectionStore::new(client.clone(), Numbers(version(V2)));
    let worker = Migrator::new(client.clone(), store, options("one"));
    let id = newest(&client, WIDGETS).await.id;
    let Some(Worked::Failed(failure)) = within(worker.run_one(&id)).await.unwrap() else {
        panic!("it cannot be completed");
    };
    assert_eq!(failure.class, FailureClass::Undecodable);
    let reason = failure.reason.as_str();
    assert!(reason.contains("a/bad"), "{reason}");
    assert!(!reason.contains("a/good"), "{reason}");
    // The other objects were rewritten nevertheless.
    let name = crate::objects::named("a", "late");
    let stored = within(objects.get(&name, Default::default()))
        .await
        .unwrap();
    assert_eq!(stored.object.content.encoding, version(V2));
}

#[tokio::test(start_paused = true)]
async fn every_answer_of_a_store_leads_to_what_it_means() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(10);
    // Listing and writing fail with every error that may pass.
    shop.answers("GET ", &[503, 429]);
    shop.answers("GET 4", &[410]);
    shop.answers("PUT item-1", &[429, 503, 500]);
    shop.answers("PUT item-2", &[409]);
    shop.answers("PUT item-3", &[404]);
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), options("one"));
    let id = newest(&client, ITEMS).await.id;
    let begun = Instant::now();
    let worked = within(worker.run_one(&id)).await.unwrap();
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    assert!(begun.elapsed() >= Duration::from_secs(2), "it said so");
    let old = shop.in_old_version();
    assert_eq!(old, ["item-2", "item-3"], "which others have written");
    assert_eq!(newest(&client, ITEMS).await.done, 10);
}

#[tokio::test(start_paused = true)]
async fn what_can_never_succeed_is_given_up_at_once() {
    for (place, status, class) in [
        ("GET ", 404, FailureClass::NotSupported),
        ("GET ", 405, FailureClass::NotSupported),
        ("GET ", 403, FailureClass::Forbidden),
        ("PUT item-0", 405, FailureClass::NotSupported),
        ("PUT item-0", 403, FailureClass::Forbidden),
        ("PUT item-0", 422, FailureClass::Rejected),
    ] {
        let cluster = Cluster::start(1).await;
        let client = cluster.client().await;
        let _membership = encodes(&client, ITEMS, V2).await;
        let shop = Shop::with(3);
        shop.answers(place, &[status; 10]);
        let worker = Migrator::new(client.clone(), ShopStore::of(&shop), options("one"));
        let id = newest(&client, ITEMS).await.id;
        match within(worker.run_one(&id)).await.unwrap() {
            Some(Worked::Failed(failure)) => assert_eq!(failure.class, class, "{place} {status}"),
            other => panic!("{place} {status}: {other:?}"),
        }
        assert_eq!(shop.asked(place), 1, "{place} {status}: not again");
    }
}

// Guarantee: MG-12
#[tokio::test(start_paused = true)]
async fn another_worker_goes_on_where_a_dead_one_stood() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(40);
    let slow = options("dies").objects_per_second(NonZeroU32::MIN);
    let first = Migrator::new(client.clone(), ShopStore::of(&shop), slow);
    // The worker dies in the middle of its fifth page.
    let working = tokio::spawn(async move { first.run().await });
    while shop.written() < 18 {
        pass(Duration::from_millis(200)).await;
    }
    working.abort();
    let second = Migrator::new(client.clone(), ShopStore::of(&shop), options("lives"));
    let running = tokio::spawn(async move { second.run().await });
    while newest(&client, ITEMS).await.phase != MigrationPhase::Succeeded {
        pass(Duration::from_secs(1)).await;
    }
    running.abort();
    assert!(shop.in_old_version().is_empty());
    let twice = shop.written() - 40;
    assert!(twice <= 4, "{twice} were written twice, and a page has 4");
    assert_eq!(newest(&client, ITEMS).await.done, 40);
}

// Guarantee: MG-12
#[tokio::test(start_paused = true)]
async fn a_worker_stops_at_once_when_its_migration_is_aborted() {
    is_taken_away(async |client: Client, id: MigrationId| client.abort_migration(&id).await).await;
}

// Guarantee: MG-06
#[tokio::test(start_paused = true)]
async fn a_worker_stops_at_once_when_its_migration_is_deleted() {
    let deletes = async |client: Client, id| {
        let delete = DeleteMigration {
            id,
            preconditions: Preconditions::default(),
        };
        client.delete_migration(delete).await
    };
    is_taken_away(deletes).await;
}

/// A migration is taken away from a worker that is at it, which writes nothing more.
async fn is_taken_away(takes: impl AsyncFnOnce(Client, MigrationId) -> Result<Header, Error>) {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(1_000);
    let slow = options("one").objects_per_second(legal(NonZeroU32::new(10).ok_or("zero")));
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), slow);
    let id = newest(&client, ITEMS).await.id;
    let working = tokio::spawn({
        let id = id.clone();
        async move { worker.run_one(&id).await }
    });
    while shop.written() < 50 {
        pass(Duration::from_millis(100)).await;
    }
    within(takes(client.clone(), id)).await.unwrap();
    let worked = within(working).await.unwrap().unwrap();
    assert_eq!(worked, Some(Worked::Lost));
    let written = shop.written();
    pass(Duration::from_secs(60)).await;
    assert_eq!(shop.written(), written, "nothing more was written");
}

// Guarantee: MG-12
#[tokio::test(start_paused = true)]
async fn a_worker_waits_for_a_cluster_that_does_not_answer_and_goes_on() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(200);
    let slow = options("one").objects_per_second(legal(NonZeroU32::new(10).ok_or("zero")));
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), slow);
    let story = async {
        while shop.written() < 50 {
            pass(Duration::from_millis(100)).await;
        }
        // For longer than the claim's TTL and the deadline of any of the worker's calls.
        cluster.network.set(&endpoint(1), Weather::Cut);
        pass(Duration::from_secs(60)).await;
        cluster.network.set(&endpoint(1), Weather::Fair);
        while newest(&client, ITEMS).await.phase != MigrationPhase::Succeeded {
            pass(Duration::from_secs(1)).await;
        }
    };
    let living = async {
        tokio::select! {
            biased;
            ended = worker.run() => panic!("the worker ended: {ended:?}"),
            () = story => {}
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(300), Box::pin(living)).await;
    in_time.expect("the migration ends after the outage");
}

/// The guard's check of a write for this content of the fence key.
fn fenced(
    guard: &FenceGuard,
    permit: &synod_client::Permit,
    cluster: ClusterId,
    agreement: Revision,
) -> Result<(), ErrorKind> {
    let fence = Fence::new(cluster, resource(ITEMS), agreement).to_string();
    let checked = guard.check(permit, Some(fence.as_bytes()));
    checked.map_err(|error| error.kind())
}

// Guarantee: MG-27
#[tokio::test(start_paused = true)]
async fn a_write_gets_past_the_fence_of_an_agreement_only_if_its_server_knew_of_it() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let first = encodes(&client, ITEMS, V1).await;
    let guard = FenceGuard::new(&client, first.id().clone()).await.unwrap();
    let permit = within(first.gate().permit(&resource(ITEMS))).await.unwrap();
    let agreement = async || {
        let items = resource(ITEMS);
        let view = client.storage_version(&items, Default::default());
        let view = within(view).await.unwrap();
        let version = view.storage_version.unwrap();
        (view.header.cluster, version.status.agreement_revision)
    };
    let (here, now) = agreement().await;
    guard.check(&permit, None).unwrap();
    assert_eq!(fenced(&guard, &permit, here, now), Ok(()));
    let later = Revision::new(now.get() + 1);
    assert_eq!(
        fenced(&guard, &permit, here, later),
        Err(ErrorKind::Unavailable)
    );
    let restored = legal(ClusterId::parse("0b1d7e0c-4a3f-8c21-9d55-0123456789ab"));
    assert_eq!(
        fenced(&guard, &permit, restored, now),
        Err(ErrorKind::Conflict)
    );

    // Another server disagrees: the agreement does not hold any more, so the old encoding may land.
    let options = JoinOptions::new(id("other")).ttl(legal(Ttl::from_millis(3_600_000)));
    let other = within(client.join(options)).await.unwrap();
    within(other.report(vec![fixed(ITEMS, &[V1, V2], V2)]))
        .await
        .unwrap();
    let (_, moved) = agreement().await;
    assert!(moved > now);
    while fenced(&guard, &permit, here, moved) != Ok(()) {
        pass(Duration::from_millis(10)).await;
    }
    // The first one is replaced by another instance, and need not have noticed that.
    let options = JoinOptions::new(first.id().clone());
    let _second = within(client.join(options)).await.unwrap();
    while fenced(&guard, &permit, here, moved) != Err(ErrorKind::NotAMember) {
        pass(Duration::from_millis(10)).await;
    }
}
