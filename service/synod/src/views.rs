//! The printed forms of the cluster's answers, one kind of object a file: JSON, tables and names.

mod agreements;
mod backups;
mod cluster;
mod collections;
mod contexts;
mod controller_revisions;
mod findings;
mod history;
mod leases;
mod log_filters;
mod matrix;
mod members;
mod migrations;
mod objects;
mod rosters;
mod safety;
mod settings;
mod status;
mod storage_versions;
mod top;
mod topics;
mod upgrades;

use std::time::Duration;

pub(crate) use agreements::agreement;
pub(crate) use backups::{backup, created, founded, may_be_lost, survivor};
pub(crate) use cluster::{checkpoints, leader_changed, replica_changed};
pub(crate) use collections::{collection, collection_changed, collection_deleted, collections};
pub(crate) use contexts::{contexts, current_context};
pub(crate) use controller_revisions::{
    controller_revision, controller_revisions, revision_diff, rolled_back, truncated,
};
pub(crate) use findings::findings;
pub(crate) use history::history;
pub(crate) use leases::{lease, leases};
pub(crate) use log_filters::{EndpointLog, log_filters};
pub(crate) use matrix::matrix;
pub(crate) use members::{member, members};
pub(crate) use migrations::{assumed, cause, migration, migrations};
pub(crate) use objects::{object, objects, written};
pub(crate) use rosters::{roster, roster_changed, roster_deleted, rosters};
pub(crate) use safety::{assumption_lines, safety};
pub(crate) use settings::{settings, settings_changed};
pub(crate) use status::{EndpointStatus, status};
#[cfg(test)]
pub(crate) use storage_versions::{COLUMNS as STORAGE_VERSION_COLUMNS, first_cells};
pub(crate) use storage_versions::{storage_version, storage_versions};
pub(crate) use top::{Sample, top};
pub(crate) use topics::{topic, topics};
pub(crate) use upgrades::upgrade;

use serde_json::{Value, json};
use synod_client::Error;

use crate::output::{UNSET, age};

/// The name of the cluster among those of resources, none of which has such characters.
const CLUSTER: &str = "(cluster)";

/// How many of many names a column shows, as Kubernetes does.
const SHOWN: usize = 3;

/// The text of a value, or [`UNSET`].
fn or_unset<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| UNSET.to_owned(), |value| value.to_string())
}

/// The texts, separated by commas; beyond `shown` of them only the number of the others.
fn joined(texts: &[String], shown: usize) -> String {
    joined_of(texts, 0, shown)
}

/// Like [`joined`], with `omitted` more texts that are not known here.
fn joined_of(texts: &[String], omitted: u32, shown: usize) -> String {
    let hidden = texts.len().saturating_sub(shown);
    match (texts.len(), hidden.saturating_add(omitted as usize)) {
        (0, _) => UNSET.to_owned(),
        (_, 0) => texts.join(","),
        (found, more) => {
            let texts = &texts[..found - hidden];
            format!("{} + {more} more...", texts.join(","))
        }
    }
}

/// All items, separated by commas.
fn all<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    joined(&texts, usize::MAX)
}

/// A duration, written as ages are.
fn span(span: Duration) -> String {
    age(0, u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// The error of one of several answers.
fn error(error: &Error) -> Value {
    json!({"reason": error.kind().reason(), "message": error.message()})
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}
