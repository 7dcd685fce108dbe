//! Check 7: `persisted` holds every version that was really stored.

use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::marks::Marks;
use super::timeline::Timeline;
use crate::codec;

pub(super) fn check(evidence: &Evidence, timeline: &Timeline) -> Vec<Finding> {
    let marks = Marks::of(evidence.marks.lines.iter().map(|line| &line.value));
    let mut findings = Vec::new();
    for line in &evidence.store.lines {
        let write = &line.value;
        let version = codec::api_version(&write.data);
        // At this revision the write had certainly landed.
        let moment = timeline.at(marks.landed(write).before);
        let known = moment.states.get(&write.resource).is_some_and(|state| {
            let mut persisted = state.persisted.iter();
            persisted.any(|persisted| persisted.version.as_deref() == Some(version))
        });
        if !known {
            let message = format!(
                "{}/{} is stored in {version}, and at revision {} persisted of {} does not hold it",
                write.resource, write.name, moment.revision, write.resource
            );
            let finding = Finding::new(Check::Persisted, message);
            findings.push(finding.with_evidence(evidence.store.at(line)));
        }
    }
    findings
}
