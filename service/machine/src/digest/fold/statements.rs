//! The canonical form of what a member said last, and of what it says.

use synod_model::{Adopt, MemberId, Report, ReportEntry, Stance};

use super::values::{fold_resource, fold_version, fold_versions};
use crate::digest::{RowHash, RowHasher};
use crate::{StatementHash, StatementRow};

pub(crate) fn statement_hash(member: &MemberId, row: &StatementRow) -> RowHash {
    let StatementRow { number, content } = row;
    let mut to = RowHasher::new(12);
    to.text(member.as_str());
    to.number(number.get());
    to.raw(content.as_bytes());
    to.finish()
}

/// What a report says, in whatever order. Who says it, and under which number, is no part of it.
pub(crate) fn said_by_report(report: &Report) -> StatementHash {
    let Report {
        member: _,
        epoch: _,
        number: _,
        entries,
        replace,
    } = report;
    let mut entries: Vec<&ReportEntry> = entries.iter().collect();
    entries.sort_by_key(|entry| &entry.resource);
    let mut to = RowHasher::new(61);
    to.flag(*replace);
    to.list(entries.into_iter(), fold_said);
    to.content()
}

/// What an adoption says.
pub(crate) fn said_by_adoption(adopt: &Adopt) -> StatementHash {
    let Adopt {
        member: _,
        epoch: _,
        number: _,
        resource,
        selected_revision,
    } = adopt;
    let mut to = RowHasher::new(62);
    fold_resource(&mut to, resource);
    to.number(selected_revision.get());
    to.content()
}

fn fold_said(to: &mut RowHasher, entry: &ReportEntry) {
    let ReportEntry {
        resource,
        kind,
        decodable,
        served,
        stance,
    } = entry;
    fold_resource(to, resource);
    to.text(kind.as_str());
    fold_versions(to, decodable);
    fold_versions(to, served);
    fold_stance(to, stance);
}

pub(super) fn fold_stance(to: &mut RowHasher, stance: &Stance) {
    match stance {
        Stance::Fixed { encoding } => {
            to.number(1);
            fold_version(to, encoding);
        }
        Stance::Voting { preferred } => {
            to.number(2);
            fold_version(to, preferred);
        }
    }
}
