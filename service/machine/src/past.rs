//! Reads of the state at a revision: the present one, or a past one with the later events undone.
//!
//! Every read goes through [`Past`], so a page of a list and a read of the present share one implementation. Undoing
//! costs one step for each event after the revision; no older state is held, as the kept history suffices.

mod equivalents;
mod leases;
mod objects;
mod one;
mod rosters;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{
    ControllerHistory, ControllerRevision, GroupResource, LogTime, Member, MemberId, Migration,
    MigrationAlias, MigrationId, NamespacedName, ObjectKind, Revision, Settings, TopicKind,
};

use crate::{
    Change, Due, EntryChange, EntryRow, EventScope, Holder, ObjectRef, ObjectRow, State,
    StorageStateRow, StorageStateView, StorageVersionRow, StorageVersionView, Watched,
};

/// The state as it was at one revision.
#[derive(Clone, Debug)]
pub struct Past<'a> {
    state: &'a State,
    revision: Revision,
    /// The kinds that can be read.
    scope: EventScope,
    /// The objects that differed from now, by kind: the row at this revision, `None` if the object did not exist.
    undone: BTreeMap<ObjectKind, BTreeMap<ObjectRef, Option<ObjectRow>>>,
    /// The entries of the storage versions whose entries differed from now.
    entries: BTreeMap<GroupResource, Entries>,
}

type Entries = OrdMap<MemberId, Arc<EntryRow>>;

/// Why a revision cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfReach {
    /// It has left the kept history.
    Compacted {
        /// The oldest readable revision.
        oldest: Revision,
    },
    /// It is not made yet.
    Future {
        /// The newest revision of this state.
        present: Revision,
    },
}

impl fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compacted { oldest } => {
                write!(f, "the oldest revision that can be read is {oldest}")
            }
            Self::Future { present } => write!(f, "the newest revision is {present}"),
        }
    }
}

impl State {
    /// The state as it was right after `revision`.
    ///
    /// # Errors
    ///
    /// [`OutOfReach`] if the revision has left the history or does not exist yet.
    pub fn at(&self, revision: Revision) -> Result<Past<'_>, OutOfReach> {
        self.at_in(EventScope::All, revision)
    }

    /// The state as it was right after `revision`, of which only the kinds of the scope can be read.
    ///
    /// # Errors
    ///
    /// [`OutOfReach`] if the revision has left the history of one of these kinds, or does not exist yet.
    pub fn at_in(&self, scope: EventScope, revision: Revision) -> Result<Past<'_>, OutOfReach> {
        self.check_reach(scope, revision)?;
        let mut past = Past {
            state: self,
            revision,
            scope,
            undone: BTreeMap::new(),
            entries: BTreeMap::new(),
        };
        for events in self.history.newest_first_after(revision) {
            events
                .changes
                .iter()
                .rev()
                .for_each(|change| past.undo(change));
        }
        Ok(past)
    }

    /// Refuses a revision at which the kinds of the scope cannot be read.
    fn check_reach(&self, scope: EventScope, revision: Revision) -> Result<(), OutOfReach> {
        if revision > self.revision {
            return Err(OutOfReach::Future {
                present: self.revision,
            });
        }
        let oldest = self.history.floor_for(scope);
        if revision < oldest {
            return Err(OutOfReach::Compacted { oldest });
        }
        Ok(())
    }

    /// The state as it is.
    #[must_use]
    pub fn present(&self) -> Past<'_> {
        self.at(self.revision)
            .expect("the present revision is always within reach")
    }

    /// The log time at which the holder expires unless it renews, lifts included. It is no part of the holder's row, and
    /// the leader may know of later renewals.
    #[must_use]
    pub fn deadline(&self, holder: &Holder) -> Option<LogTime> {
        self.deadlines.effective(holder)
    }

    /// The first `limit` holders whose deadlines are at or before `now`, in the order of the deadlines as kept.
    #[must_use]
    pub fn due(&self, now: LogTime, limit: usize) -> Due {
        self.due_besides(now, limit, |_| false)
    }

    /// As [`Self::due`], without the holders that are `spared`: whose renewals the leader has kept to itself.
    #[must_use]
    pub fn due_besides(&self, now: LogTime, limit: usize, spared: impl Fn(&Holder) -> bool) -> Due {
        self.deadlines.due(now, limit, spared)
    }
}

impl Past<'_> {
    /// Whether the encodings of a resource are remembered, now and not at the revision.
    pub(crate) fn remembers_encodings(&self, resource: &GroupResource) -> bool {
        self.state.remembers_encodings(resource)
    }

    /// The revision that is read.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The kind whose rules are in force for a resource.
    pub(crate) fn topic_kind(&self, resource: &GroupResource) -> TopicKind {
        self.state.topic_kind(resource)
    }

    /// The log time until which a restored cluster's unknown members may write, now and not at the revision.
    pub(crate) fn strangers_write_until(&self) -> LogTime {
        self.state.strangers_write_until
    }

    /// A member.
    #[must_use]
    pub fn member(&self, id: &MemberId) -> Option<Arc<Member>> {
        self.one::<Member>(id, self.state.members.get(id))
    }

    /// The members after `after`, by id.
    pub fn members(&self, after: Option<&MemberId>) -> impl Iterator<Item = Arc<Member>> {
        let kept = self.state.members.range::<_, MemberId>(beyond(after));
        self.all::<Member>(kept, after)
    }

    /// A reported resource, by its key.
    #[must_use]
    pub fn storage_version(&self, resource: &GroupResource) -> Option<StorageVersionView> {
        let kept = self.state.storage_versions.get(resource);
        let row = self.one::<StorageVersionRow>(resource, kept.map(|kept| &kept.row))?;
        Some(self.version_view(resource, row))
    }

    /// The reported resources after `after`, by (group, resource).
    pub fn storage_versions(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = StorageVersionView> {
        let kept = &self.state.storage_versions;
        let kept = kept.range::<_, GroupResource>(beyond(after));
        let rows =
            self.by_key::<StorageVersionRow>(kept.map(|(key, kept)| (key, &kept.row)), after);
        rows.map(|(resource, row)| self.version_view(resource, row))
    }

    /// The state that is kept of a resource's store, under the first of its names.
    #[must_use]
    pub fn storage_state(&self, resource: &GroupResource) -> Option<StorageStateView> {
        let first = self.first_name(resource);
        let row = self.own_state(&first)?;
        Some(state_view(&first, row))
    }

    /// The states that are kept of the resources after `after`, by (group, resource).
    pub fn storage_states(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = StorageStateView> {
        let kept = &self.state.storage_states;
        let kept = kept.range::<_, GroupResource>(beyond(after));
        let rows = self.by_key::<StorageStateRow>(kept.map(|(key, kept)| (key, &kept.row)), after);
        rows.map(|(resource, row)| state_view(resource, row))
    }

    /// A ControllerRevision.
    #[must_use]
    pub fn controller_revision(&self, key: &NamespacedName) -> Option<Arc<ControllerRevision>> {
        let kept = self.state.controller_revisions.get(key);
        self.one::<ControllerRevision>(key, kept.map(|kept| &kept.row))
    }

    /// The ControllerRevisions after `after`, by namespace and name.
    pub fn controller_revisions(
        &self,
        after: Option<&NamespacedName>,
    ) -> impl Iterator<Item = Arc<ControllerRevision>> {
        let kept = self.state.controller_revisions.map();
        let kept = kept.range::<_, NamespacedName>(beyond(after));
        self.all::<ControllerRevision>(kept.map(|(key, kept)| (key, &kept.row)), after)
    }

    /// The snapshots of a history, oldest first. Costs one step for each of them, and for each that was undone.
    #[must_use]
    pub fn controller_history(&self, history: &ControllerHistory) -> Vec<Arc<ControllerRevision>> {
        let kept = self.state.controller_revisions.of(history);
        let kept = kept
            .map(|kept| &kept.row)
            .filter(|row| self.undone::<ControllerRevision>(&row.key).is_none());
        let undone = self.undone_from::<ControllerRevision>(Bound::Unbounded);
        let undone = undone.filter_map(|(_, row)| row);
        let undone = undone.filter(|row| history.holds(row));
        let mut rows: Vec<_> = kept.chain(undone).cloned().collect();
        rows.sort_by_cached_key(|row| row.place());
        rows
    }

    /// A migration.
    #[must_use]
    pub fn migration(&self, id: &MigrationId) -> Option<Arc<Migration>> {
        let kept = self.state.migrations.get(id);
        self.one::<Migration>(id, kept.map(|kept| &kept.row))
    }

    /// The migration that has this alias.
    #[must_use]
    pub fn migration_of(&self, alias: &MigrationAlias) -> Option<Arc<Migration>> {
        let undone = self.undone_from::<Migration>(Bound::Unbounded);
        let mut undone = undone.filter_map(|(_, row)| row);
        let had = undone.find(|row| row.alias.as_ref() == Some(alias));
        // An alias never changes: who has it now and differed then would have been found, unless it is younger.
        had.cloned()
            .or_else(|| self.migration(self.state.aliases.get(alias)?))
    }

    /// The migrations after `after`, by resource and then the oldest first.
    pub fn migrations(&self, after: Option<&MigrationId>) -> impl Iterator<Item = Arc<Migration>> {
        let kept = self.state.migrations.range::<_, MigrationId>(beyond(after));
        self.all::<Migration>(kept.map(|(id, kept)| (id, &kept.row)), after)
    }

    /// The replicated settings. Before the first command of a cluster, these are the defaults.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        let settings = self.one::<Settings>(&(), Some(&self.state.settings));
        settings.unwrap_or_default()
    }

    fn version_view(
        &self,
        resource: &GroupResource,
        row: Arc<StorageVersionRow>,
    ) -> StorageVersionView {
        StorageVersionView {
            resource: resource.clone(),
            row,
            entries: self.entries_of(resource),
        }
    }

    fn entries_of(&self, resource: &GroupResource) -> Entries {
        let present = || {
            let version = self.state.storage_versions.get(resource);
            version.map(|version| version.entries.clone())
        };
        let undone = self.entries.get(resource).cloned();
        undone.or_else(present).unwrap_or_default()
    }

    /// The undone row of an object: `None` if it did not change since, `Some(None)` if it did not exist.
    fn undone<R: Watched>(&self, key: &R::Key) -> Option<Option<&R::Kept>> {
        self.check_scope(R::KIND);
        let of_kind = self.undone.get(&R::KIND)?;
        let before = of_kind.get(&R::object(key.clone()))?;
        Some(before.as_ref().and_then(R::row))
    }

    /// The undone rows of the objects of a kind, by key.
    fn undone_from<R: Watched>(
        &self,
        from: Bound<R::Key>,
    ) -> impl Iterator<Item = (&R::Key, Option<&R::Kept>)> {
        self.check_scope(R::KIND);
        let range = (from.map(R::object), Bound::Unbounded);
        let undone = self.undone.get(&R::KIND).into_iter();
        undone
            .flat_map(move |of_kind| of_kind.range(range.clone()))
            .filter_map(|(object, row)| Some((R::key(object)?, row.as_ref().and_then(R::row))))
    }

    /// An object at this revision, given its present row.
    fn one<R: Watched>(&self, key: &R::Key, kept: Option<&R::Kept>) -> Option<R::Kept> {
        self.undone::<R>(key).unwrap_or(kept).cloned()
    }

    /// The objects after `after` at this revision, given their present rows.
    fn all<'b, R: Watched + 'b>(
        &'b self,
        kept: impl Iterator<Item = (&'b R::Key, &'b R::Kept)>,
        after: Option<&R::Key>,
    ) -> impl Iterator<Item = R::Kept> {
        self.by_key::<R>(kept, after).map(|(_, row)| row)
    }

    /// As [`Self::all`], with the keys.
    fn by_key<'b, R: Watched + 'b>(
        &'b self,
        kept: impl Iterator<Item = (&'b R::Key, &'b R::Kept)>,
        after: Option<&R::Key>,
    ) -> impl Iterator<Item = (&'b R::Key, R::Kept)> {
        let from = beyond(after).0.cloned();
        merged(kept, self.undone_from::<R>(from))
    }

    /// # Panics
    ///
    /// If the kind is not in the scope: its later events may be gone, and the answer would be wrong.
    fn check_scope(&self, kind: ObjectKind) {
        assert!(
            self.scope.includes(kind),
            "{kind} cannot be read at revision {} in the upgrade history",
            self.revision
        );
    }

    /// Undoes one change. Changes are undone newest first.
    fn undo(&mut self, change: &Change) {
        if let Some(resource) = StorageVersionRow::key(&change.object) {
            self.undo_entries(resource, &change.entries);
        }
        let of_kind = self.undone.entry(change.object.kind()).or_default();
        of_kind.insert(change.object.clone(), change.before.clone());
    }

    fn undo_entries(&mut self, resource: &GroupResource, changed: &[EntryChange]) {
        let mut entries = self.entries_of(resource);
        for entry in changed {
            match &entry.before {
                Some(row) => entries.insert(entry.member.clone(), Arc::clone(row)),
                None => entries.remove(&entry.member),
            };
        }
        self.entries.insert(resource.clone(), entries);
    }
}

fn state_view(resource: &GroupResource, row: Arc<StorageStateRow>) -> StorageStateView {
    StorageStateView {
        resource: resource.clone(),
        row,
    }
}

/// Every key after `after`, or every key without it.
fn beyond<K>(after: Option<&K>) -> (Bound<&K>, Bound<&K>) {
    (
        after.map_or(Bound::Unbounded, Bound::Excluded),
        Bound::Unbounded,
    )
}

/// Merges two sorted sequences: an undone row hides the kept one of the same key.
fn merged<'a, K: Ord, R: Clone + 'a>(
    kept: impl Iterator<Item = (K, &'a R)>,
    undone: impl Iterator<Item = (K, Option<&'a R>)>,
) -> impl Iterator<Item = (K, R)> {
    let (mut kept, mut undone) = (kept.peekable(), undone.peekable());
    std::iter::from_fn(move || {
        loop {
            let hidden = match (kept.peek(), undone.peek()) {
                (None, None) => return None,
                (Some(_), None) => return kept.next().map(|(key, row)| (key, row.clone())),
                (Some((key, _)), Some((other, _))) if key < other => {
                    return kept.next().map(|(key, row)| (key, row.clone()));
                }
                (Some((key, _)), Some((other, _))) => key == other,
                (None, Some(_)) => false,
            };
            if hidden {
                kept.next();
            }
            if let Some((key, Some(row))) = undone.next() {
                return Some((key, row.clone()));
            }
        }
    })
}
