//! Parses the discovery documents of Kubernetes API servers.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use synod_client::{GroupResource, Kind, StorageVersionHash};

/// What a server shows of a resource in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) resource: GroupResource,
    /// The kind that it stores, which is needed to tell the version of a hash. `None`: the server does not say.
    pub(crate) kind: Option<Kind>,
    /// Whether a migration of its objects is possible and useful.
    pub(crate) is_migratable: bool,
    /// The hash of the version that the server encodes. `None`: it does not say.
    pub(crate) hash: Option<StorageVersionHash>,
}

#[derive(Deserialize)]
struct ApiVersions {
    versions: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct GroupList {
    groups: Option<Vec<Group>>,
}

#[derive(Deserialize)]
struct Group {
    versions: Option<Vec<GroupVersion>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceList {
    group_version: String,
    resources: Option<Vec<Resource>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    name: String,
    #[serde(default)]
    group: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    storage_version_hash: String,
}

#[derive(Deserialize)]
struct ServiceList {
    items: Option<Vec<Service>>,
}

#[derive(Deserialize)]
struct Service {
    spec: ServiceSpec,
}

#[derive(Deserialize)]
struct ServiceSpec {
    #[serde(default)]
    group: String,
    service: Option<serde::de::IgnoredAny>,
}

/// The versions of the core group, from the document at `/api`.
///
/// # Errors
///
/// The body is no such document; the text says why.
pub(super) fn core_versions(body: &[u8]) -> Result<Vec<String>, String> {
    let document: ApiVersions = read("APIVersions", body)?;
    Ok(document.versions.unwrap_or_default())
}

/// The versions of all other groups as `group/version`, from the document at `/apis`.
///
/// # Errors
///
/// The body is no such document; the text says why.
pub(super) fn group_versions(body: &[u8]) -> Result<Vec<String>, String> {
    let document: GroupList = read("APIGroupList", body)?;
    let groups = document.groups.unwrap_or_default().into_iter();
    let versions = groups.flat_map(|group| group.versions.unwrap_or_default());
    Ok(versions.map(|version| version.group_version).collect())
}

/// The resources of one version of a group. Subresources such as `pods/status` are stored with their resource.
///
/// # Errors
///
/// The body is no such document, or is about another version; the text says why.
pub(crate) fn resources(group_version: &str, body: &[u8]) -> Result<Vec<Shown>, String> {
    let document: ResourceList = read("APIResourceList", body)?;
    if document.group_version != group_version {
        return Err(format!("it is about {:?}", document.group_version));
    }
    let group = group_of(group_version);
    let resources = document.resources.unwrap_or_default().into_iter();
    let stored = resources.filter(|resource| !resource.name.contains('/'));
    stored.map(|resource| shown(group, &resource)).collect()
}

/// The groups that a server only passes on to other servers, from its list of API services.
///
/// # Errors
///
/// The body is no such document; the text says why.
pub(crate) fn passed_on(body: &[u8]) -> Result<BTreeSet<String>, String> {
    let document: ServiceList = read("APIServiceList", body)?;
    let services = document.items.unwrap_or_default().into_iter();
    let others = services.filter(|service| service.spec.service.is_some());
    Ok(others.map(|service| service.spec.group).collect())
}

/// The group of a version that is written as `group/version`, or as `version` in the core group.
pub(super) fn group_of(group_version: &str) -> &str {
    group_version.split_once('/').map_or("", |(group, _)| group)
}

fn shown(group: &str, resource: &Resource) -> Result<Shown, String> {
    let name = &resource.name;
    let group = match resource.group.as_str() {
        "" => group,
        own => own,
    };
    let can = |verb: &str| resource.verbs.iter().any(|known| known == verb);
    // Events expire within an hour or so, before anybody could rewrite them.
    let is_event = name == "events" && matches!(group, "" | "events.k8s.io");
    let hash = match resource.storage_version_hash.as_str() {
        "" => None,
        text => {
            let hash = StorageVersionHash::parse(text);
            Some(hash.map_err(|fault| format!("the hash of {name:?}: {fault}"))?)
        }
    };
    let kind = Some(resource.kind.as_str()).filter(|kind| !kind.is_empty());
    let kind = kind.map(Kind::parse).transpose();
    let named = GroupResource::new(group, name);
    Ok(Shown {
        resource: named.map_err(|faults| format!("resource {name:?}: {faults}"))?,
        kind: kind.map_err(|fault| format!("the kind of {name:?}: {fault}"))?,
        is_migratable: can("list") && can("update") && !is_event,
        hash,
    })
}

fn read<T: DeserializeOwned>(kind: &str, body: &[u8]) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let fault = |error: serde_json::Error| format!("it is no {kind}: {error}");
    let found: Kind = serde_json::from_slice(body).map_err(fault)?;
    if found.kind != kind {
        return Err(format!("it is no {kind} but of the kind {:?}", found.kind));
    }
    serde_json::from_slice(body).map_err(fault)
}
