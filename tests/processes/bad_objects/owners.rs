//! Objects that own each other in a circle are deleted together.

use synod_client::ErrorKind;
use synod_proto::v1;

use super::{create, key, start, stored};
use crate::agreement::agree;
use crate::cluster::IDS;
use crate::requests::{Wire, timely};
use crate::waiting::eventually;

pub(super) fn owner(name: &str, uid: &str) -> v1::OwnerReference {
    v1::OwnerReference {
        api_version: "example.com/v1".to_owned(),
        kind: "Thing".to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        block_owner_deletion: true,
        ..v1::OwnerReference::default()
    }
}

async fn gone(wire: &Wire, name: &str) {
    eventually(&format!("{name} to be gone"), async || {
        let get = v1::ObjectsGetRequest {
            key: Some(key("mine", name)),
            read: None,
        };
        match wire.objects().get(timely(get)).await {
            Ok(_) => Err("it is there".to_owned()),
            Err(status) => match synod_proto::status::from_status(&status).kind {
                ErrorKind::NotFound => Ok(()),
                other => Err(format!("{other:?}")),
            },
        }
    })
    .await;
}

// Guarantee: O-11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_in_a_circle_go_together() {
    let cluster = start().await;
    for (id, propagation) in IDS.into_iter().zip([
        v1::Propagation::Background,
        v1::Propagation::Foreground,
        v1::Propagation::Unspecified,
    ]) {
        let wire = Wire::to(&cluster.endpoint(id));
        let mut uids = Vec::new();
        for name in ["one", "two", "three"] {
            uids.push(stored(&wire, create("mine", name, "{}")).await);
        }
        // Object one is owned by three, two by one, and three by two.
        let circle = [
            ("one", vec![owner("three", &uids[2])]),
            ("two", vec![owner("one", &uids[0])]),
            ("three", vec![owner("two", &uids[1])]),
        ];
        for (name, owner_references) in circle {
            let request = create("mine", name, "{}");
            let update = v1::ObjectsUpdateRequest {
                key: request.key,
                content: request.content,
                attributes: Some(v1::ObjectAttributes {
                    owner_references,
                    ..v1::ObjectAttributes::default()
                }),
                preconditions: Some(v1::Preconditions {
                    uid: String::new(),
                    resource_version: Some(revision_of(&wire, name).await),
                }),
                ..v1::ObjectsUpdateRequest::default()
            };
            let updated = wire.objects().update(timely(update)).await;
            assert!(
                updated
                    .expect("owners may be in a circle")
                    .into_inner()
                    .changed
            );
        }
        let delete = v1::ObjectsDeleteRequest {
            key: Some(key("mine", "two")),
            propagation: propagation.into(),
            ..v1::ObjectsDeleteRequest::default()
        };
        let deleted = wire.objects().delete(timely(delete)).await;
        assert!(deleted.expect("it can be deleted").into_inner().changed);
        for name in ["one", "two", "three"] {
            gone(&wire, name).await;
        }
    }
    agree(&cluster).await;
    cluster.finish().await;
}

async fn revision_of(wire: &Wire, name: &str) -> u64 {
    let get = v1::ObjectsGetRequest {
        key: Some(key("mine", name)),
        read: None,
    };
    let view = wire.objects().get(timely(get)).await;
    let object = view.expect("it is there").into_inner().object;
    let metadata = object.and_then(|object| object.metadata);
    metadata.expect("it has metadata").resource_version
}
