//! Which events a stream delivers.

use std::sync::Arc;

use synod_machine::Change;
use synod_model::{ControllerRevision, Labels, Member};
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
            let was_seen = before
                .as_ref()
                .is_some_and(|before| has_labels(before, wanted));
            let is_seen = after
                .as_ref()
                .is_some_and(|after| has_labels(after, wanted));
            seen(was_seen, is_seen)
        }
        Change::ControllerRevision { before, after, .. } => {
            let has = |row: &Option<Arc<ControllerRevision>>| {
                row.as_ref().is_some_and(|row| row.has_labels(wanted))
            };
            seen(has(before), has(after))
        }
        // No other object has labels.
        Change::StorageVersion { .. }
        | Change::StorageState { .. }
        | Change::Settings { .. }
        | Change::Lease { .. }
        | Change::LeaseCandidate { .. } => View::Hidden,
    }
}

fn seen(before: bool, after: bool) -> View {
    match (before, after) {
        (false, false) => View::Hidden,
        (true, true) => View::Plain,
        (false, true) => View::Appears,
        (true, false) => View::Disappears,
    }
}

/// Whether a member has all of these labels.
pub(crate) fn has_labels(member: &Member, wanted: &Labels) -> bool {
    wanted
        .iter()
        .all(|(key, value)| member.labels.get(key) == Some(value))
}
