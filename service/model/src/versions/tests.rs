use proptest::prelude::*;

use super::*;

fn set(texts: &[&str]) -> VersionSet {
    texts
        .iter()
        .map(|text| ApiVersion::parse(text).unwrap())
        .collect()
}

fn rule(text: &str) -> String {
    ApiVersion::parse(text).unwrap_err().rule
}

#[test]
fn a_version_knows_its_group() {
    let core = ApiVersion::parse("v1").unwrap();
    assert_eq!(
        (core.group(), core.version(), core.as_str()),
        ("", "v1", "v1")
    );
    let apps: ApiVersion = "apps/v1beta1".parse().unwrap();
    assert_eq!((apps.group(), apps.version()), ("apps", "v1beta1"));
    assert_eq!(apps.to_string(), "apps/v1beta1");
}

#[test]
fn each_part_of_a_version_is_judged_by_itself() {
    assert_eq!(
        rule(""),
        r#"Invalid value: "": version part: must be non-empty"#
    );
    assert_eq!(
        rule("/"),
        r#"Invalid value: "/": group part: must be non-empty,version part: must be non-empty"#
    );
    assert!(rule("-g/V1").contains(": group part: a lowercase RFC 1123 subdomain"));
    assert!(rule("-g/V1").contains(",version part: a DNS-1035 label"));
    assert!(rule(&"v".repeat(64)).ends_with("version part: must be no more than 63 characters"));
}

#[test]
fn two_slashes_make_no_version() {
    assert_eq!(
        rule("mygroup.com/v2/widgets"),
        "Invalid value: \"mygroup.com/v2/widgets\": an apiVersion is a DNS-1035 label, which must \
         consist of lower case alphanumeric characters or '-', start with an alphabetic \
         character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex \
         used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') with an optional DNS subdomain \
         prefix and '/' (e.g. 'example.com/MyVersion')"
    );
}

#[test]
fn a_set_keeps_the_order_and_the_first_of_equals() {
    let versions = set(&["v2", "v1", "v2", "apps/v1"]);
    assert_eq!(versions.to_string(), "[v2 v1 apps/v1]");
    assert_eq!(versions.len(), 3);
    assert_eq!(versions, set(&["v2", "v1", "apps/v1"]));
    assert_ne!(versions, set(&["v1", "v2", "apps/v1"]));
}

#[test]
fn a_set_knows_what_it_holds() {
    let versions = set(&["v1", "v2"]);
    assert!(versions.contains(&ApiVersion::parse("v2").unwrap()));
    assert!(!versions.contains(&ApiVersion::parse("apps/v2").unwrap()));
    assert!(set(&["v2", "v1"]).is_subset(&versions));
    assert!(set(&[]).is_subset(&versions));
    assert!(!set(&["v1", "v3"]).is_subset(&versions));
    assert!(VersionSet::default().is_empty());
}

proptest! {
    #[test]
    fn any_legal_version_reads_back(text in "([a-z0-9]{1,5}(\\.[a-z0-9]{1,5})?/)?[a-z][a-z0-9]{0,5}") {
        let version = ApiVersion::parse(&text).unwrap();
        prop_assert_eq!(version.to_string(), text.as_str());
        let joined = match version.group() {
            "" => version.version().to_owned(),
            group => format!("{group}/{}", version.version()),
        };
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn no_text_makes_a_parse_panic(text in "[a-z/. A-]{0,12}") {
        let parsed = ApiVersion::parse(&text);
        prop_assert_eq!(parsed.map(|version| version.to_string()).unwrap_or(text.clone()), text);
    }

    #[test]
    fn a_set_is_a_list_without_repetitions(texts in prop::collection::vec("v[1-4]", 0..8)) {
        let given: Vec<ApiVersion> =
            texts.iter().map(|text| ApiVersion::parse(text).unwrap()).collect();
        let kept: Vec<ApiVersion> = given.iter().cloned().collect::<VersionSet>().iter().cloned().collect();
        for (i, version) in kept.iter().enumerate() {
            prop_assert!(!kept[..i].contains(version));
        }
        let first_seen = |version: &ApiVersion| given.iter().position(|other| other == version);
        prop_assert!(kept.iter().map(first_seen).is_sorted());
        prop_assert!(given.iter().all(|version| kept.contains(version)));
    }
}
