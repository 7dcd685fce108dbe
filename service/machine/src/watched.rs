//! The kinds of objects that are listed and watched, and one object before and after a change.

use std::sync::Arc;

use synod_model::{
    AgreementChange, Collection, ControllerRevision, GroupResource, HolderIdentity, Labels, Lease,
    LeaseCandidate, LeaseKey, Member, MemberId, Migration, MigrationId, NamespacedName, Object,
    ObjectKey, ObjectKind, PackedObject, ResourceScope, Roster, Settings,
};

use crate::{EntryRow, StorageStateRow, StorageVersionRow};

/// A kind of object that is listed and watched: its row and its key.
pub trait Watched: Sized + 'static {
    /// The key that identifies an object among those of the kind.
    type Key: Clone + Ord + 'static;

    /// The form in which rows are kept, shared by its clones.
    type Kept: Clone + PartialEq + std::fmt::Debug + 'static;

    /// The kind.
    const KIND: ObjectKind;

    /// The object with this key, as one of any kind.
    fn object(key: Self::Key) -> ObjectRef;

    /// The key of an object; `None` if the object is of another kind.
    fn key(object: &ObjectRef) -> Option<&Self::Key>;

    /// The row as this kind's; `None` if it is of another kind.
    fn row(row: &ObjectRow) -> Option<&Self::Kept>;

    /// The row as one of any kind.
    fn into_row(row: Self::Kept) -> ObjectRow;
}

macro_rules! watched {
    ($($kind:ident($key:ty): $row:ty, kept as $kept:ty;)*) => {
        /// Identifies an object: its kind, and its key within the kind. Ordered by both.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ObjectRef {
            $(#[doc = concat!("One of kind ", stringify!($kind), ".")] $kind($key),)*
        }

        /// The row of an object of any kind.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum ObjectRow {
            $(#[doc = concat!("Of kind ", stringify!($kind), ".")] $kind($kept),)*
        }

        impl ObjectRef {
            /// Its kind.
            #[must_use]
            pub const fn kind(&self) -> ObjectKind {
                match self { $(Self::$kind(_) => ObjectKind::$kind,)* }
            }
        }

        impl ObjectRow {
            /// Its kind.
            #[must_use]
            pub const fn kind(&self) -> ObjectKind {
                match self { $(Self::$kind(_) => ObjectKind::$kind,)* }
            }
        }

        $(impl Watched for $row {
            type Key = $key;
            type Kept = $kept;

            const KIND: ObjectKind = ObjectKind::$kind;

            fn object(key: $key) -> ObjectRef {
                ObjectRef::$kind(key)
            }

            fn key(object: &ObjectRef) -> Option<&$key> {
                if let ObjectRef::$kind(key) = object { Some(key) } else { None }
            }

            fn row(row: &ObjectRow) -> Option<&$kept> {
                if let ObjectRow::$kind(row) = row { Some(row) } else { None }
            }

            fn into_row(row: $kept) -> ObjectRow {
                ObjectRow::$kind(row)
            }
        })*
    };
}

watched! {
    Member(MemberId): Member, kept as Arc<Member>;
    StorageVersion(GroupResource): StorageVersionRow, kept as Arc<StorageVersionRow>;
    StorageState(GroupResource): StorageStateRow, kept as Arc<StorageStateRow>;
    Settings(()): Settings, kept as Arc<Settings>;
    Collection(GroupResource): Collection, kept as Arc<Collection>;
    Object(ObjectKey): Object, kept as PackedObject;
    ControllerRevision(NamespacedName): ControllerRevision, kept as Arc<ControllerRevision>;
    Lease(LeaseKey): Lease, kept as Arc<Lease>;
    LeaseCandidate((LeaseKey, HolderIdentity)): LeaseCandidate, kept as Arc<LeaseCandidate>;
    Migration(MigrationId): Migration, kept as Arc<Migration>;
    Roster(ResourceScope): Roster, kept as Arc<Roster>;
}

impl ObjectRef {
    /// The object's name, as readers know it: [`ObjectKind`] says for each kind what it is.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Member(id) => id.to_string(),
            Self::StorageVersion(resource) => resource.storage_version_name(),
            Self::StorageState(resource) | Self::Collection(resource) => {
                resource.qualified().to_owned()
            }
            Self::Settings(()) => "settings".to_owned(),
            Self::Object(key) => key.name.name().to_owned(),
            Self::ControllerRevision(key) => key.name().to_owned(),
            Self::Lease(key) => key.name().to_owned(),
            Self::LeaseCandidate((_, identity)) => identity.to_string(),
            Self::Migration(id) => id.to_string(),
            Self::Roster(scope) => scope.to_string(),
        }
    }

    /// The object's namespace; `None` if it has none.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Object(key) => key.name.namespace(),
            Self::ControllerRevision(key) => key.namespace(),
            Self::Lease(key) | Self::LeaseCandidate((key, _)) => Some(key.namespace()),
            Self::Member(_)
            | Self::StorageVersion(_)
            | Self::StorageState(_)
            | Self::Settings(())
            | Self::Collection(_)
            | Self::Migration(_)
            | Self::Roster(_) => None,
        }
    }

    /// The key of an object of a collection; `None` for every other kind.
    #[must_use]
    pub fn stored(&self) -> Option<&ObjectKey> {
        Object::key(self)
    }
}

impl ObjectRow {
    /// The object's labels; `None` if its kind has none.
    #[must_use]
    pub fn labels(&self) -> Option<&Labels> {
        match self {
            Self::Member(member) => Some(&member.labels),
            Self::Object(object) => Some(&object.attributes().labels),
            Self::ControllerRevision(row) => Some(&row.labels),
            Self::StorageVersion(_)
            | Self::StorageState(_)
            | Self::Settings(_)
            | Self::Collection(_)
            | Self::Lease(_)
            | Self::LeaseCandidate(_)
            | Self::Migration(_)
            | Self::Roster(_) => None,
        }
    }
}

/// One changed object, before and after: `before` undoes it for reads of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The object that changed.
    pub object: ObjectRef,
    /// The object before; `None` if it is new.
    pub before: Option<ObjectRow>,
    /// The object after; `None` if it is gone.
    pub after: Option<ObjectRow>,
    /// The changed entries, by member, if the object is a storage version.
    pub entries: Vec<EntryChange>,
    /// The line that the change added to the history of agreements, if the object is a storage state.
    pub agreement: Option<Arc<AgreementChange>>,
}

/// One changed entry of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// The member whose entry it is.
    pub member: MemberId,
    /// The entry before; `None` if it is new.
    pub before: Option<Arc<EntryRow>>,
    /// The entry after; `None` if it is gone.
    pub after: Option<Arc<EntryRow>>,
}

/// A change of an object of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeOf<'a, R: Watched> {
    /// The key of the object.
    pub key: &'a R::Key,
    /// The object before; `None` if it is new.
    pub before: Option<&'a R::Kept>,
    /// The object after; `None` if it is gone.
    pub after: Option<&'a R::Kept>,
}

impl Change {
    /// A change of the object with this key, without entries or agreement.
    #[must_use]
    pub fn new<R: Watched>(key: R::Key, before: Option<R::Kept>, after: Option<R::Kept>) -> Self {
        Self {
            object: R::object(key),
            before: before.map(R::into_row),
            after: after.map(R::into_row),
            entries: Vec::new(),
            agreement: None,
        }
    }

    /// The change as one of this kind; `None` if the object is of another kind.
    #[must_use]
    pub fn of<R: Watched>(&self) -> Option<ChangeOf<'_, R>> {
        Some(ChangeOf {
            key: R::key(&self.object)?,
            before: self.before.as_ref().and_then(R::row),
            after: self.after.as_ref().and_then(R::row),
        })
    }

    /// Whether the rows are of the object's kind, and only fields that this kind has are set.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        let kind = self.object.kind();
        let mut rows = self.before.iter().chain(&self.after);
        rows.all(|row| row.kind() == kind)
            && (kind == ObjectKind::StorageVersion || self.entries.is_empty())
            && (kind == ObjectKind::StorageState || self.agreement.is_none())
            && (kind != ObjectKind::Settings || self.after.is_some())
    }
}
