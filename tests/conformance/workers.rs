//! The worker that rewrites objects, by the codec of the cases.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use synod_bound::{Bound, Failure};
use synod_client::{
    ApiVersion, Client, CodecError, CollectionStore, Content, FailureClass, GroupResource,
    MediaType, MigrationId, Migrator, MigratorOptions, ObjectKey, Ttl, Worked, WorkerName,
};

use crate::objects::Codec;
use crate::run::{Done, Outcome, refused};
use crate::values::{number, part};

/// A worker. It is that of the Rust client: its store is the language's own in each of them.
pub(crate) struct Worker {
    endpoints: Vec<String>,
    with: Value,
}

impl Worker {
    /// The worker that a handle is opened with.
    pub(crate) fn open(client: &Arc<Bound>, with: &Value) -> Self {
        Self {
            endpoints: client.endpoints(),
            with: with.clone(),
        }
    }

    /// Works at one migration.
    pub(crate) async fn run_one(&self, with: &Value) -> Outcome {
        let failed = |error: synod_client::Error| refused(&Failure::from(error));
        let client = Client::builder().endpoints(self.endpoints.clone());
        let client = client.connect().await.map_err(failed)?;
        let mut store = CollectionStore::new(client.clone(), Wrapped::of(&self.with["versions"]));
        if let Some(size) = self.with.get("pageSize").and_then(number) {
            store = store.page_size(u32::try_from(size).expect("pages of cases are small"));
        }
        let migrator = Migrator::new(client, store, self.options());
        let name = part(with, "name").and_then(Value::as_str);
        let id = MigrationId::parse(name.unwrap_or_default()).expect("a migration is named");
        let worked = migrator.run_one(&id).await.map_err(failed)?;
        Ok(Done::answer(match worked {
            None => json!({}),
            Some(Worked::Completed) => json!({"worked": "completed"}),
            Some(Worked::Lost) => json!({"worked": "lost"}),
            Some(Worked::Failed(failure)) => {
                let failure = json!({
                    "class": class(failure.class),
                    "reason": failure.reason.to_string(),
                });
                json!({"worked": "failed", "failure": failure})
            }
        }))
    }

    fn options(&self) -> MigratorOptions {
        let text = |path: &str| {
            part(&self.with, path)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let worker = WorkerName::parse(text("worker")).expect("a worker is named");
        let resource = GroupResource::new(text("resource.group"), text("resource.resource"));
        let resource = resource.expect("a worker has a resource");
        let options = MigratorOptions::new(worker, BTreeSet::from([resource]));
        match self.with.get("ttlMs").and_then(number) {
            None => options,
            Some(millis) => options.ttl(Ttl::from_millis(millis).expect("its TTL is legal")),
        }
    }
}

/// A class of failures, by its name in the protocol.
fn class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Transient => "FAILURE_CLASS_TRANSIENT",
        FailureClass::Rejected => "FAILURE_CLASS_REJECTED",
        FailureClass::NotSupported => "FAILURE_CLASS_NOT_SUPPORTED",
        FailureClass::Forbidden => "FAILURE_CLASS_FORBIDDEN",
        FailureClass::Undecodable => "FAILURE_CLASS_UNDECODABLE",
    }
}

/// The codec of the cases, for the Rust client.
struct Wrapped {
    codec: Codec,
    first: ApiVersion,
}

impl Wrapped {
    fn of(versions: &Value) -> Self {
        let first = versions.get(0).and_then(Value::as_str);
        Self {
            codec: Codec::new(versions),
            first: ApiVersion::parse(first.unwrap_or_default()).expect("a codec has versions"),
        }
    }
}

impl synod_client::Codec<Value> for Wrapped {
    fn preferred(&self) -> ApiVersion {
        self.first.clone()
    }

    fn encode(
        &self,
        _key: &ObjectKey,
        value: &Value,
        version: &ApiVersion,
    ) -> Result<Content, CodecError> {
        Ok(Content {
            encoding: version.clone(),
            media_type: MediaType::JSON,
            data: self.codec.wrapped(value, version.as_str())?.into(),
        })
    }

    fn decode(&self, _key: &ObjectKey, content: &Content) -> Result<Value, CodecError> {
        Ok(self.codec.unwrapped(&content.data)?)
    }
}
