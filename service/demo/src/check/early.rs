//! Check 9: an encoding made before its version was selected was refused, and not stored.
//!
//! A codec records each encoding before it is sent, and the server records the outcome. So a server has recorded the
//! encoding of each stored object, with the outcome that it landed at this revision, or with no known outcome. An
//! encoding that was followed by another one of the same write had been refused.

use std::collections::BTreeMap;

use super::evidence::{Evidence, File, Line};
use super::finding::{Check, Finding};
use super::replay::{Replay, Write};
use super::timeline::Timeline;
use crate::records::{KeptStep, Step};

/// One try of a server to write an object, with all encodings that it took.
#[derive(Debug)]
struct Attempt<'a> {
    /// The versions in which the object was encoded, in order. Only the last encoding can have been stored.
    encoded: Vec<&'a str>,
    /// The recorded outcome; `None` if the server was killed before it recorded one.
    outcome: Option<&'a Step>,
    file: &'a File<KeptStep>,
    /// The last line of the attempt.
    line: &'a Line<KeptStep>,
}

/// How many encodings were refused because of their version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InVain {
    /// Made before their version was selected.
    pub(super) early: usize,
    /// Made after another version was selected.
    pub(super) late: usize,
}

pub(super) fn check(evidence: &Evidence, replay: &Replay<'_>) -> Vec<Finding> {
    let attempts = attempts(evidence);
    let told = attempts.iter().filter_map(|attempt| {
        let fault = misled(attempt, replay)?;
        let finding = Finding::new(Check::Early, fault);
        Some(finding.with_evidence(attempt.file.at(attempt.line)))
    });
    let mut findings: Vec<Finding> = told.collect();
    let mut by_name: BTreeMap<(&str, &str), Vec<&Attempt<'_>>> = BTreeMap::new();
    for attempt in &attempts {
        let step = &attempt.line.value;
        let key = (step.resource.as_str(), step.name.as_str());
        by_name.entry(key).or_default().push(attempt);
    }
    for write in replay.stored() {
        let tries = by_name.get(&(write.resource.as_str(), write.name.as_str()));
        if tries.is_none_or(|tries| !tries.iter().any(|attempt| attempt.made(write))) {
            let message = format!(
                "{}/{} is stored in {} at revision {}, and no server made it so: it was refused, or never encoded",
                write.resource, write.name, write.encoding, write.revision
            );
            let finding = Finding::new(Check::Early, message);
            findings.push(finding.with_evidence(evidence.watches[0].at(write.line)));
        }
    }
    findings
}

/// Counts the encodings that were refused because of their version.
pub(super) fn in_vain(evidence: &Evidence, timeline: &Timeline) -> InVain {
    let mut in_vain = InVain::default();
    for attempt in attempts(evidence) {
        let stored_in = match attempt.outcome {
            Some(Step::Landed(_)) => attempt.encoded.last().copied(),
            Some(Step::NotSelected(selected)) => Some(selected.as_str()),
            Some(Step::Encoded(_) | Step::NotStored(_) | Step::Unknown) | None => None,
        };
        let Some(selected) = stored_in else { continue };
        let since = |version: &str| {
            let state = |moment: &&_| selected_is(moment, &attempt.line.value.resource, version);
            let first = timeline.moments.iter().find(state);
            first.map_or(u64::MAX, |moment| moment.revision)
        };
        for version in attempt
            .encoded
            .iter()
            .filter(|version| **version != selected)
        {
            if since(version) > since(selected) {
                in_vain.early += 1;
            } else {
                in_vain.late += 1;
            }
        }
    }
    in_vain
}

fn selected_is(moment: &super::timeline::Moment, resource: &str, version: &str) -> bool {
    let state = moment.states.get(resource);
    state.is_some_and(|state| state.selected_version.as_deref() == Some(version))
}

/// What a server recorded as the outcome, and the watch contradicts.
fn misled(attempt: &Attempt<'_>, replay: &Replay<'_>) -> Option<String> {
    let step = &attempt.line.value;
    let last = attempt.encoded.last().copied();
    let what = format!("{}/{}, number {}", step.resource, step.name, step.number);
    match attempt.outcome? {
        Step::Landed(_) if replay.stored().any(|write| attempt.made(write)) => None,
        Step::Landed(revision) => Some(format!(
            "{what} was to be stored in {} at revision {revision}, and no watcher saw it there",
            last.unwrap_or("nothing")
        )),
        Step::NotSelected(selected) if last == Some(selected) => Some(format!(
            "{what} was refused in {selected}, although that is selected"
        )),
        Step::NotSelected(_) | Step::NotStored(_) | Step::Unknown | Step::Encoded(_) => None,
    }
}

impl Attempt<'_> {
    /// Whether this attempt made the stored object; if its outcome is unknown, whether it can have.
    fn made(&self, write: &Write<'_>) -> bool {
        let step = &self.line.value;
        let is_this = (&write.resource, &write.name) == (&step.resource, &step.name)
            && self.encoded.last() == Some(&write.encoding.as_str())
            && write
                .object()
                .is_ok_and(|object| (object.number, &object.author) == (step.number, &step.author));
        is_this
            && match self.outcome {
                Some(Step::Landed(revision)) => *revision == write.revision,
                Some(Step::Unknown) | None => true,
                Some(Step::NotSelected(_) | Step::NotStored(_) | Step::Encoded(_)) => false,
            }
    }
}

/// The attempts of each server, in the order in which they ended.
fn attempts(evidence: &Evidence) -> Vec<Attempt<'_>> {
    let mut attempts = Vec::new();
    for file in &evidence.keepers {
        let mut open: BTreeMap<(&str, &str, u64), Attempt<'_>> = BTreeMap::new();
        for line in &file.lines {
            let step = &line.value;
            let key = (step.resource.as_str(), step.name.as_str(), step.number);
            let mut attempt = open.remove(&key).unwrap_or_else(|| Attempt {
                encoded: Vec::new(),
                outcome: None,
                file,
                line,
            });
            attempt.line = line;
            match &step.step {
                Step::Encoded(version) => {
                    attempt.encoded.push(version);
                    open.insert(key, attempt);
                }
                outcome => {
                    attempt.outcome = Some(outcome);
                    attempts.push(attempt);
                }
            }
        }
        attempts.extend(open.into_values());
    }
    attempts
}
