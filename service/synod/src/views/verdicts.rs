//! The verdicts on resources, and their assumptions, as tables.

use serde_json::{Value, json};
use synod_client::json::{self as form, text};
use synod_client::{Assumed, Revision};

use super::safety::assumptions;
use super::{SHOWN, or_unset, yes_or_no};
use crate::output::{Document, Table};
use crate::verdict::{Reason, ResourceVerdict};

/// `synod storage-versions check`, at a revision. The names are those of the resources that are not agreed on.
pub(crate) fn verdicts(
    revision: Revision,
    verdicts: &[ResourceVerdict],
    assumed: &[Assumed],
) -> Document {
    let mut table = Table::new(["Name", "Agreed", "Version", "Why"]);
    let mut wide = Table::new(["Name", "Agreed", "Version", "Why"]);
    for verdict in verdicts {
        let cells = |shown: usize| {
            let why: Vec<String> = verdict
                .reasons
                .iter()
                .map(|reason| reason.sentence(shown))
                .collect();
            [
                verdict.resource.qualified().to_owned(),
                yes_or_no(verdict.is_agreed()).to_owned(),
                or_unset(verdict.agreed.as_ref()),
                if why.is_empty() {
                    "-".to_owned()
                } else {
                    why.join("; ")
                },
            ]
        };
        table.row(cells(SHOWN));
        wide.row(cells(usize::MAX));
    }
    let value = json!({
        "revision": form::revision(revision),
        "agreed": verdicts.iter().all(ResourceVerdict::is_agreed),
        "resources": form::list(verdicts, resource),
        "assumptions": form::list(assumed, form::of),
    });
    let disagreed = verdicts.iter().filter(|verdict| !verdict.is_agreed());
    let names = disagreed.map(|verdict| verdict.resource.qualified().to_owned());
    let names = names.collect();
    let (mut tables, mut wide) = (vec![table], vec![wide]);
    if !assumed.is_empty() {
        tables.push(assumptions(assumed, SHOWN, ""));
        wide.push(assumptions(assumed, usize::MAX, ""));
    }
    Document {
        value,
        tables,
        wide,
        names,
    }
}

fn resource(verdict: &ResourceVerdict) -> Value {
    form::JsonObject::new()
        .with("name", verdict.resource.storage_version_name())
        .with("agreed", verdict.is_agreed())
        .with_some("agreedVersion", form::version(verdict.agreed.as_ref()))
        .with("reasons", form::list(&verdict.reasons, reason))
        .into()
}

fn reason(reason: &Reason) -> Value {
    let groups = form::list(reason.members(), |(version, members)| {
        form::JsonObject::new()
            .with_some("version", form::version(version))
            .with("members", form::list(members, text))
            .into()
    });
    let form = form::JsonObject::new()
        .with("reason", reason.as_str())
        .with("message", reason.sentence(usize::MAX))
        .with("groups", groups);
    match reason {
        Reason::Contradicted { hashes, expired } => form
            .with("hashes", form::list(hashes, text))
            .with("expired", *expired),
        Reason::Absent { absent } => form
            .with("unnamed", absent.unnamed)
            .with("short", absent.short)
            .with("labelSelector", absent.labels.to_string()),
        Reason::Unreported
        | Reason::NothingSelected { .. }
        | Reason::EncodingsDiffer { .. }
        | Reason::FixedElsewhere { .. }
        | Reason::NotAdopted { .. }
        | Reason::ObservationExpired
        | Reason::Unexplained => form,
    }
    .into()
}
