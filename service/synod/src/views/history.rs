//! The agreements on a resource over time, as a table.

use synod_client::json;
use synod_client::{AgreementCause, AgreementHistory, WallTime};

use super::or_unset;
use crate::output::{Document, Listed, age};

const COLUMNS: [&str; 6] = ["Revision", "From", "To", "Cause", "Time", "Caller"];

/// `synod storage-versions history`, oldest first.
pub(crate) fn history(history: &AgreementHistory, now: WallTime) -> Document {
    let listed = history.changes.iter().map(|change| Listed {
        name: change.revision.to_string(),
        cells: vec![
            change.revision.to_string(),
            or_unset(change.from.as_ref()),
            or_unset(change.to.as_ref()),
            or_unset(change.cause.as_ref().map(cause)),
            change.at.to_string(),
            or_unset(change.caller.as_ref()),
        ],
        more: vec![age(change.at.as_millis(), now.as_millis())],
    });
    Document::list(json::of(history), (&COLUMNS, &["Age"]), listed)
}

/// The cause of a change. Causes other than members are in parentheses, which no member's id has.
fn cause(cause: &AgreementCause) -> String {
    match cause {
        AgreementCause::Member(member) => member.to_string(),
        AgreementCause::Observed => "(observed)".to_owned(),
        AgreementCause::Roster => "(roster)".to_owned(),
    }
}
