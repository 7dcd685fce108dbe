//! What a request names, in the words of the policy.

use synod_model::{GroupResource, MigrationId, ResourceScope};
use synod_policy::{Denial, HISTORIES, Item, Right, Rights, Spot};
use synod_proto::access::{self, Named, Names};
use synod_proto::v1;

/// Whether a caller may name all that a request names.
///
/// # Errors
///
/// Why not, for the first thing that it may not.
pub(super) fn check(rights: &Rights, right: Right, request: &impl Names) -> Result<(), Denial> {
    rights.allow(right)?;
    let is_wide = rights.is_wide(right);
    let mut checked = Ok(());
    request.visit(&mut |named| {
        if checked.is_ok() {
            checked = check_one(rights, right, named, is_wide);
        }
    });
    checked
}

fn check_one(rights: &Rights, right: Right, named: Named<'_>, is_wide: bool) -> Result<(), Denial> {
    match named {
        Named::Member(name) => return rights.allow_item(right, &Item::Member(name)),
        Named::Holder(name) => return rights.allow_item(right, &Item::Holder(name)),
        Named::Request(_) | Named::DryRun => return Ok(()),
        // Nothing else is limited.
        _ if is_wide => return Ok(()),
        _ => {}
    }
    match named {
        Named::Member(_) | Named::Holder(_) | Named::Request(_) | Named::DryRun => Ok(()),
        Named::Resource(resource) => {
            rights.allow_item(right, &Item::Collection(&qualified(Some(resource))))
        }
        Named::Migration(name) => {
            let id = MigrationId::parse(name);
            // A name that is none is refused for that.
            let resource =
                id.map_or_else(|_| String::new(), |id| id.resource().qualified().to_owned());
            rights.allow_item(right, &Item::Collection(&resource))
        }
        Named::Scope(text) => {
            let resource = match ResourceScope::parse(text) {
                Ok(ResourceScope::Resource(resource)) => resource.qualified().to_owned(),
                // All resources, or all of a group.
                Ok(_) | Err(_) => String::new(),
            };
            rights.allow_item(right, &Item::Collection(&resource))
        }
        Named::Objects(access::Spot {
            resource,
            namespace,
            ..
        }) => {
            let collection = &qualified(resource);
            rights.allow_item(right, &Item::Objects(spot(collection, namespace, "")))
        }
        Named::Histories(access::Spot { namespace, .. }) => {
            rights.allow_item(right, &Item::Objects(spot(HISTORIES, namespace, "")))
        }
        Named::Leases(access::Spot {
            namespace, name, ..
        }) => rights.allow_item(right, &Item::Leases(spot("", namespace, name))),
    }
}

/// What a request names, as a text for people.
pub(crate) fn describe(named: Named<'_>) -> String {
    match named {
        Named::Member(name) => format!("member {name}"),
        Named::Holder(name) => format!("holder {name}"),
        Named::Resource(resource) => format!("resource {}", qualified(Some(resource))),
        Named::Migration(name) => format!("migration {name}"),
        Named::Scope(scope) => format!("roster {scope}"),
        Named::Objects(spot) => format!("object {} {}", qualified(spot.resource), path(spot)),
        Named::Histories(spot) => format!("object {HISTORIES} {}", path(spot)),
        Named::Leases(spot) => format!("lease {}", path(spot)),
        Named::Request(key) => format!("request {}/{}", key.session, key.sequence),
        Named::DryRun => "dry run".to_owned(),
    }
}

fn path(spot: access::Spot<'_>) -> String {
    match (spot.namespace, spot.name) {
        ("", "") => "*".to_owned(),
        ("", name) => name.to_owned(),
        (namespace, "") => format!("{namespace}/*"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}

/// Whether a caller may see what a watch with this filter shows.
///
/// # Errors
///
/// Why not, for the first thing that it may not.
pub(super) fn check_watch(rights: &Rights, request: &v1::WatchRequest) -> Result<(), Denial> {
    rights.allow(Right::Read)?;
    if rights.is_wide(Right::Read) {
        return Ok(());
    }
    let everything = v1::WatchFilter::default();
    let filter = request.filter.as_ref().unwrap_or(&everything);
    let shows =
        |kind: v1::ObjectKind| filter.kinds.is_empty() || filter.kinds.contains(&kind.into());
    let resources: Vec<String> = match filter.resources.is_empty() {
        true => vec![String::new()],
        false => filter
            .resources
            .iter()
            .map(|it| qualified(Some(it)))
            .collect(),
    };
    let namespaces = or_all(&filter.namespaces);
    let see = |item: Item<'_>| rights.allow_item(Right::Read, &item);
    for namespace in namespaces {
        if shows(v1::ObjectKind::Object) {
            for resource in &resources {
                see(Item::Objects(spot(resource, namespace, "")))?;
            }
        }
        // What is no object of a collection does not pass a filter by resources.
        if !filter.resources.is_empty() {
            continue;
        }
        if shows(v1::ObjectKind::ControllerRevision) {
            see(Item::Objects(spot(HISTORIES, namespace, "")))?;
        }
        if shows(v1::ObjectKind::Lease) {
            // Most grants cover all leases of a namespace or none, and a filter may have many names.
            if see(Item::Leases(spot("", namespace, ""))).is_err() {
                for name in or_all(&filter.names) {
                    see(Item::Leases(spot("", namespace, name)))?;
                }
            }
        }
        if shows(v1::ObjectKind::LeaseCandidate) {
            see(Item::Leases(spot("", namespace, "")))?;
        }
    }
    Ok(())
}

/// The names, or the empty one, which means all.
fn or_all(names: &[String]) -> Vec<&str> {
    match names.is_empty() {
        true => vec![""],
        false => names.iter().map(String::as_str).collect(),
    }
}

fn spot<'a>(collection: &'a str, namespace: &'a str, name: &'a str) -> Spot<'a> {
    Spot {
        collection,
        namespace,
        name,
    }
}

/// The name of a resource as grants write it; empty if it is left out or none.
fn qualified(resource: Option<&v1::GroupResource>) -> String {
    let read = resource.and_then(|it| GroupResource::new(&it.group, &it.resource).ok());
    read.map_or_else(String::new, |it| it.qualified().to_owned())
}
