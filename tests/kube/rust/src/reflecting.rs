//! A reflector: what it holds is what there is, page by page or as a stream, and it goes on where it was when a connection is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::json;
use tokio::time::timeout;

use crate::road::Road;
use crate::widget::{Widget, widget, widgets};
use crate::{Fault, Replica, must};

pub(crate) async fn reflects(replica: &Replica) -> Result<(), Fault> {
    let api = widgets(&replica.client()?);
    for number in 0..5 {
        api.create(
            &PostParams::default(),
            &widget(&format!("w{number}"), number),
        )
        .await?;
    }
    let paged = watcher::Config::default().page_size(2);
    let streamed = watcher::Config::default().streaming_lists();
    for (round, config) in (1..).zip([paged, streamed]) {
        follows(replica, config.timeout(1), round).await?;
    }
    api.delete_collection(&DeleteParams::default(), &Default::default())
        .await?;
    Ok(())
}

/// Begins with what there is, and sees each change. Each watch ends after a second.
async fn follows(replica: &Replica, config: watcher::Config, round: i64) -> Result<(), Fault> {
    let road = Road::to(replica).await?;
    let client = kube::Client::try_from(replica.config(&road.address(replica))?)?;
    let (store, writer) = reflector::store();
    let stream = watcher(widgets(&client), config)
        .default_backoff()
        .reflect(writer);
    let mut stream = std::pin::pin!(stream);
    loop {
        match next(&mut stream).await? {
            Event::InitDone => break,
            Event::Init | Event::InitApply(_) => {}
            other => return Err(format!("it began with {other:?}").into()),
        }
    }
    store.wait_until_ready().await?;
    must(held(&store).len() == 5, || format!("{:?}", held(&store)))?;

    // Nothing is told for longer than a watch takes: the one after it goes on without a list.
    let silence = timeout(Duration::from_millis(2_500), stream.next()).await;
    must(silence.is_err(), || format!("{silence:?}"))?;
    let api = widgets(&replica.client()?);
    let (new, old) = (format!("new{round}"), format!("w{}", round - 1));
    api.create(&PostParams::default(), &widget(&new, 7)).await?;
    comes(&mut stream, &format!("{new} 7")).await?;
    let patch = Patch::Merge(json!({ "spec": { "size": 8 } }));
    api.patch(&new, &PatchParams::default(), &patch).await?;
    comes(&mut stream, &format!("{new} 8")).await?;
    api.delete(&old, &DeleteParams::default()).await?;
    comes(&mut stream, &format!("-{old}")).await?;
    must(
        held(&store).get(&new) == Some(&8) && !held(&store).contains_key(&old),
        || format!("{:?}", held(&store)),
    )?;

    road.cut();
    api.patch(
        &new,
        &PatchParams::default(),
        &Patch::Merge(json!({ "spec": { "size": 9 } })),
    )
    .await?;
    comes(&mut stream, &format!("{new} 9")).await?;
    must(
        held(&store).get(&new) == Some(&9) && held(&store).len() == 5,
        || format!("{:?}", held(&store)),
    )
}

/// The sizes of what a store holds.
fn held(store: &Store<Widget>) -> BTreeMap<String, i64> {
    let all = store.state();
    all.iter()
        .map(|one: &Arc<Widget>| (one.name_any(), one.spec.size))
        .collect()
}

/// The next event. A connection that is lost is told of, and made again.
async fn next(
    stream: &mut (impl Stream<Item = watcher::Result<Event<Widget>>> + Unpin),
) -> Result<Event<Widget>, Fault> {
    loop {
        match stream.next().await.ok_or("the stream has ended")? {
            Ok(event) => return Ok(event),
            Err(watcher::Error::WatchFailed(_) | watcher::Error::WatchStartFailed(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}

/// Expects this change to be the next one, and no new list before it.
async fn comes(
    stream: &mut (impl Stream<Item = watcher::Result<Event<Widget>>> + Unpin),
    expected: &str,
) -> Result<(), Fault> {
    let told = match next(stream).await? {
        Event::Apply(widget) => format!("{} {}", widget.name_any(), widget.spec.size),
        Event::Delete(widget) => format!("-{}", widget.name_any()),
        other => format!("{other:?}"),
    };
    must(told == expected, || {
        format!("{told} came in place of {expected}")
    })
}
