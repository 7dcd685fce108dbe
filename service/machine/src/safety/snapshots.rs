//! Finds ControllerRevisions whose data is, or may be, in a version in question: their data is never rewritten.

use synod_model::{ApiVersion, ControllerRevision, Kind};

use super::stored::Concern;
use super::why::Why;
use crate::Past;

/// What was found among the snapshots of a resource's kind.
#[derive(Default)]
pub(super) struct Snapshots {
    /// The snapshots that are in a version in question.
    pub(super) in_question: Vec<Why>,
    /// Whether the version of some snapshot is unknown.
    pub(super) version_unknown: bool,
}

/// Checks the snapshots of the resource's kind. Costs one step for each snapshot in the state.
///
/// If no kind of the resource is known, the snapshots of every controller of its group count.
pub(super) fn of(past: &Past<'_>, concern: &Concern<'_>) -> Snapshots {
    let mut found = Snapshots::default();
    for snapshot in past.controller_revisions(None) {
        if !is_of(&snapshot, concern) {
            continue;
        }
        match snapshot.data.version() {
            None => found.version_unknown = true,
            Some(version) if (concern.version)(version) => {
                let why = Why::Snapshot(snapshot.key.clone(), version.clone());
                found.in_question.push(why);
            }
            Some(_) => {}
        }
    }
    found
}

/// Whether the snapshot's controller may be of the resource: its group is that of one of the resource's names, of a version
/// that is known of it, or of one in question, as
/// `extensions/v1beta1` is of Deployments in `apps`. A released snapshot no longer names its controller.
fn is_of(snapshot: &ControllerRevision, concern: &Concern<'_>) -> bool {
    let owner = snapshot.controller.as_ref();
    let version = snapshot.data.version();
    let version = version.or_else(|| owner.map(|owner| &owner.api_version));
    let is_known = |kind: &Kind| concern.kinds.is_empty() || concern.kinds.contains(kind);
    let group = version.map(ApiVersion::group);
    group.is_none_or(|group| concern.groups.contains(group))
        && owner.is_none_or(|owner| is_known(&owner.kind))
}
