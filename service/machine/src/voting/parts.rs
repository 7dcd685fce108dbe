//! What is reported of a store, by the names under which members report it.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use smallvec::SmallVec;
use synod_model::{GroupResource, MemberId};

use crate::EntryRow;
use crate::state::StorageVersion;
use crate::tally::Tally;

/// The reports on a store under one of its names; `None` if nobody reports it under that one.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: GroupResource,
    pub(super) version: Option<&'a StorageVersion>,
}

/// The parts of a store, by its names; the first one first.
pub(super) type Parts<'a> = SmallVec<[Part<'a>; 1]>;

/// The reports on a store under all of its names.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) entries: OrdMap<MemberId, Arc<EntryRow>>,
    pub(super) tally: Tally,
    /// The name under which each member reports the store; empty if it has one name.
    pub(super) named: BTreeMap<MemberId, GroupResource>,
    /// Further entries of a member that had reported two names, and now reports that they are one.
    pub(super) further: Vec<(MemberId, Arc<EntryRow>)>,
}

impl Whole {
    pub(super) fn of(parts: &[Part<'_>]) -> Self {
        let mut whole = Self::default();
        if let [Part { version, .. }] = parts {
            if let Some(version) = version {
                whole.entries = version.entries.clone();
                whole.tally = (*version.tally).clone();
            }
            return whole;
        }
        for Part { name, version } in parts {
            let entries = version.iter().flat_map(|version| &version.entries);
            for (member, row) in entries {
                if whole.entries.contains_key(member) {
                    whole.further.push((member.clone(), Arc::clone(row)));
                    continue;
                }
                whole.tally.add(row);
                whole.entries.insert(member.clone(), Arc::clone(row));
                whole.named.insert(member.clone(), name.clone());
            }
        }
        whole
    }

    /// The part of it that is reported under this name.
    pub(super) fn part(&self, name: &GroupResource) -> Self {
        let mut part = Self::default();
        let entries = self.entries.iter();
        for (member, row) in entries.filter(|(member, _)| self.named.get(*member) == Some(name)) {
            part.tally.add(row);
            part.entries.insert(member.clone(), Arc::clone(row));
        }
        part
    }
}
