//! The collections and objects of the fixture.

use synod_proto::v1;

use super::{HOUR, MINUTE, event, header, message, metadata};

/// A strict collection with namespaces, and an empty one.
pub(super) fn collections() -> v1::CollectionsListResponse {
    let count = |version: &str, objects| v1::EncodingCount {
        version: version.to_owned(),
        objects,
    };
    v1::CollectionsListResponse {
        header: Some(header()),
        items: vec![
            v1::CollectionListItem {
                collection: Some(collection("gadgets", "Gadget", false)),
                counts: vec![],
            },
            v1::CollectionListItem {
                collection: Some(collection("widgets", "Widget", true)),
                counts: vec![count("example.io/v1", 3), count("example.io/v2", 40)],
            },
        ],
        continue_token: String::new(),
        inconsistent: false,
    }
}

fn collection(name: &str, kind: &str, namespaced: bool) -> v1::Collection {
    v1::Collection {
        metadata: Some(metadata(&format!("{name}.example.io"), 31, 2 * HOUR)),
        resource: Some(resource(name)),
        kind: kind.to_owned(),
        namespaced,
        rules: Some(v1::CollectionRules {
            strict_storage_version: namespaced,
            create_on_update: true,
            unconditional_update: false,
            status_subresource: false,
        }),
    }
}

fn resource(name: &str) -> v1::GroupResource {
    v1::GroupResource {
        group: "example.io".to_owned(),
        resource: name.to_owned(),
    }
}

/// An object of JSON with every kind of metadata, and an object of bytes with a TTL.
pub(super) fn objects() -> v1::ObjectsListResponse {
    let items = vec![
        v1::ObjectListItem {
            object: Some(json()),
            remaining_ms: None,
        },
        v1::ObjectListItem {
            object: Some(bytes()),
            remaining_ms: Some(90_000),
        },
    ];
    v1::ObjectsListResponse {
        header: Some(header()),
        items,
        continue_token: String::new(),
        inconsistent: false,
    }
}

fn json() -> v1::Object {
    let owner = v1::OwnerReference {
        api_version: "example.io/v1".to_owned(),
        kind: "Widget".to_owned(),
        name: "parent".to_owned(),
        uid: "0f7cb1a2-3d4e-8f60-a1b2-00000000002a".to_owned(),
        controller: true,
        block_owner_deletion: false,
    };
    let metadata = v1::Metadata {
        namespace: "team-a".to_owned(),
        labels: [("app".to_owned(), "web".to_owned())].into(),
        annotations: [("note".to_owned(), "for people".to_owned())].into(),
        owner_references: vec![owner],
        finalizers: vec!["example.io/clean".to_owned()],
        deletion_time_ms: Some(super::NOW_MS - MINUTE),
        ..metadata("my-widget", 41, HOUR)
    };
    let data = r#"{"apiVersion":"example.io/v2","kind":"Widget","spec":{"size":3}}"#;
    v1::Object {
        metadata: Some(metadata),
        resource: Some(resource("widgets")),
        content: Some(v1::ObjectContent {
            encoding_version: "example.io/v2".to_owned(),
            media_type: "application/json".to_owned(),
            data: data.as_bytes().to_vec().into(),
        }),
        content_revision: 41,
    }
}

fn bytes() -> v1::Object {
    let metadata = v1::Metadata {
        namespace: "team-b".to_owned(),
        ..metadata("raw", 44, MINUTE)
    };
    v1::Object {
        metadata: Some(metadata),
        resource: Some(resource("widgets")),
        content: Some(v1::ObjectContent {
            encoding_version: "example.io/v1".to_owned(),
            media_type: "application/octet-stream".to_owned(),
            data: vec![0, 1, 2, 255].into(),
        }),
        content_revision: 44,
    }
}

/// The answer to an update that has written the first object.
pub(super) fn written() -> v1::ObjectsUpdateResponse {
    v1::ObjectsUpdateResponse {
        header: Some(header()),
        changed: true,
        created: false,
        deleted: false,
        uid: "0f7cb1a2-3d4e-8f60-a1b2-000000000029".to_owned(),
        resource_version: 47,
        object: Some(json()),
    }
}

/// A collection is declared and an object is stored.
pub(super) fn events() -> v1::WatchResponse {
    let declared = v1::event::Object::Collection(collection("widgets", "Widget", true));
    let stored = v1::Event {
        namespace: "team-a".to_owned(),
        resource: Some(resource("widgets")),
        ..event(
            v1::EventType::Added,
            v1::ObjectKind::Object,
            "my-widget",
            v1::event::Object::StoredObject(json()),
        )
    };
    let declared = event(
        v1::EventType::Added,
        v1::ObjectKind::Collection,
        "widgets.example.io",
        declared,
    );
    message(v1::watch_response::Message::Events(v1::WatchEvents {
        revision: 48,
        events: vec![declared, stored],
        ..v1::WatchEvents::default()
    }))
}
