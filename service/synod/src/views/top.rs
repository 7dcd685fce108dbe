//! The replicas and what happens in the cluster, as `synod top` shows it.

use std::time::Duration;

use synod_client::{ClusterStatus, ReplicaStatus};
use tokio::time::Instant;

use super::status::{alarms, own_answer, state};
use super::{EndpointStatus, or_unset};
use crate::commands::status::best;
use crate::output::{Table, UNSET};

/// The answers of one round.
#[derive(Debug)]
pub(crate) struct Sample {
    /// When they had come.
    pub(crate) at: Instant,
    pub(crate) answers: Vec<EndpointStatus>,
}

/// The tables of a round; rates are since the round before.
pub(crate) fn top(sample: &Sample, before: Option<&Sample>) -> Vec<Table> {
    let Some(status) = best(&sample.answers) else {
        return unreachable(sample);
    };
    let earlier = before
        .and_then(|before| Some((best(&before.answers)?, sample.at.duration_since(before.at))));
    let mut tables = vec![
        cluster(status, earlier),
        contents(status),
        replicas(status, &sample.answers),
    ];
    tables.extend(alarms(status, &sample.answers));
    tables
}

fn unreachable(sample: &Sample) -> Vec<Table> {
    let mut table = Table::new(["Endpoint", "What"]);
    for answer in &sample.answers {
        if let Err(error) = &answer.status {
            table.row([answer.endpoint.as_str(), error.message()]);
        }
    }
    vec![table]
}

fn cluster(status: &ClusterStatus, earlier: Option<(&ClusterStatus, Duration)>) -> Table {
    let mut table = Table::new([
        "Cluster",
        "Leader",
        "Term",
        "Revision",
        "Revisions/s",
        "Entries/s",
    ]);
    let rate = |of: fn(&ClusterStatus) -> u64| {
        earlier.map(|(earlier, passed)| rate(of(earlier), of(status), passed))
    };
    table.row([
        status.cluster_name.clone(),
        or_unset(status.leader_id),
        status.header.raft_term.to_string(),
        status.header.revision.to_string(),
        or_unset(rate(|status| status.header.revision.get())),
        or_unset(rate(|status| status.applied_index)),
    ]);
    table
}

/// How much a number that only grows has grown each second.
fn rate(from: u64, to: u64, passed: Duration) -> String {
    let grown = u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
    let seconds = passed.as_secs_f64().max(f64::EPSILON);
    format!("{:.1}", f64::from(grown) / seconds)
}

fn contents(status: &ClusterStatus) -> Table {
    let mut table = Table::new([
        "Members",
        "Sessions",
        "Resources",
        "Disagreements",
        "State",
        "OfQuota",
    ]);
    let cells = match &status.vitals {
        Some(vitals) => {
            let percent =
                u128::from(vitals.state_bytes) * 100 / u128::from(vitals.state_quota_bytes.max(1));
            [
                vitals.members.to_string(),
                vitals.sessions.to_string(),
                vitals.storage_versions.to_string(),
                vitals.disagreements.to_string(),
                format!("{} KiB", vitals.state_bytes.div_ceil(1_024)),
                format!("{percent} %"),
            ]
        }
        None => std::array::from_fn(|_| UNSET.to_owned()),
    };
    table.row(cells);
    table
}

fn replicas(status: &ClusterStatus, answers: &[EndpointStatus]) -> Table {
    let mut table = Table::new([
        "Replica", "Role", "State", "Version", "Applied", "Matched", "Lag", "Flush", "Client",
    ]);
    for replica in &status.replicas {
        let own = own_answer(replica, answers);
        let applied = own.map(|own| own.applied_index).or(replica.applied_index);
        let lag = replica
            .matched_index
            .max(applied)
            .map(|reached| status.applied_index.saturating_sub(reached));
        table.row([
            replica.replica_id.to_string(),
            replica.role.as_str().to_owned(),
            state(replica, status, own).to_owned(),
            or_unset(Some(&replica.version).filter(|version| !version.is_empty())),
            or_unset(applied),
            or_unset(replica.matched_index),
            or_unset(lag),
            or_unset(own.and_then(flush)),
            address(replica),
        ]);
    }
    table
}

/// The median of a replica's last writes to its log.
fn flush(own: &ClusterStatus) -> Option<String> {
    let vitals = own
        .vitals
        .as_ref()
        .filter(|vitals| vitals.log_flushes > 0)?;
    let median = Duration::from_micros(vitals.log_flush_us_median);
    Some(format!("{:.1} ms", median.as_secs_f64() * 1_000.0))
}

fn address(replica: &ReplicaStatus) -> String {
    or_unset(Some(&replica.client_address).filter(|address| !address.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_by_the_time_that_has_passed_and_never_below_zero() {
        assert_eq!(rate(10, 40, Duration::from_secs(2)), "15.0");
        assert_eq!(rate(40, 10, Duration::from_secs(2)), "0.0");
    }
}
