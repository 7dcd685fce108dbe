use crate::{
    Attributes, ControllerRevision, HistoryAnswer, HistoryChanged, HistoryPage, OwnerReferences,
    RevisionAnswered, RevisionDiff, RevisionOutcome, RevisionView,
};
use crate::{LiveMark, MarkTie};
use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Object, header, list, number, resource, revision, text, whole_metadata};

/// The message `ControllerRevision`.
pub fn controller_revision(snapshot: &ControllerRevision) -> Value {
    let owners = snapshot.controller.iter().cloned().collect();
    let attributes = Attributes {
        labels: snapshot.labels.clone(),
        annotations: snapshot.annotations.clone(),
        owners: OwnerReferences::new(owners).unwrap_or_default(),
        ..Attributes::default()
    };
    let key = &snapshot.key;
    let place = (key.namespace().unwrap_or_default(), key.name());
    Object::new()
        .with(
            "metadata",
            whole_metadata(place, &snapshot.metadata, &attributes),
        )
        .with("revision", number(snapshot.number.get()))
        .with("mediaType", text(snapshot.data.media_type()))
        .with("data", BASE64.encode(snapshot.data.bytes()))
        .with("current", snapshot.marks.has(&LiveMark::Current))
        .with("update", snapshot.marks.has(&LiveMark::Update))
        .with("inUse", list(snapshot.marks.in_use(), text))
        .with("marks", list(snapshot.marks.iter(), live_mark))
        .with_some("dataVersion", snapshot.data.version().map(text))
        .into()
}

/// The message `LiveMark`.
fn live_mark((mark, tie): (&LiveMark, &MarkTie)) -> Value {
    let (kind, marker) = match mark {
        LiveMark::Current => ("LIVE_MARK_KIND_CURRENT", ""),
        LiveMark::Update => ("LIVE_MARK_KIND_UPDATE", ""),
        LiveMark::InUse(marker) => ("LIVE_MARK_KIND_IN_USE", marker.as_str()),
    };
    let tie = match tie {
        MarkTie::Renewals(ttl) => json!({"ttlMs": number(ttl.as_millis())}),
        MarkTie::Member(member, epoch) => json!({
            "member": {"member": text(member), "epoch": revision(epoch.revision()), "clusterId": ""},
        }),
        MarkTie::Object(key, uid) => {
            let key = json!({
                "resource": resource(&key.resource),
                "namespace": key.name.namespace().unwrap_or_default(),
                "name": key.name.name(),
            });
            json!({"object": {"key": key, "uid": text(uid)}})
        }
    };
    json!({"kind": kind, "marker": marker, "tie": tie})
}

/// The message `ControllerRevisionsListResponse`, with the items of all pages.
pub fn history_page(page: &HistoryPage) -> Value {
    json!({
        "header": header(&page.header),
        "items": list(&page.items, controller_revision),
    })
}

/// The message `ControllerRevisionsGetResponse`.
pub fn revision_view(view: &RevisionView) -> Value {
    json!({
        "header": header(&view.header),
        "controllerRevision": controller_revision(&view.revision),
    })
}

/// The message `ControllerRevisionsDiffResponse`.
pub fn revision_diff(diff: &RevisionDiff) -> Value {
    Object::new()
        .with("header", header(&diff.header))
        .with("equal", diff.equal)
        .with_some("jsonPatch", diff.json_patch.as_deref())
        .with_some("unified", diff.unified.as_deref())
        .into()
}

/// The message `ControllerRevisionsRollbackResponse`.
pub fn rolled_back(done: &RevisionAnswered) -> Value {
    let answer = &done.answer;
    let outcome = match answer.outcome {
        RevisionOutcome::Unchanged => "CONTROLLER_REVISION_OUTCOME_UNCHANGED",
        RevisionOutcome::RolledBack => "CONTROLLER_REVISION_OUTCOME_ROLLED_BACK",
        RevisionOutcome::Created => "CONTROLLER_REVISION_OUTCOME_CREATED",
    };
    let answer = json!({
        "name": text(&answer.name),
        "revision": number(answer.number.get()),
        "outcome": outcome,
        "collisionCount": answer.collision_count,
        "history": history_answer(&answer.history),
    });
    let snapshot = done.revision.as_ref();
    Object::new()
        .with("header", header(&done.header))
        .with("changed", done.changed)
        .with("answer", answer)
        .with_some("controllerRevision", snapshot.map(controller_revision))
        .into()
}

/// The message `ControllerRevisionsTruncateResponse`.
pub fn truncated(done: &HistoryChanged) -> Value {
    json!({
        "header": header(&done.header),
        "changed": done.changed,
        "answer": history_answer(&done.answer),
    })
}

/// The message `ControllerHistoryAnswer`.
fn history_answer(answer: &HistoryAnswer) -> Value {
    let HistoryAnswer {
        adopted,
        deleted,
        left,
    } = answer;
    json!({"adopted": adopted, "deleted": deleted, "left": left})
}
