//! What has come of changes of the replica set.

use serde_json::json;
use synod_client::json as form;
use synod_client::{Changed, CheckpointWritten};

use super::yes_or_no;
use crate::output::{Document, Table};

/// `synod cluster add`, `promote`, `remove` and `replace`, with the replica that it is about.
pub(crate) fn replica_changed(changed: &Changed, replica: u64) -> Document {
    let mut table = Table::new(["Replica", "Changed"]);
    table.row([replica.to_string(), yes_or_no(changed.changed).to_owned()]);
    of(changed, table, vec![replica.to_string()])
}

/// `synod cluster transfer-leader`.
pub(crate) fn leader_changed(changed: &Changed) -> Document {
    let mut table = Table::new(["Changed", "Term"]);
    table.row([
        yes_or_no(changed.changed).to_owned(),
        changed.header.raft_term.to_string(),
    ]);
    of(changed, table, Vec::new())
}

/// `synod cluster checkpoint`, of each replica that was asked.
pub(crate) fn checkpoints(written: &[CheckpointWritten]) -> Document {
    let mut table = Table::new(["Replica", "Revision", "Index"]);
    for checkpoint in written {
        table.row([
            checkpoint.header.replica_id.to_string(),
            checkpoint.header.revision.to_string(),
            checkpoint.index.to_string(),
        ]);
    }
    let names = written.iter();
    Document {
        value: json!({"items": form::list(written, form::of)}),
        tables: vec![table.clone()],
        wide: vec![table],
        names: names.map(|one| one.header.replica_id.to_string()).collect(),
    }
}

fn of(changed: &Changed, table: Table, names: Vec<String>) -> Document {
    Document {
        value: json!({"header": form::of(&changed.header), "changed": changed.changed}),
        tables: vec![table.clone()],
        wide: vec![table],
        names,
    }
}
