//! Which events a stream delivers.

use synod_machine::Change;
use synod_model::{Labels, Member, ObjectKey};
use synod_proto::{ObjectKind, WatchFilter};

/// How a change looks through a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// It is not seen.
    Hidden,
    /// It is seen as it is.
    Plain,
    /// The object comes into view.
    Appears,
    /// The object goes out of view.
    Disappears,
}

/// Whether everything passes, so that nothing need be looked at.
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

/// How the change of an object of this kind and name looks through the filter.
pub(super) fn view(filter: &WatchFilter, kind: ObjectKind, name: &str, change: &Change) -> View {
    let of_kind = filter.kinds.is_empty() || filter.kinds.contains(&kind);
    let of_name = filter.names.is_empty() || filter.names.contains(name);
    if of_kind && of_name && is_in_place(filter, change) {
        view_by_labels(filter, change)
    } else {
        View::Hidden
    }
}

/// Whether the change is of an object where the filter looks.
fn is_in_place(filter: &WatchFilter, change: &Change) -> bool {
    match change {
        Change::Object { key, .. } => {
            let ObjectKey { resource, name } = key;
            let of_resource = filter.resources.is_empty() || filter.resources.contains(resource);
            of_resource
                && is_in_namespace(filter, name.namespace())
                && filter.field_selector.matches(name)
        }
        Change::ControllerRevision { key, .. } => {
            is_outside_of_collections(filter) && is_in_namespace(filter, key.namespace())
        }
        Change::Lease { key, .. } | Change::LeaseCandidate { lease: key, .. } => {
            is_outside_of_collections(filter) && is_in_namespace(filter, Some(key.namespace()))
        }
        // Nothing else is in a collection or has a namespace.
        Change::Member { .. }
        | Change::StorageVersion { .. }
        | Change::StorageState { .. }
        | Change::Migration { .. }
        | Change::Settings { .. }
        | Change::Roster { .. }
        | Change::Collection { .. } => {
            is_outside_of_collections(filter) && is_in_namespace(filter, None)
        }
    }
}

/// Whether the filter lets pass what is no object of a collection.
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
    let seen =
        |labels: &Labels| has_all(labels, &filter.labels) && filter.label_selector.matches(labels);
    match change {
        Change::Member { before, after, .. } => seen_before_and_after(
            before.as_ref().is_some_and(|member| seen(&member.labels)),
            after.as_ref().is_some_and(|member| seen(&member.labels)),
        ),
        Change::Object { before, after, .. } => seen_before_and_after(
            before
                .as_ref()
                .is_some_and(|object| seen(&object.attributes.labels)),
            after
                .as_ref()
                .is_some_and(|object| seen(&object.attributes.labels)),
        ),
        Change::ControllerRevision { before, after, .. } => seen_before_and_after(
            before.as_ref().is_some_and(|row| seen(&row.labels)),
            after.as_ref().is_some_and(|row| seen(&row.labels)),
        ),
        // No other object has labels.
        Change::StorageVersion { .. }
        | Change::StorageState { .. }
        | Change::Migration { .. }
        | Change::Settings { .. }
        | Change::Roster { .. }
        | Change::Lease { .. }
        | Change::LeaseCandidate { .. }
        | Change::Collection { .. } => View::Hidden,
    }
}

fn seen_before_and_after(before: bool, after: bool) -> View {
    match (before, after) {
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
