//! The calls by which each kind is read.

mod candidates;

use std::collections::BTreeMap;

use prost::Message;
use serde_json::Value;
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;
use synod_server::{Events, Front, Origin};
use tokio::time::Instant;

use crate::kinds::{Kind, Source};
use crate::request::{Asked, Selection};
use crate::selectors::labels_match;
use crate::{documents, events, identity, leases, migrations, shadows, shown};

/// The most objects of a page: what kubectl asks for at a time.
pub(crate) const PAGE_MAX: u32 = 500;

/// The calls of one request.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) front: Front,
    pub(crate) origin: Origin,
    pub(crate) deadline: Instant,
}

/// Which objects are read.
#[derive(Clone)]
pub(crate) struct Scope {
    pub(crate) kind: Kind,
    pub(crate) namespace: Option<String>,
    pub(crate) selection: Selection,
}

impl Scope {
    /// Whether a document is selected.
    pub(crate) fn selects(&self, document: &Value) -> bool {
        let Selection { labels, fields, .. } = &self.selection;
        labels_match(labels, document) && fields.matches(document)
    }

    /// Whether what has this metadata is in a namespace of it.
    pub(crate) fn is_in_namespace(&self, metadata: Option<&v1::Metadata>) -> bool {
        let own = metadata.map(|metadata| &metadata.namespace);
        self.namespace.is_none() || self.namespace.as_ref() == own
    }
}

/// A page of a list.
pub(crate) struct Page {
    pub(crate) items: Vec<Value>,
    /// The revision of the whole list.
    pub(crate) revision: u64,
    /// What the list goes on with; empty at its end.
    pub(crate) next: String,
}

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    First(Asked),
    /// Behind another page, at its revision.
    After(String),
    /// Behind another page, as the list is now.
    AtPresent(String),
}

/// The fields of every request for a page.
pub(crate) struct Paging {
    pub(crate) read: Option<v1::ReadOptions>,
    pub(crate) page_size: Option<u32>,
    pub(crate) continue_token: String,
    pub(crate) continue_at_present: bool,
}

impl Paging {
    pub(crate) fn of(start: Start, size: u32) -> Self {
        let page_size = Some(size.clamp(1, PAGE_MAX));
        match start {
            Start::First(asked) => Self {
                read: read(asked),
                page_size,
                continue_token: String::new(),
                continue_at_present: false,
            },
            Start::After(continue_token) => Self {
                read: None,
                page_size,
                continue_token,
                continue_at_present: false,
            },
            Start::AtPresent(continue_token) => Self {
                read: None,
                page_size,
                continue_token,
                continue_at_present: true,
            },
        }
    }
}

/// A request for a page of this type.
macro_rules! page {
    ($message:ident, $paging:expr $(, $field:ident: $value:expr)* $(,)?) => {{
        let paging: Paging = $paging;
        v1::$message {
            read: paging.read,
            page_size: paging.page_size,
            continue_token: paging.continue_token,
            continue_at_present: paging.continue_at_present,
            $($field: $value,)*
        }
    }};
}

pub(crate) use page;

pub(crate) fn read(asked: Asked) -> Option<v1::ReadOptions> {
    let (at_revision, min_revision) = match asked {
        Asked::Newest => return None,
        Asked::NotOlderThan(revision) => (None, Some(revision)),
        Asked::Exact(revision) => (Some(revision), None),
    };
    Some(v1::ReadOptions {
        at_revision,
        min_revision,
        max_staleness_ms: None,
    })
}

pub(crate) fn revision(header: Option<v1::ResponseHeader>) -> u64 {
    header.map(|header| header.revision).unwrap_or_default()
}

impl Calls {
    pub(crate) async fn call<A: Message + Default>(
        &self,
        path: &'static str,
        message: &impl Message,
    ) -> Result<A, Refusal> {
        self.front
            .call(&self.origin, path, message, self.deadline)
            .await
    }

    /// The same calls with another deadline.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self {
            deadline,
            ..self.clone()
        }
    }

    pub(crate) async fn watch(&self, request: &v1::WatchRequest) -> Result<Events, Refusal> {
        self.front.watch(&self.origin, request, self.deadline).await
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.front.wall_time().as_millis()
    }

    /// One object as it is stored.
    pub(crate) async fn object(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        asked: Asked,
    ) -> Result<v1::Object, Refusal> {
        let request = v1::ObjectsGetRequest {
            key: Some(object_key(kind, namespace, name)),
            read: read(asked),
        };
        let found: v1::ObjectsGetResponse = self.call("synod.v1.Objects/Get", &request).await?;
        Ok(found.object.unwrap_or_default())
    }

    /// The document of one object.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, and as any read.
    pub(crate) async fn get(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        asked: Asked,
    ) -> Result<Value, Refusal> {
        let own = namespace.unwrap_or_default().to_owned();
        let read = read(asked);
        Ok(match kind.source {
            Source::Objects => {
                documents::object(kind, &self.object(kind, namespace, name, asked).await?)
            }
            Source::Leases => {
                if let Some(found) = identity::find(self, namespace, name, asked).await? {
                    return Ok(identity::of(kind, &found.member, found.left, self.now_ms()));
                }
                let lease = Some(v1::LeaseKey {
                    namespace: own,
                    name: name.to_owned(),
                });
                let request = v1::LeasesGetRequest { lease, read };
                let found: v1::LeasesGetResponse =
                    self.call("synod.v1.Leases/Get", &request).await?;
                let lease = found.lease.unwrap_or_default();
                leases::of(kind, &lease, found.remaining_ms, self.now_ms())
            }
            Source::LeaseCandidates => self.candidate(kind, namespace, name, asked).await?,
            Source::ControllerRevisions => {
                let request = v1::ControllerRevisionsGetRequest {
                    namespace: own,
                    name: name.to_owned(),
                    read,
                };
                let found: v1::ControllerRevisionsGetResponse = self
                    .call("synod.v1.ControllerRevisions/Get", &request)
                    .await?;
                shown::controller_revision(kind, &found.controller_revision.unwrap_or_default())
            }
            Source::StorageVersions => {
                let found = self.of_resource(storage_version_of(name), asked).await?;
                let version = found.storage_version.ok_or_else(|| nothing(name))?;
                shown::storage_version(kind, &version)
            }
            Source::Agreements | Source::StorageStates => {
                let found = self.of_resource(state_of(name), asked).await?;
                shown::state_alone(kind, &found).ok_or_else(|| nothing(name))?
            }
            Source::Migrations => {
                shown::migration(kind, &migrations::find(self, name, asked).await?)
            }
            Source::Members => shown::member(kind, &self.member(name, asked).await?.member),
            Source::Events => events::get(self, kind, namespace, name).await?,
            Source::Settings if name == shown::SETTINGS_NAME => self.settings(kind, read).await?.0,
            Source::Settings => return Err(nothing(name)),
        })
    }

    /// What is known of a resource.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, and as any read.
    pub(crate) async fn of_resource(
        &self,
        resource: v1::GroupResource,
        asked: Asked,
    ) -> Result<v1::StorageVersionsGetResponse, Refusal> {
        let request = v1::StorageVersionsGetRequest {
            resource: Some(resource),
            read: read(asked),
        };
        self.call("synod.v1.StorageVersions/Get", &request).await
    }

    /// The settings, and the revision at which they were read.
    pub(crate) async fn settings(
        &self,
        kind: &Kind,
        read: Option<v1::ReadOptions>,
    ) -> Result<(Value, u64), Refusal> {
        let request = v1::ClusterGetSettingsRequest { read };
        let found: v1::ClusterGetSettingsResponse =
            self.call("synod.v1.Cluster/GetSettings", &request).await?;
        let document = shown::settings(kind, &found.settings.unwrap_or_default());
        Ok((document, revision(found.header)))
    }

    /// A page of a list. It may have fewer objects than `size`, and more may follow.
    pub(crate) async fn page(
        &self,
        scope: &Scope,
        start: Start,
        size: u32,
    ) -> Result<Page, Refusal> {
        let mut page = match scope.kind.source {
            Source::Leases => shadows::page(self, scope, start, size).await?,
            Source::Events => events::page(self, scope, start, size).await?,
            _ => self.whole_page(scope, start, size).await?,
        };
        if scope.kind.source != Source::Objects {
            page.items.retain(|item| scope.selects(item));
        }
        Ok(page)
    }

    async fn whole_page(&self, scope: &Scope, start: Start, size: u32) -> Result<Page, Refusal> {
        let Scope {
            kind,
            namespace,
            selection,
        } = scope;
        let paging = Paging::of(start, size);
        let namespace = namespace.clone().unwrap_or_default();
        let (items, header, next): (Vec<Value>, _, _) = match kind.source {
            Source::Objects => {
                let request = page!(
                    ObjectsListRequest, paging, resource: Some(kind.resource()), namespace: namespace,
                    label_selector: selection.label_text.clone(), field_selector: selection.fields.text(),
                );
                let found: v1::ObjectsListResponse =
                    self.call("synod.v1.Objects/List", &request).await?;
                let items = found.items.iter().filter_map(|item| item.object.as_ref());
                let items = items
                    .map(|object| documents::object(kind, object))
                    .collect();
                (items, found.header, found.continue_token)
            }
            Source::LeaseCandidates => {
                return self.candidates(kind, &namespace, paging).await;
            }
            Source::ControllerRevisions => {
                let request = page!(
                    ControllerRevisionsListRequest, paging, namespace: namespace, labels: BTreeMap::new(),
                    owner_kind: String::new(), owner_name: String::new(), owner_uid: String::new(),
                );
                let found: v1::ControllerRevisionsListResponse = self
                    .call("synod.v1.ControllerRevisions/List", &request)
                    .await?;
                let items = found
                    .items
                    .iter()
                    .map(|one| shown::controller_revision(kind, one));
                (items.collect(), found.header, found.continue_token)
            }
            Source::Agreements
            | Source::Events
            | Source::Leases
            | Source::Members
            | Source::Migrations
            | Source::Settings
            | Source::StorageStates
            | Source::StorageVersions => return self.page_of_cluster(kind, paging).await,
        };
        Ok(Page {
            items,
            revision: revision(header),
            next,
        })
    }

    /// A page of a kind without namespaces that Synod keeps itself.
    async fn page_of_cluster(&self, kind: &Kind, paging: Paging) -> Result<Page, Refusal> {
        let (items, header, next): (Vec<Value>, _, _) = match kind.source {
            Source::StorageVersions | Source::Agreements | Source::StorageStates => {
                let is_state = kind.source != Source::StorageVersions;
                let found = self.resources(paging, is_state).await?;
                let of = |item: &v1::StorageVersionListItem| match is_state {
                    true => item
                        .storage_state
                        .as_ref()
                        .map(|one| shown::state(kind, one)),
                    false => item
                        .storage_version
                        .as_ref()
                        .map(|one| shown::storage_version(kind, one)),
                };
                (
                    found.items.iter().filter_map(of).collect(),
                    found.header,
                    found.continue_token,
                )
            }
            Source::Migrations => {
                let request = page!(MigrationsListRequest, paging);
                let found: v1::MigrationsListResponse =
                    self.call("synod.v1.Migrations/List", &request).await?;
                let items = found
                    .migrations
                    .iter()
                    .map(|one| shown::migration(kind, one));
                (items.collect(), found.header, found.continue_token)
            }
            Source::Members => {
                let found = self.members(paging, BTreeMap::new()).await?;
                let items = found.items.iter().filter_map(|item| item.member.as_ref());
                let items = items.map(|member| shown::member(kind, member)).collect();
                (items, found.header, found.continue_token)
            }
            Source::Settings => {
                let (document, revision) = self.settings(kind, paging.read).await?;
                return Ok(Page {
                    items: vec![document],
                    revision,
                    next: String::new(),
                });
            }
            Source::ControllerRevisions
            | Source::Events
            | Source::LeaseCandidates
            | Source::Leases
            | Source::Objects => {
                return Err(nothing(&kind.plural));
            }
        };
        Ok(Page {
            items,
            revision: revision(header),
            next,
        })
    }
}

pub(crate) fn object_key(kind: &Kind, namespace: Option<&str>, name: &str) -> v1::ObjectKey {
    v1::ObjectKey {
        resource: Some(kind.resource()),
        namespace: namespace.unwrap_or_default().to_owned(),
        name: name.to_owned(),
    }
}

/// The resource of a StorageVersion: `<group>.<resource>`, split at the last dot, with `core` for the group without a name.
pub(crate) fn storage_version_of(name: &str) -> v1::GroupResource {
    let (group, resource) = name.rsplit_once('.').unwrap_or(("", name));
    let group = if group == "core" { "" } else { group };
    v1::GroupResource {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}

/// The resource of an agreement: `<resource>.<group>`, or the resource alone.
pub(crate) fn state_of(name: &str) -> v1::GroupResource {
    let (resource, group) = name.split_once('.').unwrap_or((name, ""));
    v1::GroupResource {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}

pub(crate) fn nothing(name: &str) -> Refusal {
    Refusal::new(ErrorKind::NotFound, format!("\"{name}\" does not exist"))
}
