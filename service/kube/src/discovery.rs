//! What the replica serves, as Kubernetes' clients find it out: in one document or many.

use std::cmp::Reverse;
use std::collections::HashMap;

use data_encoding::BASE64;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use synod_model::Refusal;
use synod_proto::v1;

use crate::kinds::{EVENT, KINDS, Kind, is_version, preference};
use crate::negotiate::Form;
use crate::parts::{Part, STATUS};
use crate::request::Asked;
use crate::sources::{Calls, read};

/// The version of Kubernetes whose clients are told that it is served: kubectl compares it with its own.
const MINOR: &str = "33";

/// The version of a collection of which nothing is stored and nobody has reported a version.
const FIRST_VERSION: &str = "v1";

/// A group with its versions, the preferred one first, and the kinds of each.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) versions: Vec<(String, Vec<Kind>)>,
}

/// All groups: those that every cluster has, and those of collections.
///
/// # Errors
///
/// As any read.
pub(crate) async fn groups(calls: &Calls) -> Result<Vec<Group>, Refusal> {
    let mut weights = Weights::new();
    let mut kinds: Vec<Kind> = KINDS.to_vec();
    kinds.push(EVENT);
    let (collections, revision) = calls
        .front
        .collections(&calls.origin, calls.deadline)
        .await?;
    for item in collections {
        let Some(collection) = item.collection else {
            continue;
        };
        let resource = collection.resource.clone().unwrap_or_default();
        // What every cluster has is not hidden by a collection, and the core group has other paths.
        if resource.group.is_empty() || is_fixed(&resource.group, &resource.resource) {
            continue;
        }
        let status = calls
            .front
            .storage_status(&calls.origin, resource, revision, calls.deadline)
            .await?;
        weigh(&mut weights, &item.counts, &status);
        let mut versions: Vec<String> = item
            .counts
            .iter()
            .map(|count| count.version.clone())
            .collect();
        versions.extend(status.served_by_all);
        let mut versions: Vec<&str> = versions
            .iter()
            .filter_map(|version| version.rsplit_once('/').map(|(_, version)| version))
            .filter(|version| is_version(version))
            .collect();
        if versions.is_empty() {
            versions.push(FIRST_VERSION);
        }
        versions.sort_unstable();
        versions.dedup();
        kinds.extend(
            versions
                .into_iter()
                .map(|version| Kind::of_collection(&collection, version)),
        );
    }
    Ok(grouped(kinds, &weights))
}

/// What speaks for a version, `group/version`, to be preferred: how many resources its members have agreed to store in it, and
/// how many objects are stored in it. Objects that are written in another one would change what is stored, or are refused.
type Weights = HashMap<String, (usize, u64)>;

fn weigh(weights: &mut Weights, counts: &[v1::EncodingCount], status: &v1::StorageVersionStatus) {
    let agreed = status.selected_version.as_ref();
    if let Some(agreed) = agreed.or(status.common_encoding_version.as_ref()) {
        weights.entry(agreed.clone()).or_default().0 += 1;
    }
    for count in counts {
        weights.entry(count.version.clone()).or_default().1 += count.objects;
    }
}

/// Whether every cluster has a kind of this group and name.
pub(crate) fn is_fixed(group: &str, plural: &str) -> bool {
    KINDS
        .iter()
        .any(|kind| kind.group == group && kind.plural == plural)
}

fn grouped(kinds: Vec<Kind>, weights: &Weights) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for kind in kinds {
        let place = groups.iter().position(|group| group.name == kind.group);
        let place = place.unwrap_or_else(|| {
            groups.push(Group {
                name: kind.group.to_string(),
                versions: Vec::new(),
            });
            groups.len() - 1
        });
        let versions = &mut groups[place].versions;
        match versions
            .iter_mut()
            .find(|(version, _)| *version == kind.version)
        {
            Some((_, kinds)) => kinds.push(kind),
            None => versions.push((kind.version.to_string(), vec![kind])),
        }
    }
    for group in &mut groups {
        group.versions.sort_by_cached_key(|(version, _)| {
            let weight = weights.get(&group_version(&group.name, version));
            (
                Reverse(weight.copied().unwrap_or_default()),
                preference(version),
            )
        });
    }
    groups
}

/// The kind at this place; `None` if there is none. For who has `seen` a revision, that of the collection that it may have seen:
/// a list or a watch that goes on from there needs no leader.
///
/// # Errors
///
/// As any read.
pub(crate) async fn kind_at(
    calls: &Calls,
    group: &str,
    version: &str,
    plural: &str,
    seen: Option<u64>,
) -> Result<Option<Kind>, Refusal> {
    if group.is_empty() {
        let is_event = version == EVENT.version && plural == EVENT.plural;
        return Ok(is_event.then_some(EVENT));
    }
    if is_fixed(group, plural) {
        let fixed = KINDS
            .iter()
            .find(|kind| kind.group == group && kind.version == version && kind.plural == plural);
        return Ok(fixed.cloned());
    }
    if !is_version(version) {
        return Ok(None);
    }
    let resource = v1::GroupResource {
        group: group.to_owned(),
        resource: plural.to_owned(),
    };
    let as_of = async |asked| {
        let (resource, read) = (resource.clone(), read(asked));
        let front = &calls.front;
        front
            .collection(&calls.origin, resource, read, calls.deadline)
            .await
    };
    let collection = match seen {
        // What is wrong with the revision is told by the read that follows.
        Some(seen) => match as_of(Asked::Exact(seen)).await {
            Ok(Some(collection)) => Some(collection),
            Ok(None) | Err(_) => as_of(Asked::Newest).await?,
        },
        None => as_of(Asked::Newest).await?,
    };
    // A collection takes any version: only its clients know which ones there are.
    Ok(collection.map(|collection| Kind::of_collection(&collection, version)))
}

/// `/version`.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": MINOR,
        "gitVersion": format!("v1.{MINOR}.0-synod-{}", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}

/// A namespace. Each is there: Synod asks for none before something is in it.
pub(crate) fn namespace(name: &str) -> Value {
    json!({
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": { "name": name },
        "status": { "phase": "Active" },
    })
}

/// All groups in one document, by this version of `apidiscovery.k8s.io`.
pub(crate) fn aggregated(version: &str, groups: &[Group]) -> Value {
    let items = groups.iter().map(|group| {
        let versions = group.versions.iter().map(|(version, kinds)| {
            let resources: Vec<Value> = kinds.iter().map(aggregated_resource).collect();
            json!({ "version": version, "freshness": "Current", "resources": resources })
        });
        let mut metadata = json!({ "creationTimestamp": null });
        // The core group has none.
        if !group.name.is_empty() {
            metadata["name"] = json!(group.name);
        }
        json!({ "metadata": metadata, "versions": versions.collect::<Vec<_>>() })
    });
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {},
        "items": items.collect::<Vec<_>>(),
    })
}

fn aggregated_resource(kind: &Kind) -> Value {
    let mut resource = json!({
        "resource": kind.plural,
        "responseKind": { "group": kind.group, "version": kind.version, "kind": kind.kind },
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "shortNames": kind.short_names,
        "verbs": verbs(kind, Part::Object),
    });
    if kind.has_status() {
        resource["subresources"] = json!([{
            "subresource": STATUS,
            "responseKind": { "group": kind.group, "version": kind.version, "kind": kind.kind },
            "verbs": verbs(kind, Part::Status),
        }]);
    }
    resource
}

fn verbs(kind: &Kind, part: Part) -> Vec<&'static str> {
    let verbs = kind.verbs_of(part).iter();
    verbs.map(|verb| verb.name()).collect()
}

/// `/api`: the versions of the core group.
pub(crate) fn core(form: Form) -> Value {
    match form {
        Form::Discovery(version) => aggregated(version, &grouped(vec![EVENT], &Weights::new())),
        _ => {
            json!({ "kind": "APIVersions", "versions": [EVENT.version], "serverAddressByClientCIDRs": [] })
        }
    }
}

/// `/apis`: the groups with a name.
pub(crate) fn list(form: Form, mut groups: Vec<Group>) -> Value {
    groups.retain(|group| !group.name.is_empty());
    match form {
        Form::Discovery(version) => aggregated(version, &groups),
        _ => json!({
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": groups.iter().map(group_of).collect::<Vec<_>>(),
        }),
    }
}

/// `/apis/<group>`.
pub(crate) fn group(group: &Group) -> Value {
    let mut document = group_of(group);
    document["kind"] = json!("APIGroup");
    document["apiVersion"] = json!("v1");
    document
}

fn group_of(group: &Group) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|(version, _)| json!({ "groupVersion": format!("{}/{version}", group.name), "version": version }))
        .collect();
    json!({ "name": group.name, "preferredVersion": versions.first(), "versions": versions })
}

fn group_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// `/apis/<group>/<version>`, and `/api/<version>`.
pub(crate) fn resources(group: &str, version: &str, kinds: &[Kind]) -> Value {
    let resources = kinds.iter().flat_map(|kind| {
        let named = format!("{}/{}/{}", kind.group, kind.stored_version(), kind.kind);
        let hash = Sha256::digest(named.as_bytes());
        let object = json!({
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": verbs(kind, Part::Object),
            "shortNames": kind.short_names,
            "storageVersionHash": BASE64.encode(&hash[..8]),
        });
        let status = kind.has_status().then(|| {
            json!({
                "name": Part::Status.path(&kind.plural),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": verbs(kind, Part::Status),
            })
        });
        [Some(object), status].into_iter().flatten()
    });
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version(group, version),
        "resources": resources.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_of_a_storage_version_is_the_one_that_real_clusters_show() {
        let groups = grouped(KINDS.to_vec(), &Weights::new());
        let apps = groups.iter().find(|group| group.name == "apps");
        let (version, kinds) = &apps.expect("apps is served").versions[0];
        let shown = resources("apps", version, kinds);
        assert_eq!(shown["resources"][0]["storageVersionHash"], "85nkx63pcBU=");
    }

    #[test]
    fn the_version_that_was_agreed_on_comes_before_that_of_most_objects() {
        let collection = v1::Collection {
            resource: Some(v1::GroupResource {
                group: "example.io".to_owned(),
                resource: "widgets".to_owned(),
            }),
            ..v1::Collection::default()
        };
        let kinds =
            ["v1", "v2", "v3", "v4"].map(|version| Kind::of_collection(&collection, version));
        let count = |version: &str, objects| v1::EncodingCount {
            version: format!("example.io/{version}"),
            objects,
        };
        let order = |common: Option<&str>, selected: Option<&str>| -> Vec<String> {
            let own = |version: &str| format!("example.io/{version}");
            let status = v1::StorageVersionStatus {
                common_encoding_version: common.map(own),
                selected_version: selected.map(own),
                ..v1::StorageVersionStatus::default()
            };
            let mut weights = Weights::new();
            weigh(&mut weights, &[count("v1", 1), count("v2", 2)], &status);
            let mut groups = grouped(kinds.to_vec(), &weights);
            let versions = groups.remove(0).versions.into_iter();
            versions.map(|(version, _)| version).collect()
        };
        assert_eq!(order(None, None), ["v2", "v1", "v4", "v3"]);
        assert_eq!(order(Some("v1"), None), ["v1", "v2", "v4", "v3"]);
        assert_eq!(order(Some("v1"), Some("v3")), ["v3", "v2", "v1", "v4"]);
    }

    #[test]
    fn the_preferred_version_comes_first() {
        let collection = v1::Collection {
            resource: Some(v1::GroupResource {
                group: "example.io".to_owned(),
                resource: "widgets".to_owned(),
            }),
            kind: "Widget".to_owned(),
            ..v1::Collection::default()
        };
        let kinds =
            ["v1beta1", "v1", "v2alpha1"].map(|version| Kind::of_collection(&collection, version));
        let groups = grouped(kinds.to_vec(), &Weights::new());
        let shown = group(&groups[0]);
        assert_eq!(shown["preferredVersion"]["version"], "v1");
        let shown = aggregated("v2", &groups);
        assert_eq!(shown["items"][0]["versions"][1]["version"], "v1beta1");
        assert_eq!(
            shown["items"][0]["versions"][0]["resources"][0]["scope"],
            "Cluster"
        );
    }
}
