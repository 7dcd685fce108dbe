use super::*;
use crate::{Namespace, NamespacedName, ObjectName};

fn labels() -> Labels {
    Labels::parse([("app", "web"), ("tier", "front"), ("empty", "")]).unwrap()
}

fn selects(text: &str) -> bool {
    LabelSelector::parse(text).unwrap().matches(&labels())
}

#[test]
fn every_form_of_a_requirement_matches_what_kubernetes_matches() {
    for (text, expected) in [
        ("", true),
        ("app", true),
        ("!app", false),
        ("other", false),
        ("!other", true),
        ("app=web", true),
        ("app==web", true),
        ("app = api", false),
        ("app!=web", false),
        ("app!=api", true),
        ("other!=x", true),
        ("empty=", true),
        ("empty!=", false),
        ("app=", false),
        ("tier in (front,back)", true),
        ("tier in ( back )", false),
        ("tier notin (back,middle)", true),
        ("tier notin (front)", false),
        ("other notin (front)", true),
        ("other in (front)", false),
        ("empty in (,x)", true),
        ("empty in (x,)", true),
        ("app=web,tier=front", true),
        ("app=web,tier=back", false),
        ("app,!other,tier in (front)", true),
    ] {
        assert_eq!(selects(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_selector_is_refused_with_what_was_expected() {
    for (text, rule) in [
        (",", "expected: a label's key"),
        ("app=web,", "expected: a label's key"),
        ("app=web tier=x", "expected: ',' or the end"),
        ("app in front", "expected: '('"),
        ("app in ()", "cannot be empty"),
        ("app in (a", "expected: ',' or ')'"),
        ("app in (a b)", "expected: ',' or ')'"),
        ("app like x", "expected: '=', '==', '!=', 'in' or 'notin'"),
        ("!app=web", "expected: ',' or the end"),
        ("app==!x", "expected: a value"),
        ("-app", "key '-app'"),
        ("app=-x", "value '-x' of 'app'"),
        ("=x", "expected: a label's key"),
        ("(", "expected: a label's key"),
    ] {
        let fault = LabelSelector::parse(text).unwrap_err().to_string();
        assert!(fault.contains(rule), "{text}: {fault}");
    }
}

#[test]
fn a_selector_reads_back_as_it_was_written() {
    for text in [
        "",
        "a",
        "!a",
        "a=b",
        "a=",
        "a!=b",
        "a in (b,c)",
        "a notin (,c)",
        "example.com/a=b,!c,d in (e,f)",
    ] {
        let selector = LabelSelector::parse(text).unwrap();
        assert_eq!(selector.to_string(), text);
        assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
    }
}

#[test]
fn the_labels_of_an_object_select_it() {
    let selector = LabelSelector::of(&labels());
    assert!(selector.matches(&labels()));
    assert!(!selector.matches(&Labels::default()));
    assert!(LabelSelector::of(&Labels::default()).is_empty());
}

#[test]
fn a_selector_has_no_more_than_it_may() {
    let of = |count: usize| {
        let keys: Vec<String> = (0..count).map(|i| format!("k{i}")).collect();
        LabelSelector::parse(&keys.join(","))
    };
    assert!(of(SELECTOR_REQUIREMENTS_MAX - 1).is_ok());
    assert!(of(SELECTOR_REQUIREMENTS_MAX).is_ok());
    assert!(of(SELECTOR_REQUIREMENTS_MAX + 1).is_err());
    let long = |bytes: usize| LabelSelector::parse(&format!("a{}", " ".repeat(bytes - 1)));
    assert!(long(SELECTOR_BYTES_MAX).is_ok());
    assert!(long(SELECTOR_BYTES_MAX + 1).is_err());
}

#[test]
fn what_is_too_long_once_it_is_written_out_is_refused_though_it_was_written_shorter() {
    let of = |bytes: usize| {
        let values: Vec<String> = (0..(bytes - 6) / 64).map(|i| format!("{i:0>63}")).collect();
        let text = format!("a in({},", values.join(","));
        let rest = bytes - text.len() - 1;
        format!("{text}{})", "b".repeat(rest))
    };
    let fits = of(SELECTOR_BYTES_MAX - 1);
    let selector = LabelSelector::parse(&fits).unwrap();
    assert_eq!(selector.to_string().len(), SELECTOR_BYTES_MAX);
    assert_eq!(LabelSelector::parse(&selector.to_string()), Ok(selector));
    let too_long = of(SELECTOR_BYTES_MAX);
    assert_eq!(too_long.len(), SELECTOR_BYTES_MAX);
    assert!(LabelSelector::parse(&too_long).is_err());
}

fn named(namespace: Option<&str>, name: &str) -> NamespacedName {
    let namespace = namespace.map(|text| Namespace::parse(text).unwrap());
    NamespacedName::new(namespace.as_ref(), &ObjectName::parse(name).unwrap())
}

#[test]
fn fields_select_by_name_and_namespace() {
    let object = named(Some("team-a"), "web");
    for (text, expected) in [
        ("", true),
        ("metadata.name=web", true),
        ("metadata.name==api", false),
        ("metadata.name!=api", true),
        ("metadata.namespace=team-a,metadata.name=web", true),
        ("metadata.namespace!=team-a", false),
        (" metadata.name = web , ", true),
    ] {
        let selector = FieldSelector::parse(text).unwrap();
        assert_eq!(selector.matches(&object), expected, "{text}");
    }
    let cluster_scoped = FieldSelector::parse("metadata.namespace=").unwrap();
    assert!(cluster_scoped.matches(&named(None, "web")));
    assert!(!cluster_scoped.matches(&object));
}

#[test]
fn a_field_selector_says_which_name_and_namespace_it_allows() {
    let selector = FieldSelector::parse("metadata.namespace==a,metadata.name=b").unwrap();
    assert_eq!(
        (selector.namespace(), selector.name()),
        (Some("a"), Some("b"))
    );
    assert_eq!(selector.to_string(), "metadata.namespace=a,metadata.name=b");
    let other = FieldSelector::parse("metadata.name!=b").unwrap();
    assert_eq!((other.namespace(), other.name()), (None, None));
}

#[test]
fn no_other_field_can_be_selected_by() {
    for text in ["spec.x=1", "metadata.name", "=x", "metadata.uid=1"] {
        assert!(FieldSelector::parse(text).is_err(), "{text}");
    }
}
