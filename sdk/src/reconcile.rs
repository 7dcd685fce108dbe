//! Decides what a controller does with an object that it made earlier, once it wants something else.

use synod_model::{ControllerRevision, Equality, ObjectName};

/// How a controller brings an object that it made to the state that it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reconcile {
    /// The object is as wanted, and its label names the wanted ControllerRevision.
    Keep,
    /// The object is as wanted, but its label names another ControllerRevision: it gets the new label.
    Relabel,
    /// The object is changed in place, and gets the new label.
    UpdateInPlace,
    /// The object is deleted and created again.
    Recreate,
}

/// Decides what to do with an object whose label names `labelled` as its ControllerRevision, where `wanted` is the
/// newest of `history`. `None` is a nil revision: the object is older than the history, made from unknown data.
///
/// `in_place` says whether an object made from the first, or from a nil revision, can be changed to the second.
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
