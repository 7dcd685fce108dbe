//! Judges the cluster as a whole: whether those who answer are of one cluster, have a quorum and a leader, and agree.

use std::collections::{BTreeMap, BTreeSet};

use synod_client::{Alarm, AlarmKind, ClusterStatus, ReplicaRole, ReplicaStatus};

use super::super::found::Found;
use super::{CLUSTER, Findings, Verdict, replica_name};

/// A replica that lacks more entries than these does not keep up.
const LAG_MAX: u64 = 1_000;

pub(super) fn cluster(found: &Found, findings: &mut Findings) {
    let statuses: Vec<&ClusterStatus> = found.answers().map(|it| &it.status).collect();
    let Some(best) = best(&statuses) else {
        let advice = "begin with the faults above";
        findings.fault(("quorum", CLUSTER), "no replica answers", advice);
        return;
    };
    identity(&statuses, findings);
    quorum(best, &statuses, findings);
    leader(&statuses, findings);
    for replica in &best.replicas {
        progress(replica, best, &statuses, findings);
    }
    digests(&statuses, findings);
    versions(best, findings);
    alarms(&statuses, findings);
}

/// The leader's answer, since it knows most; else that of the replica that has applied most.
fn best<'a>(statuses: &[&'a ClusterStatus]) -> Option<&'a ClusterStatus> {
    statuses.iter().copied().max_by_key(|status| {
        let leads = status.leader_id == Some(status.header.replica_id);
        (leads, status.header.raft_term, status.applied_index)
    })
}

/// Endpoints of several clusters in one list are a mistake that nothing else would tell.
fn identity(statuses: &[&ClusterStatus], findings: &mut Findings) {
    let clusters: BTreeSet<String> = statuses
        .iter()
        .map(|status| format!("{} ({})", status.cluster_name, status.header.cluster))
        .collect();
    let at = ("cluster", CLUSTER);
    let named = clusters.iter().cloned().collect::<Vec<_>>().join(", ");
    if clusters.len() == 1 {
        findings.ok(at, named);
    } else {
        let advice = "give the endpoints of one cluster only";
        findings.fault(at, format!("the endpoints are of several: {named}"), advice);
    }
}

fn quorum(best: &ClusterStatus, statuses: &[&ClusterStatus], findings: &mut Findings) {
    let voters = best
        .replicas
        .iter()
        .filter(|it| it.role == ReplicaRole::Voter);
    let voters: BTreeSet<u64> = voters.map(|it| it.replica_id).collect();
    let answered = statuses.iter().map(|status| status.header.replica_id);
    let answered = answered
        .filter(|id| voters.contains(id))
        .collect::<BTreeSet<_>>();
    let needed = voters.len() / 2 + 1;
    let what = format!(
        "{} of {} voters answer, and {needed} are a quorum",
        answered.len(),
        voters.len()
    );
    let missing: Vec<String> = voters.difference(&answered).map(u64::to_string).collect();
    let advice = format!(
        "start the replicas that do not answer, or make them reachable: {}",
        missing.join(", ")
    );
    let at = ("quorum", CLUSTER);
    match (answered.len() >= needed, missing.is_empty()) {
        (_, true) => findings.ok(at, what),
        (true, false) => findings.warning(at, what, advice),
        (false, false) => findings.fault(at, what, advice),
    }
}

fn leader(statuses: &[&ClusterStatus], findings: &mut Findings) {
    let mut named: BTreeMap<Option<u64>, Vec<u64>> = BTreeMap::new();
    for status in statuses {
        named
            .entry(status.leader_id)
            .or_default()
            .push(status.header.replica_id);
    }
    let at = ("leader", CLUSTER);
    let told = |ids: &[u64]| {
        let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
        ids.join(", ")
    };
    match named.iter().next() {
        Some((Some(leader), by)) if named.len() == 1 && by.contains(leader) => {
            findings.ok(at, format!("replica {leader}, say all that answer"));
        }
        // Who has lost its leader names it until another one is elected.
        Some((Some(leader), by)) if named.len() == 1 => {
            let what = format!(
                "replica {leader}, says {}, and that one does not answer",
                told(by)
            );
            let advice = "look at it: if it has ended, another one is elected once a quorum of the voters runs";
            findings.warning(at, what, advice);
        }
        Some((None, _)) if named.len() == 1 => {
            let advice = "a leader needs a quorum of the voters that reach each other at their peer addresses";
            findings.fault(at, "no replica that answers knows one", advice);
        }
        _ => {
            let sayings = named.iter().map(|(leader, by)| match leader {
                Some(leader) => format!("replica {leader} by {}", told(by)),
                None => format!("none by {}", told(by)),
            });
            let what = sayings.collect::<Vec<_>>().join("; ");
            let advice = "while one is elected this is so for a moment: if it stays, check the peer addresses and links";
            findings.fault(at, what, advice);
        }
    }
}

/// Whether a replica follows the log.
fn progress(
    replica: &ReplicaStatus,
    best: &ClusterStatus,
    statuses: &[&ClusterStatus],
    findings: &mut Findings,
) {
    let name = replica_name(replica.replica_id);
    let at = ("follows", name.as_str());
    let own = statuses
        .iter()
        .find(|status| status.header.replica_id == replica.replica_id);
    let reached = own.map(|own| own.applied_index).max(replica.matched_index);
    let Some(reached) = reached else {
        let advice = "start it, or make it reachable: nobody says how far it has come";
        findings.fault(at, "it does not answer, and no leader tells of it", advice);
        return;
    };
    let lag = best.applied_index.saturating_sub(reached);
    let role = replica.role.as_str();
    let what = format!("{role} at log index {reached}, {lag} behind");
    if lag > LAG_MAX {
        let advice =
            "check its disk and its link: it may be catching up, so look whether the lag shrinks";
        findings.warning(at, what, advice);
    } else if own.is_none() {
        let advice =
            "it follows the leader, and does not answer here: check the way to its client address";
        findings.warning(at, what, advice);
    } else if replica.role == ReplicaRole::Learner {
        findings.warning(
            at,
            what,
            "a learner does not count for the quorum: promote it once it has caught up",
        );
    } else {
        findings.ok(at, what);
    }
}

/// At equal indexes all replicas must have equal digests.
fn digests(statuses: &[&ClusterStatus], findings: &mut Findings) {
    let mut by_index: BTreeMap<u64, BTreeMap<&str, Vec<u64>>> = BTreeMap::new();
    for status in statuses {
        let digests = by_index.entry(status.digest_index).or_default();
        digests
            .entry(&status.digest)
            .or_default()
            .push(status.header.replica_id);
    }
    let at = ("digest", CLUSTER);
    let differing = by_index.iter().find(|(_, digests)| digests.len() > 1);
    if let Some((index, digests)) = differing {
        let advice = "their states differ: take no writes, and keep the files of all replicas";
        let sides: Vec<String> = digests
            .iter()
            .map(|(digest, of)| format!("{digest} of {of:?}"))
            .collect();
        findings.fault(
            at,
            format!("at log index {index}: {}", sides.join(", ")),
            advice,
        );
        return;
    }
    let compared = by_index
        .values()
        .flat_map(BTreeMap::values)
        .map(Vec::len)
        .max();
    match compared.unwrap_or_default() {
        0 | 1 => findings.ok(
            at,
            "not comparable: no two replicas answered at one log index",
        ),
        compared => findings.ok(at, format!("equal on {compared} replicas at one log index")),
    }
}

fn versions(best: &ClusterStatus, findings: &mut Findings) {
    let of = |name: fn(&ReplicaStatus) -> String| {
        let mut by_value: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for replica in best.replicas.iter().filter(|it| it.machine_version > 0) {
            by_value
                .entry(name(replica))
                .or_default()
                .push(replica.replica_id.to_string());
        }
        by_value
    };
    let told = |values: &BTreeMap<String, Vec<String>>| {
        let each = values
            .iter()
            .map(|(value, ids)| format!("{value} on {}", ids.join(", ")));
        each.collect::<Vec<_>>().join("; ")
    };
    let programs = of(|replica| replica.version.clone());
    let advice = "finish the upgrade: one minor version apart is meant for its time only";
    let verdict = |values: &BTreeMap<String, Vec<String>>| match values.len() {
        0 | 1 => (Verdict::Ok, ""),
        _ => (Verdict::Warning, advice),
    };
    let (grade, advice) = verdict(&programs);
    findings.add(("version", CLUSTER), grade, told(&programs), advice);
    let machines = of(|replica| replica.machine_version.to_string());
    let (grade, advice) = verdict(&machines);
    let what = format!(
        "{} in force; announced: {}",
        best.machine_version,
        told(&machines)
    );
    findings.add(("machine-version", CLUSTER), grade, what, advice);
}

/// What the replicas themselves raise, each once.
fn alarms(statuses: &[&ClusterStatus], findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for alarm in statuses.iter().flat_map(|status| &status.alarms) {
        if !seen.insert((alarm.kind, alarm.replica_id, alarm.message.as_str())) {
            continue;
        }
        let place = alarm
            .replica_id
            .map_or_else(|| CLUSTER.to_owned(), replica_name);
        // Its message says what to do.
        let Alarm { kind, message, .. } = alarm;
        let what = format!("{}: {message}", kind.as_str());
        findings.add(("alarm", &place), gravity(*kind), what, "");
    }
    if seen.is_empty() {
        findings.ok(("alarm", CLUSTER), "no replica raises one");
    }
}

/// An alarm over which something is refused is a fault.
fn gravity(kind: AlarmKind) -> Verdict {
    match kind {
        AlarmKind::NoQuorum
        | AlarmKind::DigestMismatch
        | AlarmKind::Quota
        | AlarmKind::DiskFull
        | AlarmKind::WentBack => Verdict::Fault,
        AlarmKind::DamagedCheckpoint
        | AlarmKind::Certificate
        | AlarmKind::Policy
        | AlarmKind::Audit
        | AlarmKind::NotVoting
        | AlarmKind::SwitchedOff
        | AlarmKind::Other => Verdict::Warning,
    }
}
