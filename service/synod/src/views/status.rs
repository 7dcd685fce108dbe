//! The status of the cluster in three tables: the cluster, its replicas, and the alarms.

use std::time::Duration;

use serde_json::{Value, json};
use synod_client::json::{self as form};
use synod_client::{ClusterStatus, Error, ReplicaStatus};

use super::{or_unset, span};
use crate::output::{Document, Table, UNSET};

const CLUSTER_COLUMNS: [&str; 5] = ["Cluster", "Leader", "Term", "Revision", "Replicas"];
const MORE_CLUSTER_COLUMNS: [&str; 5] =
    ["ID", "Oldest", "OldestUpgrade", "MachineVersion", "LogTime"];
const REPLICA_COLUMNS: [&str; 7] = [
    "Replica", "Role", "State", "Version", "Revision", "Applied", "Client",
];
const MORE_REPLICA_COLUMNS: [&str; 5] = ["Matched", "Digest", "DigestIndex", "Peer", "Directory"];

/// The answer of one endpoint.
#[derive(Debug)]
pub(crate) struct EndpointStatus {
    pub(crate) endpoint: String,
    pub(crate) status: Result<ClusterStatus, Error>,
}

/// `synod status`: the view of one replica, beside what each replica says of itself.
///
/// `status` is the answer from which the tables are made.
pub(crate) fn status(status: &ClusterStatus, answers: &[EndpointStatus]) -> Document {
    let (cluster, more_cluster) = cluster(status);
    let (replicas, more_replicas) = replicas(status, answers);
    let alarms = alarms(status, answers);
    let value = json!({
        "status": form::of(status),
        "answers": form::list(answers, answer),
    });
    let names = status
        .replicas
        .iter()
        .map(|replica| replica.replica_id.to_string())
        .collect();
    Document {
        value,
        tables: [cluster, replicas]
            .into_iter()
            .chain(alarms.clone())
            .collect(),
        wide: [more_cluster, more_replicas]
            .into_iter()
            .chain(alarms)
            .collect(),
        names,
    }
}

fn cluster(status: &ClusterStatus) -> (Table, Table) {
    let mut table = Table::new(CLUSTER_COLUMNS);
    let mut wide = Table::new(CLUSTER_COLUMNS.into_iter().chain(MORE_CLUSTER_COLUMNS));
    let cells = [
        status.cluster_name.clone(),
        or_unset(status.leader_id),
        status.header.raft_term.to_string(),
        status.header.revision.to_string(),
        status.replicas.len().to_string(),
    ];
    table.row(cells.clone());
    wide.row(cells.into_iter().chain([
        status.header.cluster.to_string(),
        status.oldest_revision.to_string(),
        status.oldest_upgrade_revision.to_string(),
        status.machine_version.to_string(),
        span(Duration::from_millis(status.log_time.as_millis())),
    ]));
    (table, wide)
}

fn replicas(status: &ClusterStatus, answers: &[EndpointStatus]) -> (Table, Table) {
    let mut table = Table::new(REPLICA_COLUMNS);
    let mut wide = Table::new(REPLICA_COLUMNS.into_iter().chain(MORE_REPLICA_COLUMNS));
    for replica in &status.replicas {
        let own = own_answer(replica, answers);
        let applied = own.map(|own| own.applied_index).or(replica.applied_index);
        let cells = [
            replica.replica_id.to_string(),
            replica.role.as_str().to_owned(),
            state(replica, status, own).to_owned(),
            or_unset(Some(&replica.version).filter(|version| !version.is_empty())),
            or_unset(own.map(|own| own.header.revision)),
            or_unset(applied),
            or_unset(Some(&replica.client_address).filter(|address| !address.is_empty())),
        ];
        table.row(cells.clone());
        wide.row(cells.into_iter().chain([
            or_unset(replica.matched_index),
            own.map_or_else(|| UNSET.to_owned(), |own| short(&own.digest)),
            or_unset(own.map(|own| own.digest_index)),
            replica.peer_address.clone(),
            replica.directory_id.clone(),
        ]));
    }
    (table, wide)
}

/// The answer of a replica itself, if it was reached.
pub(super) fn own_answer<'a>(
    replica: &ReplicaStatus,
    answers: &'a [EndpointStatus],
) -> Option<&'a ClusterStatus> {
    answers
        .iter()
        .filter_map(|answer| answer.status.as_ref().ok())
        .find(|own| own.header.replica_id == replica.replica_id)
}

pub(super) fn state(
    replica: &ReplicaStatus,
    status: &ClusterStatus,
    own: Option<&ClusterStatus>,
) -> &'static str {
    match own {
        // The replica has not announced its client address yet, so it could not be called.
        None if replica.client_address.is_empty() => "unknown",
        None => "unreachable",
        Some(_) if status.leader_id == Some(replica.replica_id) => "leader",
        Some(own) if own.leader_id.is_none() => "no leader",
        Some(_) => "follower",
    }
}

/// The start of a digest: enough to see whether two are equal.
fn short(digest: &str) -> String {
    digest.chars().take(16).collect()
}

/// The alarms and the unreachable endpoints; `None` if there are none.
pub(super) fn alarms(status: &ClusterStatus, answers: &[EndpointStatus]) -> Option<Table> {
    let mut table = Table::new(["Alarm", "Where", "What"]);
    for alarm in &status.alarms {
        let replica = alarm
            .replica_id
            .map_or_else(|| "cluster".to_owned(), |id| format!("replica {id}"));
        table.row([
            alarm.kind.as_str().to_owned(),
            replica,
            alarm.message.clone(),
        ]);
    }
    for EndpointStatus { endpoint, status } in answers {
        if let Err(error) = status {
            let message = error.message();
            let what = message
                .strip_prefix(endpoint.as_str())
                .and_then(|rest| rest.strip_prefix(": "));
            table.row(["unreachable", endpoint, what.unwrap_or(message)]);
        }
    }
    (!table.is_empty()).then_some(table)
}

fn answer(answer: &EndpointStatus) -> Value {
    let document = form::JsonObject::new().with("endpoint", answer.endpoint.as_str());
    let document = match &answer.status {
        Ok(status) => document.with("status", form::of(status)),
        Err(error) => document.with("error", super::error(error)),
    };
    document.into()
}
