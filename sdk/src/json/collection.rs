use crate::{
    Collection, CollectionChanged, CollectionItem, CollectionPage, CollectionView, EncodingCount,
    Labels,
};
use serde_json::{Value, json};

use super::{Object, header, list, metadata, number, resource, text};

/// The message `Collection`.
pub fn collection(collection: &Collection) -> Value {
    let rules = &collection.rules;
    Object::new()
        .with(
            "metadata",
            metadata(
                collection.resource.qualified(),
                &collection.metadata,
                &Labels::default(),
            ),
        )
        .with("resource", resource(&collection.resource))
        .with("kind", text(&collection.kind))
        .with("namespaced", collection.namespaced)
        .with(
            "rules",
            json!({
                "strictStorageVersion": rules.strict_storage_version,
                "createOnUpdate": rules.create_on_update,
                "unconditionalUpdate": rules.unconditional_update,
            }),
        )
        .into()
}

/// The message `CollectionListItem`.
fn item(item: &CollectionItem) -> Value {
    json!({"collection": collection(&item.collection), "counts": list(&item.counts, count)})
}

fn count(count: &EncodingCount) -> Value {
    json!({"version": text(&count.version), "objects": number(count.objects)})
}

/// The message `CollectionsListResponse`, with the items of all pages.
pub fn collection_page(page: &CollectionPage) -> Value {
    json!({"header": header(&page.header), "items": list(&page.items, item)})
}

/// The message `CollectionsGetResponse`.
pub fn collection_view(view: &CollectionView) -> Value {
    let CollectionItem { collection, counts } = &view.item;
    json!({
        "header": header(&view.header),
        "collection": self::collection(collection),
        "counts": list(counts, count),
    })
}

/// The message `CollectionsUpdateResponse`.
pub fn collection_changed(changed: &CollectionChanged) -> Value {
    Object::new()
        .with("header", header(&changed.header))
        .with("changed", changed.changed)
        .with_some("collection", changed.collection.as_ref().map(collection))
        .into()
}
