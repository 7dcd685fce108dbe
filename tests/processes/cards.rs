//! The objects of the writers: one that all of them compare and set, and pairs, each created in one transaction.

use std::collections::BTreeMap;

use synod_client::{
    ApiVersion, Attributes, Client, CollectionRules, Compare, Content, CreateCollection,
    CreateObject, Error, Fences, GroupResource, Kind, ListObjects, MediaType, NamespacedName,
    ObjectKey, ObjectName, Operation, Preconditions, ReadOptions, Revision, StoredObject, Transact,
    TtlChange, UpdateObject,
};
use synod_proto::v1;

use crate::history::Setting;
use crate::waiting::LIMIT;
use crate::watch_log::WatchLog;

/// The object that all writers compare and set.
const SHARED: &str = "shared";

/// The resource of all these objects.
pub(crate) fn resource() -> GroupResource {
    GroupResource::new("example.com", "cards").expect("it is a name")
}

/// Declares the collection, and creates the shared object.
pub(crate) async fn declare(client: &Client, value: u32) -> Setting {
    let create = CreateCollection {
        resource: resource(),
        kind: Kind::parse("Card").expect("it is a kind"),
        namespaced: false,
        rules: CollectionRules::default(),
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
    let created = client.raw_objects().create(new(SHARED, value)).await;
    let since = created.expect("an object can be created").header.revision;
    Setting { since, value }
}

fn key(name: &str) -> ObjectKey {
    let name = ObjectName::parse(name).expect("it is a name");
    ObjectKey {
        resource: resource(),
        name: NamespacedName::new(None, &name),
    }
}

fn content(value: u32) -> Content {
    Content {
        encoding: ApiVersion::parse("example.com/v1").expect("it is a version"),
        media_type: MediaType::JSON,
        data: format!(r#"{{"value":{value}}}"#).into_bytes().into(),
    }
}

fn new(name: &str, value: u32) -> CreateObject {
    CreateObject {
        key: key(name),
        attributes: Attributes::default(),
        content: content(value),
        ttl: None,
        fences: Fences::default(),
    }
}

/// Creates an object of so many bytes. Returns its revision.
pub(crate) async fn create_large(client: &Client, name: &str, bytes: usize) -> Revision {
    let create = CreateObject {
        content: large(0, bytes),
        ..new(name, 0)
    };
    let created = client.raw_objects().create(create).await;
    let created = created.expect("an object can be created");
    created.result.resource_version
}

/// Writes an object of so many bytes over what was written at a revision. Returns the new one.
pub(crate) async fn overwrite_large(
    client: &Client,
    name: &str,
    if_revision: Revision,
    value: u32,
    bytes: usize,
) -> Revision {
    let update = update(name, large(value, bytes), written_at(if_revision));
    let updated = client.raw_objects().update(update).await;
    let updated = updated.expect("an object can be updated");
    updated.result.resource_version
}

fn written_at(revision: Revision) -> Preconditions {
    Preconditions {
        uid: None,
        resource_version: Some(revision),
    }
}

fn large(value: u32, bytes: usize) -> Content {
    let filled = "x".repeat(bytes);
    Content {
        data: format!(r#"{{"value":{value},"filled":"{filled}"}}"#)
            .into_bytes()
            .into(),
        ..content(value)
    }
}

fn update(name: &str, content: Content, preconditions: Preconditions) -> UpdateObject {
    UpdateObject {
        key: key(name),
        attributes: Attributes::default(),
        content,
        ttl: TtlChange::Keep,
        preconditions,
        fences: Fences::default(),
    }
}

/// Creates objects in one transaction.
pub(crate) async fn create(client: &Client, names: &[String]) -> Result<Revision, Error> {
    let transact = Transact {
        compares: names
            .iter()
            .map(|name| Compare::Absent(key(name)))
            .collect(),
        operations: names
            .iter()
            .map(|name| Operation::Create(new(name, 0)))
            .collect(),
        reads: Vec::new(),
        fences: Fences::default(),
    };
    let transacted = client.raw_objects().transact(transact).await?;
    assert!(transacted.succeeded, "nobody else creates {names:?}");
    Ok(transacted.header.revision)
}

/// Sets the shared object, if its last change was at this revision.
pub(crate) async fn compare(
    client: &Client,
    if_revision: Revision,
    value: u32,
) -> Result<Revision, Error> {
    let update = update(SHARED, content(value), written_at(if_revision));
    let written = client.raw_objects().update(update).await?;
    Ok(written.result.resource_version)
}

/// Reads the shared object, and returns the revision of the read.
pub(crate) async fn read(client: &Client) -> Result<(Revision, Setting), Error> {
    let options = ReadOptions::linearizable();
    let view = client.raw_objects().get(&key(SHARED), options).await?;
    Ok((view.header.revision, setting(&view.object)))
}

/// The value of an object, and the revision of its last change.
pub(crate) fn setting(object: &StoredObject) -> Setting {
    Setting {
        since: object.metadata.resource_version,
        value: value(&object.content.data),
    }
}

fn value(data: &[u8]) -> u32 {
    let data: serde_json::Value = serde_json::from_slice(data).expect("it was stored as JSON");
    let value = data["value"].as_u64().expect("it was stored with a value");
    u32::try_from(value).expect("it was stored as a small number")
}

/// Every change of the shared object, by its revision.
pub(crate) fn changes(first: Setting, log: &WatchLog) -> BTreeMap<Revision, Setting> {
    let mut changes = BTreeMap::from([(first.since, first)]);
    for group in log.groups() {
        for event in &group.events {
            let Some(v1::event::Object::StoredObject(object)) = &event.object else {
                continue;
            };
            if event.name == SHARED {
                let since = Revision::new(group.revision);
                let data = object.content.as_ref().map(|content| &content.data);
                let value = value(data.expect("an object has content"));
                changes.insert(since, Setting { since, value });
            }
        }
    }
    changes
}

/// All other objects, with the revisions that created them. Also checks that the collection counts as many objects.
pub(crate) async fn created(client: &Client) -> BTreeMap<String, Revision> {
    let client = client.with_timeout(LIMIT);
    let list = ListObjects::new(resource()).with_page_size(1_000);
    let all = client.raw_objects().list(&list).all().await;
    let all = all.expect("the cluster serves");
    let at = ReadOptions::at_revision(all.header.revision);
    let collection = client.collections().get(&resource(), at).await;
    let counted = collection.expect("the cluster serves").item.counts;
    let counted: Vec<_> = counted.iter().map(|count| count.objects).collect();
    assert_eq!(
        counted,
        [all.items.len() as u64],
        "the count is not what the list has"
    );
    let objects = all.items.into_iter().map(|item| item.object);
    let objects = objects.map(|object| {
        let name = object.key.name.name().to_owned();
        (name, object.metadata.create_revision)
    });
    objects.filter(|(name, _)| name != SHARED).collect()
}
