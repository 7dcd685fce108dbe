use super::*;
use crate::limits::QUALIFIED_BYTES_MAX;

#[test]
fn each_kind_of_violation_reads_as_in_kubernetes() {
    let texts = [
        Violation::invalid("a\"b\n", "must be plain"),
        Violation::invalid_number(7, "must be even"),
        Violation::invalid_list(&["v1", "v2"], "must include v3"),
        Violation::required("must be set"),
        Violation::duplicate("x"),
        Violation::too_many(65, 64),
        Violation::too_long(128),
    ]
    .map(|violation| violation.at("f").to_string());
    assert_eq!(
        texts,
        [
            r#"f: Invalid value: "a\"b\n": must be plain"#,
            "f: Invalid value: 7: must be even",
            r#"f: Invalid value: ["v1","v2"]: must include v3"#,
            "f: Required value: must be set",
            r#"f: Duplicate value: "x""#,
            "f: Too many: 65: must have at most 64 items",
            "f: Too long: may not be more than 128 bytes",
        ]
    );
}

#[test]
fn a_path_grows_from_the_inside() {
    let violation = Violation::required("must be set");
    assert_eq!(violation.to_string(), "Required value: must be set");
    let placed = violation.at("[2]").at("versions").at("").at("entry");
    assert_eq!(placed.field, "entry.versions[2]");
}

#[test]
fn a_long_value_is_quoted_in_part_and_a_longest_legal_one_whole() {
    let legal = "x".repeat(QUALIFIED_BYTES_MAX);
    assert!(Violation::duplicate(&legal).rule.contains(&legal));
    // 'ä' has two bytes, so with the 'x' before them a cut at 320 would fall inside of one.
    let long = format!("x{}", "ä".repeat(1 << 20));
    let rule = Violation::invalid(&long, "too much").rule;
    assert_eq!(
        rule,
        format!("Invalid value: \"x{}...\": too much", "ä".repeat(159))
    );
    let many = vec!["v1"; 1 << 20];
    assert!(Violation::invalid_list(&many, "too much").rule.len() < 400);
}

#[test]
fn parsing_gathers_the_faults_and_hands_on_the_values() {
    let mut violations = Violations::new();
    let fine: Result<u8, Violation> = Ok(1);
    assert_eq!(violations.parsed("fine", fine), Some(1));
    assert!(violations.is_empty());
    let wrong: Result<u8, Violation> = Err(Violation::required("must be set"));
    assert_eq!(violations.parsed("wrong", wrong), None);
    let worse: Result<u8, Violations> = Err(violations.clone());
    assert_eq!(violations.parsed("worse", worse), None);
    let fields: Vec<&str> = violations
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(fields, ["wrong", "worse.wrong"]);
}

#[test]
fn a_request_with_faults_is_refused_with_all_of_them() {
    assert_eq!(Violations::new().into_result(), Ok(()));
    let mut violations = Violations::from(Violation::duplicate("a").at("x"));
    violations.push(Violation::duplicate("b").at("y"));
    let refusal = violations.into_result().unwrap_err();
    assert_eq!(
        refusal.to_string(),
        r#"INVALID_ARGUMENT: the request is invalid: x: Duplicate value: "a" (and 1 more)"#
    );
    assert_eq!(refusal.violations.len(), 2);
}

#[test]
fn violations_beyond_the_limit_are_counted() {
    for (found, kept) in [(99, 99), (100, 100), (101, 100)] {
        let mut violations = Violations::new();
        for _ in 0..found {
            violations.push(Violation::duplicate("a"));
        }
        assert_eq!((violations.len(), violations.iter().count()), (found, kept));
        let mut outer = Violations::from(Violation::duplicate("b"));
        outer.extend_at("x", violations);
        assert_eq!(outer.len(), found + 1);
    }
}
