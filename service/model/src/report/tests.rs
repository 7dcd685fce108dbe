use proptest::prelude::*;

use super::*;

const ENTRY: ReportEntryText<'static> = ReportEntryText {
    group: "apps",
    resource: "deployments",
    kind: "Deployment",
    decodable: Vec::new(),
    served: Vec::new(),
    stance: StanceText::Fixed {
        encoding: "apps/v1",
    },
    serve_until: None,
    stored: StoredIn::Outside,
    equivalents: Vec::new(),
};

fn violations_of(text: &ReportEntryText<'_>) -> Vec<String> {
    match ReportEntry::parse(text) {
        Ok(_) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_legal_entry_is_what_it_says() {
    let text = ReportEntryText {
        decodable: vec!["apps/v1", "apps/v1beta1"],
        served: vec!["apps/v1"],
        stance: StanceText::Voting {
            preferred: "apps/v1",
        },
        ..ENTRY
    };
    let entry = ReportEntry::parse(&text).unwrap();
    assert_eq!(entry.resource.qualified(), "deployments.apps");
    assert_eq!(entry.kind.as_str(), "Deployment");
    assert_eq!(entry.decodable.to_string(), "[apps/v1 apps/v1beta1]");
    assert_eq!(entry.served.to_string(), "[apps/v1]");
    assert!(entry.stance.is_voting());
    assert_eq!(entry.stance.version().as_str(), "apps/v1");
    assert_eq!(entry.as_text(), text);
}

#[test]
fn every_fault_of_an_entry_is_found_at_once() {
    let text = ReportEntryText {
        group: "Apps",
        resource: "",
        kind: "a b",
        decodable: vec!["v1", "V1"],
        served: vec!["v2", "v3/"],
        stance: StanceText::Fixed { encoding: "/v3" },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: Vec::new(),
    };
    let fields: Vec<String> = violations_of(&text)
        .iter()
        .map(|violation| violation.split(": ").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        fields,
        [
            "resource.group",
            "resource.resource",
            "kind",
            "encodingVersion",
            "decodableVersions[1]",
            "servedVersions[1]",
            "decodableVersions",
            "servedVersions[0]",
            "servedVersions[1]",
        ]
    );
}

#[test]
fn what_is_encoded_or_preferred_must_be_decodable() {
    let decodable = vec!["v1", "v2"];
    let fixed = ReportEntryText {
        decodable,
        stance: StanceText::Fixed { encoding: "v3" },
        ..ENTRY
    };
    assert_eq!(
        violations_of(&fixed),
        [
            r#"decodableVersions: Invalid value: ["v1","v2"]: decodableVersions must include encodingVersion v3"#
        ]
    );
    let voting = ReportEntryText {
        stance: StanceText::Voting { preferred: "v3" },
        ..fixed
    };
    assert_eq!(
        violations_of(&voting),
        [
            r#"decodableVersions: Invalid value: ["v1","v2"]: decodableVersions must include preferredVersion v3"#
        ]
    );
}

#[test]
fn an_entry_that_decodes_nothing_is_refused() {
    assert_eq!(
        violations_of(&ENTRY),
        [
            "decodableVersions: Invalid value: []: decodableVersions must include encodingVersion apps/v1"
        ]
    );
}

#[test]
fn lists_hold_up_to_sixty_four_versions() {
    let versions: Vec<String> = (0..65).map(|i| format!("v{i}")).collect();
    for (count, legal) in [(63, true), (64, true), (65, false)] {
        let listed: Vec<&str> = versions[..count].iter().map(String::as_str).collect();
        let text = ReportEntryText {
            decodable: listed.clone(),
            served: listed,
            stance: StanceText::Fixed { encoding: "v0" },
            ..ENTRY
        };
        let found = violations_of(&text);
        assert_eq!(found.is_empty(), legal, "{count}");
        if !legal {
            assert_eq!(
                found,
                [
                    "decodableVersions: Too many: 65: must have at most 64 items",
                    "servedVersions: Too many: 65: must have at most 64 items",
                ]
            );
        }
    }
}

#[test]
fn a_hostile_entry_gets_a_short_answer() {
    let long = "x".repeat(1 << 16);
    let text = ReportEntryText {
        decodable: vec![long.as_str(); 1 << 16],
        served: vec![long.as_str(); 64],
        ..ENTRY
    };
    let bytes: usize = violations_of(&text).iter().map(String::len).sum();
    assert!(bytes < 100_000, "{bytes}");
}

#[test]
fn a_typed_entry_is_held_to_the_relations_between_its_fields() {
    let text = ReportEntryText {
        decodable: vec!["v1"],
        served: vec!["v1"],
        stance: StanceText::Fixed { encoding: "v1" },
        ..ENTRY
    };
    let mut entry = ReportEntry::parse(&text).unwrap();
    let mut violations = Violations::new();
    entry.check("entries[3]", &mut violations);
    assert!(violations.is_empty());

    entry.stance = Stance::Voting {
        preferred: ApiVersion::parse("v2").unwrap(),
    };
    entry.served = [ApiVersion::parse("v2").unwrap()].into_iter().collect();
    entry.check("entries[3]", &mut violations);
    let found: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            r#"entries[3].decodableVersions: Invalid value: ["v1"]: decodableVersions must include preferredVersion v2"#,
            r#"entries[3].servedVersions[0]: Invalid value: "v2": individual served version : v2 must be included in decodableVersions : [v1]"#,
        ]
    );
}

proptest! {
    /// The rule, said the short way: an entry of well-formed versions is legal exactly when what
    /// it encodes and serves is among what it decodes.
    #[test]
    fn an_entry_is_legal_exactly_when_it_decodes_what_it_names(
        decodable in prop::collection::vec("v[1-4]", 0..4),
        served in prop::collection::vec("v[1-4]", 0..4),
        named in "v[1-4]",
        votes: bool,
    ) {
        let text = ReportEntryText {
            decodable: decodable.iter().map(String::as_str).collect(),
            served: served.iter().map(String::as_str).collect(),
            stance: if votes {
                StanceText::Voting { preferred: &named }
            } else {
                StanceText::Fixed { encoding: &named }
            },
            ..ENTRY
        };
        let legal = served.iter().chain([&named]).all(|version| decodable.contains(version));
        let parsed = ReportEntry::parse(&text);
        prop_assert_eq!(parsed.is_ok(), legal);
        if let Ok(entry) = parsed {
            prop_assert_eq!(ReportEntry::parse(&entry.as_text()), Ok(entry));
        }
    }
}

#[test]
fn a_date_is_named_for_a_served_version_alone() {
    let served = ReportEntryText {
        group: "widgets.example.io.served.synod",
        resource: "v1beta1",
        decodable: vec!["served", "withdrawn"],
        served: Vec::new(),
        stance: StanceText::Voting {
            preferred: "served",
        },
        serve_until: Some(1_900_000_000_000),
        ..ENTRY
    };
    let entry = ReportEntry::parse(&served).unwrap();
    assert!(entry.is_of_its_topic());
    assert_eq!(entry.as_text(), served);
    let told = |text: &ReportEntryText<'_>| ReportEntry::parse(text).unwrap_err().to_string();
    let of_nothing = ReportEntryText {
        group: "served.synod",
        ..served.clone()
    };
    assert!(
        told(&of_nothing).contains("group: Invalid value: \"served.synod\": must be `<resource>")
    );
    let never = ReportEntryText {
        serve_until: Some(0),
        ..served.clone()
    };
    assert!(told(&never).contains("serveUntilMs: Invalid value: 0: must be between 1"));
    let plain = ReportEntryText {
        decodable: vec!["apps/v1"],
        ..ENTRY
    };
    let other = ReportEntryText {
        serve_until: Some(1),
        ..plain.clone()
    };
    assert!(told(&other).contains("serveUntilMs: Invalid value: 1: must be left out"));
    let entry = ReportEntry {
        serve_until: Some(WallTime::from_millis(1)),
        ..ReportEntry::parse(&plain).unwrap()
    };
    assert!(!entry.is_of_its_topic());
}
