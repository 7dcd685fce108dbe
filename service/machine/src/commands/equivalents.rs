//! `AddEquivalents` and `RemoveEquivalent`: an operator says which resources are one store under several names.

use std::collections::BTreeSet;

use synod_model::limits::VIOLATIONS_MAX;
use synod_model::{
    AddEquivalents, EVIDENCE_SINCE, GroupResource, Refusal, RemoveEquivalent, Report, ReportEntry,
    Violation, Violations,
};

use crate::turn::Turn;
use crate::{Answer, State};

/// Joins what is known of the resources. Nothing changes if they are one store already.
pub(crate) fn add(turn: &mut Turn<'_>, add: &AddEquivalents) -> Result<Answer, Refusal> {
    add.check().into_result()?;
    let joined = turn.state().joined(&add.resources, None)?;
    if !joined.is_empty() {
        turn.state().check_quota()?;
    }
    for first in turn.join_names(joined) {
        turn.decide_anew(&first, None);
    }
    Ok(Answer::Done)
}

/// Takes a name out of its set.
pub(crate) fn remove(turn: &mut Turn<'_>, remove: &RemoveEquivalent) -> Result<Answer, Refusal> {
    remove.check().into_result()?;
    let separated = turn.state().separated(&remove.resource)?;
    turn.separate_names(separated);
    Ok(Answer::Done)
}

/// Whether a report tells of equivalent resources that are not known to be one store yet.
pub(super) fn is_news(state: &State, report: &Report) -> bool {
    let mut told = telling(report);
    state.machine_version() >= EVIDENCE_SINCE
        && told.any(|entry| {
            let names = all_names(entry);
            let mut firsts = names.iter().map(|name| state.first_name(name));
            let first = firsts.next();
            firsts.any(|other| Some(other) != first)
        })
}

/// Joins what a report tells to be one store. Returns the first names of the joined stores, about which the report decides.
pub(super) fn join_told(
    turn: &mut Turn<'_>,
    report: &Report,
) -> Result<BTreeSet<GroupResource>, Refusal> {
    let mut renamed = BTreeSet::new();
    for entry in telling(report) {
        let names = all_names(entry).into_iter().cloned().collect();
        let joined = turn.state().joined(&names, Some(report))?;
        renamed.extend(turn.join_names(joined));
    }
    Ok(renamed)
}

/// Refuses a report that names one store twice.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, at the later entries.
pub(super) fn check_each_once(state: &State, report: &Report) -> Result<(), Refusal> {
    if state.first_names.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    let mut violations = Violations::new();
    for (i, entry) in report.entries.iter().enumerate() {
        let first = state.first_name(&entry.resource);
        if !seen.insert(first.clone()) && violations.iter().len() < VIOLATIONS_MAX {
            let rule = format_args!(
                "must be left out: its store is that of {}, which another entry reports",
                first.qualified()
            );
            let violation = Violation::invalid(entry.resource.qualified(), rule);
            violations.push(violation.at(&format!("entries[{i}].resource")));
        }
    }
    violations.into_result()
}

/// The entries that tell of other names.
fn telling(report: &Report) -> impl Iterator<Item = &ReportEntry> {
    let entries = report.entries.iter();
    entries.filter(|entry| !entry.equivalents.is_empty())
}

fn all_names(entry: &ReportEntry) -> BTreeSet<&GroupResource> {
    entry.equivalents.iter().chain([&entry.resource]).collect()
}
