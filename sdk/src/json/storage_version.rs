use crate::{
    AgreementCause, AgreementChange, AgreementHistory, Labels, StorageVersion,
    StorageVersionChange, StorageVersionEntry, StorageVersionItem, StorageVersionPage,
    StorageVersionStatus, StorageVersionView,
};
use serde_json::{Value, json};

use super::{
    Object, condition, header, list, metadata, number, resource, revision, storage_state, text,
    version,
};

/// The message `StorageVersion`.
pub fn storage_version(object: &StorageVersion) -> Value {
    Object::new()
        .with(
            "metadata",
            metadata(&object.name, &object.metadata, &Labels::default()),
        )
        .with("resource", resource(&object.resource))
        .with("entries", list(&object.entries, entry))
        .with("status", status(&object.status))
        .into()
}

/// The message `StorageVersionChange`.
pub fn storage_version_change(change: &StorageVersionChange) -> Value {
    Object::new()
        .with(
            "metadata",
            metadata(&change.name, &change.metadata, &Labels::default()),
        )
        .with("resource", resource(&change.resource))
        .with("changedEntries", list(&change.changed_entries, entry))
        .with("removedMembers", list(&change.removed_members, text))
        .with("status", status(&change.status))
        .into()
}

/// The message `StorageVersionsGetResponse`.
pub fn storage_version_view(view: &StorageVersionView) -> Value {
    Object::new()
        .with("header", header(&view.header))
        .with_some(
            "storageVersion",
            view.storage_version.as_ref().map(storage_version),
        )
        .with_some(
            "storageState",
            view.storage_state.as_ref().map(storage_state),
        )
        .with("logTimeMs", number(view.log_time.as_millis()))
        .into()
}

/// The message `StorageVersionsListResponse`, with the items of all pages.
pub fn storage_version_page(page: &StorageVersionPage) -> Value {
    json!({
        "header": header(&page.header),
        "items": list(&page.items, item),
        "logTimeMs": number(page.log_time.as_millis()),
    })
}

/// The message `StorageVersionsHistoryResponse`.
pub fn agreement_history(history: &AgreementHistory) -> Value {
    json!({
        "header": header(&history.header),
        "changes": list(&history.changes, agreement_change),
    })
}

/// The message `AgreementChange`.
fn agreement_change(change: &AgreementChange) -> Value {
    let cause = match &change.cause {
        None => "AGREEMENT_CAUSE_UNSPECIFIED",
        Some(AgreementCause::Member(_)) => "AGREEMENT_CAUSE_MEMBER",
        Some(AgreementCause::Observed) => "AGREEMENT_CAUSE_OBSERVED",
        Some(AgreementCause::Roster) => "AGREEMENT_CAUSE_ROSTER",
    };
    let member = change.cause.as_ref().and_then(AgreementCause::member);
    Object::new()
        .with_some("fromVersion", version(change.from.as_ref()))
        .with_some("toVersion", version(change.to.as_ref()))
        .with("revision", revision(change.revision))
        .with("timeMs", number(change.at.as_millis()))
        .with_some("causeMember", member.map(text))
        .with("cause", cause)
        .into()
}

fn item(item: &StorageVersionItem) -> Value {
    Object::new()
        .with_some(
            "storageVersion",
            item.storage_version.as_ref().map(storage_version),
        )
        .with_some(
            "storageState",
            item.storage_state.as_ref().map(storage_state),
        )
        .into()
}

fn entry(entry: &StorageVersionEntry) -> Value {
    Object::new()
        .with("member", text(&entry.member))
        .with("kind", text(&entry.kind))
        .with("decodableVersions", list(&entry.decodable, text))
        .with("servedVersions", list(&entry.served, text))
        .with_some("preferredVersion", version(entry.preferred.as_ref()))
        .with_some("encodingVersion", version(entry.encoding.as_ref()))
        .with_some("adoptedRevision", entry.adopted_revision.map(revision))
        .with("sinceRevision", revision(entry.since_revision))
        .into()
}

fn status(status: &StorageVersionStatus) -> Value {
    Object::new()
        .with_some("commonEncodingVersion", version(status.common.as_ref()))
        .with_some("selectedVersion", version(status.selected.as_ref()))
        .with("selectedRevision", revision(status.selected_revision))
        .with("agreementRevision", revision(status.agreement_revision))
        .with_some("agreedVersion", version(status.agreed.as_ref()))
        .with("decodableByAll", list(&status.decodable_by_all, text))
        .with("servedByAll", list(&status.served_by_all, text))
        .with("conditions", list(&status.conditions, condition))
        .into()
}
