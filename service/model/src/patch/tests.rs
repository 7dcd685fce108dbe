use proptest::prelude::*;

use super::*;
use crate::limits::{JSON_DEPTH_MAX, PATCH_OPERATIONS_MAX};

/// What the machine makes of a patch.
fn strictly(document: &[u8], format: PatchFormat, patch: &[u8]) -> Result<Option<String>, Fault> {
    patched(document, format, patch, Missing::Fails)
}

fn merge(document: &str, patch: &str) -> String {
    let patched = strictly(document.as_bytes(), PatchFormat::Merge, patch.as_bytes());
    patched.unwrap().unwrap_or_else(|| "unchanged".to_owned())
}

fn operate(document: &str, patch: &str) -> Result<String, String> {
    match strictly(document.as_bytes(), PatchFormat::Json, patch.as_bytes()) {
        Ok(text) => Ok(text.unwrap_or_else(|| "unchanged".to_owned())),
        Err(Fault::Invalid(violation)) => Err(violation.to_string()),
        Err(Fault::Refused(kind, message)) => Err(format!("{kind}: {message}")),
    }
}

#[test]
fn a_merge_patch_does_what_rfc_7386_says() {
    // Of the RFC's appendix A, those whose document and patch are objects.
    let cases = [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (
            r#"{"a":{"b":"c"}}"#,
            r#"{"a":{"b":"d","c":null}}"#,
            r#"{"a":{"b":"d"}}"#,
        ),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
    ];
    for (document, patch, result) in cases {
        assert_eq!(merge(document, patch), result, "{document} {patch}");
    }
}

#[test]
fn what_changes_nothing_is_told_however_the_document_was_written() {
    assert_eq!(merge("{ \"a\" : 1 }", r#"{"b":null}"#), "unchanged");
    assert_eq!(merge(r#"{"a":1}"#, r#"{"a":1}"#), "unchanged");
    assert_eq!(merge(r#"{"a":1}"#, r#"{"a":1.0}"#), r#"{"a":1.0}"#);
    let there_and_back = r#"[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/b"}]"#;
    assert_eq!(operate(r#"{"a":1}"#, there_and_back).unwrap(), "unchanged");
}

// Guarantee: W-19
#[test]
fn no_digit_is_lost_in_what_a_patch_does_not_touch_nor_in_what_it_brings() {
    let document =
        r#"{"big":9007199254740993,"huge":1e400,"long":0.10000000000000000555,"zero":-0.0}"#;
    assert_eq!(
        merge(document, r#"{"new":18446744073709551617}"#),
        r#"{"big":9007199254740993,"huge":1e400,"long":0.10000000000000000555,"new":18446744073709551617,"zero":-0.0}"#
    );
    let tests =
        r#"[{"op":"test","path":"/big","value":9007199254740992},{"op":"remove","path":"/big"}]"#;
    let refused = operate(document, tests).unwrap_err();
    assert!(
        refused.starts_with("CONFLICT: patch.document[0]"),
        "{refused}"
    );
}

/// Documents, operations and results of the RFC's appendix A.
const OPERATIONS: [(&str, &str, &str); 14] = [
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux"}]"#,
        r#"{"baz":"qux","foo":"bar"}"#,
    ),
    (
        r#"{"foo":["bar","baz"]}"#,
        r#"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
        r#"{"foo":["bar","qux","baz"]}"#,
    ),
    (
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"remove","path":"/baz"}]"#,
        r#"{"foo":"bar"}"#,
    ),
    (
        r#"{"foo":["bar","qux","baz"]}"#,
        r#"[{"op":"remove","path":"/foo/1"}]"#,
        r#"{"foo":["bar","baz"]}"#,
    ),
    (
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"replace","path":"/baz","value":"boo"}]"#,
        r#"{"baz":"boo","foo":"bar"}"#,
    ),
    (
        r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
        r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
        r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#,
    ),
    (
        r#"{"foo":["all","grass","cows","eat"]}"#,
        r#"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
        r#"{"foo":["all","cows","eat","grass"]}"#,
    ),
    (
        r#"{"baz":"qux","foo":["a",2,"c"]}"#,
        r#"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
        "unchanged",
    ),
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
        r#"{"child":{"grandchild":{}},"foo":"bar"}"#,
    ),
    (
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
        r#"{"baz":"qux","foo":"bar"}"#,
    ),
    (
        r#"{"/":9,"~1":10}"#,
        r#"[{"op":"test","path":"/~01","value":10}]"#,
        "unchanged",
    ),
    (
        r#"{"foo":["bar"]}"#,
        r#"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
        r#"{"foo":["bar",["abc","def"]]}"#,
    ),
    (
        r#"{"a":{"b":1}}"#,
        r#"[{"op":"copy","from":"/a","path":"/c"},{"op":"remove","path":"/a/b"}]"#,
        r#"{"a":{},"c":{"b":1}}"#,
    ),
    (
        r#"{"a":1}"#,
        r#"[{"op":"replace","path":"","value":{"b":2}}]"#,
        r#"{"b":2}"#,
    ),
];

#[test]
fn operations_do_what_rfc_6902_says() {
    for (document, patch, result) in OPERATIONS {
        assert_eq!(
            operate(document, patch).as_deref(),
            Ok(result),
            "{document} {patch}"
        );
    }
}

#[test]
fn an_operation_that_does_not_apply_is_named_with_its_fault() {
    let cases = [
        (r#"{"op":"add","path":"/baz/bat","value":1}"#, "[0].path"),
        (r#"{"op":"remove","path":"/nothing"}"#, "[0].path"),
        (
            r#"{"op":"replace","path":"/nothing","value":1}"#,
            "[0].path",
        ),
        (r#"{"op":"copy","from":"/nothing","path":"/a"}"#, "[0].from"),
        (r#"{"op":"move","from":"/o","path":"/o/p"}"#, "[0].path"),
        (
            r#"{"op":"move","from":"/nothing","path":"/nothing"}"#,
            "[0].from",
        ),
        (r#"{"op":"add","path":"/l/2","value":1}"#, "[0].path"),
        (r#"{"op":"add","path":"/l/01","value":1}"#, "[0].path"),
        (r#"{"op":"remove","path":"/l/-"}"#, "[0].path"),
        (r#"{"op":"add","path":"a","value":1}"#, "[0].path"),
        (r#"{"op":"add","path":"/a~2","value":1}"#, "[0].path"),
        (r#"{"op":"add","path":"/a"}"#, "[0].value"),
        (r#"{"op":"spoil","path":"/a"}"#, "[0].op"),
        (r#"{"path":"/a"}"#, "[0].op"),
        (r#"{"op":"remove","path":""}"#, "[0].path"),
        (r#"{"op":"remove"}"#, "[0].path"),
        ("1", "[0]"),
    ];
    for (operation, field) in cases {
        let refused = operate(r#"{"foo":"bar","l":[1],"o":{}}"#, &format!("[{operation}]"));
        let refused = refused.unwrap_err();
        let expected = format!("patch.document{field}: ");
        assert!(refused.starts_with(&expected), "{operation}: {refused}");
    }
    let test = r#"[{"op":"test","path":"/foo","value":"baz"}]"#;
    assert!(
        operate(r#"{"foo":"bar"}"#, test)
            .unwrap_err()
            .starts_with("CONFLICT")
    );
    let list = operate("{}", r#"[{"op":"replace","path":"","value":[]}]"#).unwrap_err();
    assert!(list.ends_with("must leave a JSON object"), "{list}");
    assert!(
        operate("{}", "{}")
            .unwrap_err()
            .contains("must be a list of operations")
    );
}

#[test]
fn a_member_that_is_missing_is_null_to_the_tests_of_kubernetes_alone() {
    let document = r#"{"a":{"b":null},"l":[1]}"#;
    let tested = |path: &str, value: &str| {
        let patch = format!(r#"[{{"op":"test","path":"{path}","value":{value}}}]"#);
        let [strict, as_by_kubernetes] = [Missing::Fails, Missing::IsNull].map(|missing| {
            let format = PatchFormat::Json;
            patched(document.as_bytes(), format, patch.as_bytes(), missing).is_ok()
        });
        (strict, as_by_kubernetes)
    };
    assert_eq!(tested("/x", "null"), (false, true));
    assert_eq!(tested("/a/x", "null"), (false, true));
    assert_eq!(tested("/a/b", "null"), (true, true));
    for (path, value) in [
        ("/x", "1"),
        ("/a", "null"),
        // There is no object that it could be a member of.
        ("/x/y", "null"),
        ("/a/b/x", "null"),
        ("/l/1", "null"),
        ("/l/-", "null"),
    ] {
        assert_eq!(tested(path, value), (false, false), "{path}");
    }
    let encoding = ApiVersion::parse("v1").unwrap();
    let first = r#"[{"op":"test","path":"/x","value":null},{"op":"add","path":"/x","value":[]}]"#;
    let patch = Patch {
        encoding,
        format: PatchFormat::Json,
        document: first.into(),
    };
    let document = Bytes::from_static(b"{}");
    let patched = patch.applied_as_by_kubernetes(&document).unwrap();
    assert_eq!(patched, r#"{"x":[]}"#);
    assert!(patch.applied_to(&document).is_err());
}

#[test]
fn what_is_no_document_is_no_patch() {
    for bad in [
        "",
        "{",
        r#"{"a":1,"a":2}"#,
        "[1]",
        "1",
        "{}{}",
        "\u{feff}{}",
    ] {
        for (document, patch) in [(bad, "{}"), ("{}", bad)] {
            let result = strictly(document.as_bytes(), PatchFormat::Merge, patch.as_bytes());
            assert!(matches!(result, Err(Fault::Invalid(_))), "{bad}");
        }
    }
    let not_utf_8 = strictly(b"{}", PatchFormat::Merge, b"{\"a\":\"\xff\"}");
    assert!(matches!(not_utf_8, Err(Fault::Invalid(_))));
}

#[test]
fn nothing_gets_deeper_than_a_document_may_be() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let deepest = nested(JSON_DEPTH_MAX);
    assert_eq!(merge("{}", &deepest), deepest);
    let beyond = nested(JSON_DEPTH_MAX + 1);
    let result = strictly(b"{}", PatchFormat::Merge, beyond.as_bytes());
    assert!(matches!(result, Err(Fault::Invalid(_))));
    // A document that holds itself, again and again.
    let copies = r#"{"op":"copy","from":"","path":"/a"}"#;
    let many = format!("[{}]", vec![copies; JSON_DEPTH_MAX + 1].join(","));
    let refused = operate("{}", &many).unwrap_err();
    assert!(refused.contains("must not be nested deeper"), "{refused}");
    let long = format!(
        r#"[{{"op":"remove","path":"{}"}}]"#,
        "/a".repeat(JSON_DEPTH_MAX + 1)
    );
    assert!(operate("{}", &long).unwrap_err().contains("Too many"));
}

#[test]
fn a_patch_is_bounded_in_its_operations_its_copies_its_steps_and_its_result() {
    let operations =
        |count: usize, operation: &str| format!("[{}]", vec![operation; count].join(","));
    let add = r#"{"op":"add","path":"/a","value":1}"#;
    assert!(operate("{}", &operations(PATCH_OPERATIONS_MAX, add)).is_ok());
    let refused = operate("{}", &operations(PATCH_OPERATIONS_MAX + 1, add)).unwrap_err();
    assert!(refused.contains("Too many: 10001"), "{refused}");

    let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(500_000));
    let copy = r#"{"op":"copy","from":"/a","path":"/b"}"#;
    assert!(operate(&text, &operations(1, copy)).is_ok());
    let refused = operate(&text, &operations(10, copy)).unwrap_err();
    assert!(refused.starts_with("TOO_LARGE"), "{refused}");

    let list = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(100_000));
    let insert = r#"{"op":"add","path":"/a/0","value":1}"#;
    assert!(operate(&list, &operations(10, insert)).is_ok());
    let refused = operate(&list, &operations(100, insert)).unwrap_err();
    assert!(refused.starts_with("TOO_LARGE"), "{refused}");

    let half = format!(r#"{{"a":"{}"}}"#, "x".repeat(OBJECT_BYTES_MAX / 2));
    let result = strictly(
        half.as_bytes(),
        PatchFormat::Merge,
        half.replace("\"a\"", "\"b\"").as_bytes(),
    );
    assert!(matches!(
        result,
        Err(Fault::Refused(ErrorKind::TooLarge, _))
    ));
}

proptest! {
    #[test]
    fn no_bytes_make_a_patch_panic(document in ".{0,64}", patch in "[\\[\\]{}\",:/~a-z0-9\\\\-]{0,96}") {
        for format in [PatchFormat::Merge, PatchFormat::Json] {
            let _ = strictly(document.as_bytes(), format, patch.as_bytes());
            let _ = strictly(b"{\"a\":[1,{}]}", format, patch.as_bytes());
        }
    }

    #[test]
    fn what_a_patch_leaves_is_a_document_that_the_same_merge_does_not_change_again(
        key in "[a-c]", value in "-?[1-9][0-9]{0,30}"
    ) {
        let patch = format!(r#"{{"{key}":{value}}}"#);
        let once = merge(r#"{"a":0}"#, &patch);
        prop_assert_eq!(merge(&once, &patch), "unchanged");
    }
}
