use std::collections::BTreeSet;

use synod_model::{Report, ReportEntry, Violation, Violations};

use super::{Change, key, speaker, statement};
use crate::fields::sound;
use crate::v1;

impl From<&Change<Report>> for v1::StorageVersionsReportRequest {
    fn from(change: &Change<Report>) -> Self {
        let report = &change.body;
        Self {
            request_id: change.wire_key(),
            member: change.wire_member(&report.member, report.epoch),
            entries: report.entries.iter().map(Into::into).collect(),
            replace: report.replace,
            number: report.number.get(),
        }
    }
}

impl TryFrom<v1::StorageVersionsReportRequest> for Change<Report> {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsReportRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let speaker = speaker(pb.member, &mut found);
        let number = statement(pb.number, &mut found);
        let entries = entries(&pb.entries, &mut found);
        let (Some(speaker), Some(number)) = (speaker, number) else {
            return Err(found);
        };
        let body = Report {
            member: speaker.member,
            epoch: speaker.epoch,
            number,
            entries,
            replace: pb.replace,
        };
        if found.is_empty() {
            found = body.check();
        }
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            epoch_cluster: speaker.cluster,
            token_cluster: None,
            body,
        };
        sound(change, found)
    }
}

/// The entries that are legal. `Report::check` finds a resource that stands twice, but only among these, so it is looked
/// for here among all.
fn entries(pb: &[v1::ReportEntry], found: &mut Violations) -> Vec<ReportEntry> {
    let mut seen = BTreeSet::new();
    let mut legal = Vec::with_capacity(pb.len());
    for (i, entry) in pb.iter().enumerate() {
        let path = format!("entries[{i}]");
        legal.extend(found.parsed(&path, ReportEntry::try_from(entry)));
        if let Some(resource) = &entry.resource
            && !seen.insert((&resource.group, &resource.resource))
        {
            let name = [resource.resource.as_str(), resource.group.as_str()].join(".");
            found.push(
                Violation::duplicate(name.trim_end_matches('.')).at(&format!("{path}.resource")),
            );
        }
    }
    legal
}
