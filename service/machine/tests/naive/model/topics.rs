//! The naive model of what keys and features demand beside what encodings do.

use synod_model::{ApiVersion, GroupResource, Persisted, ReportEntry, Revision, WallTime};

use super::{Entry, Resource, World};

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

    /// What discovery showed of a topic before there were topics counts no more once there are.
    pub(super) fn learn_topics(&mut self, wall: WallTime) {
        let names = self.resources.iter().map(|kept| kept.name.clone());
        for name in names.collect::<Vec<_>>() {
            let old = self.resource(&name).expect("it is known").status.clone();
            if self.is_no_encoding(&name) && old.contradicted {
                let entries = self.entries_of(&name);
                self.weigh_what_is_shown(&name, &entries);
                self.weigh(&name, &old, false, None, wall);
            }
        }
    }

    /// What is known of a topic when it is reported and nobody reported it: nobody has used a feature that was never
    /// reported, and what a collection has declared of a key is not believed.
    pub(super) fn begin_topic(&self, kept: &mut Resource) {
        let (name, status) = (&kept.name, &mut kept.status);
        if self.is_feature(name) && self.resource(name).is_none() {
            status.persisted.clear();
        }
        let was_selected = status.selected_revision > Revision::ZERO;
        if self.is_key(name) && (!was_selected || self.collections.contains_key(name)) {
            status.persisted.insert(Persisted::Unknown);
        }
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
