//! Tests of topics, their texts and the values of each kind.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_topic_reads_back_from_its_text_and_from_its_resource() {
    for (text, resource) in [
        ("encoding/pods", "pods"),
        ("encoding/deployments.apps", "deployments.apps"),
        ("keys/secrets", "secrets.keys.synod"),
        ("keys/deployments.apps", "deployments.apps.keys.synod"),
        ("features/async-locks", "async-locks.features.synod"),
        (
            "served/v1beta1.widgets.example.io",
            "v1beta1.widgets.example.io.served.synod",
        ),
        ("served/v1.pods", "v1.pods.served.synod"),
    ] {
        let topic = Topic::parse(text).unwrap();
        assert_eq!(topic.to_string(), text);
        assert_eq!(topic.resource().qualified(), resource);
        assert_eq!(Topic::of(topic.resource()), topic, "{text}");
    }
}

#[test]
fn no_two_topics_are_one_resource() {
    let names = ["pods", "pods.apps", "pods.keys", "pods.synod"];
    let mut seen = BTreeSet::new();
    for kind in TopicKind::ALL.iter().copied() {
        // A served version has the name of its resource behind its own.
        let of_version = |name: &&str| kind != TopicKind::Served || name.contains('.');
        for name in names.into_iter().filter(of_version) {
            let topic = Topic::new(kind, name).unwrap();
            assert_eq!((topic.kind(), topic.name()), (kind, name));
            assert!(seen.insert(topic.resource().clone()), "{topic}");
        }
    }
}

#[test]
fn an_ordinary_group_is_no_topic_of_another_kind() {
    for group in ["", "apps", "synod", "turnkeys.synod", "keys.synod.io"] {
        let resource = GroupResource::new(group, "secrets").unwrap();
        assert_eq!(TopicKind::of(&resource), TopicKind::Encoding, "{group:?}");
    }
}

#[test]
fn a_text_of_another_form_is_refused_and_told_the_forms() {
    for text in [
        "",
        "secrets",
        "key/secrets",
        "keys/",
        "keys/Secrets",
        "/secrets",
    ] {
        assert!(Topic::parse(text).is_err(), "{text:?}");
    }
    let told = Topic::parse("key/secrets").unwrap_err().to_string();
    assert!(told.contains("`keys/<name>`"), "{told}");
    assert!(Topic::parse("encoding/secrets.keys.synod").is_err());
}

#[test]
fn the_levels_of_a_feature_have_no_gap_and_the_highest_is_preferred() {
    let allows = |levels: &[&str], preferred| {
        let levels = levels.iter().copied();
        TopicKind::Feature.allows(levels, preferred).is_ok()
    };
    assert!(allows(&["v1"], Some("v1")));
    assert!(allows(&["v2", "v1", "v3"], Some("v3")));
    let many: Vec<String> = (1..=64).map(|level| format!("v{level}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(allows(&many, Some("v64")));
    for (levels, preferred) in [
        (&["v1", "v2"][..], Some("v1")),
        (&["v1", "v3"], Some("v3")),
        (&["v2"], Some("v2")),
        (&["v1", "v1beta1"], Some("v1")),
        (&["v01"], Some("v01")),
        (&["apps/v1"], Some("apps/v1")),
        (&["v1"], None),
        (&[], Some("v1")),
    ] {
        assert!(!allows(levels, preferred), "{levels:?} {preferred:?}");
    }
}

#[test]
fn a_key_has_any_name_of_a_version_and_its_entry_votes() {
    let allows = |preferred| TopicKind::Key.allows(["aescbc/k-2026"].into_iter(), preferred);
    assert!(allows(Some("aescbc/k-2026")).is_ok());
    assert!(allows(None).is_err());
    assert!(TopicKind::Encoding.allows(["v1"].into_iter(), None).is_ok());
}

#[test]
fn a_version_is_named_with_its_resource_and_has_two_states() {
    let told = Topic::parse("served/v1beta1").unwrap_err().to_string();
    assert!(told.contains("`<version>.<resource>[.<group>]`"), "{told}");
    let allows = |values: &[&str], preferred: Option<&str>| {
        let values = values.to_vec();
        TopicKind::Served.allows(values.into_iter(), preferred)
    };
    for values in [
        &["served", "withdrawn"][..],
        &["withdrawn", "served"],
        &["withdrawn"],
    ] {
        assert!(allows(values, Some("withdrawn")).is_ok());
        assert!(allows(values, None).is_err(), "it votes");
    }
    for values in [
        &["served"][..],
        &[],
        &["withdrawn", "v1"],
        &["withdrawn", "withdrawn"],
    ] {
        assert!(allows(values, Some("withdrawn")).is_err(), "{values:?}");
    }
}
