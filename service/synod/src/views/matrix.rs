//! The matrix of resources and members: what each member encodes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use synod_client::json::{self as form, text};
use synod_client::{MemberId, StorageVersion, StorageVersionEntry, StorageVersionPage};

use super::or_unset;
use crate::output::{Document, Table};

/// `synod storage-versions matrix`.
pub(crate) fn matrix(page: &StorageVersionPage) -> Document {
    let resources = || {
        page.items
            .iter()
            .filter_map(|item| item.storage_version.as_ref())
    };
    let members: BTreeSet<&MemberId> = resources()
        .flat_map(|version| version.entries.iter().map(|entry| &entry.member))
        .collect();
    let mut table = Table::new(["Name", "Agreed"]).with_objects(&members);
    let mut wide = Table::new(["Name", "Agreed", "Common", "Selected"]).with_objects(&members);
    for version in resources() {
        let status = &version.status;
        let cells = |fixed: Vec<String>| {
            fixed
                .into_iter()
                .chain(members.iter().map(|member| cell(version, member)))
        };
        let agreed = or_unset(status.agreed.as_ref());
        let name = version.resource.qualified().to_owned();
        table.row(cells(vec![name.clone(), agreed.clone()]));
        let (common, selected) = (
            or_unset(status.common.as_ref()),
            or_unset(status.selected.as_ref()),
        );
        wide.row(cells(vec![name, agreed, common, selected]));
    }
    let value = json!({
        "header": form::of(&page.header),
        "members": form::list(&members, text),
        "resources": form::list(resources(), resource),
    });
    let names = resources().map(|version| version.resource.qualified().to_owned());
    let names = names.collect();
    Document {
        value,
        tables: vec![table],
        wide: vec![wide],
        names,
    }
}

/// What a member encodes, and whether that is about to change.
fn cell(version: &StorageVersion, member: &MemberId) -> String {
    let Some(entry) = version.entry(member) else {
        return "-".to_owned();
    };
    let encoding = or_unset(entry.encoding.as_ref());
    if is_behind(version, entry) {
        return format!("{encoding} !");
    }
    match &entry.preferred {
        Some(preferred)
            if entry.encoding.is_some() && entry.encoding.as_ref() != Some(preferred) =>
        {
            format!("{encoding} -> {preferred}")
        }
        Some(_) | None => encoding,
    }
}

/// Whether a voter has not adopted the selected version yet.
fn is_behind(version: &StorageVersion, entry: &StorageVersionEntry) -> bool {
    let is_voter = entry.preferred.is_some();
    is_voter
        && version.status.selected.is_some()
        && entry.adopted_revision != Some(version.status.selected_revision)
}

fn resource(version: &StorageVersion) -> Value {
    let encodings = version.entries.iter().map(|entry| {
        let cell = form::JsonObject::new()
            .with_some("encodingVersion", form::version(entry.encoding.as_ref()))
            .with_some("preferredVersion", form::version(entry.preferred.as_ref()))
            .with("hasToAdopt", is_behind(version, entry));
        (entry.member.to_string(), cell.into())
    });
    form::JsonObject::new()
        .with("name", version.name.as_str())
        .with_some(
            "agreedVersion",
            form::version(version.status.agreed.as_ref()),
        )
        .with_some(
            "commonEncodingVersion",
            form::version(version.status.common.as_ref()),
        )
        .with_some(
            "selectedVersion",
            form::version(version.status.selected.as_ref()),
        )
        .with("members", encodings.collect::<Map<String, Value>>())
        .into()
}
