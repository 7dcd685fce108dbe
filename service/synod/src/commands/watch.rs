//! `synod watch`: prints changes as they happen.

use clap::ArgMatches;
use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{
    FieldSelector, LabelSelector, Namespace, Revision, Violations, WatchFrom, WatchMessage,
    WatchOptions,
};

use super::connect;
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named;
use crate::output::{self, Reader};

pub(crate) async fn run(args: &WatchArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let options = options(args)?;
    let client = connect(&args.client, matches).await?;
    let mut watch = client.watch(options).await?;
    while let Some(message) = watch.next().await {
        let Some(line) = line(&message?, args.bookmarks) else {
            continue;
        };
        if output::print(&format!("{line}\n"))? == Reader::Gone {
            break;
        }
    }
    Ok(Exit::Ok)
}

fn options(args: &WatchArgs) -> Result<WatchOptions, Failure> {
    let from = args.from.map_or(WatchFrom::Now, |from| {
        WatchFrom::Revision(Revision::new(from))
    });
    let mut found = Violations::new();
    let resources = args
        .resources
        .iter()
        .filter_map(|resource| found.parsed("--resources", named::qualified(resource)));
    let resources = resources.collect();
    let namespaces = args.namespaces.iter();
    let namespaces = namespaces
        .filter_map(|namespace| found.parsed("--namespaces", Namespace::parse(namespace)))
        .collect();
    let labels = LabelSelector::parse(args.selector.as_deref().unwrap_or_default());
    let labels = found.parsed("--selector", labels).unwrap_or_default();
    let fields = FieldSelector::parse(args.field_selector.as_deref().unwrap_or_default());
    let fields = found.parsed("--field-selector", fields).unwrap_or_default();
    if !found.is_empty() {
        return Err(Failure::invalid("this cannot be watched", found));
    }
    Ok(WatchOptions::new()
        .kinds(args.kinds.clone())
        .names(args.names.clone())
        .resources(resources)
        .namespaces(namespaces)
        .label_selector(labels)
        .field_selector(fields)
        .from(from))
}

/// The document of a message: `events` and `bookmark` are messages of the protocol, `resync` is made by the client when
/// the history was compacted. `None` for a bookmark unless `bookmarks` is set.
pub(crate) fn line(message: &WatchMessage, bookmarks: bool) -> Option<Value> {
    match message {
        WatchMessage::Events(events) => Some(json!({"events": form::of(events)})),
        WatchMessage::Resync(events) => Some(json!({"resync": form::of(events)})),
        WatchMessage::Bookmark(at) => bookmarks.then(|| json!({"bookmark": form::bookmark(*at)})),
    }
}
