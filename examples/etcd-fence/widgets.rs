//! Widgets in etcd: how a server writes them behind its gate and the fence, and how a migration worker rewrites them.

use serde_json::{Value, json};
use synod_client::{
    ApiVersion, Client, ContinueToken, Error, ErrorKind, Fence, FenceGuard, FencedStore,
    GroupResource, Membership, Migration, Permit, StoreError, StorePage,
};
use tokio::time::{Duration, sleep};

use super::etcd::{Condition, Etcd, Pair};

pub(crate) const WIDGETS: &str = "widgets.example.io";
const OBJECTS: &str = "/objects/widgets.example.io/";
const FENCES: &str = "/fences/";
const PAGE: usize = 50;

/// Encodes a widget of this size.
pub(crate) fn encode(size: u64, version: &ApiVersion) -> Vec<u8> {
    let document = match version.version() {
        "v1" => json!({"apiVersion": version.to_string(), "size": size}),
        _ => json!({"apiVersion": version.to_string(), "spec": {"size": size}}),
    };
    document.to_string().into_bytes()
}

/// The size of a widget, and the version that it is encoded in.
pub(crate) fn decode(bytes: &[u8]) -> Option<(u64, ApiVersion)> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let version = ApiVersion::parse(document["apiVersion"].as_str()?).ok()?;
    let size = match version.version() {
        "v1" => &document["size"],
        "v2" => &document["spec"]["size"],
        _ => return None,
    };
    Some((size.as_u64()?, version))
}

pub(crate) fn key(name: &str) -> String {
    format!("{OBJECTS}{name}")
}

fn fence_key(resource: &GroupResource) -> String {
    format!("{FENCES}{}", resource.qualified())
}

/// The condition that the fence key still is as it was read.
fn unchanged(resource: &GroupResource, present: Option<&[u8]>) -> Condition {
    match present {
        Some(bytes) => Condition::Holds(fence_key(resource), bytes.to_vec()),
        None => Condition::WrittenAt(fence_key(resource), 0),
    }
}

/// The server's way of writing.
pub(crate) struct Writer {
    etcd: Etcd,
    guard: FenceGuard,
}

/// A write that has passed every check in the server: from here on only the store can refuse it.
pub(crate) struct Ready {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
    permit: Permit,
}

impl Writer {
    pub(crate) async fn new(
        client: &Client,
        etcd: Etcd,
        membership: &Membership,
    ) -> Result<Self, Error> {
        let guard = FenceGuard::new(client, membership.id().clone()).await?;
        Ok(Self { etcd, guard })
    }

    /// Does everything that precedes the write: takes a permit, encodes as it says, reads the fence, and checks both.
    pub(crate) async fn prepare(
        &self,
        membership: &Membership,
        name: &str,
        size: u64,
    ) -> Result<Ready, Box<dyn std::error::Error + Send + Sync>> {
        let resource =
            GroupResource::parse_qualified(WIDGETS).map_err(|fault| fault.to_string())?;
        loop {
            let permit = membership.gate().permit(&resource).await?;
            let object = self.etcd.get(&key(name)).await.map_err(said)?;
            let present = self.read_fence(&resource).await.map_err(said)?;
            let passed = self.guard.check(&permit, present.as_deref());
            match passed.and_then(|()| permit.check()) {
                Ok(()) => {}
                // A newer agreement will be known within moments; and if the server is no member any more, it gets no
                // permit.
                Err(error) if error.kind() != ErrorKind::Conflict => {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            let revision = object.map_or(0, |object| object.revision);
            return Ok(Ready {
                conditions: vec![
                    Condition::WrittenAt(key(name), revision),
                    unchanged(&resource, present.as_deref()),
                ],
                key: key(name),
                value: encode(size, permit.encoding()),
                permit,
            });
        }
    }

    /// Writes. Returns false if the object or the fence has changed meanwhile: then prepare anew.
    pub(crate) async fn send(&self, ready: Ready) -> Result<bool, StoreError> {
        let put = self
            .etcd
            .put_if(&ready.conditions, &ready.key, &ready.value);
        match put.await {
            Ok(landed) => {
                ready.permit.done();
                Ok(landed)
            }
            Err(error) => {
                ready.permit.unknown_outcome();
                Err(error)
            }
        }
    }

    async fn read_fence(&self, resource: &GroupResource) -> Result<Option<Vec<u8>>, StoreError> {
        Widgets(self.etcd.clone()).read_fence(resource).await
    }
}

/// The widgets as the store of a migration worker.
pub(crate) struct Widgets(pub(crate) Etcd);

impl FencedStore for Widgets {
    type Object = Pair;

    async fn read_fence(&self, resource: &GroupResource) -> Result<Option<Vec<u8>>, StoreError> {
        let pair = self.0.get(&fence_key(resource)).await?;
        Ok(pair.map(|pair| pair.value))
    }

    async fn write_fence(&self, present: Option<&[u8]>, fence: &Fence) -> Result<bool, StoreError> {
        let unchanged = unchanged(fence.resource(), present);
        let (key, value) = (fence_key(fence.resource()), fence.to_string());
        self.0.put_if(&[unchanged], &key, value.as_bytes()).await
    }

    async fn list_page(
        &self,
        _: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Pair>, StoreError> {
        let after = token.map(ContinueToken::as_str).unwrap_or_default();
        let (objects, more) = self.0.list(OBJECTS, after, PAGE).await?;
        let last = objects.last().filter(|_| more);
        let next = last.map(|pair| ContinueToken::parse(&pair.key)).transpose();
        Ok(StorePage {
            next: next.map_err(|fault| StoreError::Refused(fault.to_string()))?,
            objects,
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        object: &Pair,
        fence: &Fence,
    ) -> Result<(), StoreError> {
        let undecodable = || StoreError::Undecodable {
            key: object.key.clone(),
            why: "it is no widget".to_owned(),
        };
        let (size, version) = decode(&object.value).ok_or_else(undecodable)?;
        let target = migration.target.version.as_ref().ok_or_else(undecodable)?;
        if version == *target {
            return Ok(());
        }
        let fenced = Condition::Holds(fence_key(fence.resource()), fence.to_string().into());
        let conditions = [
            Condition::WrittenAt(object.key.clone(), object.revision),
            fenced,
        ];
        let value = encode(size, target);
        if self.0.put_if(&conditions, &object.key, &value).await? {
            return Ok(());
        }
        let present = self.read_fence(fence.resource()).await?;
        if present.as_deref() == Some(fence.to_string().as_bytes()) {
            return Err(StoreError::Conflict);
        }
        let why = "somebody has raised the fence: this migration is over";
        Err(StoreError::Refused(why.to_owned()))
    }
}

fn said(error: StoreError) -> String {
    format!("etcd: {error:?}")
}
