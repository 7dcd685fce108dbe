//! A controller: it writes the status of each widget, keeps a snapshot of it that it owns, and cleans up before a widget goes.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::wait::{await_condition, delete::delete_and_finalize};
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::oneshot;

use crate::widget::{NAMESPACE, Widget, widget, widgets};
use crate::{Fault, Replica, must};

const FINALIZER: &str = "example.io/snapshots";

fn snapshots(client: &Client) -> Api<ControllerRevision> {
    Api::namespaced(client.clone(), NAMESPACE)
}

/// The name of the snapshot of a widget.
fn of(widget: &Widget) -> String {
    format!("{}-snapshot", widget.name_any())
}

async fn reconcile(
    widget: Arc<Widget>,
    client: Arc<Client>,
) -> Result<Action, finalizer::Error<kube::Error>> {
    finalizer(
        &widgets(&client),
        FINALIZER,
        widget,
        async |event| match event {
            Event::Apply(widget) => applied(&widget, &client).await,
            Event::Cleanup(widget) => cleaned(&widget, &client).await,
        },
    )
    .await
}

async fn applied(widget: &Widget, client: &Client) -> kube::Result<Action> {
    let snapshots = snapshots(client);
    if snapshots.get_opt(&of(widget)).await?.is_none() {
        let snapshot = ControllerRevision {
            metadata: ObjectMeta {
                name: Some(of(widget)),
                owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
                ..ObjectMeta::default()
            },
            data: RawExtension(json!({ "spec": { "size": widget.spec.size } })),
            revision: Some(1),
        };
        snapshots.create(&PostParams::default(), &snapshot).await?;
    }
    let status = json!({ "apiVersion": "example.io/v1", "kind": "Widget", "status": { "seen": widget.spec.size } });
    let params = PatchParams::apply("controller").force();
    widgets(client)
        .patch_status(&widget.name_any(), &params, &Patch::Apply(status))
        .await?;
    Ok(Action::await_change())
}

async fn cleaned(widget: &Widget, client: &Client) -> kube::Result<Action> {
    match snapshots(client)
        .delete(&of(widget), &DeleteParams::default())
        .await
    {
        Ok(_) => {}
        Err(kube::Error::Api(status)) if status.is_not_found() => {}
        Err(fault) => return Err(fault),
    }
    Ok(Action::await_change())
}

/// Runs the controller until it is stopped.
async fn controller(client: Client, stopped: oneshot::Receiver<()>) {
    Controller::new(widgets(&client), watcher::Config::default())
        .owns(snapshots(&client), watcher::Config::default())
        .graceful_shutdown_on(async {
            let _ = stopped.await;
        })
        .run(
            reconcile,
            |widget, fault, _| {
                // A widget that was read a moment ago may be another one by now.
                eprintln!("{}: {fault}", widget.name_any());
                Action::requeue(Duration::from_millis(200))
            },
            Arc::new(client.clone()),
        )
        .for_each(async |_| {})
        .await;
}

pub(crate) async fn controls(replica: &Replica) -> Result<(), Fault> {
    let client = replica.client()?;
    let (stop, stopped) = oneshot::channel();
    let controller = tokio::spawn(controller(client.clone(), stopped));
    let api = widgets(&client);
    api.create(&PostParams::default(), &widget("c", 1)).await?;
    let seen = |size| {
        move |widget: Option<&Widget>| {
            widget
                .and_then(|widget| widget.status.as_ref())
                .is_some_and(|status| status.seen == size)
        }
    };
    let first = await_condition(api.clone(), "c", seen(1))
        .await?
        .ok_or("it is gone")?;
    must(first.finalizers() == [FINALIZER], || format!("{first:?}"))?;
    let snapshot = snapshots(&client).get("c-snapshot").await?;
    must(
        snapshot.owner_references()[0].uid == first.uid().unwrap_or_default(),
        || format!("{snapshot:?}"),
    )?;

    api.patch(
        "c",
        &PatchParams::default(),
        &Patch::Merge(json!({ "spec": { "size": 2 } })),
    )
    .await?;
    let second = await_condition(api.clone(), "c", seen(2))
        .await?
        .ok_or("it is gone")?;
    must(
        second.metadata.generation > first.metadata.generation,
        || format!("{second:?}"),
    )?;

    // What it owns is made again.
    let uid = snapshot.uid();
    snapshots(&client)
        .delete("c-snapshot", &DeleteParams::default())
        .await?;
    let made =
        move |found: Option<&ControllerRevision>| found.is_some_and(|found| found.uid() != uid);
    let again = await_condition(snapshots(&client), "c-snapshot", made)
        .await?
        .ok_or("it is gone")?;
    must(
        again.data == RawExtension(json!({ "spec": { "size": 2 } })),
        || format!("{again:?}"),
    )?;

    delete_and_finalize(api.clone(), "c", &DeleteParams::default()).await?;
    must(
        snapshots(&client).get_opt("c-snapshot").await?.is_none(),
        || "the snapshot is left".to_owned(),
    )?;
    let _ = stop.send(());
    controller.await?;
    Ok(())
}
