//! Tests of reading a text, and of finding its resource among known ones.

use super::*;
use ResourceResolution::{Ambiguous, Unknown, Upstream, Written};

const WIDGETS: &str = "widgets.example.io";
const KEYS: &str = "secrets.keys.synod";

fn resource(qualified: &str) -> GroupResource {
    GroupResource::parse_qualified(qualified).unwrap()
}

fn set_of(names: &[&str]) -> BTreeSet<GroupResource> {
    names.iter().map(|name| resource(name)).collect()
}

/// Panics unless a text is found as expected among these resources.
fn check(text: &str, cluster: &[&str], expected: &ResourceResolution) {
    let spelling = ResourceSpelling::parse(text).unwrap();
    assert_eq!(spelling.as_str(), text);
    let found = spelling.resolve(&set_of(cluster));
    assert_eq!(found, *expected, "{text} among {cluster:?}");
}

#[test]
fn a_text_is_found_in_either_form_or_answered_with_the_nearest() {
    let cluster = [WIDGETS, "pods", "deployments.apps", KEYS];
    for (text, cluster, expected) in [
        // The one spelling.
        (WIDGETS, &cluster[..], Written(resource(WIDGETS))),
        ("pods", &cluster, Written(resource("pods"))),
        // That of StorageVersions.
        ("example.io.widgets", &cluster, Upstream(resource(WIDGETS))),
        ("core.pods", &cluster, Upstream(resource("pods"))),
        ("keys.synod.secrets", &cluster, Upstream(resource(KEYS))),
        // Topics.
        ("keys/secrets", &cluster, Written(resource(KEYS))),
        ("encoding/pods", &cluster, Written(resource("pods"))),
        (
            "encoding/apps.deployments",
            &cluster,
            Upstream(resource("deployments.apps")),
        ),
        (
            "keys/apps.deployments",
            &["deployments.apps.keys.synod"],
            Upstream(resource("deployments.apps.keys.synod")),
        ),
        (
            "served/v1.example.io.widgets",
            &["v1.widgets.example.io.served.synod"],
            Upstream(resource("v1.widgets.example.io.served.synod")),
        ),
        // Mistyped: of either form, and of a topic.
        (
            "widgets.exampel.io",
            &cluster,
            Unknown(Some(resource(WIDGETS))),
        ),
        (
            "exampel.io.widgets",
            &cluster,
            Unknown(Some(resource(WIDGETS))),
        ),
        ("pod", &cluster, Unknown(Some(resource("pods")))),
        ("keys/secret", &cluster, Unknown(Some(resource(KEYS)))),
        ("core.pod", &cluster, Unknown(Some(resource("pods")))),
        // Nothing is near.
        ("certificates.acme.org", &cluster, Unknown(None)),
        (WIDGETS, &[], Unknown(None)),
        // A bare name of another group fits nothing: the group is part of the name.
        (
            "widgets",
            &["gadgets.acme.org", "widgets.example.io"],
            Unknown(Some(resource(WIDGETS))),
        ),
        // Only the form of StorageVersions is legal.
        ("widgets.core", &[], Unknown(None)),
        (
            "3com.widgets",
            &["widgets.3com"],
            Upstream(resource("widgets.3com")),
        ),
    ] {
        check(text, cluster, &expected);
    }
}

#[test]
fn a_text_of_two_known_resources_is_ambiguous_unless_it_is_a_topic() {
    for (text, cluster, expected) in [
        // Both readings are known: a roster over nothing left the second one.
        (
            WIDGETS,
            &[WIDGETS, "io.widgets.example"][..],
            Ambiguous(resource(WIDGETS), resource("io.widgets.example")),
        ),
        (
            "core.pods",
            &["pods", "core.pods"],
            Ambiguous(resource("core.pods"), resource("pods")),
        ),
        // A topic is the way out.
        (
            "encoding/core.pods",
            &["pods", "core.pods"],
            Written(resource("core.pods")),
        ),
        // A bare name has no second reading.
        ("pods", &["pods", "core.pods"], Written(resource("pods"))),
    ] {
        check(text, cluster, &expected);
    }
}

#[test]
fn what_is_written_needs_no_knowledge() {
    for (text, qualified) in [
        ("pods", "pods"),
        ("widgets.example.io", "widgets.example.io"),
        ("example.io.widgets", "example.io.widgets"),
        ("keys/secrets", "secrets.keys.synod"),
        ("encoding/core.pods", "core.pods"),
    ] {
        let spelling = ResourceSpelling::parse(text).unwrap();
        assert_eq!(
            spelling.as_written().unwrap(),
            resource(qualified),
            "{text}"
        );
        assert_eq!(*spelling.first_reading(), resource(qualified), "{text}");
    }
    let upstream_alone = ResourceSpelling::parse("3com.widgets").unwrap();
    assert!(upstream_alone.as_written().is_err());
    assert_eq!(*upstream_alone.first_reading(), resource("widgets.3com"));
}

#[test]
fn a_text_of_neither_form_is_refused_with_the_rules_of_the_first() {
    for text in [
        "",
        "Pods",
        "pods.",
        ".pods",
        "pods.Apps",
        "key/secrets",
        "keys/",
    ] {
        assert!(ResourceSpelling::parse(text).is_err(), "{text:?}");
    }
    let refusal = ResourceSpelling::parse("key/secrets")
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("`keys/<name>`"), "{refusal}");
    let refusal = ResourceSpelling::parse("Pods").unwrap_err().to_string();
    assert!(refusal.contains("Pods"), "{refusal}");
}
