use proptest::prelude::*;

use super::*;
use crate::limits::{JSON_DEPTH_MAX, JSON_EXPONENT_MAX, JSON_NUMBER_BYTES_MAX};

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn rule(text: &str) -> String {
    Json::parse(text.as_bytes()).unwrap_err().rule
}

#[test]
fn every_kind_of_value_reads_and_writes() {
    let text = r#" { "b" : [ 1 , -2.50 , 3E+2, true, false, null, "x\u00e9\ud83d\ude00\n\u0001" ] , "a" : { } } "#;
    assert_eq!(
        json(text).to_text(),
        "{\"a\":{},\"b\":[1,-2.50,3E+2,true,false,null,\"xé😀\\n\\u0001\"]}"
    );
    assert_eq!(
        json(text).to_canonical(),
        "{\"a\":{},\"b\":[1,-2.5,300,true,false,null,\"xé😀\\n\\u0001\"]}"
    );
}

#[test]
fn what_is_no_json_is_refused_with_the_byte_at_which_it_breaks() {
    for (text, byte) in [
        ("", 0),
        ("nul", 0),
        ("{} {}", 3),
        ("{a:1}", 1),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("{\"a\":1", 6),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("\"abc", 4),
        ("\"a\tb\"", 2),
        ("\"\\x\"", 1),
        ("\"\\u12g4\"", 1),
        ("\"\\ud800\"", 1),
        ("\"\\ud800\\u0041\"", 1),
        ("\"\\udc00\"", 1),
        ("01", 0),
        ("1.", 0),
        (".5", 0),
        ("1e", 0),
        ("+1", 0),
        ("-", 0),
        ("NaN", 0),
        ("\u{feff}{}", 0),
    ] {
        let found = rule(text);
        assert!(
            found.contains(&format!("byte {byte}: ")),
            "{text:?}: {found}"
        );
    }
    let found = Json::parse(b"\"\xff\"").unwrap_err().rule;
    assert!(found.contains("byte 1: is not UTF-8"), "{found}");
}

#[test]
fn a_key_stands_once_in_an_object_however_it_is_written() {
    let found = rule(r#"{"a":1,"b":{"x":1,"\u0078":2}}"#);
    assert_eq!(
        found,
        r#"Invalid value: must be JSON: byte 18: key: Duplicate value: "x""#
    );
    assert!(Json::parse(br#"{"a":{"a":1}}"#).is_ok());
}

#[test]
fn nesting_is_allowed_up_to_the_limit_and_not_one_level_more() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |levels: usize| {
            let inner = if open == "[" { "" } else { "1" };
            format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
        };
        assert!(Json::parse(nested(JSON_DEPTH_MAX - 1).as_bytes()).is_ok());
        assert!(Json::parse(nested(JSON_DEPTH_MAX).as_bytes()).is_ok());
        let found = rule(&nested(JSON_DEPTH_MAX + 1));
        assert!(found.contains("must not nest deeper than"), "{found}");
    }
    // The parser stops at the limit, however deep the document is.
    assert!(rule(&"[".repeat(1_000_000)).contains("must not nest deeper than"));
}

#[test]
fn numbers_are_equal_by_value_and_never_rounded() {
    for (one, other) in [
        ("1", "1.0"),
        ("1", "10e-1"),
        ("1", "0.1e1"),
        ("0", "-0.0"),
        ("0", "-0"),
        ("0", "0e7"),
        ("1e2", "100"),
        ("1E+02", "100.000"),
        ("-0.00125", "-125e-5"),
        ("9007199254740993", "9007199254740993.0"),
    ] {
        assert_eq!(json(one), json(other), "{one} = {other}");
        assert_eq!(json(one).to_canonical(), json(other).to_canonical());
    }
    for (one, other) in [
        ("1", "-1"),
        ("1", "10"),
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.10000000000000000001"),
        ("1e400", "1e401"),
        ("1e-400", "0"),
        ("1", "\"1\""),
        ("0", "false"),
        ("0", "null"),
    ] {
        assert_ne!(json(one), json(other), "{one} != {other}");
        assert_ne!(json(one).to_canonical(), json(other).to_canonical());
    }
}

#[test]
fn a_number_has_one_canonical_form() {
    for (given, canonical) in [
        ("100", "100"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e21"),
        ("123e30", "1.23e32"),
        ("-12.50", "-12.5"),
        ("0.000001", "0.000001"),
        ("1e-8", "1e-8"),
        ("0.0000001", "0.0000001"),
        ("12345678901234567890123456", "12345678901234567890123456"),
        ("-0.0", "0"),
    ] {
        assert_eq!(json(given).to_canonical(), canonical, "{given}");
    }
}

#[test]
fn an_exponent_is_allowed_up_to_the_limit_and_not_beyond() {
    for sign in ["", "+", "-"] {
        assert!(JsonNumber::parse(&format!("1e{sign}{JSON_EXPONENT_MAX}")).is_some());
        let beyond = JSON_EXPONENT_MAX + 1;
        assert!(JsonNumber::parse(&format!("1e{sign}{beyond}")).is_none());
        assert!(JsonNumber::parse(&format!("1e{sign}99999999999999999999")).is_none());
    }
    assert_eq!(
        JsonNumber::parse("1e00000000000000000000007")
            .unwrap()
            .to_canonical(),
        "10000000"
    );
}

#[test]
fn a_number_has_as_many_bytes_as_the_limit_and_no_more() {
    for bytes in [JSON_NUMBER_BYTES_MAX - 1, JSON_NUMBER_BYTES_MAX] {
        assert!(JsonNumber::parse(&"7".repeat(bytes)).is_some());
    }
    let beyond = "7".repeat(JSON_NUMBER_BYTES_MAX + 1);
    assert!(JsonNumber::parse(&beyond).is_none());
    let fault = Json::parse(format!("[{beyond}]").as_bytes()).unwrap_err();
    assert!(fault.to_string().contains("1024 bytes"), "{fault}");
}

#[test]
fn an_object_where_one_is_asked_for_is_nothing_else() {
    assert!(Json::parse_object(b"{}").is_ok());
    for other in ["0", "null", "[]", "\"test\"", "true"] {
        let found = Json::parse_object(other.as_bytes()).unwrap_err().rule;
        assert!(found.contains("must be a valid JSON object"), "{found}");
    }
}

#[test]
fn what_says_nothing_is_dropped_from_objects_and_never_from_lists() {
    for (given, kept) in [
        (
            r#"{"a":null,"b":{},"c":[],"d":0,"e":"","f":false}"#,
            r#"{"d":0,"e":"","f":false}"#,
        ),
        (r#"{"a":{"b":{"c":[],"d":null}}}"#, "{}"),
        (
            r#"{"a":[null,{},[],{"x":null}]}"#,
            r#"{"a":[null,{},[],{}]}"#,
        ),
        (r#"{"a":[]}"#, "{}"),
    ] {
        assert_eq!(json(given).without_empty().to_text(), kept);
    }
}

#[test]
fn people_read_one_thing_a_line_and_never_more_than_they_asked_for() {
    let value = json(r#"{"b":[1,{}],"a":{"x":[]}}"#);
    let pretty = "{\n  \"a\": {\n    \"x\": []\n  },\n  \"b\": [\n    1,\n    {}\n  ]\n}\n";
    assert_eq!(value.to_pretty(100).as_deref(), Some(pretty));
    assert_eq!(value.to_pretty(20), None);
}

#[test]
fn a_patch_stops_at_its_limit_however_long_its_paths_are() {
    let items = |item: &str| vec![item; 100_000].join(",");
    let below = "k".repeat(100_000);
    let value = |item: &str| json(&format!("{{\"{below}\":[{}]}}", items(item)));
    // In full it would have ten thousand million bytes.
    assert_eq!(value("0").patch_to(&value("1"), 1 << 20), None);
    let (from, to) = (json("[0]"), json("[1]"));
    let patch = from.patch_to(&to, 1_000).unwrap();
    assert_eq!(from.patch_to(&to, patch.len()), Some(patch.clone()));
    assert_eq!(from.patch_to(&to, patch.len() - 1), None);
}

#[test]
fn a_patch_says_what_was_added_removed_and_replaced() {
    let patch = |from: &str, to: &str| json(from).patch_to(&json(to), 1_000).unwrap();
    assert_eq!(patch(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#), "[]");
    assert_eq!(
        patch(r#"{"a":1,"b~/":2}"#, r#"{"a":3,"c":null}"#),
        r#"[{"op":"replace","path":"/a","value":3},{"op":"remove","path":"/b~0~1"},{"op":"add","path":"/c","value":null}]"#
    );
    assert_eq!(
        patch("[1,2,3,4]", "[1,4]"),
        r#"[{"op":"remove","path":"/2"},{"op":"remove","path":"/1"}]"#
    );
    assert_eq!(
        patch("null", "{}"),
        r#"[{"op":"replace","path":"","value":{}}]"#
    );
}

/// Carries out a patch as its text says it, with no more than the operations that are written here.
fn patched(mut value: Json, patch: &str) -> Json {
    fn at<'a>(value: &'a mut Json, path: &[String]) -> &'a mut Json {
        path.iter().fold(value, |value, part| match value {
            Json::Object(members) => members.get_mut(part).unwrap(),
            Json::Array(items) => &mut items[part.parse::<usize>().unwrap()],
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
                panic!("nothing is below {value:?}")
            }
        })
    }
    let Json::Array(operations) = json(patch) else {
        panic!("a patch is a list, and not {patch}");
    };
    for operation in &operations {
        let member = |key: &str| match operation {
            Json::Object(members) => members.get(key).cloned(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
        };
        let text = |key: &str| match member(key) {
            Some(Json::String(text)) => text,
            other => panic!("{key} is not {other:?}"),
        };
        let (pointer, op) = (text("path"), text("op"));
        let path: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let given = member("value");
        let Some((last, above)) = path.split_last() else {
            value = given.unwrap();
            continue;
        };
        let place = || last.parse::<usize>().unwrap();
        match (at(&mut value, above), op.as_str()) {
            (Json::Object(members), "remove") => drop(members.remove(last).unwrap()),
            (Json::Object(members), _) => drop(members.insert(last.clone(), given.unwrap())),
            (Json::Array(items), "remove") => drop(items.remove(place())),
            (Json::Array(items), "add") => items.insert(place(), given.unwrap()),
            (Json::Array(items), _) => items[place()] = given.unwrap(),
            (other, _) => panic!("nothing is below {other:?}"),
        }
    }
    value
}

/// Any value, with its numbers written in many ways.
fn any_json() -> impl Strategy<Value = Json> {
    let number = (any::<i64>(), 0..4_u8).prop_map(|(number, form)| {
        let text = match form {
            0 => format!("{number}"),
            1 => format!("{number}.0"),
            2 => format!("{number}0e-1"),
            _ => format!("{number}e+3"),
        };
        Json::Number(JsonNumber::parse(&text).unwrap())
    });
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number,
        any::<String>().prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_reads_back_from_both_of_its_texts(value in any_json()) {
        prop_assert_eq!(&json(&value.to_text()), &value);
        prop_assert_eq!(&json(&value.to_canonical()), &value);
    }

    #[test]
    fn canonical_texts_agree_exactly_when_values_do(one in any_json(), other in any_json()) {
        prop_assert_eq!(one == other, one.to_canonical() == other.to_canonical());
        prop_assert_eq!(json(&one.to_canonical()).to_canonical(), one.to_canonical());
    }

    #[test]
    fn the_patch_between_any_two_values_makes_one_of_the_other(one in any_json(), other in any_json()) {
        let patch = one.patch_to(&other, usize::MAX).unwrap();
        prop_assert_eq!(patched(one, &patch), other);
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(bytes: Vec<u8>) {
        if let Ok(value) = Json::parse(&bytes) {
            prop_assert_eq!(&json(&value.to_text()), &value);
        }
    }
}
