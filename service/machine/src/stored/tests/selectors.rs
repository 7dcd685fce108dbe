//! A roster's selector reads back as it was written, even near its limits: a command in the log that does not read back
//! stops every replica for good.

use synod_model::limits::{SELECTOR_BYTES_MAX, SELECTOR_REQUIREMENTS_MAX};

use proptest::strategy::Strategy as _;

use super::*;

/// One requirement, in any way of writing it, with or without the optional space.
fn requirement() -> impl proptest::strategy::Strategy<Value = String> {
    let key = prop::sample::select(vec!["a", "in", "notin", "example.com/tier"]);
    let value = prop_oneof![Just(String::new()), "[a-z0-9]{1,20}"];
    let values = prop::collection::vec(value, 1..6);
    let rule = prop::sample::select(vec![
        "", "!", "=", "==", "!=", " in(", " in (", " notin(", " notin (",
    ]);
    (key, rule, values).prop_map(|(key, rule, values)| match rule {
        "" => key.to_owned(),
        "!" => format!("!{key}"),
        one if one.ends_with('=') => format!("{key}{one}{}", values[0]),
        // No value at all is not allowed; an empty one beside another is.
        many => format!("{key}{many}{},x)", values.join(",")),
    })
}

/// A selector with up to one requirement more than allowed.
fn selector() -> impl proptest::strategy::Strategy<Value = String> {
    let most = SELECTOR_REQUIREMENTS_MAX + 1;
    prop_oneof![
        prop::collection::vec(requirement(), 0..8),
        prop::collection::vec(requirement(), most - 1..=most),
    ]
    .prop_map(|all| all.join(","))
}

fn reads_back(labels: &LabelSelector) {
    let set = SetRoster {
        rule: RosterRule {
            labels: labels.clone(),
            ..roster("*", 1).rule
        },
        ..roster("*", 1)
    };
    let entry = LogEntry {
        log_time: LogTime::from_millis(1),
        ..log()[0].clone()
    };
    let envelope = Envelope {
        actor: None,
        command: Command::SetRoster(set).into(),
        ..entry.commands[0].clone()
    };
    let bytes = to_bytes(&envelope);
    assert_eq!(from_bytes::<Envelope>(&bytes).unwrap(), envelope);
}

/// A selector of this many bytes, without a space that can be left out.
fn of_bytes(bytes: usize) -> String {
    let values: Vec<String> = (0..(bytes - 6) / 64).map(|i| format!("{i:0>63}")).collect();
    let text = format!("a in({},", values.join(","));
    let rest = bytes - text.len() - 1;
    format!("{text}{})", "b".repeat(rest))
}

#[test]
fn a_selector_at_its_limit_reads_back_or_is_refused_before_it_is_stored() {
    for bytes in SELECTOR_BYTES_MAX - 4..=SELECTOR_BYTES_MAX {
        if let Ok(labels) = LabelSelector::parse(&of_bytes(bytes)) {
            reads_back(&labels);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_selector_is_accepted_reads_back(text in selector()) {
        if let Ok(labels) = LabelSelector::parse(&text) {
            reads_back(&labels);
        }
    }
}
