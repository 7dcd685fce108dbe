//! Objects as tables.

use serde_json::{Value, json};
use synod_client::json;
use synod_client::{
    Collection, ObjectItem, ObjectKey, ObjectPage, ObjectView, ObjectWritten, WallTime,
};

use super::{all, or_unset, span, yes_or_no};
use crate::documents;
use crate::output::{Document, Listed, Table, age};

const COLUMNS: [&str; 5] = ["Namespace", "Name", "Version", "Revision", "Age"];
const MORE_COLUMNS: [&str; 6] = [
    "Labels",
    "Finalizers",
    "Remaining",
    "Media type",
    "Bytes",
    "UID",
];

/// `synod get RESOURCE`.
pub(crate) fn objects(page: &ObjectPage, collection: &Collection, now: WallTime) -> Document {
    let items = page.items.iter();
    let value = json!({
        "header": json::of(&page.header),
        "items": items
            .map(|item| documents::shown(&item.object, &collection.kind))
            .collect::<Value>(),
    });
    document(value, &page.items, collection, now)
}

/// `synod get RESOURCE NAME`.
pub(crate) fn object(view: &ObjectView, collection: &Collection, now: WallTime) -> Document {
    let item = ObjectItem {
        object: view.object.clone(),
        remaining: view.remaining,
    };
    let value = documents::shown(&view.object, &collection.kind);
    document(value, &[item], collection, now)
}

/// The results of writes, in their order.
pub(crate) fn written(writes: &[(ObjectKey, ObjectWritten)]) -> Document {
    let mut table = Table::new(["Object", "Result", "Changed", "Revision"]);
    for (key, written) in writes {
        table.row([
            name(key),
            result(written).to_owned(),
            yes_or_no(written.result.changed).to_owned(),
            written.result.resource_version.to_string(),
        ]);
    }
    let value = match writes {
        [(_, written)] => json::of(written),
        _ => json!({
            "items": writes
                .iter()
                .map(|(_, written)| json::of(written))
                .collect::<Value>(),
        }),
    };
    Document {
        value,
        tables: vec![table.clone()],
        wide: vec![table],
        names: writes.iter().map(|(key, _)| name(key)).collect(),
    }
}

fn result(written: &ObjectWritten) -> &'static str {
    let result = &written.result;
    match (result.created, result.deleted, result.changed) {
        (true, _, _) => "created",
        (_, true, _) => "deleted",
        (_, _, true) => "written",
        (_, _, false) => "unchanged",
    }
}

fn name(key: &ObjectKey) -> String {
    format!("{}/{}", key.resource.qualified(), key.name)
}

fn document(
    value: Value,
    items: &[ObjectItem],
    collection: &Collection,
    now: WallTime,
) -> Document {
    // Objects without namespaces need no column for them.
    let first = usize::from(!collection.namespaced);
    let listed = items.iter().map(|item| Listed {
        name: name(&item.object.key),
        cells: cells(item, now).split_off(first),
        more: more_cells(item),
    });
    Document::list(value, (&COLUMNS[first..], &MORE_COLUMNS), listed)
}

fn cells(item: &ObjectItem, now: WallTime) -> Vec<String> {
    let object = &item.object;
    vec![
        object.key.name.namespace().unwrap_or_default().to_owned(),
        object.key.name.name().to_owned(),
        object.content.encoding.to_string(),
        object.metadata.resource_version.to_string(),
        age(object.metadata.created.as_millis(), now.as_millis()),
    ]
}

fn more_cells(item: &ObjectItem) -> Vec<String> {
    let object = &item.object;
    let labels = object.attributes.labels.iter();
    vec![
        all(labels.map(|(key, value)| format!("{key}={value}"))),
        all(object.attributes.finalizers.iter()),
        or_unset(item.remaining.map(span)),
        object.content.media_type.to_string(),
        object.content.data.len().to_string(),
        object.metadata.uid.to_string(),
    ]
}
