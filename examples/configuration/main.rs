//! A configuration that is changed by compare-and-swap and watched.

mod codec;

use serde_json::json;
use synod_client::{Client, ErrorKind, GroupResource, NamespacedName, NewObject, ObjectName};
use synod_client::{ObjectMessage, TtlChange, WatchObjects};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoints = std::env::args().skip(1).collect();
    let client = Client::builder().endpoints(endpoints).connect().await?;
    let settings = client.objects(GroupResource::new("example.io", "settings")?, codec::Json);
    let mut watch = settings.watch(WatchObjects::new()).await?;
    let name = NamespacedName::new(None, &ObjectName::parse("web")?);
    let new = NewObject::new(name, json!({"replicas": 1}));
    let first = settings.create(new).await?;
    let mut second = first.clone();
    second.value = json!({"replicas": 2});
    settings.update(second, TtlChange::Keep).await?;
    // The first one is stale now, so a change that was made for it is refused.
    let lost = settings.update(first, TtlChange::Keep).await;
    assert_eq!(lost.expect_err("it is stale").kind(), ErrorKind::Conflict);
    // Bookmarks are skipped up to the first change; each change comes once.
    while let Some(ObjectMessage::Bookmark(_)) = watch.next().await.transpose()? {}
    Ok(())
}
