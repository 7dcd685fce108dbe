//! The refusal of an entry that does not decode what is stored or selected.

use synod_model::{
    ApiVersion, ErrorKind, GroupResource, MemberId, Refusal, ReportEntry, Violation,
};

/// Builds the refusal; `what` says why the version matters.
pub(super) fn not_decodable(
    resource: &GroupResource,
    member: &MemberId,
    entry: &ReportEntry,
    version: &ApiVersion,
    what: &str,
) -> Refusal {
    let decodes: Vec<&str> = entry.decodable.iter().map(ApiVersion::as_str).collect();
    let mut refusal = Refusal::new(
        ErrorKind::NotDecodable,
        format!(
            "resource \"{resource}\": member \"{member}\" decodes only [{}], not {version}, {what}: run a release that \
             decodes it until it is migrated",
            decodes.join(", ")
        ),
    )
    .with("resource", resource.storage_version_name())
    .with("version", version.as_str())
    .with("decodable_versions", decodes.join(","));
    let rule = format_args!("must include {version}, {what}");
    let violation = Violation::invalid_list(&decodes, rule).at("decodableVersions");
    refusal.violations.push(violation);
    refusal
}
