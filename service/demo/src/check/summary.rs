//! What happened in the run, counted from the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::early;
use super::evidence::Evidence;
use super::replay::Replay;
use super::timeline::{RecordedStorageState, Timeline};
use crate::codec;
use crate::records::{Act, Answered, Asked, ClientAnswer, Deed};

/// How long before and after the death of a leader its consequences are looked for.
const AROUND_MS: u64 = 5_000;

/// What happened in the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The topic and the text of each row.
    rows: Vec<(&'static str, String)>,
}

impl Summary {
    pub(super) fn of(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Self {
        let mut summary = Self::default();
        summary.add("stored", stored(evidence));
        summary.add("in Synod", kept(evidence, timeline, replay));
        summary.add("clients", asked(evidence));
        summary.add("refused", refused(evidence));
        summary.add("paused", [paused(evidence)]);
        summary.add("watched", seen(evidence, timeline));
        summary.add(
            "selected",
            steps(timeline, |state| state.selected_version.as_deref()),
        );
        summary.add(
            "agreed on",
            steps(timeline, |state| state.current_version.as_deref()),
        );
        summary.add("migrated", migrated(timeline));
        summary.add("stopped", [told(evidence, Deed::Stopped)]);
        summary.add("killed", [told(evidence, Deed::Killed)]);
        summary.add("failed over", failed_over(evidence));
        summary
    }

    fn add(&mut self, about: &'static str, texts: impl IntoIterator<Item = String>) {
        self.rows
            .extend(texts.into_iter().map(|text| (about, text)));
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for (about, text) in &self.rows {
            // A topic is printed on its first row only.
            let shown = if *about == before { "" } else { about };
            writeln!(f, "  {shown:11}  {text}")?;
            before = about;
        }
        Ok(())
    }
}

fn stored(evidence: &Evidence) -> Vec<String> {
    let writes = evidence.store.values();
    let writes = writes.map(|write| (write.resource.as_str(), codec::api_version(&write.data)));
    let all = format!("{} writes", evidence.store.lines.len());
    std::iter::once(all).chain(by_version(writes)).collect()
}

/// What Synod kept, and how often it refused an encoding.
fn kept(evidence: &Evidence, timeline: &Timeline, replay: &Replay<'_>) -> Vec<String> {
    let writes = replay.stored();
    let writes = writes.map(|write| (write.resource.as_str(), write.encoding.as_str()));
    let mut told = by_version(writes);
    if !told.is_empty() {
        let in_vain = early::in_vain(evidence, timeline);
        told.push(format!(
            "refused and encoded anew: {} before their version was selected, {} after another one was",
            in_vain.early, in_vain.late
        ));
    }
    told
}

/// The number of writes of each resource in each version.
fn by_version<'a>(writes: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (resource, version) in writes {
        let versions = counts.entry(resource).or_default();
        *versions.entry(short(version)).or_default() += 1;
    }
    let told = counts.iter().map(|(resource, versions)| {
        let versions = versions
            .iter()
            .map(|(version, count)| format!("{count} in {version}"));
        format!(
            "{resource}: {}",
            versions.collect::<Vec<String>>().join(", ")
        )
    });
    told.collect()
}

fn asked(evidence: &Evidence) -> [String; 2] {
    let count = |wanted: fn(&Answered) -> bool| {
        evidence
            .clients
            .values()
            .filter(|line| wanted(line))
            .count()
    };
    let tried = count(|line| line.asked != Asked::Read);
    let acknowledged = count(|line| matches!(line.answer, ClientAnswer::Acknowledged(_)));
    let refused = count(|line| line.answer == ClientAnswer::Refused);
    let read = count(|line| matches!(line.answer, ClientAnswer::Read(_)));
    let gone = count(|line| line.answer == ClientAnswer::NotSent);
    let unknown = count(|line| matches!(line.answer, ClientAnswer::Unknown(_)));
    [
        format!(
            "{tried} writes tried: {acknowledged} acknowledged, {refused} refused by a closed gate"
        ),
        format!(
            "{read} objects read back; {gone} times a server was down, {unknown} outcomes were unknown"
        ),
    ]
}

/// How long each server refused the writes of a resource.
fn refused(evidence: &Evidence) -> Vec<String> {
    let mut stretches: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut open: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for line in evidence
        .clients
        .values()
        .filter(|line| line.asked != Asked::Read)
    {
        let place = (line.server.as_str(), line.resource.as_str());
        if line.answer == ClientAnswer::Refused {
            open.entry(place).or_insert((line.at_ms, line.at_ms)).1 = line.at_ms;
        } else if let Some((from_ms, last_ms)) = open.remove(&place) {
            let is_over = matches!(line.answer, ClientAnswer::Acknowledged(_));
            let until_ms = if is_over { line.at_ms } else { last_ms };
            stretches
                .entry(place.0)
                .or_default()
                .push(until_ms.saturating_sub(from_ms));
        }
    }
    let told = stretches.iter().map(|(server, stretches_ms)| {
        let longest = stretches_ms.iter().max().copied().unwrap_or(0);
        let (times, all) = (stretches_ms.len(), stretches_ms.iter().sum::<u64>());
        format!("{server}: {times} times for a resource, {all} ms in all, {longest} ms at most")
    });
    told.collect()
}

/// The longest time in which no server acknowledged a write.
fn paused(evidence: &Evidence) -> String {
    let acknowledged = evidence.clients.values();
    let acknowledged =
        acknowledged.filter(|line| matches!(line.answer, ClientAnswer::Acknowledged(_)));
    let mut times_ms: Vec<u64> = acknowledged.map(|line| line.at_ms).collect();
    times_ms.sort_unstable();
    let longest = longest_gap(&times_ms);
    format!("{longest} ms at most, without an acknowledged write at any server")
}

fn longest_gap(times_ms: &[u64]) -> u64 {
    let gaps = times_ms.iter().zip(times_ms.iter().skip(1));
    let gaps = gaps.map(|(before, after)| after.saturating_sub(*before));
    gaps.max().unwrap_or(0)
}

fn seen(evidence: &Evidence, timeline: &Timeline) -> [String; 2] {
    let seats = timeline.moments.iter().flat_map(|moment| &moment.members);
    let epochs: BTreeSet<(&str, u64)> = seats
        .map(|(id, member)| (id.as_str(), member.epoch.0))
        .collect();
    let members: BTreeSet<&str> = epochs.iter().map(|(id, _)| *id).collect();
    [
        format!(
            "{} revisions with events, on each of {} replicas: {} members in {} epochs",
            timeline.moments.len() - 1,
            evidence.watches.len(),
            members.len(),
            epochs.len(),
        ),
        format!(
            "{} linearizable reads hold the store's order against Synod's",
            evidence.marks.lines.len()
        ),
    ]
}

/// The changes of one field of each resource, with their revisions.
fn steps(timeline: &Timeline, what: fn(&RecordedStorageState) -> Option<&str>) -> Vec<String> {
    let mut steps: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (before, after) in timeline.steps() {
        for (name, state) in &after.states {
            let is = what(state);
            if before.states.get(name).and_then(what) != is {
                let step = format!("{} at {}", is.map_or("nothing", short), after.revision);
                steps.entry(name).or_default().push(step);
            }
        }
    }
    let told = steps
        .iter()
        .map(|(name, steps)| format!("{name}: {}", steps.join(", ")));
    told.collect()
}

/// How each migration ended.
fn migrated(timeline: &Timeline) -> Vec<String> {
    // A name ends with the revision at which the migration began, so a longer name is a later migration.
    let mut ends: BTreeMap<String, BTreeMap<(usize, &str), String>> = BTreeMap::new();
    for moment in &timeline.moments {
        for (name, migration) in &moment.migrations {
            let phase = migration.phase.trim_start_matches("MIGRATION_PHASE_");
            let target = migration.target_version.as_deref().map_or("?", short);
            let told = ends.entry(migration.resource.to_string()).or_default();
            told.insert(
                (name.len(), name),
                format!("to {target} {}", phase.to_lowercase()),
            );
        }
    }
    let told = ends.iter().map(|(resource, ends)| {
        let ends: Vec<&str> = ends.values().map(String::as_str).collect();
        format!("{resource}: {}", ends.join(", "))
    });
    told.collect()
}

fn told(evidence: &Evidence, deed: Deed) -> String {
    let acts = evidence.acts.values().filter(|act| act.deed == deed);
    let acts = acts.map(|act| format!("{} ({})", act.process, act.role));
    acts.collect::<Vec<String>>().join(", ")
}

/// The longest time without a read from Synod around the death of a leader.
fn failed_over(evidence: &Evidence) -> Vec<String> {
    let is_leader = |act: &&Act| act.deed == Deed::Killed && act.role == "leader";
    let leaders = evidence.acts.values().filter(is_leader);
    let told = leaders.map(|act| {
        let around = act.at_ms.saturating_sub(AROUND_MS)..act.at_ms + AROUND_MS;
        let marks = evidence.marks.values().map(|mark| mark.at_ms);
        let times_ms: Vec<u64> = marks.filter(|at_ms| around.contains(at_ms)).collect();
        let longest = longest_gap(&times_ms);
        format!("{longest} ms at most, without a linearizable read around the death of the leader")
    });
    told.collect()
}

/// A version without its group.
fn short(version: &str) -> &str {
    version.rsplit('/').next().unwrap_or(version)
}
