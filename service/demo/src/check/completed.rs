//! Check 12: at the end everything is stored in the new version, and the release that was kept out may join.

use std::collections::BTreeSet;

use super::assumed::NO_ROSTER;
use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::replay::Replay;
use super::timeline::{Migration, Moment, Timeline};
use crate::codec;
use crate::records::{Deed, files};
use crate::release::{NEXT, TARGET, upgraded};
use crate::servers::{NEWCOMER, OUTSIDER};

pub(super) fn check(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<Finding> {
    let mut missing = Vec::new();
    missing.extend(kept_apart(evidence, timeline));
    missing.extend(stored(evidence, timeline, replay));
    for (when, safe, assumes) in [
        (files::BEFORE, false, true),
        (files::VOUCHED, true, true),
        (files::ASSUMED, true, true),
        (files::ABSENT, false, true),
        (files::AFTER, true, false),
    ] {
        let drops = upgraded().map(|resource| files::drop_verdict(&resource.name(), when));
        let files = drops.chain([files::binary_verdict(when)]);
        missing.extend(files.flat_map(|file| misjudged(evidence, &file, safe, assumes)));
    }
    let absent = |moment: &Moment| {
        let mut resources = upgraded();
        resources.any(|resource| moment.missing(&resource.name()).contains(OUTSIDER))
    };
    if !timeline.moments.iter().any(absent) || absent(timeline.at(u64::MAX)) {
        missing.push(format!(
            "a roster was to ask for {OUTSIDER}, which takes part only then"
        ));
    }
    if !interrupted(timeline) {
        let what =
            "a migration at which somebody worked was to be aborted, and another one to succeed";
        missing.push(what.to_owned());
    }
    missing
        .into_iter()
        .map(|message| Finding::new(Check::Completed, message))
        .collect()
}

/// The resources that are, or may be, stored in another version than the new one at the end.
fn stored(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    let end = timeline.at(u64::MAX);
    for resource in upgraded() {
        let name = resource.name();
        let own = evidence.objects.values().filter(|one| one.resource == name);
        let own = own.map(|one| codec::api_version(&one.data));
        let kept = replay.present(&name, u64::MAX);
        let kept = kept.values().map(|write| write.encoding.as_str());
        let stored: BTreeSet<&str> = own.chain(kept).collect();
        let state = end.states.get(&name);
        let persisted = state.map(|state| state.persisted.iter().map(|one| one.version.as_deref()));
        let persisted: Vec<Option<&str>> = persisted.into_iter().flatten().collect();
        if stored != BTreeSet::from([TARGET]) || persisted != [Some(TARGET)] {
            missing.push(format!(
                "{name} was to be stored in {TARGET} alone in the end; it is in {stored:?}, and persisted is {persisted:?}"
            ));
        }
    }
    missing
}

/// What is missing: the release that was to be refused and then let in, and the worker that was to be killed.
fn kept_apart(evidence: &Evidence, timeline: &Timeline) -> Vec<String> {
    let mut missing = Vec::new();
    let did = |deed: Deed, kind: &str| {
        let mut acts = evidence.acts.values();
        acts.any(|act| act.deed == deed && act.process.starts_with(kind))
    };
    let mut members = timeline.at(u64::MAX).members.values();
    let joined = members.any(|member| member.version == NEXT.version && member.reported);
    if !joined || !did(Deed::Refused, NEWCOMER) {
        missing.push(format!(
            "release {} was to be refused before the migrations, and to be let in after them",
            NEXT.version
        ));
    }
    if !did(Deed::Killed, "worker-") {
        missing.push("a worker was to be killed".to_owned());
    }
    missing
}

/// Where a verdict is not the expected one.
fn misjudged(evidence: &Evidence, file: &str, safe: bool, assumes: bool) -> Vec<String> {
    let verdict = evidence.verdicts.get(file);
    let found = verdict.and_then(|verdict| verdict.get("safe")?.as_bool());
    let mut wrong = Vec::new();
    if found != Some(safe) {
        wrong.push(format!(
            "{file} was to say that it is safe: {safe}; it says {found:?}"
        ));
    }
    let found = verdict.and_then(|verdict| {
        let mut told = verdict.get("assumptions")?.as_array()?.iter();
        Some(told.any(|one| one.get("reason").is_some_and(|reason| reason == NO_ROSTER)))
    });
    if found != Some(assumes) {
        wrong.push(format!(
            "{file} was to say that it assumes that nobody else writes: {assumes}; it says {found:?}"
        ));
    }
    wrong
}

/// Whether a migration was aborted after a worker had claimed it, and another one of the resource succeeded later.
fn interrupted(timeline: &Timeline) -> bool {
    let mut claimed = BTreeSet::new();
    let mut aborted = BTreeSet::new();
    for moment in &timeline.moments {
        for (name, migration) in &moment.migrations {
            let resource = migration.resource.to_string();
            if migration.claim.is_some() {
                claimed.insert(name);
            } else if migration.phase == Migration::ABORTED && claimed.contains(name) {
                aborted.insert(resource);
            } else if migration.phase == Migration::SUCCEEDED && aborted.contains(&resource) {
                return true;
            }
        }
    }
    false
}
