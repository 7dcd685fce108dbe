//! The ControllerRevisions of the state, with indexes that find those of one history without a walk over the others.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use synod_model::{
    ControllerHistory, ControllerRevision, MarkTie, MemberId, Namespace, NamespacedName,
    ObjectName, RevisionIdentity, RevisionPlace, Uid,
};

/// All ControllerRevisions. The other fields are derived from `kept`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControllerRevisions {
    kept: OrdMap<NamespacedName, IdentifiedRevision>,
    /// By namespace and controller, in the order of a history. `None` has those without a controller.
    histories: OrdMap<(Namespace, Option<Uid>), OrdSet<RevisionPlace>>,
    /// The keys of ControllerRevisions whose marks end with a member or an object, by that member or object.
    tied: OrdMap<MarkPost, OrdSet<NamespacedName>>,
}

/// What a mark can be tied to: the command that ends the member's epoch or the object removes the mark too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MarkPost {
    /// The present epoch of a member: no mark is tied to another epoch.
    Member(MemberId),
    /// An object.
    Object(Uid),
}

impl MarkPost {
    /// What the mark is tied to; `None` if it lives by renewals.
    pub(crate) fn of(tie: &MarkTie) -> Option<Self> {
        match tie {
            MarkTie::Renewals(_) => None,
            MarkTie::Member(id, _) => Some(Self::Member(id.clone())),
            MarkTie::Object(_, uid) => Some(Self::Object(*uid)),
        }
    }

    /// Whether the mark is tied to this.
    pub(crate) fn holds(&self, tie: &MarkTie) -> bool {
        Self::of(tie).as_ref() == Some(self)
    }
}

/// The bytes of the snapshot's data and annotations.
pub(crate) fn bytes_of(row: &ControllerRevision) -> usize {
    row.data.bytes().len() + row.annotations.bytes()
}

/// A row with the identity by which its data is compared.
#[derive(Clone, Debug)]
pub(crate) struct IdentifiedRevision {
    pub(crate) row: Arc<ControllerRevision>,
    pub(crate) identity: Arc<RevisionIdentity>,
}

impl ControllerRevisions {
    pub(crate) fn get(&self, key: &NamespacedName) -> Option<&IdentifiedRevision> {
        self.kept.get(key)
    }

    /// All rows, by namespace and name.
    pub(crate) fn map(&self) -> &OrdMap<NamespacedName, IdentifiedRevision> {
        &self.kept
    }

    /// What a controller controls in a namespace, whatever its labels, in the order of its history; for `None`, what
    /// has no controller there.
    pub(crate) fn controlled(
        &self,
        namespace: &Namespace,
        controller: Option<Uid>,
    ) -> impl DoubleEndedIterator<Item = &IdentifiedRevision> {
        let places = self.histories.get(&(namespace.clone(), controller));
        places.into_iter().flatten().map(|place| {
            let key = NamespacedName::new(Some(namespace), &place.name);
            self.kept
                .get(&key)
                .expect("what stands in a history is kept")
        })
    }

    /// How many snapshots a controller controls in a namespace, whatever their labels.
    pub(crate) fn count_controlled(&self, namespace: &Namespace, controller: Uid) -> usize {
        let places = self.histories.get(&(namespace.clone(), Some(controller)));
        places.map_or(0, OrdSet::len)
    }

    /// The snapshots of a history, in its order.
    pub(crate) fn of<'a>(
        &'a self,
        history: &'a ControllerHistory,
    ) -> impl DoubleEndedIterator<Item = &'a IdentifiedRevision> {
        self.controlled(&history.namespace, Some(history.owner.uid))
            .filter(|kept| history.holds(&kept.row))
    }

    /// The snapshots that a history may adopt.
    pub(crate) fn adoptable<'a>(
        &'a self,
        history: &'a ControllerHistory,
    ) -> impl Iterator<Item = &'a IdentifiedRevision> {
        self.controlled(&history.namespace, None)
            .filter(|kept| history.may_adopt(&kept.row))
    }

    /// The snapshots with marks that are tied to `post`, by namespace and name.
    pub(crate) fn tied(&self, post: &MarkPost) -> impl Iterator<Item = &IdentifiedRevision> {
        let keys = self.tied.get(post).into_iter().flatten();
        keys.map(|key| self.kept.get(key).expect("what is tied is kept"))
    }

    /// Inserts the row and returns the one that it replaces. The identity of equal data is kept.
    pub(crate) fn insert(
        &mut self,
        row: Arc<ControllerRevision>,
    ) -> Option<Arc<ControllerRevision>> {
        let before = self.unlink(&row.key);
        let identity = match &before {
            Some(before) if before.row.data == row.data => Arc::clone(&before.identity),
            Some(_) | None => Arc::new(row.data.identity()),
        };
        self.histories
            .entry(home(&row))
            .or_default()
            .insert(row.place());
        for (_, tie) in row.marks.iter() {
            if let Some(post) = MarkPost::of(tie) {
                let tied = self.tied.entry(post).or_default();
                tied.insert(row.key.clone());
            }
        }
        self.kept
            .insert(row.key.clone(), IdentifiedRevision { row, identity });
        before.map(|before| before.row)
    }

    pub(crate) fn remove(&mut self, key: &NamespacedName) -> Option<Arc<ControllerRevision>> {
        let before = self.unlink(key)?;
        self.kept.remove(key);
        Some(before.row)
    }

    /// Removes a row from its history and from the index of ties, and returns it.
    fn unlink(&mut self, key: &NamespacedName) -> Option<IdentifiedRevision> {
        let before = self.kept.get(key)?.clone();
        for post in before
            .row
            .marks
            .iter()
            .filter_map(|(_, tie)| MarkPost::of(tie))
        {
            let is_last = self.tied.get_mut(&post).is_some_and(|tied| {
                tied.remove(key);
                tied.is_empty()
            });
            if is_last {
                self.tied.remove(&post);
            }
        }
        let home = home(&before.row);
        let history = self
            .histories
            .get_mut(&home)
            .expect("what is kept stands in a history");
        history.remove(&before.row.place());
        if history.is_empty() {
            self.histories.remove(&home);
        }
        Some(before)
    }
}

fn home(row: &ControllerRevision) -> (Namespace, Option<Uid>) {
    (namespace(row), row.controller_uid())
}

fn namespace(row: &ControllerRevision) -> Namespace {
    let namespace = row.key.namespace().map(Namespace::parse);
    namespace
        .and_then(Result::ok)
        .expect("a snapshot has a namespace")
}

/// The key of a snapshot.
pub(crate) fn key(namespace: &Namespace, name: &ObjectName) -> NamespacedName {
    NamespacedName::new(Some(namespace), name)
}
