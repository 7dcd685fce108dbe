use synod_model::{
    ApiVersion, ReportEntry, ReportEntryText, Stance, StanceText, StoredIn, Violation, Violations,
    WallTime,
};

use crate::v1;
use crate::v1::report_entry::Stance as WireStance;
use crate::wire::Wire;
use crate::wire_enums;

wire_enums! {
    v1::StoredIn = StoredIn { Outside = Outside, Collection = Collection }
}

impl From<&ReportEntry> for v1::ReportEntry {
    fn from(entry: &ReportEntry) -> Self {
        Self {
            resource: Some((&entry.resource).into()),
            kind: entry.kind.to_string(),
            decodable_versions: entry.decodable.iter().map(ToString::to_string).collect(),
            served_versions: entry.served.iter().map(ToString::to_string).collect(),
            stance: Some((&entry.stance).into()),
            serve_until_ms: entry.serve_until.map(WallTime::as_millis),
            stored: entry.stored.to_wire(),
            equivalents: entry.equivalents.to_wire(),
        }
    }
}

impl TryFrom<&v1::ReportEntry> for ReportEntry {
    type Error = Violations;

    fn try_from(pb: &v1::ReportEntry) -> Result<Self, Violations> {
        let mut found = Violations::new();
        // A field that is left out is replaced by a default, so that the faults of the other fields
        // are found, too.
        let empty = v1::GroupResource::default();
        let resource = pb.resource.as_ref().unwrap_or(&empty);
        let stance = match &pb.stance {
            Some(WireStance::EncodingVersion(encoding)) => StanceText::Fixed { encoding },
            Some(WireStance::PreferredVersion(preferred)) => StanceText::Voting { preferred },
            None => {
                found.push(Violation::required(
                    "must have an encodingVersion or a preferredVersion",
                ));
                let legal = pb
                    .decodable_versions
                    .iter()
                    .find(|version| ApiVersion::parse(version).is_ok());
                StanceText::Fixed {
                    encoding: legal.map_or("v1", String::as_str),
                }
            }
        };
        let stored = found.parsed("stored", Option::<StoredIn>::of_wire(pb.stored));
        let text = ReportEntryText {
            group: &resource.group,
            resource: &resource.resource,
            kind: &pb.kind,
            decodable: pb.decodable_versions.iter().map(String::as_str).collect(),
            served: pb.served_versions.iter().map(String::as_str).collect(),
            stance,
            serve_until: pb.serve_until_ms,
            stored: stored.flatten().unwrap_or_default(),
            equivalents: pb
                .equivalents
                .iter()
                .map(|one| (one.group.as_str(), one.resource.as_str()))
                .collect(),
        };
        let entry = found.parsed("", Self::parse(&text));
        match entry {
            Some(entry) if found.is_empty() => Ok(entry),
            _ => Err(found),
        }
    }
}

impl From<&Stance> for WireStance {
    fn from(stance: &Stance) -> Self {
        match stance {
            Stance::Fixed { encoding } => Self::EncodingVersion(encoding.to_string()),
            Stance::Voting { preferred } => Self::PreferredVersion(preferred.to_string()),
        }
    }
}
