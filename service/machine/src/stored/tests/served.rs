//! A served version with a date: its report, what is kept of it, and what the leader names when the date has come.

use synod_model::{SERVED, WITHDRAWN};

use super::*;

fn beta() -> GroupResource {
    GroupResource::new("widgets.example.io.served.synod", "v1beta1").unwrap()
}

/// The first command of a cluster, then a member that promises a version, and the end of the promise.
pub(super) fn log_of_a_version() -> Vec<LogEntry> {
    let promised = ReportEntry {
        resource: beta(),
        decodable: [SERVED, WITHDRAWN].map(version).into_iter().collect(),
        served: VersionSet::default(),
        serve_until: Some(WallTime::from_millis(1_000_900)),
        ..entry(
            "widgets",
            Stance::Voting {
                preferred: version(SERVED),
            },
        )
    };
    let replicas = [ReplicaId::new(1)];
    let announce = replicas.map(|replica| {
        Command::AnnounceReplica(AnnounceReplica {
            replica,
            directory: DirectoryId::from_bytes([3; 16]),
            client_endpoint: String::new(),
            binary: "0.2.0".to_owned(),
            machine_version: 2,
            disk_is_low: false,
        })
    });
    let first = every_command().into_iter().take(1).chain(announce);
    let commands = first.chain([
        Command::RaiseMachineVersion(RaiseMachineVersion {
            to: 2,
            replicas: replicas.into(),
        }),
        join("a"),
        report("a", 4, vec![promised]),
        Command::Expire(Expire {
            topics: [beta()].into(),
            ..Expire::default()
        }),
    ]);
    one_by_one(commands)
}

#[test]
fn the_log_of_a_version_leaves_its_date_in_every_row_that_has_one() {
    let state = state_after(&log_of_a_version());
    let rows: Vec<Row> = state.rows().collect();
    let has = |wanted: fn(&Row) -> bool| rows.iter().any(wanted);
    assert!(has(
        |row| matches!(row, Row::Entry(_, _, entry) if entry.serve_until.is_some())
    ));
    assert!(has(
        |row| matches!(row, Row::StorageState(_, state) if state.status.serve_until.is_some())
    ));
    assert!(has(|row| matches!(row, Row::Deadline(Holder::Topic(_), _))));
}
