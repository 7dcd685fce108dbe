//! Check 2: the selected version changed once, and only when the rule said so.
//!
//! The rule, derived again from the entries. While nothing is selected: the preference of the oldest voter whose
//! preference every entry decodes. Later: the version that all voters prefer, if every entry decodes it and no fixed
//! entry encodes another one; with fixed entries alone, the one that they all encode. Otherwise the selected version
//! stays.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Check, Finding};
use super::timeline::{Entry, Moment, Timeline};

pub(super) fn check(timeline: &Timeline) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (before, after) in timeline.steps() {
        for name in after.states.keys() {
            findings.extend(misplaced(name, before, after));
        }
    }
    findings.extend(not_once(timeline));
    findings
}

/// Whether the selected version of a resource follows from the entries, and its revision is that of the change.
fn misplaced(name: &str, before: &Moment, after: &Moment) -> Option<Finding> {
    let was = before.states.get(name);
    let was_selected = was.and_then(|state| state.selected_version.as_deref());
    let entries = after.resources.get(name).map(|resource| &resource.entries);
    let wanted = match entries {
        Some(entries) if after.touched.contains(name) => next(entries, was_selected),
        Some(_) | None => was_selected,
    };
    let state = after.states.get(name)?;
    let wanted_revision = if wanted == was_selected {
        was.map_or(0, |state| state.selected_revision.0)
    } else {
        after.revision
    };
    let found = (state.selected_version.as_deref(), state.selected_revision.0);
    let status = after.resources.get(name).map(|resource| &resource.status);
    let told = status.map(|status| {
        (
            status.selected_version.as_deref(),
            status.selected_revision.0,
        )
    });
    if found == (wanted, wanted_revision) && told.is_none_or(|told| told == found) {
        return None;
    }
    let message = format!(
        "at revision {} {name} has selected {} of revision {}, and the entries demand {} of revision {wanted_revision}",
        after.revision,
        text(found.0),
        found.1,
        text(wanted),
    );
    Some(Finding::new(Check::Selected, message).with_evidence(&after.line))
}

/// The selected version after the entries changed.
fn next<'a>(entries: &'a BTreeMap<String, Entry>, selected: Option<&'a str>) -> Option<&'a str> {
    let decoded_by_all = |version: &str| entries.values().all(|entry| entry.decodes(version));
    let voters = || {
        entries
            .values()
            .filter_map(|entry| Some((entry.since_revision, entry.preferred_version.as_deref()?)))
    };
    if entries.is_empty() {
        return selected;
    }
    let Some(selected) = selected else {
        let oldest = voters().filter(|(_, preferred)| decoded_by_all(preferred));
        return oldest
            .min_by_key(|(since, _)| *since)
            .map(|(_, preferred)| preferred);
    };
    let fixed = entries
        .values()
        .filter(|entry| entry.preferred_version.is_none());
    let fixed: BTreeSet<&str> = fixed
        .filter_map(|entry| entry.encoding_version.as_deref())
        .collect();
    let wanted: BTreeSet<&str> = voters()
        .map(|(_, preferred)| preferred)
        .chain(fixed)
        .collect();
    // All voters and all fixed entries want the same version.
    match wanted.first() {
        Some(version) if wanted.len() == 1 && decoded_by_all(version) => Some(version),
        Some(_) | None => Some(selected),
    }
}

/// Each resource that is ever voted on has one selection and one change of it; the other resources have none.
fn not_once(timeline: &Timeline) -> Vec<Finding> {
    let mut voted = BTreeSet::new();
    let mut changes: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (before, after) in timeline.steps() {
        for (name, resource) in &after.resources {
            if resource
                .entries
                .values()
                .any(|entry| entry.preferred_version.is_some())
            {
                voted.insert(name.as_str());
            }
        }
        for (name, state) in &after.states {
            let was = before
                .states
                .get(name)
                .and_then(|state| state.selected_version.as_ref());
            if was != state.selected_version.as_ref() {
                changes.entry(name).or_default().push(after.revision);
            }
        }
    }
    let names: BTreeSet<&str> = voted
        .iter()
        .copied()
        .chain(changes.keys().copied())
        .collect();
    let wrong = names.into_iter().filter_map(|name| {
        let wanted = if voted.contains(name) { 2 } else { 0 };
        let found = changes.get(name).map_or(&[][..], Vec::as_slice);
        let message = || {
            format!(
                "{name} was selected or changed its selected version at revisions {found:?}: one selection and one change \
                 of it were to be, for what is voted on"
            )
        };
        (found.len() != wanted).then(|| Finding::new(Check::Selected, message()))
    });
    wrong.collect()
}

pub(super) fn text(version: Option<&str>) -> &str {
    version.unwrap_or("nothing")
}
