//! Whether something is safe, every reason why not, and what a safe answer assumes, in columns.

use synod_client::json;
use synod_client::{Assumed, Assumption, Danger, DangerReason, GroupResource, Safety};

use super::{SHOWN, UNSET, joined, span, yes_or_no};
use crate::output::{Document, Table};

/// `synod check-binary` and `synod check-drop`. The names are those of the resources that something speaks against.
pub(crate) fn safety(safety: &Safety) -> Document {
    let mut table = Table::new(["Safe", "Resource", "Why"]);
    let mut names: Vec<String> = Vec::new();
    for danger in &safety.dangers {
        let name = danger.resource.storage_version_name();
        let why = sentence(danger, safety);
        table.row([yes_or_no(false).to_owned(), name.clone(), why]);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    if safety.is_safe() {
        table.row([yes_or_no(true), UNSET, UNSET].map(str::to_owned));
    }
    if safety.omitted > 0 {
        let more = format!("and {} reasons more", safety.omitted);
        table.row([yes_or_no(false).to_owned(), UNSET.to_owned(), more]);
    }
    let (mut tables, mut wide) = (vec![table.clone()], vec![table]);
    if !safety.assumptions.is_empty() {
        tables.push(assumptions(&safety.assumptions, SHOWN));
        wide.push(assumptions(&safety.assumptions, usize::MAX));
    }
    Document {
        value: json::safety(safety),
        tables,
        wide,
        names,
    }
}

/// The reason in words; how long something drains is told by the state that was read.
fn sentence(danger: &Danger, safety: &Safety) -> String {
    match &danger.reason {
        DangerReason::Draining(_, until) | DangerReason::DrainingHash(_, until) => {
            let left = span(until.since(safety.log_time));
            format!("{}, for {left} more", danger.message)
        }
        _ => danger.message.clone(),
    }
}

fn assumptions(assumptions: &[Assumed], shown: usize) -> Table {
    let mut table = Table::new(["Assumed of", "What", "What to do"]);
    for assumed in assumptions {
        let named = assumed.resources.iter();
        let mut names: Vec<String> = named.map(GroupResource::storage_version_name).collect();
        if assumed.omitted > 0 && names.len() <= shown {
            names.push(format!("{} more", assumed.omitted));
        }
        let to_do = match assumed.reason {
            Assumption::NoRoster => {
                "say who must speak: `synod rosters set`; then migrate: `synod migrations start`; or vouch for it: \
                 --assume-complete"
            }
        };
        table.row([
            joined(&names, shown),
            assumed.message.clone(),
            to_do.to_owned(),
        ]);
    }
    table
}
