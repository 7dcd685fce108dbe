//! What is reported of a store, by the names under which members report it.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{GroupResource, MemberId};

use super::conditions;
use super::decision::{DecidedVersion, Reported};
use super::draft::Draft;
use crate::state::StorageVersion;
use crate::tally::Tally;
use crate::{EntryChange, EntryRow, VersionStatus};

/// What is reported of a store under one of its names; `None` if nobody reports it under that one.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: GroupResource,
    pub(super) version: Option<&'a StorageVersion>,
}

/// What is reported under all names of a store.
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
    fn part(&self, name: &GroupResource) -> Self {
        let mut part = Self::default();
        let entries = self.entries.iter();
        for (member, row) in entries.filter(|(member, _)| self.named.get(*member) == Some(name)) {
            part.tally.add(row);
            part.entries.insert(member.clone(), Arc::clone(row));
        }
        part
    }
}

impl Draft<'_> {
    /// What follows for each name of the store, without those for which nothing changes.
    pub(super) fn versions(&mut self, changes: Vec<EntryChange>) -> Vec<DecidedVersion> {
        let present = std::mem::take(&mut self.present);
        let whole = std::mem::take(&mut self.whole);
        if let [only] = &present[..] {
            return self.version(only, changes, whole).into_iter().collect();
        }
        let versions = present.iter().filter_map(|present| {
            let part = whole.part(&present.name);
            let members = self.touched.keys();
            let changes = members.map(|member| EntryChange {
                member: member.clone(),
                before: present
                    .version
                    .and_then(|version| version.entries.get(member).cloned()),
                after: part.entries.get(member).cloned(),
            });
            let changes = changes.filter(|change| change.before != change.after);
            self.version(present, changes.collect(), part)
        });
        versions.collect()
    }

    fn version(
        &self,
        present: &Part<'_>,
        entries: Vec<EntryChange>,
        part: Whole,
    ) -> Option<DecidedVersion> {
        let before = present.version.map(|version| &version.row.status);
        let status = (!part.tally.is_empty()).then(|| self.status(before, &part));
        if entries.is_empty() && status.as_ref() == before {
            return None;
        }
        let after = status.map(|status| Reported {
            entries: part.entries,
            tally: part.tally,
            status,
        });
        Some(DecidedVersion {
            name: present.name.clone(),
            entries,
            after,
        })
    }

    fn status(&self, before: Option<&VersionStatus>, part: &Whole) -> VersionStatus {
        let common = part.tally.common();
        VersionStatus {
            common: common.cloned(),
            selected: self.after.selected.clone(),
            selected_revision: self.after.selected_revision,
            agreement_revision: self.after.agreement_revision,
            agreed: self.after.agreed.clone(),
            decodable_by_all: part.tally.decodable_by_all(),
            served_by_all: part.tally.served_by_all(),
            all_equal: conditions::all_equal(before, common, self.occasion),
            decodable: conditions::decodable(
                before,
                &part.entries,
                &part.tally,
                &self.after,
                self.occasion,
            ),
        }
    }
}
