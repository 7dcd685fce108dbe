//! The counts behind a storage version: with them, agreement costs O(versions in an entry), not O(members).

use std::collections::BTreeSet;

use synod_model::{ApiVersion, Revision, Stance};

use crate::EntryRow;

/// How many entries of a resource say what. Derived from the entries; every kept count is above zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    entries: u32,
    voters: u32,
    decodes: Counts<ApiVersion>,
    serves: Counts<ApiVersion>,
    encodes: Counts<ApiVersion>,
    prefers: Counts<ApiVersion>,
    fixed: Counts<ApiVersion>,
    /// By `selected_revision`, the number of voters that took or adopted it.
    adopted: Counts<Revision>,
}

impl Tally {
    pub(crate) fn add(&mut self, entry: &EntryRow) {
        self.entries += 1;
        for version in entry.decodable.iter() {
            self.decodes.up(version);
        }
        for version in entry.served.iter() {
            self.serves.up(version);
        }
        if let Some(encoding) = &entry.encoding {
            self.encodes.up(encoding);
        }
        match &entry.stance {
            Stance::Fixed { encoding } => self.fixed.up(encoding),
            Stance::Voting { preferred } => {
                self.voters += 1;
                self.prefers.up(preferred);
            }
        }
        if let Some(revision) = entry.adopted_revision {
            self.adopted.up(&revision);
        }
    }

    pub(crate) fn remove(&mut self, entry: &EntryRow) {
        self.entries -= 1;
        for version in entry.decodable.iter() {
            self.decodes.down(version);
        }
        for version in entry.served.iter() {
            self.serves.down(version);
        }
        if let Some(encoding) = &entry.encoding {
            self.encodes.down(encoding);
        }
        match &entry.stance {
            Stance::Fixed { encoding } => self.fixed.down(encoding),
            Stance::Voting { preferred } => {
                self.voters -= 1;
                self.prefers.down(preferred);
            }
        }
        if let Some(revision) = entry.adopted_revision {
            self.adopted.down(&revision);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(crate) fn voters(&self) -> u32 {
        self.voters
    }

    /// Whether every entry decodes the version.
    pub(crate) fn all_decode(&self, version: &ApiVersion) -> bool {
        self.decodes.get(version) == Some(self.entries)
    }

    /// The versions that every entry decodes.
    pub(crate) fn decodable_by_all(&self) -> BTreeSet<ApiVersion> {
        self.said_by_all(&self.decodes)
    }

    /// The versions that every entry serves.
    pub(crate) fn served_by_all(&self) -> BTreeSet<ApiVersion> {
        self.said_by_all(&self.serves)
    }

    /// The one encoding of all entries, if there is one.
    pub(crate) fn common(&self) -> Option<&ApiVersion> {
        unanimous(&self.encodes, self.entries)
    }

    /// The one encoding of all fixed entries, if there is one.
    pub(crate) fn common_fixed(&self) -> Option<&ApiVersion> {
        unanimous(&self.fixed, self.entries - self.voters)
    }

    /// The one preference of all voters, if there is one.
    pub(crate) fn common_preference(&self) -> Option<&ApiVersion> {
        unanimous(&self.prefers, self.voters)
    }

    /// Whether every entry votes, and for this version.
    pub(crate) fn all_prefer(&self, version: &ApiVersion) -> bool {
        self.prefers.get(version) == Some(self.entries)
    }

    /// Whether some fixed entry encodes another version.
    pub(crate) fn fixed_elsewhere(&self, version: &ApiVersion) -> bool {
        self.fixed.keys().any(|fixed| fixed != version)
    }

    /// Whether every voter took or adopted the selection of this revision.
    pub(crate) fn all_adopted(&self, selected_revision: Revision) -> bool {
        self.adopted.get(&selected_revision).unwrap_or(0) == self.voters
    }

    /// The versions that entries encode.
    pub(crate) fn encodings(&self) -> impl Iterator<Item = &ApiVersion> {
        self.encodes.keys()
    }

    fn said_by_all(&self, counts: &Counts<ApiVersion>) -> BTreeSet<ApiVersion> {
        let said = counts.0.iter().filter(|(_, count)| *count == self.entries);
        said.map(|(version, _)| version.clone()).collect()
    }
}

fn unanimous(counts: &Counts<ApiVersion>, of: u32) -> Option<&ApiVersion> {
    let (version, count) = counts.0.first()?;
    (*count == of).then_some(version)
}

/// Numbers above zero by their keys, in the order of those. They are few: a copy is made for each decision, and one of a
/// tree costs several times as much.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts<K>(Vec<(K, u32)>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Clone> Counts<K> {
    fn get(&self, key: &K) -> Option<u32> {
        let at = self.place(key).ok()?;
        Some(self.0[at].1)
    }

    fn up(&mut self, key: &K) {
        match self.place(key) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (key.clone(), 1)),
        }
    }

    fn down(&mut self, key: &K) {
        let at = self
            .place(key)
            .expect("an entry that is removed was counted when it came");
        self.0[at].1 -= 1;
        if self.0[at].1 == 0 {
            self.0.remove(at);
        }
    }

    fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.iter().map(|(key, _)| key)
    }

    /// Where the key is, or where it would be.
    fn place(&self, key: &K) -> Result<usize, usize> {
        self.0.binary_search_by(|(kept, _)| kept.cmp(key))
    }
}
