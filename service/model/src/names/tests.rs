use proptest::prelude::*;

use super::*;

fn told(checked: Result<(), NameRule>) -> Vec<String> {
    let Err(rule) = checked else {
        return Vec::new();
    };
    rule.messages().map(str::to_owned).collect()
}

#[test]
fn a_broken_rule_is_told_in_the_words_of_kubernetes() {
    assert_eq!(
        told(dns1123_label("A_1")),
        [
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
          and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', \
          regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
        ]
    );
    assert_eq!(
        told(dns1123_subdomain("a..b")),
        [
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
          or '.', and must start and end with an alphanumeric character (e.g. 'example.com', \
          regex used for validation is \
          '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        ]
    );
    assert_eq!(
        told(dns1035_label("1a")),
        [
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with \
          an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or \
          'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
        ]
    );
    assert_eq!(
        told(label_value("-x")),
        [
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' \
          or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
          'my_value',  or '12345', regex used for validation is \
          '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        ]
    );
}

#[test]
fn dots_in_a_label_are_told_apart_from_worse() {
    assert_eq!(told(dns1123_label("a.b")), ["must not contain dots"]);
}

#[test]
fn length_and_form_are_told_together() {
    let long = "A".repeat(64);
    let messages = told(dns1035_label(&long));
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0], "must be no more than 63 characters");
    assert_eq!(
        dns1035_label(&long).unwrap_err().to_string(),
        messages.join(",")
    );
}

#[test]
fn each_part_of_a_qualified_name_is_told_by_itself() {
    let messages = told(qualified_name("/"));
    assert_eq!(
        messages[..2],
        [
            "prefix part must be non-empty",
            "name part must be non-empty"
        ]
    );
    let long = format!("{}/{}", "a".repeat(254), "b".repeat(64));
    assert_eq!(
        told(qualified_name(&long)),
        [
            "prefix part must be no more than 253 characters",
            "name part must be no more than 63 characters"
        ]
    );
    assert!(
        told(qualified_name("a/b/c"))[0]
            .ends_with("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
    );
}

#[test]
fn lengths_end_where_kubernetes_ends_them() {
    type Rule = fn(&str) -> Result<(), NameRule>;
    let rules: [(Rule, usize); 5] = [
        (dns1123_label, 63),
        (dns1123_subdomain, 253),
        (dns1035_label, 63),
        (qualified_name, 63),
        (label_value, 63),
    ];
    for (rule, max) in rules {
        assert!(rule(&"a".repeat(max - 1)).is_ok());
        assert!(rule(&"a".repeat(max)).is_ok());
        assert!(rule(&"a".repeat(max + 1)).is_err());
    }
    assert!(label_value("").is_ok());
}

proptest! {
    #[test]
    fn what_the_published_pattern_generates_is_accepted(
        label in "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
        subdomain in "[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?){0,9}",
        strict in "[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
        name in "([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]",
    ) {
        prop_assert_eq!(dns1123_label(&label), Ok(()));
        prop_assert_eq!(dns1123_subdomain(&subdomain), Ok(()));
        prop_assert_eq!(dns1035_label(&strict), Ok(()));
        prop_assert_eq!(qualified_name(&format!("{subdomain}/{name}")), Ok(()));
        prop_assert_eq!(label_value(&name), Ok(()));
    }

    #[test]
    fn one_foreign_character_anywhere_is_refused(
        before in "[a-z0-9]{0,5}",
        foreign in "[^a-z0-9.-]",
        after in "[a-z0-9]{0,5}",
    ) {
        let name = format!("{before}{foreign}{after}");
        prop_assert!(dns1123_label(&name).is_err());
        prop_assert!(dns1123_subdomain(&name).is_err());
        prop_assert!(dns1035_label(&name).is_err());
    }

    #[test]
    fn a_stricter_rule_accepts_no_more_than_a_laxer_one(name in "[aA0._/ -]{0,6}") {
        if dns1035_label(&name).is_ok() {
            prop_assert_eq!(dns1123_label(&name), Ok(()));
        }
        if dns1123_label(&name).is_ok() {
            prop_assert_eq!(dns1123_subdomain(&name), Ok(()));
            prop_assert_eq!(label_value(&name), Ok(()));
            prop_assert_eq!(qualified_name(&name), Ok(()));
        }
    }
}
