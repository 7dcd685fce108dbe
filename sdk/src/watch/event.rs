//! The messages and events that a watch delivers.

use std::fmt;

use synod_model::{
    Collection, ControllerRevision, GroupResource, Identity, Lease, LeaseCandidate, LeaseKey,
    Member, MemberId, Metadata, Migration, Object as StoredObject, ObjectKind, Revision, Roster,
    Settings, Violations, WallTime,
};

use synod_proto::wire::Wire;
use synod_proto::{messages, v1, wire_enums};

use crate::{StorageState, StorageVersionEntry, StorageVersionStatus};

/// One message of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchMessage {
    /// All changes of one revision.
    Events(Events),
    /// The watch begins with a list, or the history that it needs is gone. These events lead from what was delivered
    /// before to the whole state at this revision: first removals, then additions, then modifications.
    Resync(Events),
    /// There are no more changes up to this revision.
    Bookmark(Revision),
}

/// Changes up to a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The revision.
    pub revision: Revision,
    /// The changes.
    pub events: Vec<Event>,
    /// The leader's wall clock at the revision; only for display. `None` for a list, and for a revision that an older
    /// machine version made.
    pub time: Option<WallTime>,
    /// The proved identity of the caller whose change made the revision. `None` if this client may not operate, if the
    /// caller proved nothing or was a replica, for a list, and for a revision that an older machine version made.
    pub caller: Option<Identity>,
}

impl Events {
    /// The changes that lead to the whole state at this revision, as a list shows it.
    pub(super) fn listed(revision: Revision, events: Vec<Event>) -> Self {
        Self {
            revision,
            events,
            time: None,
            caller: None,
        }
    }
}

/// One object changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The kind of the change.
    pub change: ChangeType,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The resource, if it is an object of a collection.
    pub resource: Option<GroupResource>,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// If it is a candidate, its lease: one identity may be a candidate for several leases.
    pub lease: Option<LeaseKey>,
    /// The object after the change; if it was removed, the object as it was last. `None` if the watch did not see the
    /// removal itself: then the event is part of a resync.
    pub object: Option<WatchedObject>,
}

/// How an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeType {
    /// It was created.
    Added,
    /// It existed before and was changed.
    Modified,
    /// It was removed.
    Removed,
}

impl ChangeType {
    /// Its name in tables and JSON.
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

/// An object that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchedObject {
    /// A member.
    Member(Member),
    /// The changed entries of a storage version, and its whole status.
    StorageVersion(StorageVersionChange),
    /// A storage state.
    StorageState(Box<StorageState>),
    /// The settings.
    Settings(Settings),
    /// A collection.
    Collection(Collection),
    /// An object of a collection.
    Stored(StoredObject),
    /// A ControllerRevision.
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

/// A storage version after a change. It holds only the entries that changed; the others are as they were.
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
    /// The members whose entries were removed, sorted.
    pub removed_members: Vec<MemberId>,
    /// The status that follows from all entries; if the storage version was removed, the status as it was last.
    pub status: StorageVersionStatus,
}

impl Event {
    /// The event in a message; `None` if it is about a kind that this client does not know.
    pub(super) fn from_wire(pb: v1::Event) -> Result<Option<Self>, Violations> {
        let change = ChangeType::of_wire(pb.r#type).map_err(|faults| faults.at("type"))?;
        let Some(object) = pb.object else {
            return Ok(None);
        };
        let object = WatchedObject::of_wire(object)?;
        Ok(Some(Self {
            change,
            kind: object.kind(),
            resource: Wire::of_wire(pb.resource)?,
            namespace: pb.namespace,
            name: pb.name,
            lease: object.candidacy().cloned(),
            object: Some(object),
        }))
    }
}

impl WatchedObject {
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

    /// The lease for which it is a candidate, if it is one.
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

/// Converts the objects of events in both directions.
macro_rules! objects {
    ($($variant:ident = $sent:ident;)*) => {
        impl Wire<v1::event::Object> for WatchedObject {
            fn to_wire(&self) -> v1::event::Object {
                match self { $(Self::$variant(object) => v1::event::Object::$sent(object.to_wire()),)* }
            }

            fn of_wire(pb: v1::event::Object) -> Result<Self, Violations> {
                Ok(match pb {
                    $(v1::event::Object::$sent(object) => Self::$variant(Wire::of_wire(object)?),)*
                })
            }
        }
    };
}

objects! {
    Member = Member;
    StorageVersion = StorageVersion;
    StorageState = StorageState;
    Settings = Settings;
    Collection = Collection;
    Stored = StoredObject;
    ControllerRevision = ControllerRevision;
    Lease = Lease;
    LeaseCandidate = LeaseCandidate;
    Migration = Migration;
    Roster = Roster;
}

messages! {
    v1::StorageVersionChange = StorageVersionChange {
        (name, metadata) = metadata,
        resource = resource,
        changed_entries = changed_entries,
        removed_members = removed_members,
        status = status,
    }
}

wire_enums! {
    v1::EventType = ChangeType { Added = Added, Modified = Modified, Removed = Removed }
}
