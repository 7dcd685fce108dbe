//! ControllerRevisions whose data is in a version in question, or may be: nobody ever rewrites them.

use synod_model::{ControllerRevision, GroupResource, Kind};

use super::stored::Concern;
use super::why::Why;
use crate::Past;

/// What the snapshots of a resource's kind say.
#[derive(Default)]
pub(super) struct Snapshots {
    /// Those that are in a version in question.
    pub(super) in_question: Vec<Why>,
    /// Whether there is one of which nobody said in which version it is.
    pub(super) version_unknown: bool,
}

/// The snapshots of the resource's kind. Costs a step for each snapshot that there is.
///
/// Where no kind of the resource is known, those of every controller of its group count.
pub(super) fn of(past: &Past<'_>, resource: &GroupResource, concern: &Concern<'_>) -> Snapshots {
    let mut found = Snapshots::default();
    for snapshot in past.controller_revisions(None) {
        if !is_of(&snapshot, resource, concern) {
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

/// Whether its controller may be of the resource. One that was released tells of its controller no more.
fn is_of(snapshot: &ControllerRevision, resource: &GroupResource, concern: &Concern<'_>) -> bool {
    let owner = snapshot.controller.as_ref();
    let version = snapshot.data.version();
    let version = version.or_else(|| owner.map(|owner| &owner.api_version));
    let is_known = |kind: &Kind| concern.kinds.is_empty() || concern.kinds.contains(kind);
    version.is_none_or(|version| version.group() == resource.group())
        && owner.is_none_or(|owner| is_known(&owner.kind))
}
