use std::sync::Arc;

use synod_client::{
    Attributes, Deletion, GroupResource, Metadata, NamespacedName, ObjectName, Revision, Uid,
    WallTime,
};

use super::*;

fn document(text: &str) -> Document {
    documents::read(text).unwrap().remove(0)
}

/// The stored object after this document was applied.
fn stored(document: &Document) -> StoredObject {
    let name = ObjectName::parse("w").unwrap();
    StoredObject {
        key: ObjectKey {
            resource: GroupResource::new("example.io", "widgets").unwrap(),
            name: NamespacedName::new(None, &name),
        },
        metadata: Metadata {
            uid: Uid::parse("00000000-0000-8000-8000-000000000001").unwrap(),
            resource_version: Revision::new(7),
            create_revision: Revision::new(7),
            generation: 1,
            created: WallTime::from_millis(0),
        },
        attributes: document.attributes.clone(),
        deletion: None::<Arc<Deletion>>,
        content: document.content(),
        content_revision: Revision::new(7),
    }
}

const FIRST: &str = "\
apiVersion: example.io/v1
kind: Widget
metadata: {name: w, labels: {app: web, tier: front}}
spec: {size: 3, shape: round}
";

const SECOND: &str = "\
apiVersion: example.io/v1
kind: Widget
metadata: {name: w, labels: {app: web}}
spec: {size: 4}
";

// Guarantee: O-16
#[test]
fn applying_keeps_what_others_have_set_and_takes_back_what_it_had_set() {
    let mut object = stored(&result(&document(FIRST), None).unwrap());
    // Somebody else sets a field, a label and a finalizer.
    object.content.data = object
        .content
        .data
        .iter()
        .copied()
        .take(object.content.data.len() - 1)
        .chain(*b",\"status\":{\"ready\":true}}")
        .collect::<Vec<u8>>()
        .into();
    let other = document(
        "{apiVersion: v1, kind: X, metadata: {name: w, labels: {app: web, tier: front, mine: yes-it-is}, finalizers: [example.io/x]}}",
    );
    object.attributes = Attributes {
        annotations: object.attributes.annotations.clone(),
        ..other.attributes
    };
    let after = result(&document(SECOND), Some(&object)).unwrap();
    assert_eq!(
        documents::data(&after.source),
        json!({
            "apiVersion": "example.io/v1",
            "kind": "Widget",
            "spec": {"size": 4},
            "status": {"ready": true},
        })
    );
    let labels: Vec<_> = after.attributes.labels.iter().collect();
    assert_eq!(labels, [("app", "web"), ("mine", "yes-it-is")]);
    assert!(after.attributes.finalizers.contains("example.io/x"));
    let last = after.attributes.annotations.get(LAST_APPLIED).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["spec"], json!({"size": 4}));
    assert_eq!(last["metadata"]["labels"], json!({"app": "web"}));
}

#[test]
fn the_same_document_applied_again_changes_nothing() {
    let object = stored(&result(&document(FIRST), None).unwrap());
    let again = result(&document(FIRST), Some(&object)).unwrap();
    assert_eq!(again.attributes, object.attributes);
    assert_eq!(documents::data(&again.source), stored_data(&object));
}

#[test]
fn a_document_in_another_version_is_not_merged() {
    let object = stored(&document(FIRST));
    let other = document(&SECOND.replace("example.io/v1", "example.io/v2"));
    let failure = result(&other, Some(&object)).unwrap_err().to_string();
    assert!(failure.contains("a merge would mix the two"), "{failure}");
}
