//! The requests and answers of Synod, which are the same by single calls and by a pipeline.

use bytes::Bytes;
use rand::RngExt as _;
use synod_model::{Current, Refusal};
use synod_proto::v1;
use tonic::transport::Channel;

use crate::audience::Audience;
use crate::session::{Answered, Key, Keys, Reading, Swap, TTL, Version};

const GROUP: &str = "judge.example";
const HOLDER: &str = "judge";

/// A watch is told at least this often that it works; the longest there is.
const BOOKMARK_INTERVAL_MS: u32 = 30_000;

/// Creates a collection for each set of keys, unless it is there. They allow what etcd's keys do: a write creates, and
/// says nothing of what was there.
pub(crate) async fn create_collections(channel: Channel) -> Answered<()> {
    let mut client = v1::collections_client::CollectionsClient::new(channel);
    for keys in Keys::ALL {
        let request = v1::CollectionsCreateRequest {
            resource: Some(resource(keys)),
            kind: format!("Judge{}", keys.name()),
            rules: Some(v1::CollectionRules {
                strict_storage_version: false,
                create_on_update: true,
                unconditional_update: true,
                status_subresource: false,
            }),
            ..Default::default()
        };
        client.create(request).await?;
    }
    Ok(())
}

fn resource(keys: Keys) -> v1::GroupResource {
    v1::GroupResource {
        group: GROUP.to_owned(),
        resource: keys.name().to_owned(),
    }
}

fn object_key(key: Key) -> v1::ObjectKey {
    v1::ObjectKey {
        resource: Some(resource(key.keys)),
        namespace: String::new(),
        name: key.name(),
    }
}

pub(crate) fn update(key: Key, value: Bytes, version: Option<Version>) -> v1::ObjectsUpdateRequest {
    v1::ObjectsUpdateRequest {
        key: Some(object_key(key)),
        content: Some(v1::ObjectContent {
            encoding_version: "v1".to_owned(),
            media_type: "application/octet-stream".to_owned(),
            data: value,
        }),
        preconditions: version.map(|version| v1::Preconditions {
            uid: String::new(),
            resource_version: Some(version),
        }),
        // As the others answer a write.
        without_object: true,
        ..Default::default()
    }
}

pub(crate) fn get(key: Key, reading: Reading) -> v1::ObjectsGetRequest {
    let serializable = v1::ReadOptions {
        min_revision: Some(0),
        ..Default::default()
    };
    v1::ObjectsGetRequest {
        key: Some(object_key(key)),
        read: match reading {
            Reading::Linearizable => None,
            Reading::Serializable => Some(serializable),
        },
    }
}

/// The version of an object that was read.
pub(crate) fn version(response: v1::ObjectsGetResponse) -> Answered<Version> {
    let object = response
        .object
        .ok_or("an object that was read is missing")?;
    let metadata = object.metadata.ok_or("an object has no metadata")?;
    Ok(metadata.resource_version)
}

/// What a refused update says of the object.
pub(crate) fn lost(refusal: &Refusal) -> Answered<Swap> {
    match refusal.current.as_deref() {
        Some(Current::Object(object)) => Ok(Swap::Lost(object.metadata.resource_version.get())),
        _ => Err(refusal.message.clone().into()),
    }
}

/// Asks for a lease that nobody has had.
pub(crate) fn acquire() -> v1::LeasesAcquireRequest {
    let number: u64 = crate::load::random().random();
    v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "judge".to_owned(),
            name: format!("l{number:016x}"),
        }),
        holder: HOLDER.to_owned(),
        ttl_ms: Some(u64::try_from(TTL.as_millis()).expect("it is short")),
        ..Default::default()
    }
}

/// The request that renews a lease which was asked for and given.
pub(crate) fn renewal(
    lease: Option<v1::LeaseKey>,
    response: v1::LeasesAcquireResponse,
) -> Answered<v1::LeasesRenewRequest> {
    let Some(v1::leases_acquire_response::Result::Held(held)) = response.result else {
        return Err("a lease that nobody has was not given".into());
    };
    let token = v1::LeaseToken {
        lease,
        token: held.token,
        cluster_id: String::new(),
    };
    Ok(v1::LeasesRenewRequest {
        what: Some(v1::leases_renew_request::What::Lease(token)),
        correlation: held.token,
    })
}

pub(crate) fn renewed(response: v1::LeasesRenewResponse) -> Answered<()> {
    match response.result {
        Some(v1::leases_renew_response::Result::Renewed(_)) => Ok(()),
        other => Err(format!("a renewal was answered by {other:?}").into()),
    }
}

pub(crate) fn watch() -> v1::WatchRequest {
    v1::WatchRequest {
        filter: Some(v1::WatchFilter {
            resources: vec![resource(Keys::Watched)],
            ..Default::default()
        }),
        bookmark_interval_ms: Some(BOOKMARK_INTERVAL_MS),
        ..Default::default()
    }
}

/// Tells the audience of the events of one message, which this many watches got.
pub(crate) fn show(response: v1::WatchResponse, watches: u64, audience: &Audience) {
    let Some(v1::watch_response::Message::Events(events)) = response.message else {
        return;
    };
    for event in events.events {
        if let Some(v1::event::Object::StoredObject(object)) = event.object {
            let content = object.content.unwrap_or_default();
            audience.saw(&content.data, watches);
        }
    }
}
