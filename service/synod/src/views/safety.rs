//! Whether something is safe, and every reason why not, in columns.

use synod_client::json;
use synod_client::{Danger, DangerReason, Safety};

use super::{UNSET, span, yes_or_no};
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
    Document {
        value: json::safety(safety),
        tables: vec![table.clone()],
        wide: vec![table],
        names,
    }
}

fn sentence(danger: &Danger, safety: &Safety) -> String {
    match &danger.reason {
        DangerReason::NoState => "nobody ever reported or observed it".to_owned(),
        DangerReason::PersistedUnknown => "objects may be stored in unknown versions".to_owned(),
        DangerReason::Persisted(version) => format!("objects may be stored in {version}"),
        DangerReason::PersistedHash(hash) => {
            format!("objects may be stored in the encoding with the hash {hash}")
        }
        DangerReason::Selected(version) => format!("{version} is selected"),
        DangerReason::Reported(member, version) => format!("{member} encodes {version}"),
        DangerReason::Voted(member, version) => format!("{member} votes for {version}"),
        DangerReason::Draining(version, until) => {
            let left = span(until.since(safety.log_time));
            format!("writes in {version} may land for {left} more")
        }
    }
}
