//! What happened, counted from the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::evidence::Evidence;
use super::selected::text;
use super::timeline::Timeline;
use crate::demo::codec;
use crate::demo::records::{Act, Answer, Answered, Asked, Deed};

/// How far from the death of a leader its consequences are looked for.
const AROUND_MS: u64 = 5_000;

/// What happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Lines, each a sentence.
    lines: Vec<String>,
}

impl Summary {
    pub(super) fn of(evidence: &Evidence, timeline: &Timeline) -> Self {
        let mut lines = vec![stored(evidence), asked(evidence)];
        lines.extend(refused(evidence));
        lines.push(seen(evidence, timeline));
        lines.extend(decided(timeline));
        lines.extend(killed(evidence));
        Self { lines }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines
            .iter()
            .try_for_each(|line| writeln!(f, "  {line}"))
    }
}

fn stored(evidence: &Evidence) -> String {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for write in evidence.store.values() {
        let version = codec::api_version(&write.data);
        let version = version.rsplit('/').next().unwrap_or(version);
        *counts
            .entry(&write.resource)
            .or_default()
            .entry(version)
            .or_default() += 1;
    }
    let counts = counts.iter().map(|(resource, versions)| {
        let versions: Vec<String> = versions
            .iter()
            .map(|(version, count)| format!("{count} in {version}"))
            .collect();
        format!("{resource} {}", versions.join(" and "))
    });
    let counts: Vec<String> = counts.collect();
    format!(
        "stored: {} writes: {}",
        evidence.store.lines.len(),
        counts.join(", ")
    )
}

fn asked(evidence: &Evidence) -> String {
    let count = |wanted: fn(&Answered) -> bool| {
        evidence
            .clients
            .values()
            .filter(|line| wanted(line))
            .count()
    };
    let is_write = |line: &Answered| line.asked != Asked::Read;
    let acknowledged = count(|line| matches!(line.answer, Answer::Acknowledged(_)));
    let read = count(|line| matches!(line.answer, Answer::Read(_)));
    let refused = count(|line| line.answer == Answer::Refused);
    let gone = count(|line| line.answer == Answer::NotSent);
    let unknown = count(|line| matches!(line.answer, Answer::Unknown(_)));
    let writes = evidence
        .clients
        .values()
        .filter(|line| is_write(line))
        .count();
    format!(
        "clients: {writes} writes tried, {acknowledged} acknowledged, {refused} refused by a closed gate; {read} objects read \
         back; {gone} times a server was down, {unknown} outcomes unknown"
    )
}

/// How long each server refused writes, and how long nobody took one.
fn refused(evidence: &Evidence) -> Vec<String> {
    let mut stretches: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    let mut open: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    let mut acknowledged_ms = Vec::new();
    for line in evidence
        .clients
        .values()
        .filter(|line| line.asked != Asked::Read)
    {
        let place = (line.server.as_str(), line.resource.as_str());
        match &line.answer {
            Answer::Refused => open.entry(place).or_insert((line.at_ms, line.at_ms)).1 = line.at_ms,
            answer => {
                let until = matches!(answer, Answer::Acknowledged(_)).then_some(line.at_ms);
                if let Some((from, last)) = open.remove(&place) {
                    let stretch = until.unwrap_or(last).saturating_sub(from);
                    stretches.entry(place.0).or_default().push(stretch);
                }
                acknowledged_ms.extend(until);
            }
        }
    }
    acknowledged_ms.sort_unstable();
    let mut lines: Vec<String> = stretches
        .iter()
        .map(|(server, stretches)| {
            let longest = stretches.iter().max().copied().unwrap_or(0);
            let times = stretches.len();
            format!("refused: {server} refused writes of a resource {times} times, for {longest} ms at most")
        })
        .collect();
    lines.push(format!(
        "paused: the longest time without an acknowledged write at any server was {} ms",
        longest_gap(&acknowledged_ms)
    ));
    lines
}

fn longest_gap(times_ms: &[u64]) -> u64 {
    let gaps = times_ms.iter().zip(times_ms.iter().skip(1));
    gaps.map(|(before, after)| after.saturating_sub(*before))
        .max()
        .unwrap_or(0)
}

fn seen(evidence: &Evidence, timeline: &Timeline) -> String {
    let epochs: BTreeSet<(&str, u64)> = timeline
        .moments
        .iter()
        .flat_map(|moment| &moment.members)
        .map(|(id, member)| (id.as_str(), member.epoch.0))
        .collect();
    let members: BTreeSet<&str> = epochs.iter().map(|(id, _)| *id).collect();
    format!(
        "watched: {} revisions with events, the same on {} replicas; {} members in {} epochs; {} linearizable reads beside \
         the store's order",
        timeline.moments.len() - 1,
        evidence.watches.len(),
        members.len(),
        epochs.len(),
        evidence.marks.lines.len(),
    )
}

/// What was selected and agreed on, with the revisions.
fn decided(timeline: &Timeline) -> Vec<String> {
    let mut selected: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut agreed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (before, after) in timeline.steps() {
        for (name, state) in &after.states {
            let was = before.states.get(name);
            let step = |version: Option<&str>| format!("{} at {}", text(version), after.revision);
            if was.and_then(|was| was.selected_version.as_ref()) != state.selected_version.as_ref()
            {
                selected
                    .entry(name)
                    .or_default()
                    .push(step(state.selected_version.as_deref()));
            }
            if was.and_then(|was| was.current_version.as_ref()) != state.current_version.as_ref() {
                agreed
                    .entry(name)
                    .or_default()
                    .push(step(state.current_version.as_deref()));
            }
        }
    }
    let selected = selected
        .iter()
        .map(|(name, steps)| format!("selected: {name} {}", steps.join(", ")));
    let agreed = agreed
        .iter()
        .map(|(name, steps)| format!("agreed on: {name} {}", steps.join(", ")));
    selected.chain(agreed).collect()
}

/// Who was killed, and how long Synod answered nothing around the death of a leader.
fn killed(evidence: &Evidence) -> Vec<String> {
    let acts: Vec<&Act> = evidence.acts.values().collect();
    let told = |deed: Deed| -> String {
        let acts = acts.iter().filter(|act| act.deed == deed);
        let acts: Vec<String> = acts
            .map(|act| format!("{} ({})", act.process, act.role))
            .collect();
        acts.join(", ")
    };
    let mut lines = vec![
        format!("stopped: {}", told(Deed::Stopped)),
        format!("killed with SIGKILL: {}", told(Deed::Killed)),
    ];
    let leaders = acts
        .iter()
        .filter(|act| act.deed == Deed::Killed && act.role == "leader");
    lines.extend(leaders.map(|act| {
        let around = act.at_ms.saturating_sub(AROUND_MS)..act.at_ms + AROUND_MS;
        let marks = evidence.marks.values().map(|mark| mark.at_ms);
        let times_ms: Vec<u64> = marks.filter(|at_ms| around.contains(at_ms)).collect();
        format!(
            "failed over: around the death of the leader Synod answered no linearizable read for {} ms",
            longest_gap(&times_ms)
        )
    }));
    lines
}
