//! Tests of parsing a manifest, and of the exit code of an answer.

use synod_client::{
    Assumed, Assumption, ClusterId, Danger, DangerReason, GroupResource, Header, LogTime, Revision,
    Safety,
};

use super::{exit, manifest};
use crate::exit::Exit;

#[test]
fn the_manifest_among_the_examples_is_one() {
    let text = include_str!("../../../../../examples/manifest/binary.yaml");
    let binary = manifest(text).unwrap().binary;
    let resources = &binary.resources;
    let names: Vec<String> = resources
        .iter()
        .map(|one| one.resource.qualified().to_owned())
        .collect();
    assert_eq!(names, ["pods", "widgets.example.io"]);
    assert_eq!(resources[0].kind, None);
    assert_eq!(resources[1].kind.as_ref().unwrap().as_str(), "Widget");
    assert_eq!(resources[1].decodable.len(), 2);
    let stances: Vec<String> = resources
        .iter()
        .map(|one| one.stance.as_ref().unwrap().version().to_string())
        .collect();
    assert_eq!(stances, ["v1", "example.io/v2"]);
    assert_eq!(binary.left_to_others.len(), 1);
}

#[test]
fn a_binary_is_taken_for_whole_unless_it_says_what_it_leaves_to_others() {
    let with = |left: &str| {
        let pods = "{resource: pods, decodableVersions: [v1]}";
        manifest(&format!("{{resources: [{pods}]{left}}}")).map(|typed| typed.binary)
    };
    let binary = with("").unwrap();
    assert!(binary.left_to_others.is_empty());
    let binary = with(", leftToOthers: ['*', core.*, jobs.batch]").unwrap();
    assert_eq!(binary.left_to_others.len(), 3);
    let failure = with(", leftToOthers: [Jobs]").unwrap_err();
    assert!(failure.to_string().contains("leftToOthers[0]"), "{failure}");
}

#[test]
fn a_manifest_that_names_nothing_is_refused() {
    for text in ["resources: []", "{resources: [], leftToOthers: ['*']}"] {
        let failure = manifest(text).unwrap_err();
        assert_eq!(failure.exit(), Exit::Usage);
        let told = failure.to_string();
        assert!(told.contains("  resources: Required value: "), "{told}");
    }
}

#[test]
fn a_binary_encodes_or_votes_and_decodes_what_it_says() {
    let both = "resources: [{resource: pods, decodableVersions: [v1], encodingVersion: v1, \
                preferredVersion: v1}]";
    let failure = manifest(both).unwrap_err().to_string();
    assert!(
        failure.contains("resources[0].preferredVersion"),
        "{failure}"
    );
    let lacks = "resources: [{resource: pods, decodableVersions: [v1], encodingVersion: v2}]";
    let failure = manifest(lacks).unwrap_err().to_string();
    assert!(
        failure.contains("resources[0].decodableVersions"),
        "{failure}"
    );
}

#[test]
fn what_is_assumed_ends_well_only_for_who_vouches_for_it() {
    let pods = GroupResource::new("", "pods").unwrap();
    let sure = Safety {
        header: Header {
            cluster: ClusterId::parse("5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b").unwrap(),
            replica_id: 1,
            revision: Revision::new(7),
            raft_term: 1,
            age: None,
        },
        dangers: Vec::new(),
        omitted: 0,
        log_time: LogTime::ZERO,
        assumptions: Vec::new(),
    };
    let assumed = Safety {
        assumptions: vec![Assumed {
            reason: Assumption::NoRoster,
            message: Assumption::NoRoster.sentence(false).to_owned(),
            resources: vec![pods.clone()],
            omitted: 0,
        }],
        ..sure.clone()
    };
    let not_safe = Safety {
        dangers: vec![Danger {
            resource: pods,
            reason: DangerReason::PersistedUnknown,
            message: String::new(),
        }],
        ..sure.clone()
    };
    for (safety, alone, vouched) in [
        (&sure, Exit::Ok, Exit::Ok),
        (&assumed, Exit::Disagree, Exit::Ok),
        (&not_safe, Exit::Disagree, Exit::Disagree),
    ] {
        assert_eq!((exit(safety, false), exit(safety, true)), (alone, vouched));
    }
}

#[test]
fn every_fault_of_a_manifest_is_told_at_its_place() {
    let text = "resources: [{resource: Pods, decodableVersions: [v1, ''], kind: '1'}]";
    let failure = manifest(text).unwrap_err().to_string();
    for place in [
        "resources[0].resource",
        "resources[0].kind",
        "resources[0].decodableVersions[1]",
    ] {
        assert!(failure.contains(place), "{place} in {failure}");
    }
}

#[test]
fn a_word_that_no_manifest_has_is_refused() {
    let text = "resources: [{resource: pods, decodable: [v1]}]";
    let failure = manifest(text).unwrap_err().to_string();
    assert!(failure.contains("decodable"), "{failure}");
}
