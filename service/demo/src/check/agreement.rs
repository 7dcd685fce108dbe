//! Checks 3 and 6: common and agreed versions follow from the entries, and the agreement revision from their changes.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Check, Finding};
use super::selected::text;
use super::timeline::{Entry, Moment, RecordedStorageState, Resource, Timeline};

pub(super) fn check(timeline: &Timeline) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (before, after) in timeline.steps() {
        for (name, state) in &after.states {
            let resource = after.resources.get(name);
            findings.extend(implied(name, state, resource, after));
            findings.extend(dated(name, state, resource, before, after));
        }
        for name in after
            .resources
            .keys()
            .filter(|name| !after.states.contains_key(*name))
        {
            let message = format!(
                "at revision {} {name} is reported and has no state",
                after.revision
            );
            findings.push(Finding::new(Check::Common, message).with_evidence(&after.line));
        }
    }
    findings
}

/// What the entries of a resource imply.
#[derive(Debug, PartialEq, Eq)]
struct Implied<'a> {
    common: Option<&'a str>,
    agreed: Option<&'a str>,
    decodable_by_all: BTreeSet<&'a str>,
    served_by_all: BTreeSet<&'a str>,
}

impl<'a> Implied<'a> {
    fn by(
        entries: &'a BTreeMap<String, Entry>,
        selected: Option<&str>,
        selected_revision: u64,
        is_complete: bool,
    ) -> Self {
        let encodings: BTreeSet<Option<&str>> = entries
            .values()
            .map(|entry| entry.encoding_version.as_deref())
            .collect();
        // One encoding, and no entry without one.
        let common = match encodings.first() {
            Some(Some(version)) if encodings.len() == 1 => Some(*version),
            Some(_) | None => None,
        };
        let voters = entries
            .values()
            .filter(|entry| entry.preferred_version.is_some());
        let mut taken = voters.map(|entry| entry.adopted_revision);
        let all_took_it = taken.all(|adopted| adopted.is_some_and(|at| at.0 == selected_revision));
        let instructed = selected.is_none() || selected == common;
        Self {
            common,
            agreed: common.filter(|_| instructed && all_took_it && is_complete),
            decodable_by_all: by_all(entries, |entry| &entry.decodable_versions),
            served_by_all: by_all(entries, |entry| &entry.served_versions),
        }
    }
}

fn by_all(
    entries: &BTreeMap<String, Entry>,
    versions: impl Fn(&Entry) -> &Vec<String>,
) -> BTreeSet<&str> {
    let Some(first) = entries.values().next() else {
        return BTreeSet::new();
    };
    let everywhere = |version: &&String| {
        entries
            .values()
            .all(|entry| versions(entry).contains(version))
    };
    versions(first)
        .iter()
        .filter(everywhere)
        .map(String::as_str)
        .collect()
}

/// Whether what the replicas say of a resource follows from its entries.
fn implied(
    name: &str,
    state: &RecordedStorageState,
    resource: Option<&Resource>,
    after: &Moment,
) -> Option<Finding> {
    let none = BTreeMap::new();
    let entries = resource.map_or(&none, |resource| &resource.entries);
    let selected = state.selected_version.as_deref();
    let is_complete = after.missing(name).is_empty();
    let implied = Implied::by(entries, selected, state.selected_revision.0, is_complete);
    let of_state = (
        state.common_encoding_version.as_deref(),
        state.current_version.as_deref(),
    );
    let state_follows = of_state == (implied.common, implied.agreed);
    let status = resource.map(|resource| &resource.status);
    let status_follows = status.is_none_or(|status| {
        implied
            == Implied {
                common: status.common_encoding_version.as_deref(),
                agreed: status.agreed_version.as_deref(),
                decodable_by_all: status.decodable_by_all.iter().map(String::as_str).collect(),
                served_by_all: status.served_by_all.iter().map(String::as_str).collect(),
            }
    });
    if state_follows && status_follows {
        return None;
    }
    let message = format!(
        "at revision {} {name} is said to have {} in common and to be agreed on {}; its entries imply {} and {}, decodable by \
         all {:?}, served by all {:?}",
        after.revision,
        text(of_state.0),
        text(of_state.1),
        text(implied.common),
        text(implied.agreed),
        implied.decodable_by_all,
        implied.served_by_all,
    );
    Some(Finding::new(Check::Common, message).with_evidence(&after.line))
}

/// Whether the agreement revision of a resource is that of the last change of its common or selected version, or of
/// whether a member is missing that the roster requires.
fn dated(
    name: &str,
    state: &RecordedStorageState,
    resource: Option<&Resource>,
    before: &Moment,
    after: &Moment,
) -> Option<Finding> {
    let said = |state: &RecordedStorageState| {
        (
            state.common_encoding_version.clone(),
            state.selected_version.clone(),
        )
    };
    let was = before.states.get(name);
    let is_missing = |moment: &Moment| !moment.missing(name).is_empty();
    let changed = was.map_or((None, None), said) != said(state)
        || (was.is_some() && is_missing(before) != is_missing(after));
    let wanted = if changed {
        after.revision
    } else {
        was.map_or(0, |state| state.agreement_revision.0)
    };
    let found = state.agreement_revision.0;
    let told = resource.map_or(found, |resource| resource.status.agreement_revision.0);
    if found == wanted && told == wanted {
        return None;
    }
    let message = format!(
        "at revision {} the agreement revision of {name} is {found}, in its storage version {told}; common, selected \
         or who is missing last changed at {wanted}",
        after.revision,
    );
    Some(Finding::new(Check::AgreementRevision, message).with_evidence(&after.line))
}
