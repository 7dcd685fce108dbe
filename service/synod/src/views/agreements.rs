//! The answer whether the members agree as tables: the obstacles of the cluster and of each resource, and the assumptions.

use synod_client::{Agreement, GroupResource, Obstacle, json};

use super::safety::{VOUCH, assumptions};
use super::{CLUSTER, SHOWN, UNSET, or_unset, yes_or_no};
use crate::named::text;
use crate::output::{Document, Table};

/// `synod storage-versions check`. The names are those of the resources that are not agreed on.
pub(crate) fn agreement(agreement: &Agreement) -> Document {
    let mut table = Table::new(["Name", "Agreed", "Version", "Why"]);
    let disagreed = yes_or_no(false).to_owned();
    for obstacle in &agreement.obstacles {
        let why = obstacle.message.clone();
        table.row([CLUSTER.to_owned(), disagreed.clone(), UNSET.to_owned(), why]);
    }
    for resource in &agreement.resources {
        let hash = resource.agreed_hash.map(|hash| hash.to_string());
        let version = resource.agreed_version.as_ref().map(ToString::to_string);
        table.row([
            text(&resource.resource),
            yes_or_no(resource.agreed).to_owned(),
            or_unset(version.or(hash)),
            words(&resource.obstacles),
        ]);
    }
    if agreement.omitted > 0 {
        let more = format!("and {} more", agreement.omitted);
        table.row([UNSET.to_owned(), UNSET.to_owned(), UNSET.to_owned(), more]);
    }
    let mut tables = vec![table];
    tables.extend(left_over(&agreement.left_over, agreement.left_over_omitted));
    let mut wide = tables.clone();
    if !agreement.assumptions.is_empty() {
        tables.push(assumptions(&agreement.assumptions, SHOWN, VOUCH));
        wide.push(assumptions(&agreement.assumptions, usize::MAX, VOUCH));
    }
    let disagreed = agreement.resources.iter().filter(|it| !it.agreed);
    let names = disagreed.map(|it| text(&it.resource)).collect();
    Document {
        value: json::of(agreement),
        tables,
        wide,
        names,
    }
}

fn words(obstacles: &[Obstacle]) -> String {
    let words: Vec<&str> = obstacles.iter().map(|it| it.message.as_str()).collect();
    if words.is_empty() {
        "-".to_owned()
    } else {
        words.join("; ")
    }
}

/// The resources that do not count, if there are any.
fn left_over(resources: &[GroupResource], omitted: u32) -> Option<Table> {
    let mut table = Table::new(["LeftOver", "What to do"]);
    for resource in resources {
        let forget = "does not count; if it is gone for good: `synod storage-versions forget`";
        table.row([text(resource), forget.to_owned()]);
    }
    if omitted > 0 {
        table.row([format!("and {omitted} more"), UNSET.to_owned()]);
    }
    (!resources.is_empty()).then_some(table)
}
