use synod_client::{
    GroupResource, Kind, LabelSelector, Metadata, Revision, StorageVersionStatus, Uid, VersionSet,
    WallTime,
};

use super::*;

fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).unwrap()
}

fn member(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

fn fixed(name: &str, encoding: &str) -> StorageVersionEntry {
    StorageVersionEntry {
        member: member(name),
        kind: Kind::parse("Widget").unwrap(),
        decodable: VersionSet::default(),
        served: VersionSet::default(),
        preferred: None,
        encoding: Some(version(encoding)),
        adopted_revision: None,
        since_revision: Revision::new(1),
        serve_until: None,
    }
}

fn voter(name: &str, preferred: &str, encoding: Option<&str>, adopted: u64) -> StorageVersionEntry {
    StorageVersionEntry {
        preferred: Some(version(preferred)),
        encoding: encoding.map(version),
        adopted_revision: encoding.map(|_| Revision::new(adopted)),
        ..fixed(name, preferred)
    }
}

fn resource(
    entries: Vec<StorageVersionEntry>,
    selected: Option<(&str, u64)>,
    agreed: Option<&str>,
) -> StorageVersion {
    let resource = GroupResource::new("example.com", "widgets").unwrap();
    StorageVersion {
        name: resource.storage_version_name(),
        metadata: Metadata {
            uid: Uid::parse("0f7cb1a2-3d4e-8f60-a1b2-c3d4e5f60718").unwrap(),
            resource_version: Revision::new(9),
            create_revision: Revision::new(1),
            generation: 1,
            created: WallTime::from_millis(0),
        },
        resource,
        entries,
        status: StorageVersionStatus {
            common: agreed.map(version),
            selected: selected.map(|(text, _)| version(text)),
            selected_revision: Revision::new(selected.map_or(0, |(_, at)| at)),
            agreement_revision: Revision::new(9),
            agreed: agreed.map(version),
            decodable_by_all: Vec::new(),
            served_by_all: Vec::new(),
            conditions: Vec::new(),
        },
    }
}

fn sentences(version: &StorageVersion) -> Vec<String> {
    let verdict = ResourceVerdict::of(&version.resource, Some(version), None);
    assert!(!verdict.is_agreed());
    verdict
        .reasons
        .iter()
        .map(|reason| reason.sentence(2))
        .collect()
}

#[test]
fn agreement_needs_no_reason() {
    let agreed = resource(vec![fixed("a", "v1"), fixed("b", "v1")], None, Some("v1"));
    let verdict = ResourceVerdict::of(&agreed.resource, Some(&agreed), None);
    assert_eq!(verdict.agreed, Some(version("v1")));
    assert_eq!(verdict.reasons, []);
}

#[test]
fn a_resource_that_nobody_reports_is_not_agreed_on() {
    let widgets = GroupResource::new("example.com", "widgets").unwrap();
    let verdict = ResourceVerdict::of(&widgets, None, None);
    assert_eq!(verdict.reasons, [Reason::Unreported]);
    assert!(!verdict.is_agreed());
}

#[test]
fn who_encodes_what_is_named() {
    let entries = vec![
        fixed("a", "v1"),
        fixed("b", "v2"),
        fixed("c", "v2"),
        fixed("d", "v2"),
    ];
    assert_eq!(
        sentences(&resource(entries, None, None)),
        ["a encodes v1; b, c + 1 more encode v2"]
    );
}

#[test]
fn voters_without_an_outcome_are_named_with_their_votes() {
    let entries = vec![voter("a", "v2", None, 0), voter("b", "v1", None, 0)];
    let found = sentences(&resource(entries, None, None));
    assert_eq!(
        found,
        ["nothing is selected: b votes for v1; a votes for v2"]
    );
}

#[test]
fn those_that_have_not_adopted_are_named() {
    let entries = vec![
        voter("a", "v2", Some("v2"), 38),
        voter("b", "v2", Some("v1"), 12),
    ];
    let found = sentences(&resource(entries, Some(("v2", 38)), None));
    let expected = [
        "b encodes v1; a encodes v2",
        "b has not adopted v2, selected at revision 38",
    ];
    assert_eq!(found, expected);
}

#[test]
fn one_encoding_that_was_selected_away_and_back_still_has_to_be_adopted() {
    let entries = vec![
        voter("a", "v1", Some("v1"), 12),
        voter("b", "v1", Some("v1"), 12),
    ];
    let found = sentences(&resource(entries, Some(("v1", 40)), None));
    assert_eq!(found, ["a, b have not adopted v1, selected at revision 40"]);
}

#[test]
fn a_fixed_entry_that_keeps_to_another_version_is_named() {
    let entries = vec![fixed("a", "v1"), voter("b", "v2", Some("v2"), 38)];
    let found = sentences(&resource(entries, Some(("v2", 38)), None));
    let expected = [
        "a encodes v1; b encodes v2",
        "a encodes by choice another version than the selected v2",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_explained_is_said_so() {
    let entries = vec![fixed("a", "v1")];
    let found = sentences(&resource(entries, None, None));
    assert_eq!(found, ["the cluster says that there is no agreement"]);
}

fn state(version: &StorageVersion) -> StorageState {
    StorageState {
        on_trust_since: None,
        name: version.resource.to_string(),
        metadata: version.metadata.clone(),
        resource: version.resource.clone(),
        selected: None,
        selected_revision: Revision::ZERO,
        agreement_revision: Revision::new(9),
        current: None,
        common: None,
        observed: Vec::new(),
        observed_kind: None,
        observation_expired: false,
        contradicted: false,
        current_hash: None,
        absent: Absent::default(),
        persisted: Vec::new(),
        drains: Vec::new(),
        serve_until: None,
        serve_until_log_time: None,
        known_versions: Vec::new(),
        known_hashes: Vec::new(),
        concluded_before: None,
        said_stopped: Vec::new(),
        short_absences: Vec::new(),
        ungated_gone: Vec::new(),
        more_ungated_gone: false,
    }
}

#[test]
fn who_is_missing_by_a_roster_is_named() {
    let reported = resource(vec![fixed("a", "v1")], None, None);
    let mut state = state(&reported);
    state.absent = Absent {
        members: ["b", "c", "d"].map(member).into(),
        unnamed: 2,
        short: 1,
        labels: LabelSelector::default(),
    };
    let verdict = ResourceVerdict::of(&reported.resource, Some(&reported), Some(&state));
    let said: Vec<String> = verdict.reasons.iter().map(|one| one.sentence(2)).collect();
    assert_eq!(
        said,
        [
            "missing by its roster: b, c + 3 more, and 1 more member of any labels, to reach the required minimum"
        ]
    );
    let unreported = ResourceVerdict::of(&reported.resource, None, Some(&state));
    assert_eq!(unreported.reasons.len(), 2, "{unreported:?}");
}

#[test]
fn what_discovery_shows_and_no_member_says_is_named() {
    let reported = resource(vec![fixed("a", "v1")], None, None);
    let hash = |text: &str| {
        StorageVersionHash::of_version(&version(text), &Kind::parse("Widget").unwrap())
    };
    let mut state = state(&reported);
    state.observed = vec![hash("v1"), hash("v2")];
    state.contradicted = true;
    let said = |state: &StorageState| {
        let verdict = ResourceVerdict::of(&reported.resource, Some(&reported), Some(state));
        verdict.reasons[0].sentence(2)
    };
    let unsaid = format!("{}, which no member says that it encodes", hash("v2"));
    assert_eq!(said(&state), format!("discovery shows {unsaid}"));
    state.observation_expired = true;
    assert_eq!(said(&state), format!("discovery showed last {unsaid}"));
    state.contradicted = false;
    assert_eq!(
        said(&state),
        "nobody has looked at its discovery for two periods"
    );
}
