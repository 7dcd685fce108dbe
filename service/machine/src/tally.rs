//! The counts behind a storage version: with them, agreement costs O(versions in an entry), not O(members).

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{ApiVersion, Revision, Stance};

use crate::EntryRow;

/// How many entries of a resource say what. Derived from the entries; every kept count is above zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    entries: u32,
    voters: u32,
    decodes: Counts,
    serves: Counts,
    encodes: Counts,
    prefers: Counts,
    fixed: Counts,
    /// By `selected_revision`, the number of voters that took or adopted it.
    adopted: BTreeMap<Revision, u32>,
}

type Counts = BTreeMap<ApiVersion, u32>;

impl Tally {
    pub(crate) fn add(&mut self, entry: &EntryRow) {
        self.entries += 1;
        for version in entry.decodable.iter() {
            up(&mut self.decodes, version);
        }
        for version in entry.served.iter() {
            up(&mut self.serves, version);
        }
        if let Some(encoding) = &entry.encoding {
            up(&mut self.encodes, encoding);
        }
        match &entry.stance {
            Stance::Fixed { encoding } => up(&mut self.fixed, encoding),
            Stance::Voting { preferred } => {
                self.voters += 1;
                up(&mut self.prefers, preferred);
            }
        }
        if let Some(revision) = entry.adopted_revision {
            up(&mut self.adopted, &revision);
        }
    }

    pub(crate) fn remove(&mut self, entry: &EntryRow) {
        self.entries -= 1;
        for version in entry.decodable.iter() {
            down(&mut self.decodes, version);
        }
        for version in entry.served.iter() {
            down(&mut self.serves, version);
        }
        if let Some(encoding) = &entry.encoding {
            down(&mut self.encodes, encoding);
        }
        match &entry.stance {
            Stance::Fixed { encoding } => down(&mut self.fixed, encoding),
            Stance::Voting { preferred } => {
                self.voters -= 1;
                down(&mut self.prefers, preferred);
            }
        }
        if let Some(revision) = entry.adopted_revision {
            down(&mut self.adopted, &revision);
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
        self.decodes.get(version) == Some(&self.entries)
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
        self.prefers.get(version) == Some(&self.entries)
    }

    /// Whether some fixed entry encodes another version.
    pub(crate) fn fixed_elsewhere(&self, version: &ApiVersion) -> bool {
        self.fixed.keys().any(|fixed| fixed != version)
    }

    /// Whether every voter took or adopted the selection of this revision.
    pub(crate) fn all_adopted(&self, selected_revision: Revision) -> bool {
        self.adopted.get(&selected_revision).copied().unwrap_or(0) == self.voters
    }

    /// The versions that entries encode.
    pub(crate) fn encodings(&self) -> impl Iterator<Item = &ApiVersion> {
        self.encodes.keys()
    }

    fn said_by_all(&self, counts: &Counts) -> BTreeSet<ApiVersion> {
        counts
            .iter()
            .filter(|(_, count)| **count == self.entries)
            .map(|(version, _)| version.clone())
            .collect()
    }
}

fn unanimous(counts: &Counts, of: u32) -> Option<&ApiVersion> {
    let (version, count) = counts.first_key_value()?;
    (*count == of).then_some(version)
}

fn up<K: Ord + Clone>(counts: &mut BTreeMap<K, u32>, key: &K) {
    match counts.get_mut(key) {
        Some(count) => *count += 1,
        None => {
            counts.insert(key.clone(), 1);
        }
    }
}

fn down<K: Ord>(counts: &mut BTreeMap<K, u32>, key: &K) {
    let count = counts
        .get_mut(key)
        .expect("an entry that is removed was counted when it came");
    *count -= 1;
    if *count == 0 {
        counts.remove(key);
    }
}
