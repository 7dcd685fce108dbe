//! A live table of versions.
//!
//! It follows all storage versions by one watch, which begins with a list and continues over lost replicas without a
//! gap, and prints the table at every change. It joins as a member itself, so that there is something to show. Run it
//! against a cluster: `cargo run --example versions_table -- 127.0.0.1:4600`.

mod table;

use std::collections::BTreeSet;

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, GroupResource, JoinOptions, Kind, ObjectKind, ReportEntry, Stance,
    StoredIn, WatchFrom, WatchMessage, WatchOptions, apiserver_id,
};
use table::Table;
use tokio::time::sleep;

type Failed = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let widgets = GroupResource::new("listed.example.io", "widgets")?;
    let options = WatchOptions::new()
        .kinds(vec![ObjectKind::StorageVersion])
        .from(WatchFrom::List);
    let mut watch = client.watch(options).await?;
    let mut table = Table::default();

    let membership = client
        .join(JoinOptions::new(apiserver_id("versions-table")))
        .await?;
    let version = ApiVersion::parse("v1")?;
    let entry = ReportEntry {
        resource: widgets.clone(),
        kind: Kind::parse("Widget")?,
        decodable: [version.clone()].into_iter().collect(),
        served: [version.clone()].into_iter().collect(),
        stance: Stance::Voting {
            preferred: version.clone(),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    };
    membership.report(vec![entry]).await?;

    while table.agreed(&widgets) != Some(&version) {
        match watch.next().await {
            Some(message) => match message? {
                WatchMessage::Events(changes) => table.follow(changes),
                WatchMessage::Resync(all) => table.follow(all),
                WatchMessage::Bookmark(_) => continue,
            },
            None => return Err("the watch has ended".into()),
        }
        writeln!(std::io::stdout(), "{table}")?;
    }
    membership.leave(Duration::from_secs(5)).await?;
    forget(&client, &widgets).await?;
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

fn endpoints() -> Vec<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.is_empty() {
        return vec!["127.0.0.1:4600".to_owned()];
    }
    given
}
