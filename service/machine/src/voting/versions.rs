//! What follows for each name of a store from what is decided of it.

use super::conditions;
use super::decision::{DecidedVersion, DecidedVersions, Reported};
use super::draft::Draft;
use super::parts::{Part, Whole};
use crate::{EntryChange, VersionStatus};

impl Draft<'_> {
    /// Decides for each name of the store, without those for which nothing changes.
    pub(super) fn versions(&mut self, changes: Vec<EntryChange>) -> DecidedVersions {
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
