//! Objects as readers see them: assembled from rows when a reader asks.

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{GroupResource, MemberId};

use crate::{EntryRow, StorageStateRow, StorageVersionRow};

/// A reported resource with all of its entries, at one revision. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionView {
    /// The resource.
    pub resource: GroupResource,
    /// The row of the object.
    pub row: Arc<StorageVersionRow>,
    pub(crate) entries: OrdMap<MemberId, Arc<EntryRow>>,
}

impl StorageVersionView {
    /// Its entries, by member.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&MemberId, &Arc<EntryRow>)> {
        self.entries.iter()
    }

    /// The entry of a member.
    #[must_use]
    pub fn entry(&self, member: &MemberId) -> Option<&Arc<EntryRow>> {
        self.entries.get(member)
    }
}

/// The storage state of a resource, at one revision. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageStateView {
    /// The resource.
    pub resource: GroupResource,
    /// The row of the object.
    pub row: Arc<StorageStateRow>,
}
