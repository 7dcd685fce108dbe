//! Judges what each replica tells of its host: its clock, its disk, and how near the state is to its bounds.

use std::time::Duration;

use synod_client::ReplicaVitals;

use super::super::found::Answered;
use super::{Findings, replica_name};

/// How far the clocks of two hosts may be apart.
const SKEW_MAX: Duration = Duration::from_secs(1);

/// A write to the log that takes longer at the median is slow: it is a part of every change.
const FLUSH_SLOW: Duration = Duration::from_millis(10);

/// A single write to the log that takes longer stalls heartbeats, and may cost the leadership.
const FLUSH_STALLS: Duration = Duration::from_millis(200);

/// What uses more of its bound than this, in percent, is near it.
const NEAR_PERCENT: u64 = 80;

pub(super) fn replica(answered: &Answered, findings: &mut Findings) {
    let name = replica_name(answered.status.header.replica_id);
    let Some(vitals) = &answered.status.vitals else {
        let advice = "upgrade it to learn of its clock, its disk and its bounds";
        findings.warning(
            ("vitals", &name),
            "its release tells nothing of its host",
            advice,
        );
        return;
    };
    clock(answered, vitals, &name, findings);
    disk(vitals, &name, findings);
    bounds(vitals, &name, findings);
}

/// The replica read its clock at some time during the call, so that much is not known.
fn clock(answered: &Answered, vitals: &ReplicaVitals, name: &str, findings: &mut Findings) {
    let asked = answered.asked.as_millis();
    let trip = u64::try_from(answered.round_trip.as_millis()).unwrap_or(u64::MAX);
    let told = vitals.wall_time.as_millis();
    let skew = if told < asked {
        asked - told
    } else {
        told.saturating_sub(asked.saturating_add(trip))
    };
    let at = ("clock", name);
    let direction = if told < asked { "behind" } else { "ahead of" };
    if Duration::from_millis(skew) > SKEW_MAX {
        let what = format!("at least {skew} ms {direction} this machine's");
        let advice =
            "let a time service (NTP, PTP) set both clocks: certificates are judged by them";
        findings.warning(at, what, advice);
    } else {
        findings.ok(
            at,
            format!("within {} ms of this machine's", skew.saturating_add(trip)),
        );
    }
}

fn disk(vitals: &ReplicaVitals, name: &str, findings: &mut Findings) {
    let at = ("disk", name);
    if vitals.log_flushes == 0 {
        return findings.ok(at, "nothing was written to the log since it started");
    }
    let (median, longest) = (
        Duration::from_micros(vitals.log_flush_us_median),
        Duration::from_micros(vitals.log_flush_us_max),
    );
    let what = format!(
        "its last {} writes to the log took {:.1} ms at the median, {:.1} ms at most",
        vitals.log_flushes,
        median.as_secs_f64() * 1_000.0,
        longest.as_secs_f64() * 1_000.0
    );
    if median > FLUSH_SLOW || longest > FLUSH_STALLS {
        let advice = "give it a disk of its own with fast syncs: every change waits for a quorum of these writes";
        findings.warning(at, what, advice);
    } else {
        findings.ok(at, what);
    }
}

fn bounds(vitals: &ReplicaVitals, name: &str, findings: &mut Findings) {
    let used = [
        (
            "state_quota_bytes",
            vitals.state_bytes,
            vitals.state_quota_bytes,
        ),
        (
            "members_max",
            vitals.members.into(),
            vitals.members_max.into(),
        ),
        (
            "sessions_max",
            vitals.sessions.into(),
            vitals.sessions_max.into(),
        ),
    ];
    let percent = |used: u64, bound: u64| {
        let percent = u128::from(used) * 100 / u128::from(bound.max(1));
        u64::try_from(percent).unwrap_or(u64::MAX)
    };
    let near = used
        .iter()
        .filter(|(_, used, bound)| percent(*used, *bound) >= NEAR_PERCENT);
    let near: Vec<String> = near
        .map(|(setting, used, bound)| format!("{used} of {setting}={bound}"))
        .collect();
    let at = ("bounds", name);
    if near.is_empty() {
        let most = used
            .iter()
            .map(|(_, used, bound)| percent(*used, *bound))
            .max();
        findings.ok(
            at,
            format!("at most {} % of a bound is used", most.unwrap_or_default()),
        );
    } else {
        let advice = "remove what is not needed, or raise the setting: synod settings set";
        findings.warning(at, near.join(", "), advice);
    }
}
