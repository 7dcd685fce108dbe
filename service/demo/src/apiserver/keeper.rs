//! How an API server reads and writes objects that Synod keeps.
//!
//! The server need not know the selected version. Its codec first encodes in the version that its release prefers.
//! Synod refuses any version other than the selected one; the client of Synod then asks the codec for that version and
//! sends the object again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use synod_client::{
    ApiVersion, Client, Codec, CodecError, Content, Error, ErrorKind, ListObjects, MediaType,
    MemberEpoch, MemberId, NamespacedName, NewObject, ObjectKey, ObjectName, Objects, Permit,
    RawObjects, ReadOptions, Revision, StoredIn, TtlChange, Verdict,
};

use super::answers::{conflict, found, invalid, listed, not_found, status, undecodable, written};
use crate::clock::now_ms;
use crate::codec::HubObject;
use crate::journal::Journal;
use crate::records::{KeptStep, Step};
use crate::release::{Release, Resource};

/// The longest that a call of Synod may take, over all tries: less than a client of the server waits.
const LIMIT: Duration = Duration::from_secs(2);

/// The objects of one server that Synod keeps. Clones share the same clients and journal.
#[derive(Clone, Debug)]
pub(super) struct Keeper {
    member: MemberId,
    /// The client for lists.
    raw: RawObjects,
    /// The client of each resource, by name.
    objects: BTreeMap<String, Objects<HubObject>>,
    journal: Arc<Journal>,
}

impl Keeper {
    pub(super) fn new(
        client: &Client,
        release: &Release,
        journal: Journal,
        member: &MemberId,
        encode_early: bool,
    ) -> Self {
        let client = client.with_timeout(LIMIT);
        let journal = Arc::new(journal);
        let resources = release.resources.iter().copied();
        let kept = resources.filter(|resource| resource.kept == StoredIn::Collection);
        let objects = kept.map(|resource| {
            let codec = Shapes {
                resource,
                stubborn: encode_early,
                journal: Arc::clone(&journal),
            };
            let objects = client.objects(resource.group_resource(), codec);
            (resource.name(), objects)
        });
        Self {
            member: member.clone(),
            raw: client.raw_objects(),
            objects: objects.collect(),
            journal,
        }
    }

    /// Reads an object, and answers in the version that clients use.
    pub(super) async fn read(&self, resource: Resource, name: &str) -> Response {
        let (Some(objects), Some(name)) = (self.objects.get(&resource.name()), named(name)) else {
            return not_found(name);
        };
        match objects.get(&name, ReadOptions::linearizable()).await {
            Ok(stored) => {
                let version = stored.object.metadata.resource_version.get();
                found(resource, &stored.value, version)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => not_found(name.name()),
            Err(error) if error.kind() == ErrorKind::NotDecodable => undecodable(error.message()),
            Err(error) => unavailable(&error),
        }
    }

    /// Answers a page of objects: the first one, or the one that `token` names.
    pub(super) async fn list(
        &self,
        resource: Resource,
        limit: u32,
        token: Option<String>,
    ) -> Response {
        let Some(objects) = self.objects.get(&resource.name()) else {
            return not_found(resource.plural);
        };
        let mut list = ListObjects::new(resource.group_resource());
        list.page_size = Some(limit);
        let mut pages = self.raw.list(&list);
        if let Some(token) = token {
            pages = pages.resumed(&token);
        }
        let page = match pages.next().await {
            Ok(page) => page,
            Err(error) if error.kind() == ErrorKind::Compacted => {
                return status(StatusCode::GONE, "Expired", error.message());
            }
            Err(error) => return unavailable(&error),
        };
        let mut items = Vec::new();
        for item in page.into_iter().flat_map(|page| page.items) {
            match objects.decoded(item.object) {
                Ok(stored) => {
                    let version = stored.object.metadata.resource_version.get();
                    items.push((stored.value, version));
                }
                Err(error) => return undecodable(error.message()),
            }
        }
        listed(resource, &items, pages.token().map(str::to_owned), None)
    }

    /// Writes an object whose stored revision must be `known`; with `None` the object must not exist.
    pub(super) async fn write(
        &self,
        resource: Resource,
        known: Option<u64>,
        object: &HubObject,
        permit: &Permit,
    ) -> Response {
        let (Some(objects), Some(name)) = (self.objects.get(&resource.name()), named(&object.name))
        else {
            return invalid("metadata.name: must be a name in lower case");
        };
        let record = |step| {
            let step = KeptStep::of(&resource.name(), object, step);
            record(&self.journal, &step);
        };
        // The epoch may have ended since the permit was given. If it ends later, Synod refuses the fenced write.
        if let Err(error) = permit.check() {
            let text = error.message();
            return status(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", text);
        }
        let objects = objects.clone().fenced_by(MemberEpoch {
            member: self.member.clone(),
            epoch: permit.epoch(),
            cluster: None,
        });
        let error = match store(&objects, name, known, object).await {
            Ok(revision) => {
                permit.done();
                record(Step::Landed(revision));
                return written(object, revision, known.is_none());
            }
            Err(error) => error,
        };
        if error.execution() == Verdict::Unknown {
            permit.unknown_outcome();
            record(Step::Unknown);
            return status(StatusCode::GATEWAY_TIMEOUT, "Timeout", error.message());
        }
        permit.done();
        match (error.kind(), error.metadata().get("selected_version")) {
            (ErrorKind::EncodingNotSelected, Some(selected)) => {
                record(Step::NotSelected(selected.clone()));
                status(StatusCode::CONFLICT, "EncodingNotSelected", error.message())
            }
            (ErrorKind::Conflict | ErrorKind::AlreadyExists, _) => {
                record(Step::NotStored(error.message().to_owned()));
                conflict()
            }
            _ => {
                record(Step::NotStored(error.message().to_owned()));
                unavailable(&error)
            }
        }
    }
}

/// Stores an object, and returns the revision at which it was stored.
async fn store(
    objects: &Objects<HubObject>,
    name: NamespacedName,
    known: Option<u64>,
    object: &HubObject,
) -> Result<u64, Error> {
    let Some(known) = known else {
        let created = objects.create(NewObject::new(name, object.clone())).await?;
        return Ok(created.object.metadata.resource_version.get());
    };
    let mut stored = objects.get(&name, ReadOptions::linearizable()).await?;
    // The revision that the client had read: if another writer was faster, Synod answers a conflict.
    stored.object.metadata.resource_version = Revision::new(known);
    stored.value = object.clone();
    let updated = objects.update(stored, TtlChange::Keep).await?;
    Ok(updated.stored.object.metadata.resource_version.get())
}

/// How a release encodes objects of a resource for Synod. The codec journals each encoding before it is sent.
#[derive(Debug)]
struct Shapes {
    resource: Resource,
    journal: Arc<Journal>,
    /// Whether it always encodes in the version that the release prefers: the planted violation.
    stubborn: bool,
}

impl Codec<HubObject> for Shapes {
    fn preferred(&self) -> ApiVersion {
        self.resource.entry(None).stance.version().clone()
    }

    fn encode(
        &self,
        _: &ObjectKey,
        object: &HubObject,
        version: &ApiVersion,
    ) -> Result<Content, CodecError> {
        let encoding = if self.stubborn {
            self.preferred()
        } else {
            version.clone()
        };
        let text = encoding.to_string();
        if !self.resource.decodable.contains(&text.as_str()) {
            return Err(format!("this release does not know {text}").into());
        }
        let data = serde_json::to_vec(&object.encode(self.resource.kind, &text))?;
        let step = KeptStep::of(&self.resource.name(), object, Step::Encoded(text));
        record(&self.journal, &step);
        Ok(Content {
            encoding,
            media_type: MediaType::JSON,
            data: data.into(),
        })
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<HubObject, CodecError> {
        let data = serde_json::from_slice(&content.data)?;
        let decoded = HubObject::decode(&data, self.resource.decodable);
        decoded.map_err(|fault| fault.to_string().into())
    }
}

impl KeptStep {
    fn of(resource: &str, object: &HubObject, step: Step) -> Self {
        Self {
            at_ms: now_ms(),
            resource: resource.to_owned(),
            name: object.name.clone(),
            number: object.number,
            author: object.author.clone(),
            step,
        }
    }
}

fn named(name: &str) -> Option<NamespacedName> {
    let name = ObjectName::parse(name).ok()?;
    Some(NamespacedName::new(None, &name))
}

fn record(journal: &Journal, step: &KeptStep) {
    if let Err(error) = journal.append(step) {
        tracing::error!(%error, "the journal of this server cannot be written");
    }
}

fn unavailable(error: &Error) -> Response {
    let code = StatusCode::SERVICE_UNAVAILABLE;
    status(code, "StoreUnavailable", error.message())
}
