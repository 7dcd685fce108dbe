//! Collections as tables.

use serde_json::Value;
use synod_client::json;
use synod_client::{
    CollectionChanged, CollectionItem, CollectionPage, CollectionView, GroupResource, Header,
    WallTime,
};

use super::{all, yes_or_no};
use crate::output::{Document, Listed, Table, age};

const COLUMNS: [&str; 6] = ["Name", "Kind", "Namespaced", "Strict", "Objects", "Age"];
const MORE_COLUMNS: [&str; 5] = [
    "Create on update",
    "Unconditional update",
    "Status apart",
    "Versions",
    "UID",
];

/// `synod collections list`.
pub(crate) fn collections(page: &CollectionPage, now: WallTime) -> Document {
    document(json::of(page), &page.items, now)
}

/// `synod collections get`.
pub(crate) fn collection(view: &CollectionView, now: WallTime) -> Document {
    let items = std::slice::from_ref(&view.item);
    document(json::of(view), items, now)
}

/// `synod collections create` and `update`.
pub(crate) fn collection_changed(changed: &CollectionChanged, name: &GroupResource) -> Document {
    let value = json::of(changed);
    outcome(value, changed.changed, &changed.header, name)
}

/// `synod collections delete`.
pub(crate) fn collection_deleted(header: &Header, name: &GroupResource) -> Document {
    let value = json::JsonObject::new().with("header", json::of(header));
    outcome(value.into(), true, header, name)
}

fn outcome(value: Value, changed: bool, header: &Header, name: &GroupResource) -> Document {
    let mut table = Table::new(["Name", "Changed", "Revision"]);
    table.row([
        name.qualified().to_owned(),
        yes_or_no(changed).to_owned(),
        header.revision.to_string(),
    ]);
    Document {
        value,
        tables: vec![table.clone()],
        wide: vec![table],
        names: vec![name.qualified().to_owned()],
    }
}

fn document(value: Value, items: &[CollectionItem], now: WallTime) -> Document {
    let listed = items.iter().map(|item| Listed {
        name: item.collection.resource.qualified().to_owned(),
        cells: cells(item, now),
        more: more_cells(item),
    });
    Document::list(value, (&COLUMNS, &MORE_COLUMNS), listed)
}

fn cells(item: &CollectionItem, now: WallTime) -> Vec<String> {
    let collection = &item.collection;
    vec![
        collection.resource.qualified().to_owned(),
        collection.kind.to_string(),
        yes_or_no(collection.namespaced).to_owned(),
        yes_or_no(collection.rules.strict_storage_version).to_owned(),
        item.objects().to_string(),
        age(collection.metadata.created.as_millis(), now.as_millis()),
    ]
}

fn more_cells(item: &CollectionItem) -> Vec<String> {
    let collection = &item.collection;
    let counts = item.counts.iter();
    vec![
        yes_or_no(collection.rules.create_on_update).to_owned(),
        yes_or_no(collection.rules.unconditional_update).to_owned(),
        yes_or_no(collection.rules.status_subresource).to_owned(),
        all(counts.map(|count| format!("{}:{}", count.version, count.objects))),
        collection.metadata.uid.to_string(),
    ]
}
