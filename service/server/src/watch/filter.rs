//! Which events a stream delivers.

use synod_machine::Change;
use synod_model::{ControllerRevision, Labels, Member, Object};
use synod_proto::{ObjectKind, WatchFilter};

use super::encoded::EncodedEvent;

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
    filter.kinds.is_empty() && filter.names.is_empty() && filter.labels.iter().next().is_none()
}

/// How the event looks through the filter.
pub(super) fn view(
    filter: &WatchFilter,
    kind: ObjectKind,
    event: &EncodedEvent,
    change: &Change,
) -> View {
    let of_kind = filter.kinds.is_empty() || filter.kinds.contains(&kind);
    let of_name = filter.names.is_empty() || filter.names.contains(event.name());
    if of_kind && of_name {
        view_by_labels(&filter.labels, change)
    } else {
        View::Hidden
    }
}

fn view_by_labels(wanted: &Labels, change: &Change) -> View {
    if wanted.iter().next().is_none() {
        return View::Plain;
    }
    match change {
        Change::Member { before, after, .. } => {
            let seen = |member: &Member| has_labels(member, wanted);
            by_sight(
                before.as_deref().is_some_and(seen),
                after.as_deref().is_some_and(seen),
            )
        }
        Change::Object { before, after, .. } => {
            let seen = |object: &Object| has_all(&object.attributes.labels, wanted);
            by_sight(
                before.as_deref().is_some_and(seen),
                after.as_deref().is_some_and(seen),
            )
        }
        Change::ControllerRevision { before, after, .. } => {
            let seen = |row: &ControllerRevision| row.has_labels(wanted);
            by_sight(
                before.as_deref().is_some_and(seen),
                after.as_deref().is_some_and(seen),
            )
        }
        // No other object has labels.
        Change::StorageVersion { .. }
        | Change::StorageState { .. }
        | Change::Settings { .. }
        | Change::Lease { .. }
        | Change::LeaseCandidate { .. }
        | Change::Collection { .. } => View::Hidden,
    }
}

fn by_sight(was_seen: bool, is_seen: bool) -> View {
    match (was_seen, is_seen) {
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
