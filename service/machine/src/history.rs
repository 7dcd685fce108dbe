//! The kept events, by revision. They are part of the state, so that a watch resumes on any replica without a gap.

use std::sync::Arc;

use imbl::Vector;
use synod_model::{
    AgreementChange, Collection, ControllerRevision, GroupResource, HolderIdentity, Lease,
    LeaseCandidate, LeaseKey, Member, MemberId, Migration, MigrationId, NamespacedName, Object,
    ObjectKey, ResourceScope, Revision, Roster, Settings,
};

use crate::digest::RowHash;
use crate::{EntryRow, StorageStateRow, StorageVersionRow};

/// All that one revision changed, in the order in which the command changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionEvents {
    /// The revision.
    pub revision: Revision,
    /// What it changed. Empty when the command changed nothing that is watched, such as a session.
    pub changes: Vec<Change>,
}

/// One changed object, before and after: `before` undoes it for reads of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A member joined, changed or went.
    Member {
        /// Its id.
        id: MemberId,
        /// The member before; `None` if it is new.
        before: Option<Arc<Member>>,
        /// The member after; `None` if it is gone.
        after: Option<Arc<Member>>,
    },
    /// The entries of a resource changed, or what follows from them.
    StorageVersion {
        /// The resource.
        resource: GroupResource,
        /// Its changed entries, by member.
        entries: Vec<EntryChange>,
        /// The object before; `None` if it is new.
        before: Option<Arc<StorageVersionRow>>,
        /// The object after; `None` if its last entry went.
        after: Option<Arc<StorageVersionRow>>,
    },
    /// What stays of a resource changed.
    StorageState {
        /// The resource.
        resource: GroupResource,
        /// The object before; `None` if it is new.
        before: Option<Arc<StorageStateRow>>,
        /// The object after; `None` if it was deleted.
        after: Option<Arc<StorageStateRow>>,
        /// The line that this change added to the history of agreements.
        agreement: Option<Arc<AgreementChange>>,
    },
    /// A ControllerRevision was created, changed or deleted.
    ControllerRevision {
        /// Its namespace and name.
        key: NamespacedName,
        /// It before; `None` if it is new.
        before: Option<Arc<ControllerRevision>>,
        /// It after; `None` if it is gone. Its data is that of before, if there was one.
        after: Option<Arc<ControllerRevision>>,
    },
    /// A migration was created, changed, or forgotten.
    Migration {
        /// Which.
        id: MigrationId,
        /// The migration before; `None` if it is new.
        before: Option<Arc<Migration>>,
        /// The migration after; `None` if it is one of the oldest that are not kept.
        after: Option<Arc<Migration>>,
    },
    /// A roster was set or deleted.
    Roster {
        /// For which resources.
        scope: ResourceScope,
        /// The roster before; `None` if it is new.
        before: Option<Arc<Roster>>,
        /// The roster after; `None` if it is gone.
        after: Option<Arc<Roster>>,
    },
    /// The replicated settings changed.
    Settings {
        /// The settings before; `None` when the cluster is made.
        before: Option<Arc<Settings>>,
        /// The settings after.
        after: Arc<Settings>,
    },
    /// A lease was given, freed or forgotten, or somebody else should have it.
    Lease {
        /// Its key.
        key: LeaseKey,
        /// The lease before; `None` if it is new.
        before: Option<Arc<Lease>>,
        /// The lease after; `None` if it is forgotten.
        after: Option<Arc<Lease>>,
    },
    /// A candidate for a lease came, changed or went.
    LeaseCandidate {
        /// The lease.
        lease: LeaseKey,
        /// Who.
        identity: HolderIdentity,
        /// The candidate before; `None` if it is new.
        before: Option<Arc<LeaseCandidate>>,
        /// The candidate after; `None` if it is gone.
        after: Option<Arc<LeaseCandidate>>,
    },
    /// A collection was declared, changed or removed.
    Collection {
        /// Its resource.
        resource: GroupResource,
        /// The collection before; `None` if it is new.
        before: Option<Arc<Collection>>,
        /// The collection after; `None` if it is gone.
        after: Option<Arc<Collection>>,
    },
    /// An object was created, changed or deleted.
    Object {
        /// Its key.
        key: ObjectKey,
        /// The object before; `None` if it is new.
        before: Option<Arc<Object>>,
        /// The object after; `None` if it is gone.
        after: Option<Arc<Object>>,
    },
}

/// One changed entry of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// Whose entry.
    pub member: MemberId,
    /// The entry before; `None` if it is new.
    pub before: Option<Arc<EntryRow>>,
    /// The entry after; `None` if it is gone.
    pub after: Option<Arc<EntryRow>>,
}

/// The answer to a question about a revision that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The oldest revision from which a watch can start.
    pub oldest: Revision,
}

/// One kept revision, with what trimming it gives back.
#[derive(Clone, Debug)]
struct Kept {
    events: Arc<RevisionEvents>,
    hash: RowHash,
}

/// The events of the newest revisions, without a gap. Its floor moves by the settings and by restores alone, so it is the
/// same on every replica.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every revision above it is kept.
    floor: Revision,
    kept: Vector<Kept>,
    bytes: u64,
}

impl History {
    /// The newest revision that is *not* kept: a watch can start at the one after it.
    #[must_use]
    pub fn floor(&self) -> Revision {
        self.floor
    }

    /// How many revisions are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no revision is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many bytes the kept events take, by the machine's own estimate, which is equal on every replica.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The events of the first revision after `revision`; `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// [`Compacted`] if that revision is no longer kept.
    pub fn next_after(
        &self,
        revision: Revision,
    ) -> Result<Option<&Arc<RevisionEvents>>, Compacted> {
        if revision < self.floor {
            return Err(Compacted {
                oldest: self.floor.next(),
            });
        }
        Ok(self
            .kept
            .get(self.index_after(revision))
            .map(|kept| &kept.events))
    }

    /// The events of every kept revision after `revision`, newest first.
    pub(crate) fn newest_first_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        self.kept
            .iter()
            .rev()
            .map(|kept| &kept.events)
            .take_while(move |events| events.revision > revision)
    }

    /// The events of every kept revision after `revision`, oldest first.
    pub(crate) fn oldest_first_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        let later = self.index_after(revision)..self.kept.len();
        later
            .filter_map(move |i| self.kept.get(i))
            .map(|kept| &kept.events)
    }

    /// The events of every kept revision, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        self.kept.iter().map(|kept| &kept.events)
    }

    fn index_after(&self, revision: Revision) -> usize {
        // A 64-bit count of kept revisions that does not fit the address space cannot be reached: get() is then None.
        usize::try_from(revision.get() - self.floor.get()).unwrap_or(usize::MAX)
    }

    pub(crate) fn set_floor(&mut self, floor: Revision) {
        assert!(
            self.kept.is_empty(),
            "the floor of a history moves by trimming once it keeps something"
        );
        self.floor = floor;
    }

    /// Whether this is the next revision: the one that leaves no gap.
    pub(crate) fn takes(&self, revision: Revision) -> bool {
        revision
            == self
                .kept
                .back()
                .map_or(self.floor, |kept| kept.events.revision)
                .next()
    }

    /// Appends the next revision. Panics on a gap: a watch must never miss one.
    pub(crate) fn push(&mut self, events: Arc<RevisionEvents>, hash: RowHash) {
        assert!(
            self.takes(events.revision),
            "the history has no gap, and {} leaves one",
            events.revision
        );
        self.bytes += hash.bytes();
        self.kept.push_back(Kept { events, hash });
    }

    /// Drops every revision, and goes on after `floor`. Answers the hashes of what was dropped.
    pub(crate) fn restart(&mut self, floor: Revision) -> Vec<RowHash> {
        let dropped = self.trim(0, 0);
        assert!(
            self.floor < floor,
            "what was kept is older than what comes now"
        );
        self.floor = floor;
        dropped
    }

    /// Drops the oldest revision while more are kept than `revisions` or more bytes than `bytes`; answers their hashes.
    pub(crate) fn trim(&mut self, revisions: u64, bytes: u64) -> Vec<RowHash> {
        let mut dropped = Vec::new();
        while self.kept.len() as u64 > revisions || (self.bytes > bytes && self.kept.len() > 1) {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= oldest.hash.bytes();
            self.floor = oldest.events.revision;
            dropped.push(oldest.hash);
        }
        dropped
    }
}
