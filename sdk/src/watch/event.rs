//! What a watch delivers.

use std::fmt;

use synod_model::{
    Collection, ControllerRevision, GroupResource, Lease, LeaseCandidate, LeaseKey, Member,
    MemberId, Metadata, Migration, Object as StoredObject, ObjectKind, Revision, Roster, Settings,
    Violation, Violations,
};
use synod_proto::v1;

use crate::values::{FromWire, list, named, resource};
use crate::{StorageState, StorageVersionEntry, StorageVersionStatus};

/// One message of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchMessage {
    /// All that one revision changed.
    Events(Events),
    /// The watch begins with a list, or the history that it needs is gone. What is here, after what was delivered
    /// before, makes all that there is at this revision: first what is gone, then what is new, then what is changed.
    Resync(Events),
    /// Nothing more up to this revision.
    Bookmark(Revision),
}

/// Changes up to a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The revision.
    pub revision: Revision,
    /// The changes.
    pub events: Vec<Event>,
}

/// One object changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// How.
    pub change: ChangeType,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The resource, if it is an object of a collection.
    pub resource: Option<GroupResource>,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The lease, if it is a candidate for one: the same may stand for several.
    pub lease: Option<LeaseKey>,
    /// The object after the change; if it is gone, as it was last. `None` if it is gone and nobody saw it go: then the
    /// event is part of a resync.
    pub object: Option<Object>,
}

/// How an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeType {
    /// It was created.
    Added,
    /// It was there and changed.
    Modified,
    /// It is gone.
    Removed,
}

impl ChangeType {
    /// The word for it in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Removed => "REMOVED",
        }
    }
}

impl fmt::Display for ChangeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A member.
    Member(Member),
    /// What changed of a storage version's entries, and all that follows from them.
    StorageVersion(StorageVersionChange),
    /// A storage state.
    StorageState(StorageState),
    /// The settings.
    Settings(Settings),
    /// A collection.
    Collection(Collection),
    /// An object of a collection.
    Stored(StoredObject),
    /// A snapshot of a controller.
    ControllerRevision(ControllerRevision),
    /// A lease.
    Lease(Lease),
    /// A candidate for a lease.
    LeaseCandidate(LeaseCandidate),
    /// A migration.
    Migration(Box<Migration>),
    /// A roster.
    Roster(Roster),
}

/// A storage version after a change. Of the entries it holds only those that changed; the others are as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionChange {
    /// Its name: `<group>.<resource>`, the core group written `core`.
    pub name: String,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// The resource.
    pub resource: GroupResource,
    /// The entries that are new or changed, ordered by member. If the storage version is new: all of them.
    pub changed_entries: Vec<StorageVersionEntry>,
    /// The members whose entries are gone, sorted.
    pub removed_members: Vec<MemberId>,
    /// What follows from all entries; if the storage version is gone, as it was last.
    pub status: StorageVersionStatus,
}

impl Event {
    /// The event in a message; `None` if it is about a kind that this client does not know.
    pub(super) fn from_wire(pb: v1::Event) -> Result<Option<Self>, Violations> {
        let change = match pb.r#type() {
            v1::EventType::Added => ChangeType::Added,
            v1::EventType::Modified => ChangeType::Modified,
            v1::EventType::Removed => ChangeType::Removed,
            v1::EventType::Unspecified => {
                return Err(Violation::required("must be a type that is known here")
                    .at("type")
                    .into());
            }
        };
        let Some(object) = pb.object else {
            return Ok(None);
        };
        let object = Object::from_wire(object)?;
        Ok(Some(Self {
            change,
            kind: object.kind(),
            resource: pb.resource.map(GroupResource::try_from).transpose()?,
            namespace: pb.namespace,
            name: pb.name,
            lease: object.candidacy().cloned(),
            object: Some(object),
        }))
    }
}

impl Object {
    /// Which kind of object it is.
    #[must_use]
    pub const fn kind(&self) -> ObjectKind {
        match self {
            Self::Member(_) => ObjectKind::Member,
            Self::StorageVersion(_) => ObjectKind::StorageVersion,
            Self::StorageState(_) => ObjectKind::StorageState,
            Self::Settings(_) => ObjectKind::Settings,
            Self::Collection(_) => ObjectKind::Collection,
            Self::Stored(_) => ObjectKind::Object,
            Self::ControllerRevision(_) => ObjectKind::ControllerRevision,
            Self::Lease(_) => ObjectKind::Lease,
            Self::LeaseCandidate(_) => ObjectKind::LeaseCandidate,
            Self::Migration(_) => ObjectKind::Migration,
            Self::Roster(_) => ObjectKind::Roster,
        }
    }

    /// The lease that it stands for, if it is a candidate.
    pub(super) const fn candidacy(&self) -> Option<&LeaseKey> {
        match self {
            Self::LeaseCandidate(candidate) => Some(&candidate.lease),
            Self::Member(_)
            | Self::StorageVersion(_)
            | Self::StorageState(_)
            | Self::Settings(_)
            | Self::Collection(_)
            | Self::Stored(_)
            | Self::ControllerRevision(_)
            | Self::Lease(_)
            | Self::Migration(_)
            | Self::Roster(_) => None,
        }
    }
}

impl Object {
    /// The object in an event.
    fn from_wire(pb: v1::event::Object) -> Result<Self, Violations> {
        use v1::event::Object as Wire;
        Ok(match pb {
            Wire::Member(member) => Self::Member(Member::try_from(member)?),
            Wire::StorageVersion(change) => {
                Self::StorageVersion(StorageVersionChange::from_wire(change)?)
            }
            Wire::StorageState(state) => Self::StorageState(StorageState::from_wire(state)?),
            Wire::Settings(settings) => Self::Settings(Settings::try_from(settings)?),
            Wire::Collection(collection) => Self::Collection(Collection::try_from(collection)?),
            Wire::StoredObject(object) => Self::Stored(StoredObject::try_from(object)?),
            Wire::ControllerRevision(snapshot) => {
                Self::ControllerRevision(ControllerRevision::try_from(snapshot)?)
            }
            Wire::Roster(roster) => Self::Roster(Roster::try_from(roster)?),
            Wire::Migration(migration) => {
                Self::Migration(Box::new(Migration::try_from(migration)?))
            }
            Wire::Lease(lease) => Self::Lease(Lease::try_from(lease)?),
            Wire::LeaseCandidate(candidate) => {
                Self::LeaseCandidate(LeaseCandidate::try_from(candidate)?)
            }
        })
    }
}

impl FromWire<v1::StorageVersionChange> for StorageVersionChange {
    fn from_wire(pb: v1::StorageVersionChange) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let named = found.parsed("metadata", named(pb.metadata));
        let resource = found.parsed("resource", resource(pb.resource));
        let changed = list(pb.changed_entries, StorageVersionEntry::from_wire);
        let changed = found.parsed("changedEntries", changed);
        let removed = list(pb.removed_members, |member| MemberId::parse(&member));
        let removed = found.parsed("removedMembers", removed);
        let status = found.parsed("status", StorageVersionStatus::from_wire(pb.status));
        let (Some((name, metadata)), Some(resource), Some(changed), Some(removed), Some(status)) =
            (named, resource, changed, removed, status)
        else {
            return Err(found);
        };
        Ok(Self {
            name,
            metadata,
            resource,
            changed_entries: changed,
            removed_members: removed,
            status,
        })
    }
}
