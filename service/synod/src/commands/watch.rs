//! `synod watch`: prints changes as they happen.

use clap::ArgMatches;
use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{
    Client, FieldSelector, GroupResource, LabelSelector, Namespace, ObjectKind, ReadOptions,
    ResourceSpelling, Revision, ScopeSpelling, Violations, WallTime, WatchFrom, WatchMessage,
    WatchOptions,
};

use super::connect;
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::output::{self, Reader};

pub(crate) async fn run(args: &WatchArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (options, resources) = options(args)?;
    let client = connect(&args.client, matches).await?;
    let resources = look_up(&client, &resources, args.new.new).await?;
    let mut options = options.resources(resources);
    if let Some(time) = args.at {
        options = options.from(after(&client, time).await?).without_resync();
    }
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

/// The first revision that was made after a time.
async fn after(client: &Client, time: WallTime) -> Result<WatchFrom, Failure> {
    let found = client
        .revision_at(time, ReadOptions::linearizable())
        .await?;
    Ok(WatchFrom::Revision(found.revision.next()))
}

/// The options without the resources, and the names of these.
fn options(args: &WatchArgs) -> Result<(WatchOptions, Vec<ResourceSpelling>), Failure> {
    let from = args.from.map_or(WatchFrom::Now, |from| {
        WatchFrom::Revision(Revision::new(from))
    });
    let mut found = Violations::new();
    let resources = args
        .resources
        .iter()
        .filter_map(|resource| found.parsed("", spelling(resource, RESOURCES)));
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
    let options = WatchOptions::new()
        .kinds(args.kinds.clone())
        .names(names(args))
        .namespaces(namespaces)
        .label_selector(labels)
        .field_selector(fields)
        .from(from);
    Ok((options, resources))
}

/// The place of names of resources in a message.
const RESOURCES: &str = "--resources";

async fn look_up(
    client: &Client,
    names: &[ResourceSpelling],
    is_new: bool,
) -> Result<Vec<GroupResource>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut resolver = Resolver::load_unless_new(client, is_new).await?;
    let names = names.iter();
    let resources = names.filter_map(|name| resolver.resolve(RESOURCES, name));
    let resources = resources.collect();
    resolver.finish(Some(resources))
}

/// The names of objects, each as it is typed. Those of storage versions and rosters are names of resources, so such a name is
/// watched in the form that it has in the protocol, too.
fn names(args: &WatchArgs) -> Vec<String> {
    let of_resources = [ObjectKind::StorageVersion, ObjectKind::Roster];
    let is_of_resources = args.kinds.iter().any(|kind| of_resources.contains(kind));
    let mut names = args.names.clone();
    for name in args.names.iter().filter(|_| is_of_resources) {
        let Ok(ScopeSpelling::One(spelling)) = ScopeSpelling::parse(name) else {
            continue;
        };
        let in_protocol = spelling.first_reading().storage_version_name();
        if !names.contains(&in_protocol) {
            names.push(in_protocol);
        }
    }
    names
}

/// The document of a message: `events`, beside which is their time for people, and `bookmark` are messages of the protocol, `resync` is made by the client when
/// the history was compacted. `None` for a bookmark unless `bookmarks` is set.
pub(crate) fn line(message: &WatchMessage, bookmarks: bool) -> Option<Value> {
    match message {
        WatchMessage::Events(events) => {
            let mut line = json!({"events": form::of(events)});
            if let Some(time) = events.time {
                line["time"] = time.to_string().into();
            }
            Some(line)
        }
        WatchMessage::Resync(events) => Some(json!({"resync": form::of(events)})),
        WatchMessage::Bookmark(at) => bookmarks.then(|| json!({"bookmark": form::bookmark(*at)})),
    }
}
