//! Decides in which encoding an object may be written.

use synod_model::{
    ApiVersion, Collection, ErrorKind, GroupResource, Kind, MemberId, Persisted, Refusal,
    ReportEntry, Stance,
};

use crate::State;
use crate::turn::Turn;

/// The most members that a message names; it counts the others.
const NAMED: usize = 8;

/// Whether data in this encoding may be stored now.
///
/// # Errors
///
/// `NO_AGREEMENT` or `ENCODING_NOT_SELECTED` in a strict collection, unless it is the selected version;
/// `NOT_DECODABLE` while a member reports the resource and does not decode it.
pub(crate) fn check(
    state: &State,
    collection: &Collection,
    encoding: &ApiVersion,
) -> Result<(), Refusal> {
    let resource = &collection.resource;
    if collection.rules.strict_storage_version {
        check_selected(state, resource, encoding)?;
    }
    let mut versions = state.versions_of(resource);
    if versions.all(|(_, version)| version.tally.all_decode(encoding)) {
        return Ok(());
    }
    let mut lacking = state
        .entries_of(resource)
        .filter(|(_, row)| !row.decodable.contains(encoding))
        .map(|(member, _)| member.as_str());
    let named: Vec<&str> = lacking.by_ref().take(NAMED).collect();
    let others = match lacking.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Refusal::new(
        ErrorKind::NotDecodable,
        format!(
            "resource \"{resource}\": {}{others} cannot decode {encoding}: write a version that every member decodes",
            named.join(", ")
        ),
    )
    .with("resource", resource.storage_version_name())
    .with("version", encoding.as_str()))
}

fn check_selected(
    state: &State,
    resource: &GroupResource,
    encoding: &ApiVersion,
) -> Result<(), Refusal> {
    let status = state.state_of(resource).map(|kept| &kept.row.status);
    let selected =
        status.and_then(|status| Some((status.selected.as_ref()?, status.selected_revision)));
    match selected {
        None => Err(Refusal::new(
            ErrorKind::NoAgreement,
            format!(
                "collection \"{resource}\" is strict and no version is selected: let a member report it with a \
                 preferred version"
            ),
        )
        .with("resource", resource.storage_version_name())),
        Some((selected, _)) if selected == encoding => Ok(()),
        Some((selected, revision)) => Err(Refusal::new(
            ErrorKind::EncodingNotSelected,
            format!("resource \"{resource}\": {selected} is selected, not {encoding}: encode in it and try again"),
        )
        .with("resource", resource.storage_version_name())
        .with("selected_version", selected.as_str())
        .with("selected_revision", revision)),
    }
}

/// Whether a collection may become or stay strict with the present entries: strict writes follow the selected version,
/// and a fixed entry does not.
///
/// # Errors
///
/// `NO_AGREEMENT` if a member has a fixed entry.
pub(crate) fn check_can_be_strict(state: &State, resource: &GroupResource) -> Result<(), Refusal> {
    let fixed = state
        .entries_of(resource)
        .find(|(_, row)| matches!(row.stance, Stance::Fixed { .. }));
    match fixed {
        None => Ok(()),
        Some((member, _)) => Err(Refusal::new(
            ErrorKind::NoAgreement,
            format!(
                "resource \"{resource}\" cannot be strict while member \"{member}\" reports a fixed encoding version: \
                 let every member report a preferred version first"
            ),
        )
        .with("resource", resource.storage_version_name())
        .with("member", member.as_str())),
    }
}

/// Refuses a fixed entry for a strict collection, whose objects follow the selected version.
pub(crate) fn check_stance(
    state: &State,
    resource: &GroupResource,
    member: &MemberId,
    entry: &ReportEntry,
) -> Result<(), Refusal> {
    let strict = state
        .collections
        .get(resource)
        .is_some_and(|held| held.row.rules.strict_storage_version);
    match &entry.stance {
        Stance::Fixed { encoding } if strict => Err(Refusal::new(
            ErrorKind::EncodingNotSelected,
            format!(
                "resource \"{resource}\": its collection is strict, so member \"{member}\" cannot have a fixed encoding \
                 version, {encoding}: report a preferred version instead"
            ),
        )
        .with("resource", resource.storage_version_name())),
        Stance::Fixed { .. } | Stance::Voting { .. } => Ok(()),
    }
}

impl Turn<'_> {
    /// Adds this encoding of the resource to `persisted`. An object of a collection says nothing of a topic.
    pub(crate) fn persist(&mut self, resource: &GroupResource, kind: &Kind, encoding: &ApiVersion) {
        if !self.state().topic_kind(resource).is_seen_in_stores() {
            return;
        }
        let status = self.state().status(resource);
        let known = status
            .persisted
            .iter()
            .any(|kept| kept.version() == Some(encoding));
        if !known {
            let mut after = status.clone();
            Persisted::of(encoding, kind).join(&mut after.persisted);
            self.put_storage_state(resource, after, None);
        }
    }
}
