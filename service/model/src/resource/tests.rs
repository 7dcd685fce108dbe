use proptest::prelude::*;

use super::*;

fn named(group: &str, resource: &str) -> GroupResource {
    GroupResource::new(group, resource).unwrap()
}

#[test]
fn a_resource_is_named_in_two_ways() {
    let pods = named("", "pods");
    assert_eq!((pods.group(), pods.resource()), ("", "pods"));
    assert_eq!(pods.storage_version_name(), "core.pods");
    assert_eq!(
        (pods.storage_state_name(), pods.qualified()),
        ("pods", "pods")
    );
    let ingresses = named("networking.k8s.io", "ingresses");
    assert_eq!(
        (ingresses.group(), ingresses.resource()),
        ("networking.k8s.io", "ingresses")
    );
    assert_eq!(ingresses.to_string(), "networking.k8s.io.ingresses");
    assert_eq!(ingresses.qualified(), "ingresses.networking.k8s.io");
    assert_eq!(format!("{pods:?}"), "GroupResource(core.pods)");
}

#[test]
fn both_parts_are_judged_at_once() {
    let violations = GroupResource::new("-x", "Pods").unwrap_err();
    let fields: Vec<&str> = violations
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(fields, ["group", "resource"]);
}

#[test]
fn no_group_can_pass_for_the_core_group() {
    let violations = GroupResource::new("core", "pods").unwrap_err();
    assert_eq!(
        violations.to_string(),
        r#"group: Invalid value: "core": the core group is written as the empty string"#
    );
    assert_eq!(
        GroupResource::parse_storage_version_name("core.pods"),
        Ok(named("", "pods"))
    );
    assert!(GroupResource::parse_qualified("pods.core").is_err());
}

#[test]
fn lengths_end_at_a_subdomain_and_a_label() {
    assert!(GroupResource::new(&"g".repeat(253), &"r".repeat(63)).is_ok());
    assert!(GroupResource::new(&"g".repeat(254), "r").is_err());
    assert!(GroupResource::new("g", &"r".repeat(64)).is_err());
}

#[test]
fn both_segments_of_a_name_are_judged_at_once() {
    let rule = GroupResource::parse_storage_version_name("-x.1")
        .unwrap_err()
        .rule;
    assert!(rule.starts_with(r#"Invalid value: "-x.1": the group segment a lowercase RFC 1123"#));
    assert!(rule.contains(",the resource segment a DNS-1035 label"));
}

#[test]
fn a_qualified_name_ends_with_a_group_or_without_a_dot() {
    assert_eq!(
        GroupResource::parse_qualified("pods"),
        Ok(named("", "pods"))
    );
    assert_eq!(
        GroupResource::parse_qualified("a.b.c"),
        Ok(named("b.c", "a"))
    );
    for bad in ["", ".", "pods.", ".apps", "a..b", "Pods"] {
        assert!(GroupResource::parse_qualified(bad).is_err(), "{bad:?}");
    }
}

fn any_resource() -> impl Strategy<Value = GroupResource> {
    let group = "([a-c]([-a-c0-1]{0,2}[a-c])?(\\.[a-c0-1]{1,3}){0,2})?";
    (group, "[a-c]([-a-c0-1]{0,2}[a-c])?").prop_map(|(group, resource)| named(&group, &resource))
}

proptest! {
    #[test]
    fn every_form_of_a_name_reads_back(resource in any_resource()) {
        let by_version = GroupResource::parse_storage_version_name(&resource.to_string());
        prop_assert_eq!(by_version.as_ref(), Ok(&resource));
        let qualified = GroupResource::parse_qualified(resource.qualified());
        prop_assert_eq!(qualified.as_ref(), Ok(&resource));
        prop_assert_eq!(named(resource.group(), resource.resource()), resource);
    }

    #[test]
    fn the_order_is_by_group_and_then_by_resource(a in any_resource(), b in any_resource()) {
        let by_parts = (a.group(), a.resource()).cmp(&(b.group(), b.resource()));
        prop_assert_eq!(a.cmp(&b), by_parts);
        prop_assert_eq!(a == b, by_parts.is_eq());
    }

    #[test]
    fn no_text_makes_a_parse_panic(text in ".{0,20}") {
        let _ = GroupResource::parse_storage_version_name(&text);
        let _ = GroupResource::parse_qualified(&text);
        let _ = GroupResource::new(&text, &text);
    }
}
