//! The stored versions of a custom resource's definition: trimmed once nothing is stored in the others any more.

use axum::http::StatusCode;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use synod_apiserver::{ApiServer, Fault, Resource};
use synod_client::{Migration, StorageVersionHash};
use tokio::time::sleep;

use super::retries::{may_pass, pause};

/// The definition of a custom resource, as it was at some moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Definition {
    path: String,
    document: Value,
}

/// What did not succeed and may yet: why, and when to try again if that is said.
struct NotYet {
    why: String,
    retry_after: Option<Duration>,
}

/// What became of the stored versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trimmed {
    /// They are this one alone; it was so before, or is so now.
    To(String),
    /// They are as they were, for this reason.
    Left(String),
}

impl Definition {
    /// The definition of a resource; `None` if it has none, as built-in resources.
    pub(super) async fn read(
        server: &ApiServer,
        resource: &Resource,
    ) -> Result<Option<Self>, Fault> {
        if resource.group.is_empty() {
            return Ok(None);
        }
        let name = format!("{}.{}", resource.plural, resource.group);
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        let document = server.document(&path).await?;
        Ok(document.map(|document| Self { path, document }))
    }

    /// Another definition, or a changed one, has another fingerprint; its status does not count.
    pub(super) fn fingerprint(&self) -> String {
        let metadata = &self.document["metadata"];
        let uid = metadata["uid"].as_str().unwrap_or_default();
        format!("{uid}/{}", metadata["generation"])
    }

    /// Says that objects are stored in the storage version alone, after a migration that this definition stood before.
    ///
    /// Only if it is still the same definition: one that was changed meanwhile may have had objects stored in another
    /// version behind the worker.
    pub(super) async fn trim(
        &self,
        server: &ApiServer,
        migration: &Migration,
        is_whole: bool,
    ) -> Trimmed {
        if !is_whole {
            return Trimmed::Left(
                "the definition was changed since the migration began".to_owned(),
            );
        }
        let Some(storage) = self.storage() else {
            return Trimmed::Left("the definition names no storage version".to_owned());
        };
        if let Some(why) = self.strays_from(migration) {
            return Trimmed::Left(why);
        }
        let mut tries = 0;
        loop {
            let NotYet { why, retry_after } = match self.tried(server, storage).await {
                Ok(trimmed) => return trimmed,
                Err(not_yet) => not_yet,
            };
            tries += 1;
            match pause(tries, retry_after) {
                Some(pause) => sleep(pause).await,
                None => {
                    let resource = migration.id.resource().qualified();
                    return Trimmed::Left(format!(
                        "{why}; to have them trimmed: synod migrations start {resource} --rewrite-all && \
                         synod migrate --once --trim-stored-versions {resource}"
                    ));
                }
            }
        }
    }

    async fn tried(&self, server: &ApiServer, storage: &str) -> Result<Trimmed, NotYet> {
        let mut now = match server.document::<Value>(&self.path).await {
            Ok(Some(document)) => Self {
                document,
                path: self.path.clone(),
            },
            Ok(None) => return Ok(Trimmed::Left("the definition is gone".to_owned())),
            Err(fault) => return failed(&fault),
        };
        if now.fingerprint() != self.fingerprint() {
            let why = "the definition was changed since the migration began";
            return Ok(Trimmed::Left(why.to_owned()));
        }
        let only = json!([storage]);
        if now.document["status"]["storedVersions"] == only {
            return Ok(Trimmed::To(storage.to_owned()));
        }
        now.document["status"]["storedVersions"] = only;
        let path = format!("{}/status", self.path);
        let document = Bytes::from(now.document.to_string());
        match server.put(&path, document).await {
            Ok(reply) if reply.status.is_success() => Ok(Trimmed::To(storage.to_owned())),
            // Somebody may have written it between the two, as API servers do that note a condition.
            Ok(reply)
                if reply.status == StatusCode::CONFLICT
                    || synod_apiserver::may_pass(reply.status) =>
            {
                Err(NotYet {
                    why: reply.words(),
                    retry_after: reply.retry_after(),
                })
            }
            Ok(reply) => Ok(Trimmed::Left(reply.words())),
            Err(fault) => failed(&fault),
        }
    }

    /// The version in which new objects are stored.
    fn storage(&self) -> Option<&str> {
        let versions = self.document["spec"]["versions"].as_array()?;
        let mut storage = versions.iter().filter(|version| version["storage"] == true);
        storage.next()?["name"].as_str()
    }

    /// Why new objects are not stored as the migration requires; `None` also if the definition does not say.
    pub(super) fn strays_from(&self, migration: &Migration) -> Option<String> {
        let storage = self.storage()?;
        (!self.is_target(storage, migration)).then(|| {
            let target = &migration.target;
            format!("the migration is to {target}, and the storage version is {storage}")
        })
    }

    /// Whether the migration is to the storage version. Of an observed target only the hash is known.
    fn is_target(&self, storage: &str, migration: &Migration) -> bool {
        let group = migration.id.resource().group();
        match &migration.target.version {
            Some(version) => version.group() == group && version.version() == storage,
            None => {
                let kind = self.document["spec"]["names"]["kind"]
                    .as_str()
                    .unwrap_or_default();
                migration.target.hash == StorageVersionHash::of(group, storage, kind)
            }
        }
    }
}

/// What a fault means: one that may pass is tried again.
fn failed(fault: &Fault) -> Result<Trimmed, NotYet> {
    let why = fault.to_string();
    match may_pass(fault) {
        true => Err(NotYet {
            why,
            retry_after: None,
        }),
        false => Ok(Trimmed::Left(why)),
    }
}
