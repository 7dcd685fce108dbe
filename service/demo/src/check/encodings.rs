//! Check 1: no write was encoded in a version that was not allowed at its revision.

use std::collections::BTreeSet;

use super::evidence::{Evidence, Line};
use super::finding::{Check, Finding};
use super::marks::{Landed, Marks};
use super::timeline::{Moment, Timeline};
use crate::codec;
use crate::records::StoredWrite;

pub(super) fn check(evidence: &Evidence, timeline: &Timeline) -> Vec<Finding> {
    let marks = Marks::of(evidence.marks.lines.iter().map(|line| &line.value));
    let judge = Judge { timeline, marks };
    let mut findings = backwards(evidence);
    for line in &evidence.store.lines {
        if let Err(fault) = judge.allowed(&line.value) {
            findings.push(told(evidence, line, &judge, &fault));
        }
    }
    findings
}

/// Marks at which a linearizable read went back: the bounds of all writes rest on the order of these reads.
fn backwards(evidence: &Evidence) -> Vec<Finding> {
    let marks = &evidence.marks.lines;
    let pairs = marks.iter().zip(marks.iter().skip(1));
    let fallen = pairs.filter(|(before, after)| after.value.revision < before.value.revision);
    let findings = fallen.map(|(before, after)| {
        let (before, revision) = (before.value.revision, after.value.revision);
        let message = format!(
            "a linearizable read answered revision {revision} after one had answered {before}"
        );
        Finding::new(Check::Encodings, message).with_evidence(evidence.marks.at(after))
    });
    findings.collect()
}

fn told(evidence: &Evidence, line: &Line<StoredWrite>, judge: &Judge<'_>, fault: &str) -> Finding {
    let write = &line.value;
    let landed = judge.marks.landed(write);
    let version = codec::api_version(&write.data);
    let selected = judge.timeline.moments.iter().find(|moment| {
        let resource = moment.resources.get(&write.resource);
        resource
            .is_some_and(|resource| resource.status.selected_version.as_deref() == Some(version))
    });
    let selected =
        selected.map(|moment| format!("; it was selected at revision {}", moment.revision));
    let message = format!(
        "{}/{} was written in {version} by {}, epoch {}, with a permit of revision {}, and landed between revisions {} and \
         {}: {fault}{}",
        write.resource,
        write.name,
        write.writer.member,
        write.writer.epoch,
        write.writer.permit_revision,
        landed.after,
        landed.before,
        selected.unwrap_or_default(),
    );
    Finding::new(Check::Encodings, message).with_evidence(evidence.store.at(line))
}

struct Judge<'a> {
    timeline: &'a Timeline,
    marks: Marks,
}

impl Judge<'_> {
    /// Whether a write was allowed, by the rule in the head of the module `check`.
    ///
    /// # Errors
    ///
    /// The reason why it was not allowed.
    fn allowed(&self, write: &StoredWrite) -> Result<(), String> {
        let version = codec::api_version(&write.data);
        let writer = &write.writer;
        if version != writer.encoding {
            return Err(format!(
                "its writer says that it encoded {}",
                writer.encoding
            ));
        }
        let landed = self.marks.landed(write);
        let permit = writer.permit_revision;
        if permit > landed.before {
            return Err("it had landed before its permit can have been given".to_owned());
        }
        match Entitlement::at(self.timeline.at(permit), write) {
            Entitlement::Over => {
                return Err(format!("at revision {permit} the epoch could not write"));
            }
            Entitlement::May(versions) => within(&versions, version, permit)?,
        }
        self.still_allowed(write, landed)
    }

    /// Whether the entry allowed the version from the permit's revision until the write landed.
    fn still_allowed(&self, write: &StoredWrite, landed: Landed) -> Result<(), String> {
        let version = codec::api_version(&write.data);
        for moment in self
            .timeline
            .from(write.writer.permit_revision, landed.after)
        {
            match Entitlement::at(moment, write) {
                Entitlement::May(versions) => within(&versions, version, moment.revision)?,
                Entitlement::Over => return self.within_grace(write, moment),
            }
        }
        Ok(())
    }

    /// Whether a write of an epoch that ended at `end` may have landed later.
    fn within_grace(&self, write: &StoredWrite, end: &Moment) -> Result<(), String> {
        let version = codec::api_version(&write.data);
        let state = end.states.get(&write.resource);
        let drains = state.is_some_and(|state| {
            let mut drains = state.drains.iter();
            drains.any(|drain| drain.version == version)
        });
        if !drains {
            return Err(format!(
                "the epoch had ended at revision {}, where {} has no drain for the version",
                end.revision, write.resource
            ));
        }
        let held = self
            .timeline
            .at(write.writer.permit_revision)
            .members
            .get(&write.writer.member);
        let ttl_ms = held.map_or(0, |member| member.ttl_ms.0);
        let grace_ms = ttl_ms + end.write_grace_ms.unwrap_or(0);
        match self.marks.known_at_ms(end.revision) {
            Some(ended_ms) if write.at_ms > ended_ms + grace_ms => Err(format!(
                "the epoch had ended at revision {}, {} ms before, and {grace_ms} ms are its grace",
                end.revision,
                write.at_ms - ended_ms
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// What an epoch may write of a resource.
enum Entitlement<'a> {
    /// It may encode these versions.
    May(BTreeSet<&'a str>),
    /// The epoch has not reported, or has ended.
    Over,
}

impl<'a> Entitlement<'a> {
    fn at(moment: &'a Moment, write: &StoredWrite) -> Self {
        let writer = &write.writer;
        let member = moment.members.get(&writer.member);
        if !member.is_some_and(|member| member.epoch.0 == writer.epoch && member.reported) {
            return Self::Over;
        }
        let resource = moment.resources.get(&write.resource);
        let entry = resource.and_then(|resource| resource.entries.get(&writer.member));
        let (Some(resource), Some(entry)) = (resource, entry) else {
            return Self::May(BTreeSet::new());
        };
        let taken_up = entry
            .preferred_version
            .as_ref()
            .and(resource.status.selected_version.as_deref());
        Self::May(
            entry
                .encoding_version
                .as_deref()
                .into_iter()
                .chain(taken_up)
                .collect(),
        )
    }
}

fn within(allowed: &BTreeSet<&str>, version: &str, revision: u64) -> Result<(), String> {
    if allowed.contains(version) {
        return Ok(());
    }
    let allowed: Vec<&str> = allowed.iter().copied().collect();
    Err(match allowed.is_empty() {
        true => format!("at revision {revision} its member had no entry that encodes anything"),
        false => format!(
            "at revision {revision} its entry allowed only {}",
            allowed.join(" and ")
        ),
    })
}
