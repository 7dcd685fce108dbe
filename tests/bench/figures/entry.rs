//! What the members of the figures report.

use std::collections::BTreeSet;

use synod_client::{ApiVersion, GroupResource, Kind, ReportEntry, Stance, StoredIn};

/// An entry that serves one version or two.
pub(crate) fn entry(name: &str, both: bool) -> ReportEntry {
    let version = |text| ApiVersion::parse(text).expect("it is a version");
    let versions = [version("figures.example/v1"), version("figures.example/v2")];
    ReportEntry {
        resource: GroupResource::new("figures.example", name).expect("it is a resource"),
        kind: Kind::parse("Figure").expect("it is a kind"),
        decodable: versions.iter().cloned().collect(),
        served: versions
            .iter()
            .take(1 + usize::from(both))
            .cloned()
            .collect(),
        stance: Stance::Fixed {
            encoding: version("figures.example/v1"),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}
