use std::collections::BTreeSet;

use synod_model::{
    AddEquivalents, Adopt, ForgetResource, RemoveEquivalent, Report, ReportEntry, Revision,
    Violation, Violations,
};

use super::{Change, requests};
use crate::{messages, v1};

requests! {
    v1::StorageVersionsReportRequest = Report, epoch member;
    v1::StorageVersionsAdoptRequest = Adopt, epoch member;
    v1::StorageVersionsForgetRequest = ForgetResource;
    v1::StorageVersionsAddEquivalentsRequest = AddEquivalents;
    v1::StorageVersionsRemoveEquivalentRequest = RemoveEquivalent;
}

messages! {
    v1::StorageVersionsReportRequest = Report {
        (member, epoch) = member,
        number = number,
        entries = entries by legal,
        replace = replace,
        ; ..Default::default()
    } => check
    v1::StorageVersionsAdoptRequest = Adopt {
        (member, epoch) = member,
        number = number,
        resource = resource,
        selected_revision = selected_revision by selected,
        ; ..Default::default()
    }
    v1::StorageVersionsForgetRequest = ForgetResource {
        resource = resource,
        if_revision = if_revision,
        ; ..Default::default()
    }
    v1::StorageVersionsAddEquivalentsRequest = AddEquivalents {
        resources = resources,
        ; ..Default::default()
    } => check
    v1::StorageVersionsRemoveEquivalentRequest = RemoveEquivalent {
        resource = resource,
        ; ..Default::default()
    }
}

/// The revision at which a version was selected.
mod selected {
    use super::*;

    pub(super) fn write(revision: &Revision) -> u64 {
        revision.get()
    }

    pub(super) fn read(pb: u64) -> Result<Revision, Violations> {
        if pb == 0 {
            let rule = "must be the selected revision that is adopted";
            return Err(Violation::required(rule).into());
        }
        Ok(Revision::new(pb))
    }
}

/// The entries of a report. `Report::check` finds a resource that is given twice only among the legal entries, so this
/// module looks for it among all entries.
mod legal {
    use super::*;

    pub(super) fn write(entries: &[ReportEntry]) -> Vec<v1::ReportEntry> {
        entries.iter().map(Into::into).collect()
    }

    pub(super) fn read(pb: Vec<v1::ReportEntry>) -> Result<Vec<ReportEntry>, Violations> {
        let mut found = Violations::new();
        let mut seen = BTreeSet::new();
        let mut legal = Vec::with_capacity(pb.len());
        for (i, entry) in pb.iter().enumerate() {
            legal.extend(found.parsed(format_args!("[{i}]"), ReportEntry::try_from(entry)));
            if let Some(resource) = &entry.resource
                && !seen.insert((&resource.group, &resource.resource))
            {
                let name = [resource.resource.as_str(), resource.group.as_str()].join(".");
                let twice = Violation::duplicate(name.trim_end_matches('.'));
                found.push(twice.at(&format!("[{i}].resource")));
            }
        }
        crate::wire::sound(legal, found)
    }
}
