//! Check 13: nothing is called safe while a server is missing that a roster requires. Without a roster, or without a
//! migration since it was set, every verdict and every succeeded migration names that assumption.

use std::collections::BTreeSet;

use serde_json::Value;

use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::migrated::{revision_of, succeeded};
use super::timeline::{Moment, Name, Timeline, field};
use crate::records::files;
use crate::release::upgraded;

/// The reason of an assumption: there is no roster, or nothing was migrated since it was set.
pub(super) const NO_ROSTER: &str = "ASSUMPTION_REASON_NO_ROSTER";

pub(super) fn check(evidence: &Evidence, timeline: &Timeline) -> Vec<Finding> {
    let mut faults = Vec::new();
    let all: Vec<String> = upgraded().map(|resource| resource.name()).collect();
    for when in files::ASKED {
        let drops = all.iter();
        let drops = drops.map(|name| (files::drop_verdict(name, when), std::slice::from_ref(name)));
        for (file, resources) in drops.chain([(files::binary_verdict(when), &all[..])]) {
            let Some(verdict) = evidence.verdicts.get(&file) else {
                continue;
            };
            match SafetyAnswer::of(verdict) {
                Err(fault) => faults.push(format!("{file}: {fault}")),
                Ok(answer) => faults.extend(answer.faults(&file, resources, timeline)),
            }
        }
    }
    let faults = faults.into_iter();
    let findings = faults.map(|fault| Finding::new(Check::Assumed, fault));
    findings.chain(completed(timeline)).collect()
}

/// Migrations that succeeded while a required member was missing, or that do not name what they assume.
fn completed(timeline: &Timeline) -> impl Iterator<Item = Finding> + use<'_> {
    timeline.steps().flat_map(|(before, after)| {
        succeeded(before, after).filter_map(|(name, migration)| {
            let resource = migration.resource.to_string();
            let missing = after.missing(&resource);
            let told = migration.rest.get("assumption").and_then(Value::as_str);
            let assumes = told == Some(NO_ROSTER);
            let asked = after.roster_of(&resource).is_some();
            let fault = if !missing.is_empty() {
                format!("{missing:?} was missing")
            } else if assumes != after.is_on_trust(&resource) {
                format!("a roster asks for somebody: {asked}, and it assumes {told:?}")
            } else {
                return None;
            };
            let revision = after.revision;
            let message = format!("{name} succeeded at revision {revision}, and {fault}");
            Some(Finding::new(Check::Assumed, message).with_evidence(&after.line))
        })
    })
}

/// What the check reads of a safety verdict.
struct SafetyAnswer {
    safe: bool,
    revision: u64,
    /// The resources about which something is assumed.
    assumed: BTreeSet<String>,
    /// The members that are named as missing, each with its resource.
    named: BTreeSet<(String, String)>,
}

impl SafetyAnswer {
    fn of(verdict: &Value) -> Result<Self, String> {
        let mut answer = Self {
            safe: field(verdict, "safe")?,
            revision: revision_of(verdict)?,
            assumed: BTreeSet::new(),
            named: BTreeSet::new(),
        };
        for assumption in field::<Vec<Value>>(verdict, "assumptions")? {
            let resources: Vec<Name> = field(&assumption, "resources")?;
            if field::<String>(&assumption, "reason")? != NO_ROSTER {
                continue;
            }
            answer.assumed.extend(resources.iter().map(Name::to_string));
        }
        for danger in field::<Vec<Value>>(verdict, "dangers")? {
            if field::<String>(&danger, "reason")? == "DANGER_REASON_ABSENT" {
                let resource: Name = field(&danger, "resource")?;
                let named = (resource.to_string(), field(&danger, "member")?);
                answer.named.insert(named);
            }
        }
        Ok(answer)
    }

    fn faults(&self, file: &str, resources: &[String], timeline: &Timeline) -> Vec<String> {
        let moment = timeline.at(self.revision);
        let faults = resources.iter().filter_map(|name| self.fault(name, moment));
        let at = |fault| format!("{file}, of revision {}: {fault}", self.revision);
        faults.map(at).collect()
    }

    fn fault(&self, resource: &str, moment: &Moment) -> Option<String> {
        let missing = moment.missing(resource);
        let asked = moment.roster_of(resource).is_some();
        let assumed = self.assumed.contains(resource);
        if self.safe && !missing.is_empty() {
            return Some(format!(
                "it is called safe, and {missing:?} is missing of {resource}"
            ));
        }
        let is_named = |id: &&&str| {
            let wanted = (resource.to_owned(), (**id).to_owned());
            self.named.contains(&wanted)
        };
        if let Some(id) = missing.iter().find(|id| !is_named(id)) {
            return Some(format!(
                "it does not say that {id} is missing of {resource}"
            ));
        }
        (assumed != moment.is_on_trust(resource)).then(|| {
            format!("a roster asks for somebody of {resource}: {asked}, and something is assumed: {assumed}")
        })
    }
}
