//! The answer whether an upgrade may go on as tables: the obstacles, and the assumptions.

use synod_client::{UpgradeObstacle, UpgradeStatus, json};

use super::safety::{VOUCH, assumptions};
use super::{CLUSTER, SHOWN, UNSET};
use crate::named::text;
use crate::output::{Document, Table};

/// `synod upgrade status`. The names are those of the resources and members that stand in the way.
pub(crate) fn upgrade(status: &UpgradeStatus) -> Document {
    let mut table = Table::new(["InTheWay", "Of", "Why", "What helps"]);
    for obstacle in &status.obstacles {
        let of = obstacle.resource.as_ref().map(text);
        table.row([
            obstacle.reason.as_str().to_owned(),
            of.unwrap_or_else(|| CLUSTER.to_owned()),
            obstacle.message.clone(),
            obstacle.command.clone(),
        ]);
    }
    if status.omitted > 0 {
        let more = format!("and {} more", status.omitted);
        table.row([UNSET.to_owned(), UNSET.to_owned(), more, UNSET.to_owned()]);
    }
    let mut tables: Vec<Table> = Some(table)
        .filter(|it| !it.is_empty())
        .into_iter()
        .collect();
    let mut wide = tables.clone();
    if !status.assumptions.is_empty() {
        tables.push(assumptions(&status.assumptions, SHOWN, VOUCH));
        wide.push(assumptions(&status.assumptions, usize::MAX, VOUCH));
    }
    Document {
        value: json::of(status),
        tables,
        wide,
        names: names(&status.obstacles),
    }
}

/// The names in the order of the obstacles, each once.
fn names(obstacles: &[UpgradeObstacle]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for obstacle in obstacles {
        let resource = obstacle.resource.as_ref().map(text);
        let members = obstacle.members.iter().map(ToString::to_string);
        let members = members.filter(|_| obstacle.resource.is_none());
        for name in resource.into_iter().chain(members) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
