//! Snapshots of controllers: a ControllerRevision of Kubernetes on one of Synod's histories.
//!
//! | what a controller of Kubernetes does | what it is here |
//! |---|---|
//! | create, under a name with a hash that it has counted itself | create under this name, whatever the history holds |
//! | update, of the number, labels or annotations | the same; the number moves forward only |
//! | patch a controller into the owner references, or out of them | adopt, release |
//!
//! The data is the data that was sent, by what it says; a snapshot has one owner, its controller. An adoption is of whatever has
//! no controller when it is carried out: the revision and the uid that it names are compared a moment before.

use std::collections::BTreeMap;

use serde_json::Value;
use synod_model::{HASH_LABEL, Refusal, Violation};
use synod_proto::v1;

use crate::documents;
use crate::present;
use crate::shown;
use crate::sources::Calls;
use crate::status::{About, Fault};

/// What a document says of a snapshot.
struct Said {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    controller: Option<v1::OwnerReference>,
    revision: u64,
}

impl Said {
    fn of(document: &Value, about: &About<'_>) -> Result<Self, Fault> {
        let mut faults = Vec::new();
        let attributes = documents::attributes(&document["metadata"], &mut faults);
        let mut fault = |field: &str, rule: &str| faults.push((field.to_owned(), rule.to_owned()));
        if !attributes.finalizers.is_empty() {
            fault("metadata.finalizers", "Forbidden: snapshots have none");
        }
        let mut owners = attributes.owner_references.into_iter();
        let controller = owners.next().filter(|owner| owner.controller);
        let has_others = owners.next().is_some()
            || (controller.is_none() && is_some(&document["metadata"]["ownerReferences"]));
        if has_others {
            let rule = "Invalid value: a snapshot has one owner, which is its controller";
            fault("metadata.ownerReferences", rule);
        }
        let revision = match &document["revision"] {
            Value::Null => Some(0),
            number => number.as_u64(),
        };
        if revision.is_none() {
            let rule = "Invalid value: must be greater than or equal to 0";
            fault("revision", rule);
        }
        match (revision, faults.as_slice()) {
            (Some(revision), []) => Ok(Self {
                labels: attributes.labels.into_iter().collect(),
                annotations: attributes.annotations.into_iter().collect(),
                controller,
                revision,
            }),
            _ => Err(Fault::invalid(about, &faults)),
        }
    }
}

fn is_some(list: &Value) -> bool {
    list.as_array().is_some_and(|list| !list.is_empty())
}

fn invalid(about: &About<'_>, field: &str, rule: &str) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule.to_owned())])
}

/// Creates a snapshot under its name.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    dry_run: bool,
) -> Result<Value, Fault> {
    let mut said = Said::of(document, about)?;
    let data = &document["data"];
    if !data.is_object() {
        let fault = match data {
            Value::Null => Violation::required("data is mandatory"),
            data => Violation::invalid(&data.to_string(), "data must be a valid JSON object"),
        };
        return Err(invalid(about, "data", &fault.rule));
    }
    let Some(owner) = said.controller else {
        let rule = "Required value: a snapshot begins in the history of its controller";
        return Err(invalid(about, "metadata.ownerReferences", rule));
    };
    // It is that of the data, whatever a client has counted on to.
    said.labels.remove(HASH_LABEL);
    let request = v1::ControllerRevisionsCreateRequest {
        history: Some(history(about, owner)),
        data: data.to_string().into_bytes().into(),
        labels: said.labels,
        annotations: said.annotations,
        revision: Some(said.revision),
        collision_count: Some(0),
        name: about.name.to_owned(),
        dry_run,
        ..v1::ControllerRevisionsCreateRequest::default()
    };
    let created: Result<v1::ControllerRevisionsCreateResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Create", &request)
        .await;
    let created = created.map_err(|refusal| Fault::of(&refusal, about))?;
    told(calls, about, created.controller_revision).await
}

/// Makes a snapshot what a document says, if it is the one that is expected.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
    dry_run: bool,
) -> Result<Value, Fault> {
    if expected.resource_version.is_none() {
        let rule = "Invalid value: 0x0: must be specified for an update";
        return Err(invalid(about, "metadata.resourceVersion", rule));
    }
    let next = Said::of(document, about)?;
    let live = present::read(calls, about).await?;
    // Who has read another state than this one is to read again, whatever it wants to change.
    present::means(about, &live, expected)?;
    if document["data"] != live["data"] {
        return Err(invalid(about, "data", "Invalid value: field is immutable"));
    }
    let before = Said::of(&live, about)?;
    let uid = |said: &Said| said.controller.as_ref().map(|owner| owner.uid.clone());
    if uid(&before) == uid(&next) {
        return replace(calls, about, next, expected, dry_run).await;
    }
    let is_alike = before.labels == next.labels
        && before.annotations == next.annotations
        && before.revision == next.revision;
    let rule = match (&before.controller, &next.controller) {
        (Some(_), Some(_)) => "Invalid value: its controller has to release it first",
        _ if !is_alike => "Invalid value: the controller changes alone",
        _ if dry_run => "Invalid value: an adoption and a release cannot be tried in a dry run",
        (None, Some(owner)) => return adopt(calls, about, owner.clone()).await,
        (Some(_) | None, _) => {
            return release(calls, about, uid(&before).unwrap_or_default(), expected).await;
        }
    };
    Err(invalid(about, "metadata.ownerReferences", rule))
}

async fn replace(
    calls: &Calls,
    about: &About<'_>,
    next: Said,
    expected: &v1::Preconditions,
    dry_run: bool,
) -> Result<Value, Fault> {
    let map = |items| Some(v1::LabelMap { items });
    let request = v1::ControllerRevisionsUpdateRequest {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        name: about.name.to_owned(),
        if_uid: expected.uid.clone(),
        if_resource_version: expected.resource_version,
        revision: Some(next.revision),
        labels: map(next.labels),
        annotations: map(next.annotations),
        dry_run,
        ..v1::ControllerRevisionsUpdateRequest::default()
    };
    let updated: Result<v1::ControllerRevisionsUpdateResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Update", &request)
        .await;
    let updated = updated.map_err(|refusal| refused(about, &refusal, expected))?;
    told(calls, about, updated.controller_revision).await
}

async fn adopt(
    calls: &Calls,
    about: &About<'_>,
    owner: v1::OwnerReference,
) -> Result<Value, Fault> {
    let request = v1::ControllerRevisionsAdoptRequest {
        history: Some(history(about, owner)),
        name: about.name.to_owned(),
        ..v1::ControllerRevisionsAdoptRequest::default()
    };
    let adopted: Result<v1::ControllerRevisionsAdoptResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Adopt", &request)
        .await;
    adopted.map_err(|refusal| Fault::of(&refusal, about))?;
    present::written(calls, about).await
}

async fn release(
    calls: &Calls,
    about: &About<'_>,
    owner_uid: String,
    expected: &v1::Preconditions,
) -> Result<Value, Fault> {
    let request = v1::ControllerRevisionsReleaseRequest {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        name: about.name.to_owned(),
        owner_uid,
        if_uid: expected.uid.clone(),
        if_resource_version: expected.resource_version,
        ..v1::ControllerRevisionsReleaseRequest::default()
    };
    let released: Result<v1::ControllerRevisionsReleaseResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Release", &request)
        .await;
    released.map_err(|refusal| refused(about, &refusal, expected))?;
    present::written(calls, about).await
}

/// Why an update, which names a revision, was refused.
fn refused(about: &About<'_>, refusal: &Refusal, expected: &v1::Preconditions) -> Fault {
    match refusal.kind {
        synod_model::ErrorKind::Conflict => present::conflict(about, refusal, &expected.uid, true),
        _ => Fault::of(refusal, about),
    }
}

/// The history of a controller.
fn history(about: &About<'_>, owner: v1::OwnerReference) -> v1::ControllerHistory {
    v1::ControllerHistory {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        owner: Some(owner),
        ..v1::ControllerHistory::default()
    }
}

/// The snapshot that a write has told of; if it told of none, as it is now.
async fn told(
    calls: &Calls,
    about: &About<'_>,
    snapshot: Option<v1::ControllerRevision>,
) -> Result<Value, Fault> {
    match snapshot {
        Some(snapshot) => Ok(shown::controller_revision(about.kind, &snapshot)),
        None => present::written(calls, about).await,
    }
}
