//! The naive model of what keys and features demand beside what encodings do.

use std::collections::BTreeSet;

use synod_model::{ApiVersion, GroupResource, ReportEntry};

use super::Entry;

pub(super) fn is_key(name: &GroupResource) -> bool {
    name.group() == "keys.synod"
}

pub(super) fn is_feature(name: &GroupResource) -> bool {
    name.group() == "features.synod"
}

pub(super) fn is_no_encoding(name: &GroupResource) -> bool {
    is_key(name) || is_feature(name)
}

/// Whether an entry votes where it must, and has all levels of a feature up to the one that it prefers.
pub(super) fn is_lawful(said: &ReportEntry) -> bool {
    if is_no_encoding(&said.resource) && !said.stance.is_voting() {
        return false;
    }
    if !is_feature(&said.resource) {
        return true;
    }
    let levels: BTreeSet<u32> = said.decodable.iter().map(level).collect();
    levels.into_iter().eq(1..=level(said.stance.version()))
}

/// The highest level of a feature that every entry has, if it is above the selected one.
pub(super) fn had_by_all(entries: &[Entry], selected: Option<&ApiVersion>) -> Option<ApiVersion> {
    let highest = entries.iter().map(|entry| {
        let levels = entry.row.decodable.iter();
        levels.max_by_key(|one| level(one)).expect("it has one")
    });
    let all_have = highest.min_by_key(|one| level(one));
    let now = selected.map_or(0, level);
    all_have
        .filter(|one| level(one) > now)
        .or(selected)
        .cloned()
}

fn level(of: &ApiVersion) -> u32 {
    let digits = of.as_str().trim_start_matches('v');
    digits.parse().expect("the logs have such levels alone")
}
