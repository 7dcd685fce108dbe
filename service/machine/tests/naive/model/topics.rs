//! The naive model of what keys and features demand beside what encodings do.

use synod_model::{ApiVersion, GroupResource, ReportEntry};

use super::{Entry, World};

impl World {
    pub(super) fn is_key(&self, name: &GroupResource) -> bool {
        self.has_topics() && name.group() == "keys.synod"
    }

    pub(super) fn is_feature(&self, name: &GroupResource) -> bool {
        self.has_topics() && name.group() == "features.synod"
    }

    pub(super) fn is_no_encoding(&self, name: &GroupResource) -> bool {
        self.is_key(name) || self.is_feature(name)
    }

    /// Whether an entry votes where it must, and has all levels of a feature up to the one that it prefers.
    pub(super) fn is_lawful(&self, said: &ReportEntry) -> bool {
        if self.is_no_encoding(&said.resource) && !said.stance.is_voting() {
            return false;
        }
        if !self.is_feature(&said.resource) {
            return true;
        }
        let mut levels: Vec<u32> = said.decodable.iter().map(level).collect();
        levels.sort_unstable();
        levels.into_iter().eq(1..=level(said.stance.version()))
    }

    /// Machine version 1 takes whatever is reported for an encoding.
    fn has_topics(&self) -> bool {
        self.raised_to.is_some()
    }
}

/// The highest level of a feature that every entry has, if it is above the selected one.
pub(super) fn had_by_all(entries: &[Entry], selected: Option<&ApiVersion>) -> Option<ApiVersion> {
    let levels = entries.iter().flat_map(|entry| &entry.row.decodable);
    let had = levels.filter(|one| entries.iter().all(|entry| entry.decodes(one)));
    let now = selected.map_or(0, level);
    let above = had.filter(|one| level(one) > now);
    above.max_by_key(|one| level(one)).or(selected).cloned()
}

fn level(of: &ApiVersion) -> u32 {
    let digits = of.as_str().trim_start_matches('v');
    digits.parse().expect("the logs have such levels alone")
}
