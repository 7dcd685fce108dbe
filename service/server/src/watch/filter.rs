//! Which events the filter of a stream lets pass.

use std::time::Duration;

use synod_machine::{Change, EventScope, ObjectRef, ObjectRow};
use synod_model::{Labels, Member, ObjectKey};
use synod_proto::WatchFilter;

/// What the caller of a watch wants, and how it may see it. Watches that want the same get the same messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(super) filter: WatchFilter,
    /// The events that may pass the filter.
    pub(super) scope: EventScope,
    /// Whether the events name the callers of revisions.
    pub(super) shows_callers: bool,
    pub(super) bookmark_interval: Duration,
}

/// How a change appears to a stream with a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The change is not delivered.
    Hidden,
    /// The change is delivered as it is.
    Plain,
    /// The object begins to match the filter.
    Appears,
    /// The object no longer matches the filter.
    Disappears,
}

/// Whether everything passes, so that no event need be checked.
pub(super) fn passes_all(filter: &WatchFilter) -> bool {
    let WatchFilter {
        kinds,
        names,
        labels,
        resources,
        namespaces,
        label_selector,
        field_selector,
    } = filter;
    kinds.is_empty()
        && names.is_empty()
        && labels.is_empty()
        && resources.is_empty()
        && namespaces.is_empty()
        && label_selector.is_empty()
        && field_selector.is_empty()
}

/// How a change of the object with this name appears through the filter.
pub(super) fn view(filter: &WatchFilter, name: &str, change: &Change) -> View {
    let of_kind = filter.kinds.is_empty() || filter.kinds.contains(&change.object.kind());
    let of_name = filter.names.is_empty() || filter.names.contains(name);
    if of_kind && of_name && is_in_place(filter, &change.object) {
        view_by_labels(filter, change)
    } else {
        View::Hidden
    }
}

/// Whether the object is in a collection, namespace and place that the filter selects.
fn is_in_place(filter: &WatchFilter, object: &ObjectRef) -> bool {
    let in_collection = match object.stored() {
        Some(ObjectKey { resource, name }) => {
            let of_resource = filter.resources.is_empty() || filter.resources.contains(resource);
            of_resource && filter.field_selector.matches(name)
        }
        None => is_outside_of_collections(filter),
    };
    in_collection && is_in_namespace(filter, object.namespace())
}

/// Whether the filter lets objects pass that belong to no collection.
fn is_outside_of_collections(filter: &WatchFilter) -> bool {
    filter.resources.is_empty() && filter.field_selector.is_empty()
}

fn is_in_namespace(filter: &WatchFilter, namespace: Option<&str>) -> bool {
    let is_it = |namespace: &str| filter.namespaces.contains(namespace);
    filter.namespaces.is_empty() || namespace.is_some_and(is_it)
}

fn view_by_labels(filter: &WatchFilter, change: &Change) -> View {
    if filter.labels.is_empty() && filter.label_selector.is_empty() {
        return View::Plain;
    }
    let seen = |row: &Option<ObjectRow>| {
        let labels = row.as_ref().and_then(ObjectRow::labels);
        labels.is_some_and(|labels| {
            has_all(labels, &filter.labels) && filter.label_selector.matches(labels)
        })
    };
    match (seen(&change.before), seen(&change.after)) {
        (false, false) => View::Hidden,
        (true, true) => View::Plain,
        (false, true) => View::Appears,
        (true, false) => View::Disappears,
    }
}

fn has_all(labels: &Labels, wanted: &Labels) -> bool {
    wanted
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value))
}

/// Whether a member has all of these labels.
pub(crate) fn has_labels(member: &Member, wanted: &Labels) -> bool {
    has_all(&member.labels, wanted)
}
