//! Objects that are there before anything is asked.

use std::collections::BTreeMap;

use synod_client::{
    ApiVersion, Attributes, Client, CollectionRules, Content, CreateCollection, CreateObject,
    DeleteObject, Fences, GroupResource, Kind, MediaType, NamespacedName, ObjectKey, ObjectName,
    Operation, Preconditions, Revision, Transact, TtlChange, UpdateObject,
};

/// Objects that one transaction stores.
const AT_ONCE: usize = 100;

/// Where the Kubernetes API serves them.
pub(crate) const PATH: &str = "/apis/example.io/v1/items";

const LEGAL: &str = "it is legal";

fn resource() -> GroupResource {
    GroupResource::new("example.io", "items").expect(LEGAL)
}

/// Declares the collection.
pub(crate) async fn declare(client: &Client) {
    let create = CreateCollection {
        resource: resource(),
        kind: Kind::parse("Item").expect(LEGAL),
        namespaced: false,
        rules: CollectionRules::default(),
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
}

/// The name of an object; in the order of the numbers.
pub(crate) fn name(number: usize) -> String {
    format!("item-{number:06}")
}

fn key(name: &str) -> ObjectKey {
    let name = ObjectName::parse(name).expect(LEGAL);
    ObjectKey {
        resource: resource(),
        name: NamespacedName::new(None, &name),
    }
}

fn content(size: u64, bytes: usize) -> Content {
    let filled = "x".repeat(bytes);
    Content {
        encoding: ApiVersion::parse("example.io/v1").expect(LEGAL),
        media_type: MediaType::JSON,
        data: format!(r#"{{"spec":{{"size":{size},"filled":"{filled}"}}}}"#)
            .into_bytes()
            .into(),
    }
}

fn new(name: &str, bytes: usize) -> CreateObject {
    CreateObject {
        key: key(name),
        attributes: Attributes::default(),
        content: content(0, bytes),
        ttl: None,
        fences: Fences::default(),
    }
}

/// Stores so many objects of so many bytes. Returns the revision of each.
pub(crate) async fn store(
    client: &Client,
    count: usize,
    bytes: usize,
) -> BTreeMap<String, Revision> {
    let mut stored = BTreeMap::new();
    for first in (0..count).step_by(AT_ONCE) {
        let names: Vec<String> = (first..count.min(first + AT_ONCE)).map(name).collect();
        let operations = names.iter().map(|name| Operation::Create(new(name, bytes)));
        let transact = Transact {
            compares: Vec::new(),
            operations: operations.collect(),
            reads: Vec::new(),
            fences: Fences::default(),
        };
        let transacted = client.raw_objects().transact(transact).await;
        let revision = transacted.expect("objects can be stored").header.revision;
        stored.extend(names.into_iter().map(|name| (name, revision)));
    }
    stored
}

/// Creates an object. Returns its revision.
pub(crate) async fn create(client: &Client, name: &str, bytes: usize) -> Revision {
    let created = client.raw_objects().create(new(name, bytes)).await;
    let created = created.expect("an object can be created");
    created.result.resource_version
}

/// Writes an object over whatever it is. Returns its revision.
pub(crate) async fn overwrite(
    client: &Client,
    name: &str,
    before: Revision,
    size: u64,
    bytes: usize,
) -> Revision {
    let update = UpdateObject {
        key: key(name),
        attributes: Attributes::default(),
        content: content(size, bytes),
        ttl: TtlChange::Keep,
        preconditions: written_at(before),
        fences: Fences::default(),
    };
    let updated = client.raw_objects().update(update).await;
    let updated = updated.expect("an object can be updated");
    updated.result.resource_version
}

/// Deletes an object. Returns the revision of that.
pub(crate) async fn delete(client: &Client, name: &str, before: Revision) -> Revision {
    let delete = DeleteObject {
        key: key(name),
        propagation: None,
        preconditions: written_at(before),
        fences: Fences::default(),
    };
    let deleted = client.raw_objects().delete(delete).await;
    let deleted = deleted.expect("an object can be deleted");
    deleted.header.revision
}

fn written_at(revision: Revision) -> Preconditions {
    Preconditions {
        uid: None,
        resource_version: Some(revision),
    }
}
