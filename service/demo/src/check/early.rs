//! Check 9: what was encoded before its version was selected was refused, and nothing of it was stored.
//!
//! A codec writes down what it has encoded before anybody can send it, and the server what came of it. So each object
//! that is stored was encoded so by some server, which was told that it landed there or was told nothing; and what
//! was encoded once more had been refused.

use std::collections::BTreeMap;

use super::evidence::{Evidence, File, Line};
use super::finding::{Check, Finding};
use super::replay::{Replay, Write};
use super::timeline::Timeline;
use crate::records::{KeptStep, Step};

/// One try of a server to write an object, with all encodings that it took.
#[derive(Debug)]
struct Attempt<'a> {
    /// In which versions the object was encoded, in this order. Only the last one can have been stored.
    encoded: Vec<&'a str>,
    /// `None`: the server was killed before it knew.
    outcome: Option<&'a Step>,
    file: &'a File<KeptStep>,
    /// Its last line.
    line: &'a Line<KeptStep>,
}

/// How often something was encoded in vain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InVain {
    /// Before its version was selected.
    pub(super) early: usize,
    /// After another one was.
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

/// How often what servers encoded was refused because of its version.
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

/// What a server was told and is not so.
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
    /// Whether this is what made an object as it is stored; of one that was not answered, whether it can be.
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

/// What the servers tried, each server's in its order.
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
