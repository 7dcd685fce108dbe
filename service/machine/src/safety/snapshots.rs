//! ControllerRevisions whose data is in a version in question: nobody ever rewrites them.

use synod_model::{ControllerRevision, GroupResource, Kind};

use super::Why;
use super::stored::Concern;
use crate::Past;

/// The snapshots of the resource's kind in such a version. Costs a step for each snapshot that there is.
///
/// Where no kind of the resource is known, those of every controller of its group count.
pub(super) fn in_question(
    past: &Past<'_>,
    resource: &GroupResource,
    concern: &Concern<'_>,
) -> Vec<Why> {
    let snapshots = past.controller_revisions(None);
    let snapshots = snapshots.filter(|snapshot| is_of(snapshot, resource, concern));
    snapshots
        .filter_map(|snapshot| {
            let version = snapshot.data.version()?;
            (concern.version)(version).then(|| Why::Snapshot(snapshot.key.clone(), version.clone()))
        })
        .collect()
}

/// Whether its controller may be of the resource. One that was released tells of its controller no more.
fn is_of(snapshot: &ControllerRevision, resource: &GroupResource, concern: &Concern<'_>) -> bool {
    let Some(version) = snapshot.data.version() else {
        return false;
    };
    if version.group() != resource.group() {
        return false;
    }
    let is_known = |kind: &Kind| concern.kinds.contains(kind);
    let owner = snapshot.controller.as_ref().map(|owner| &owner.kind);
    concern.kinds.is_empty() || owner.is_none_or(is_known)
}
