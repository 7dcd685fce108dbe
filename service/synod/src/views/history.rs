//! The agreements on a resource over time, as a table.

use synod_client::json;
use synod_client::{AgreementCause, AgreementHistory, WallTime};

use super::or_unset;
use crate::output::{Document, Table, age};

const COLUMNS: [&str; 5] = ["Revision", "From", "To", "Cause", "Age"];

/// `synod storage-versions history`, oldest first.
pub(crate) fn history(history: &AgreementHistory, now: WallTime) -> Document {
    let mut table = Table::new(COLUMNS);
    let mut wide = Table::new(COLUMNS.into_iter().chain(["Time"]));
    for change in &history.changes {
        let cells = [
            change.revision.to_string(),
            or_unset(change.from.as_ref()),
            or_unset(change.to.as_ref()),
            or_unset(change.cause.as_ref().map(cause)),
            age(change.at.as_millis(), now.as_millis()),
        ];
        table.row(cells.clone());
        wide.row(cells.into_iter().chain([change.at.to_string()]));
    }
    let names = history
        .changes
        .iter()
        .map(|change| change.revision.to_string())
        .collect();
    Document {
        value: json::of(history),
        tables: vec![table],
        wide: vec![wide],
        names,
    }
}

/// The cause of a change. Causes other than members are in parentheses, which no member's id has.
fn cause(cause: &AgreementCause) -> String {
    match cause {
        AgreementCause::Member(member) => member.to_string(),
        AgreementCause::Observed => "(observed)".to_owned(),
        AgreementCause::Roster => "(roster)".to_owned(),
    }
}
