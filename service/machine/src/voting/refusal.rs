//! The refusal of an entry that does not decode what is stored or selected.

use synod_model::{
    ApiVersion, ErrorKind, GroupResource, MemberId, Refusal, ReportEntry, Topic, TopicKind,
    Violation,
};

use crate::State;

/// Why a version matters that an entry does not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matters {
    /// Voters are told to encode it.
    Selected,
    /// Voters are told to encode it, and votes that would move it are switched off.
    SelectedForNow,
    /// Objects may be stored in it.
    Persisted,
}

/// Builds the refusal.
pub(super) fn not_decodable(
    state: &State,
    resource: &GroupResource,
    member: &MemberId,
    entry: &ReportEntry,
    version: &ApiVersion,
    matters: Matters,
) -> Refusal {
    let decodes: Vec<&str> = entry.decodable.iter().map(ApiVersion::as_str).collect();
    let kind = state.topic_kind(resource);
    let what = match matters {
        Matters::Selected => format!("the selected {}", kind.value()),
        Matters::SelectedForNow => format!(
            "the selected {}, which moves for no vote while votes are switched off",
            kind.value()
        ),
        Matters::Persisted => format!("a persisted {}", kind.value()),
    };
    let (reads, listed) = (kind.reads(), decodes.join(", "));
    let does = format!("member \"{member}\" {reads} only [{listed}], not {version}, {what}");
    let message = match kind {
        TopicKind::Encoding => format!(
            "resource \"{resource}\": {does}: run a release that decodes it until it is migrated"
        ),
        TopicKind::Key => format!(
            "topic \"{}\": {does}: give it the key until nothing is encrypted with it",
            Topic::of(resource)
        ),
        TopicKind::Feature => format!(
            "topic \"{}\": {does}: run a release that has it",
            Topic::of(resource)
        ),
        TopicKind::Served => format!(
            "topic \"{}\": {does}: run a release that has the code of the version until all agree that it is withdrawn",
            Topic::of(resource)
        ),
    };
    let mut refusal = Refusal::new(ErrorKind::NotDecodable, message)
        .with("resource", resource.storage_version_name())
        .with("version", version.as_str())
        .with("decodable_versions", decodes.join(","));
    let rule = format_args!("must include {version}, {what}");
    let violation = Violation::invalid_list(&decodes, rule).at("decodableVersions");
    refusal.violations.push(violation);
    refusal
}
