//! The index of the objects that name each owner.

use std::ops::Bound;

use imbl::OrdSet;
use synod_model::{ObjectKey, PackedObject, Uid};

/// One line for each owner reference of each object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependents {
    all: OrdSet<Line>,
    /// The references for which an owner that is deleted in the foreground waits.
    blocking: OrdSet<Line>,
}

/// `None` sorts before every dependent of the owner; no stored line has it.
type Line = (Uid, Option<ObjectKey>);

impl Dependents {
    pub(crate) fn insert(&mut self, object: &PackedObject) {
        for reference in object.attributes().owners.iter() {
            let line = (reference.uid, Some(object.key()));
            if reference.block_owner_deletion {
                self.blocking.insert(line.clone());
            }
            self.all.insert(line);
        }
    }

    pub(crate) fn remove(&mut self, object: &PackedObject) {
        for reference in object.attributes().owners.iter() {
            let line = (reference.uid, Some(object.key()));
            self.blocking.remove(&line);
            self.all.remove(&line);
        }
    }

    /// Whether any object names the owner.
    pub(crate) fn any(&self, owner: &Uid) -> bool {
        self.next(owner, None).is_some()
    }

    /// The first dependent of the owner after this one.
    pub(crate) fn next(&self, owner: &Uid, after: Option<&ObjectKey>) -> Option<&ObjectKey> {
        of_owner(&self.all, owner, after).next()
    }

    /// The dependents that the owner has to wait for.
    pub(crate) fn blocking(&self, owner: &Uid) -> impl Iterator<Item = &ObjectKey> {
        of_owner(&self.blocking, owner, None)
    }
}

fn of_owner<'a>(
    lines: &'a OrdSet<Line>,
    owner: &Uid,
    after: Option<&ObjectKey>,
) -> impl Iterator<Item = &'a ObjectKey> {
    let owner = *owner;
    let beginning = Bound::Excluded((owner, after.cloned()));
    lines
        .range((beginning, Bound::Unbounded))
        .take_while(move |(found, _)| *found == owner)
        .filter_map(|(_, dependent)| dependent.as_ref())
}
