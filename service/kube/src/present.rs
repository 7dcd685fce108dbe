//! An object as it is now, which writes begin with, end with and may conflict with.

use serde_json::Value;
use synod_model::{Current, Refusal};
use synod_proto::v1;

use crate::request::Asked;
use crate::sources::Calls;
use crate::status::{About, Fault};

/// How often a patch without a revision is tried, and a name that was made up.
pub(crate) const TRIES: usize = 5;

/// What a write that does not tell it has left. The write was done, whatever becomes of this read.
pub(crate) async fn written(calls: &Calls, about: &About<'_>) -> Result<Value, Fault> {
    read(calls, about).await.map_err(Fault::behind_a_write)
}

/// An object as it is now.
pub(crate) async fn read(calls: &Calls, about: &About<'_>) -> Result<Value, Fault> {
    let found = calls
        .get(about.kind, about.namespace, about.name, Asked::Newest)
        .await;
    found.map_err(|refusal| Fault::of(&refusal, about))
}

/// Checks that an object which was read is the one that an update means.
pub(crate) fn means(
    about: &About<'_>,
    there: &Value,
    asked: &v1::Preconditions,
) -> Result<(), Fault> {
    let own = |field: &str| there["metadata"][field].as_str().unwrap_or_default();
    let metadata = v1::Metadata {
        uid: own("uid").to_owned(),
        resource_version: own("resourceVersion").parse().unwrap_or_default(),
        ..v1::Metadata::default()
    };
    is_expected(&metadata, asked, about)
}

/// The same of what has this metadata.
pub(crate) fn is_expected(
    there: &v1::Metadata,
    asked: &v1::Preconditions,
    about: &About<'_>,
) -> Result<(), Fault> {
    precondition(about, "UID", &asked.uid, &there.uid)?;
    match asked.resource_version {
        Some(revision) if revision != there.resource_version => Err(Fault::modified(about)),
        Some(_) | None => Ok(()),
    }
}

/// Checks that an object which was read is the one that a deletion means, in Kubernetes' words.
pub(crate) fn expected(
    about: &About<'_>,
    there: &Value,
    asked: &v1::Preconditions,
) -> Result<(), Fault> {
    let own = |field: &str| there["metadata"][field].as_str().unwrap_or_default();
    let revision = asked.resource_version.map(|it| it.to_string());
    precondition(about, "UID", &asked.uid, own("uid"))?;
    let revision = revision.unwrap_or_default();
    precondition(about, "ResourceVersion", &revision, own("resourceVersion"))
}

/// Checks a part of what is expected; empty: anything is.
fn precondition(about: &About<'_>, what: &str, asked: &str, own: &str) -> Result<(), Fault> {
    if asked.is_empty() || asked == own {
        return Ok(());
    }
    let why = format!(
        "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {own}"
    );
    Err(Fault::conflict(about, &why))
}

/// A change that was refused because the object is another one than the caller means, in Kubernetes' words.
pub(crate) fn conflict(
    about: &About<'_>,
    refusal: &Refusal,
    uid: &str,
    has_expected: bool,
) -> Fault {
    let current = match refusal.current.as_deref() {
        Some(Current::Object(object)) => Some(object.metadata.uid.to_string()),
        Some(Current::Lease(lease)) => Some(lease.metadata.uid.to_string()),
        Some(Current::ControllerRevision(one)) => Some(one.metadata.uid.to_string()),
        _ => None,
    };
    match current {
        Some(current) if !uid.is_empty() && current != uid => {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {current}"
            );
            Fault::conflict(about, &why)
        }
        _ if has_expected => Fault::modified(about),
        _ => Fault::of(refusal, about),
    }
}
