//! Reads at a revision: the present one, or a past one with the later events undone.
//!
//! Every read goes through [`Past`], so that a page of a list and a read of the present are one piece of code. Undoing
//! costs a step for each event after the revision; within the kept history no older state has to be held.

mod leases;
mod objects;
mod one;
mod rosters;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

use synod_model::{
    Collection, ControllerHistory, ControllerRevision, GroupResource, HolderIdentity, Lease,
    LeaseCandidate, LeaseKey, LogTime, Member, MemberId, Migration, MigrationId, NamespacedName,
    Object, ObjectKey, ResourceScope, Revision, Roster, Settings,
};

use crate::{
    Change, Due, EntryChange, Holder, State, StorageStateView, StorageVersionRow,
    StorageVersionView,
};

/// The state as it was at one revision.
#[derive(Clone, Debug)]
pub struct Past<'a> {
    state: &'a State,
    revision: Revision,
    members: BTreeMap<MemberId, Option<Arc<Member>>>,
    versions: BTreeMap<GroupResource, Option<StorageVersionView>>,
    states: BTreeMap<GroupResource, Option<StorageStateView>>,
    controller_revisions: BTreeMap<NamespacedName, Option<Arc<ControllerRevision>>>,
    migrations: BTreeMap<MigrationId, Option<Arc<Migration>>>,
    settings: Option<Arc<Settings>>,
    rosters: BTreeMap<ResourceScope, Option<Arc<Roster>>>,
    leases: BTreeMap<LeaseKey, Option<Arc<Lease>>>,
    candidates: BTreeMap<LeaseKey, Standing>,
    collections: BTreeMap<GroupResource, Option<Arc<Collection>>>,
    objects: BTreeMap<ObjectKey, Option<Arc<Object>>>,
}

/// Candidates for one lease that were otherwise than they are.
type Standing = BTreeMap<HolderIdentity, Option<Arc<LeaseCandidate>>>;

/// Why a revision cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfReach {
    /// It left the kept history; `oldest` is the oldest that can be read.
    Compacted {
        /// The oldest readable revision.
        oldest: Revision,
    },
    /// It was not made yet; `present` is the newest here.
    Future {
        /// The newest revision.
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
        self.check_reach(revision)?;
        let mut past = Past {
            state: self,
            revision,
            members: BTreeMap::new(),
            versions: BTreeMap::new(),
            states: BTreeMap::new(),
            controller_revisions: BTreeMap::new(),
            migrations: BTreeMap::new(),
            settings: None,
            rosters: BTreeMap::new(),
            leases: BTreeMap::new(),
            candidates: BTreeMap::new(),
            collections: BTreeMap::new(),
            objects: BTreeMap::new(),
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

    /// Whether the revision can be read.
    fn check_reach(&self, revision: Revision) -> Result<(), OutOfReach> {
        if revision > self.revision {
            return Err(OutOfReach::Future {
                present: self.revision,
            });
        }
        if revision < self.history.floor() {
            return Err(OutOfReach::Compacted {
                oldest: self.history.floor(),
            });
        }
        Ok(())
    }

    /// The state as it is.
    #[must_use]
    pub fn present(&self) -> Past<'_> {
        self.at(self.revision)
            .expect("the present revision is always within reach")
    }

    /// When the member expires, unless it renews: lifts counted. Kept beside the member, not in it.
    #[must_use]
    pub fn member_deadline(&self, id: &MemberId) -> Option<LogTime> {
        self.deadlines.effective(&Holder::Member(id.clone()))
    }

    /// The first `limit` holders whose deadline is at or before `now`, earliest first.
    #[must_use]
    pub fn due(&self, now: LogTime, limit: usize) -> Due {
        self.deadlines.due(now, limit)
    }
}

impl Past<'_> {
    /// The revision at which this is true.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// A member.
    #[must_use]
    pub fn member(&self, id: &MemberId) -> Option<Arc<Member>> {
        self.members
            .get(id)
            .cloned()
            .unwrap_or_else(|| self.state.members.get(id).cloned())
    }

    /// The members after `after`, by id.
    pub fn members(&self, after: Option<&MemberId>) -> impl Iterator<Item = Arc<Member>> {
        let kept = self.state.members.range::<_, MemberId>(beyond(after));
        merged(
            kept.map(|(id, member)| (id, Arc::clone(member))),
            self.members.range::<MemberId, _>(beyond(after)),
        )
    }

    /// A reported resource.
    #[must_use]
    pub fn storage_version(&self, resource: &GroupResource) -> Option<StorageVersionView> {
        self.versions
            .get(resource)
            .cloned()
            .unwrap_or_else(|| self.state.version_view(resource))
    }

    /// The reported resources after `after`, by (group, resource).
    pub fn storage_versions(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = StorageVersionView> {
        let kept = self
            .state
            .storage_versions
            .range::<_, GroupResource>(beyond(after));
        merged(
            kept.map(|(resource, version)| {
                let (row, entries) = (Arc::clone(&version.row), version.entries.clone());
                (
                    resource,
                    StorageVersionView {
                        resource: resource.clone(),
                        row,
                        entries,
                    },
                )
            }),
            self.versions.range::<GroupResource, _>(beyond(after)),
        )
    }

    /// What stays of a resource.
    #[must_use]
    pub fn storage_state(&self, resource: &GroupResource) -> Option<StorageStateView> {
        self.states
            .get(resource)
            .cloned()
            .unwrap_or_else(|| self.state.state_view(resource))
    }

    /// What stays of the resources after `after`, by (group, resource).
    pub fn storage_states(
        &self,
        after: Option<&GroupResource>,
    ) -> impl Iterator<Item = StorageStateView> {
        let kept = self
            .state
            .storage_states
            .range::<_, GroupResource>(beyond(after));
        merged(
            kept.map(|(resource, state)| {
                (
                    resource,
                    StorageStateView {
                        resource: resource.clone(),
                        row: Arc::clone(&state.row),
                    },
                )
            }),
            self.states.range::<GroupResource, _>(beyond(after)),
        )
    }

    /// A ControllerRevision.
    #[must_use]
    pub fn controller_revision(&self, key: &NamespacedName) -> Option<Arc<ControllerRevision>> {
        let kept = || self.state.controller_revisions.get(key);
        match self.controller_revisions.get(key) {
            Some(undone) => undone.clone(),
            None => kept().map(|kept| Arc::clone(&kept.row)),
        }
    }

    /// The ControllerRevisions after `after`, by namespace and name.
    pub fn controller_revisions(
        &self,
        after: Option<&NamespacedName>,
    ) -> impl Iterator<Item = Arc<ControllerRevision>> {
        let kept = self.state.controller_revisions.map();
        let kept = kept.range::<_, NamespacedName>(beyond(after));
        merged(
            kept.map(|(key, kept)| (key, Arc::clone(&kept.row))),
            self.controller_revisions
                .range::<NamespacedName, _>(beyond(after)),
        )
    }

    /// The snapshots of a history, oldest first. Costs a step for each of them, and for each that was undone.
    #[must_use]
    pub fn controller_history(&self, history: &ControllerHistory) -> Vec<Arc<ControllerRevision>> {
        let kept = self.state.controller_revisions.of(history);
        let kept = kept
            .map(|kept| &kept.row)
            .filter(|row| !self.controller_revisions.contains_key(&row.key));
        let undone = self.controller_revisions.values().flatten();
        let undone = undone.filter(|row| history.holds(row));
        let mut rows: Vec<_> = kept.chain(undone).cloned().collect();
        rows.sort_by_cached_key(|row| row.place());
        rows
    }

    /// A migration.
    #[must_use]
    pub fn migration(&self, id: &MigrationId) -> Option<Arc<Migration>> {
        let present = || {
            let kept = self.state.migrations.get(id);
            kept.map(|kept| Arc::clone(&kept.row))
        };
        self.migrations.get(id).cloned().unwrap_or_else(present)
    }

    /// The migrations after `after`, by resource and then the oldest first.
    pub fn migrations(&self, after: Option<&MigrationId>) -> impl Iterator<Item = Arc<Migration>> {
        let kept = self.state.migrations.range::<_, MigrationId>(beyond(after));
        merged(
            kept.map(|(id, kept)| (id, Arc::clone(&kept.row))),
            self.migrations.range::<MigrationId, _>(beyond(after)),
        )
    }

    /// The replicated settings.
    #[must_use]
    pub fn settings(&self) -> &Arc<Settings> {
        self.settings.as_ref().unwrap_or(&self.state.settings)
    }

    /// Takes one change back. Changes are undone newest first.
    fn undo(&mut self, change: &Change) {
        match change {
            Change::Member { id, before, .. } => {
                self.members.insert(id.clone(), before.clone());
            }
            Change::StorageVersion {
                resource,
                entries,
                before,
                ..
            } => {
                self.undo_version(resource, entries, before.as_ref());
            }
            Change::StorageState {
                resource, before, ..
            } => {
                let view = before.as_ref().map(|row| StorageStateView {
                    resource: resource.clone(),
                    row: Arc::clone(row),
                });
                self.states.insert(resource.clone(), view);
            }
            Change::ControllerRevision { key, before, .. } => {
                self.controller_revisions
                    .insert(key.clone(), before.clone());
            }
            Change::Lease { key, before, .. } => {
                self.leases.insert(key.clone(), before.clone());
            }
            Change::LeaseCandidate {
                lease,
                identity,
                before,
                ..
            } => {
                self.candidates
                    .entry(lease.clone())
                    .or_default()
                    .insert(identity.clone(), before.clone());
            }
            // Before there was a cluster, there were those of every new one.
            Change::Settings { before, .. } => {
                self.settings = Some(before.clone().unwrap_or_default());
            }
            Change::Roster { scope, before, .. } => {
                self.rosters.insert(scope.clone(), before.clone());
            }
            Change::Collection {
                resource, before, ..
            } => {
                self.collections.insert(resource.clone(), before.clone());
            }
            Change::Object { key, before, .. } => {
                self.objects.insert(key.clone(), before.clone());
            }
            Change::Migration { id, before, .. } => {
                self.migrations.insert(id.clone(), before.clone());
            }
        }
    }

    /// Takes back what changed of a reported resource: its row and those of its entries that the change names.
    fn undo_version(
        &mut self,
        resource: &GroupResource,
        entries: &[EntryChange],
        before: Option<&Arc<StorageVersionRow>>,
    ) {
        let later = self.storage_version(resource);
        let mut kept = later.map(|view| view.entries).unwrap_or_default();
        for entry in entries {
            match &entry.before {
                Some(row) => kept.insert(entry.member.clone(), Arc::clone(row)),
                None => kept.remove(&entry.member),
            };
        }
        let view = before.map(|row| StorageVersionView {
            resource: resource.clone(),
            row: Arc::clone(row),
            entries: kept,
        });
        self.versions.insert(resource.clone(), view);
    }
}

impl State {
    fn version_view(&self, resource: &GroupResource) -> Option<StorageVersionView> {
        let version = self.storage_versions.get(resource)?;
        Some(StorageVersionView {
            resource: resource.clone(),
            row: Arc::clone(&version.row),
            entries: version.entries.clone(),
        })
    }

    fn state_view(&self, resource: &GroupResource) -> Option<StorageStateView> {
        let state = self.storage_states.get(resource)?;
        Some(StorageStateView {
            resource: resource.clone(),
            row: Arc::clone(&state.row),
        })
    }
}

/// Every key after this one, or every key.
fn beyond<K>(after: Option<&K>) -> (Bound<&K>, Bound<&K>) {
    (
        after.map_or(Bound::Unbounded, Bound::Excluded),
        Bound::Unbounded,
    )
}

/// Walks two sorted sequences as one: what was undone hides what is kept under the same key.
fn merged<'a, K: Ord + 'a, V: Clone + 'a>(
    kept: impl Iterator<Item = (&'a K, V)>,
    undone: impl Iterator<Item = (&'a K, &'a Option<V>)>,
) -> impl Iterator<Item = V> {
    let (mut kept, mut undone) = (kept.peekable(), undone.peekable());
    std::iter::from_fn(move || {
        loop {
            let hidden = match (kept.peek(), undone.peek()) {
                (None, None) => return None,
                (Some(_), None) => return kept.next().map(|(_, value)| value),
                (Some((key, _)), Some((other, _))) if key < other => {
                    return kept.next().map(|(_, value)| value);
                }
                (Some((key, _)), Some((other, _))) => key == other,
                (None, Some(_)) => false,
            };
            if hidden {
                kept.next();
            }
            if let Some((_, Some(value))) = undone.next() {
                return Some(value.clone());
            }
        }
    })
}
