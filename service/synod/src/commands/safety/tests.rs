//! What is read in a manifest.

use super::manifest;

#[test]
fn the_manifest_among_the_examples_is_one() {
    let text = include_str!("../../../../../examples/manifest/binary.yaml");
    let resources = manifest(text).unwrap();
    let names: Vec<String> = resources
        .iter()
        .map(|one| one.resource.storage_version_name())
        .collect();
    assert_eq!(names, ["core.pods", "example.io.widgets"]);
    assert_eq!(resources[0].kind, None);
    assert_eq!(resources[1].kind.as_ref().unwrap().as_str(), "Widget");
    assert_eq!(resources[1].decodable.len(), 2);
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
    let text = "resources: [{resource: core.pods, decodable: [v1]}]";
    let failure = manifest(text).unwrap_err().to_string();
    assert!(failure.contains("decodable"), "{failure}");
}
