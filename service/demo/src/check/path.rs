//! Check 14: the demo did all that it is to show. Without this check, a run in which nothing happened would pass.

use std::collections::{BTreeMap, BTreeSet};

use super::early;
use super::evidence::Evidence;
use super::finding::{Check, Finding};
use super::replay::Replay;
use super::timeline::Timeline;
use crate::codec;
use crate::records::{Act, Deed};
use crate::release::{AGGREGATED, CONTROL_PLANE, kept_in_synod};

pub(super) fn check(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<Finding> {
    let seen = Seen::of(evidence, timeline, replay);
    let mut missing = Vec::new();
    for release in CONTROL_PLANE {
        let members = seen.wrote.get(release.version).map_or(0, BTreeSet::len);
        if members < 3 {
            missing.push(format!(
                "{members} of 3 API servers wrote something under release {}",
                release.version
            ));
        }
    }
    if !seen.wrote.contains_key(AGGREGATED.version) {
        missing.push("the server of another kind wrote nothing".to_owned());
    }
    for (resource, versions) in &seen.stored {
        let upgraded = CONTROL_PLANE.iter().flat_map(|release| release.resources);
        let upgraded = upgraded
            .map(|known| known.name())
            .any(|name| name == *resource);
        if upgraded && versions.len() < 2 {
            missing.push(format!(
                "{resource} was stored in one version only: {versions:?}"
            ));
        }
    }
    if evidence.store.lines.is_empty() || evidence.marks.lines.is_empty() {
        missing.push("nothing was written, or no revision was read meanwhile".to_owned());
    }
    for resource in kept_in_synod() {
        if !seen.stored.contains_key(resource.name().as_str()) {
            missing.push(format!("Synod kept no object of {}", resource.name()));
        }
    }
    if early::in_vain(evidence, timeline).early == 0 {
        missing.push("no server encoded anything for Synod too early, to be refused".to_owned());
    }
    missing.extend(unkilled(evidence));
    missing
        .into_iter()
        .map(|message| Finding::new(Check::Path, message))
        .collect()
}

/// The writes that the recordings show.
struct Seen<'a> {
    /// The members that wrote under each release.
    wrote: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The versions in which each resource was stored.
    stored: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Seen<'a> {
    fn of(evidence: &'a Evidence, timeline: &'a Timeline, replay: &'a Replay<'_>) -> Self {
        let mut programs = BTreeMap::new();
        for moment in &timeline.moments {
            for (id, member) in &moment.members {
                programs.insert((id.as_str(), member.epoch.0), member.version.as_str());
            }
        }
        let mut seen = Self {
            wrote: BTreeMap::new(),
            stored: BTreeMap::new(),
        };
        for write in evidence.store.values() {
            let stored = seen.stored.entry(&write.resource).or_default();
            stored.insert(codec::api_version(&write.data));
            let member = write.writer.member.as_str();
            if let Some(program) = programs.get(&(member, write.writer.epoch)) {
                seen.wrote.entry(program).or_default().insert(member);
            }
        }
        for write in replay.stored() {
            let stored = seen.stored.entry(&write.resource).or_default();
            stored.insert(&write.encoding);
        }
        seen
    }
}

/// The stops, kills and starts that are missing.
fn unkilled(evidence: &Evidence) -> Vec<String> {
    let acts: Vec<&Act> = evidence.acts.values().collect();
    let count = |deed: Deed, kind: &str| {
        let acts = acts
            .iter()
            .filter(|act| act.deed == deed && act.process.starts_with(kind));
        acts.count()
    };
    let mut missing = Vec::new();
    for (deed, what) in [(Deed::Stopped, "stopped cleanly"), (Deed::Killed, "killed")] {
        if count(deed, "apiserver-") < 2 {
            missing.push(format!(
                "an API server was to be {what} in each of the two upgrades"
            ));
        }
    }
    let killed = acts
        .iter()
        .position(|act| act.deed == Deed::Killed && act.role == "leader");
    let came_back = killed.is_some_and(|killed| {
        let process = &acts[killed].process;
        let mut later = acts[killed..].iter();
        later.any(|act| act.deed == Deed::Started && act.process == *process)
    });
    if !came_back {
        missing.push("the leader was to be killed and started again".to_owned());
    }
    missing
}
