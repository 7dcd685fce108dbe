//! What a controller does with an object that it made, once what it wants has changed.

use synod_model::{ControllerRevision, Equality, ObjectName};

/// How an object that a controller made comes to be what the controller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reconcile {
    /// It is already, and says so.
    Keep,
    /// It is already, and says that it was made from another ControllerRevision: it gets the new label.
    Relabel,
    /// It is changed where it is, and gets the new label.
    UpdateInPlace,
    /// It is deleted and made again.
    Recreate,
}

/// Decides what becomes of an object that says it was made from `labelled`, where `wanted` is the newest of `history`.
/// `None` is a nil revision: an object from before the history, of which nobody knows what it was made from.
///
/// `in_place` says whether an object made from the one, or from a nil revision, can be changed to the other.
pub fn reconcile(
    labelled: Option<&ObjectName>,
    wanted: &ControllerRevision,
    history: &[ControllerRevision],
    equality: Equality,
    in_place: impl FnOnce(Option<&ControllerRevision>, &ControllerRevision) -> bool,
) -> Reconcile {
    if labelled.is_some_and(|name| name.as_str() == wanted.key.name()) {
        return Reconcile::Keep;
    }
    let made_from = labelled.and_then(|name| {
        let mut known = history.iter();
        known.find(|revision| revision.key.name() == name.as_str())
    });
    let says_the_same = |made_from: &ControllerRevision| {
        let wanted = wanted.data.identity();
        made_from.data.identity().equals(&wanted, equality)
    };
    if made_from.is_some_and(says_the_same) {
        Reconcile::Relabel
    } else if in_place(made_from, wanted) {
        Reconcile::UpdateInPlace
    } else {
        Reconcile::Recreate
    }
}
