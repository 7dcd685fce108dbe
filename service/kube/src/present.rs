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
    let uid = v1::Preconditions {
        resource_version: None,
        ..asked.clone()
    };
    expected(about, there, &uid)?;
    let revision = asked.resource_version.map(|it| it.to_string());
    match revision {
        Some(revision) if there["metadata"]["resourceVersion"] != revision => {
            Err(Fault::modified(about))
        }
        Some(_) | None => Ok(()),
    }
}

/// Checks that an object which was read is the one that a deletion means, in Kubernetes' words.
pub(crate) fn expected(
    about: &About<'_>,
    there: &Value,
    expected: &v1::Preconditions,
) -> Result<(), Fault> {
    let own = |field: &str| there["metadata"][field].as_str().unwrap_or_default();
    let revision = expected.resource_version.map(|it| it.to_string());
    let (uid, revision) = (expected.uid.as_str(), revision.unwrap_or_default());
    for (what, asked, own) in [
        ("UID", uid, own("uid")),
        ("ResourceVersion", &revision, own("resourceVersion")),
    ] {
        if !asked.is_empty() && asked != own {
            let why = format!(
                "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {own}"
            );
            return Err(Fault::conflict(about, &why));
        }
    }
    Ok(())
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
