//! The histories of controllers, and the example that keeps one.

#[path = "../../../examples/controller/controller.rs"]
mod controller;

use synod_client::{ErrorKind, ReadOptions, Reconcile, RevisionOutcome, RollbackTarget};

use crate::cluster::{Cluster, within};
use controller::{Controller, Worker};

async fn done(controller: &mut Controller, target: &str) -> Reconcile {
    let done = Box::pin(within(controller.want(target))).await.unwrap();
    assert_eq!(done.len(), 1);
    done[0].1
}

#[tokio::test(start_paused = true)]
async fn the_example_controller_relabels_updates_in_place_or_recreates_what_it_manages() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let mut controller = Controller::new(&client).unwrap();
    let before_history = Worker {
        revision: None,
        runs: String::new(),
        made: 1,
    };
    controller
        .workers
        .insert("web-0".to_owned(), before_history);
    // It is not known what a worker with a nil revision was made from.
    let first = r#"{"image":"web:1","replicas":1}"#;
    assert_eq!(
        Box::pin(done(&mut controller, first)).await,
        Reconcile::Recreate
    );
    assert_eq!(
        Box::pin(done(&mut controller, r#"{"replicas":1.0,"image":"web:1"}"#)).await,
        Reconcile::Keep
    );
    let more = r#"{"image":"web:1","replicas":2}"#;
    assert_eq!(
        Box::pin(done(&mut controller, more)).await,
        Reconcile::UpdateInPlace
    );
    assert_eq!(
        Box::pin(done(&mut controller, r#"{"image":"web:2"}"#)).await,
        Reconcile::Recreate
    );
    let worker = controller.workers.get_mut("web-0").unwrap();
    assert_eq!(
        (worker.made, worker.runs.as_str()),
        (3, r#"{"image":"web:2"}"#)
    );
    // A ControllerRevision that is wanted again keeps the name that it had.
    let back = Box::pin(done(&mut controller, first)).await;
    assert_eq!(back, Reconcile::Recreate);
}

#[tokio::test(start_paused = true)]
async fn a_history_is_read_rolled_back_and_compared() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let mut controller = Controller::new(&client).unwrap();
    let history = controller.history().clone();
    let empty = within(history.read(ReadOptions::linearizable()))
        .await
        .unwrap();
    assert!(empty.items.is_empty());
    for target in [r#"{"a":1}"#, r#"{"a":2}"#] {
        Box::pin(within(controller.want(target))).await.unwrap();
    }
    let items = within(history.read(ReadOptions::linearizable()))
        .await
        .unwrap()
        .items;
    let names: Vec<_> = items.iter().map(|item| item.name()).collect();
    let scope = &history.of().namespace;
    let diff = client.diff_controller_revisions(scope, Some(&names[0]), Some(&names[1]));
    let diff = within(diff).await.unwrap();
    let patch = r#"[{"op":"replace","path":"/a","value":2}]"#;
    assert_eq!(
        (diff.equal, diff.json_patch.as_deref()),
        (false, Some(patch))
    );
    let dry = within(history.rollback(RollbackTarget::Previous, None, true))
        .await
        .unwrap();
    assert_eq!(dry.answer.number.get(), 3);
    let newest = items[1].metadata.resource_version;
    let back = within(history.rollback(RollbackTarget::Previous, Some(newest), false)).await;
    let back = back.unwrap();
    assert_eq!(
        (back.answer.outcome, back.answer.name),
        (RevisionOutcome::RolledBack, names[0].clone())
    );
    assert_eq!(back.revision.unwrap().data, items[0].data);
    let stale = within(history.rollback(RollbackTarget::Previous, Some(newest), false)).await;
    assert_eq!(stale.unwrap_err().kind(), ErrorKind::Conflict);
    let gone = within(history.delete(false)).await.unwrap();
    assert_eq!(gone.answer.deleted, 2);
}
