//! No text takes long to be read, is nested without end, or makes the reader panic; what is written is read back.

use proptest::prelude::{any, prop};
use proptest::strategy::{Just, Strategy};
use proptest::{prop_assert_eq, prop_oneof, proptest};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use synod_yaml::{DEPTH_MAX, from_slice, from_str, to_string};

/// Parts of YAML that mean something at some places.
const PARTS: [&str; 44] = [
    "a",
    "b: ",
    "- ",
    "\n",
    "\n  ",
    "\n    ",
    " ",
    ":",
    "? ",
    "&x ",
    "*x",
    "!t ",
    "!!str ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "'",
    "\"",
    "|",
    ">",
    "|-\n  ",
    ">+\n ",
    " # d\n",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "\t",
    "\r\n",
    "~",
    "yes",
    "0o17",
    "-1.5e3",
    ".inf",
    "<<: ",
    "012",
    "2026-01-01",
    "é",
    "\u{2028}",
    "\u{feff}",
    "\u{85}",
    "\\",
    "%",
];

#[test]
fn values_are_nested_so_deep_and_no_deeper() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", "")] {
        let nested = |depth: usize| {
            let text = format!("{}{}", open.repeat(depth), close.repeat(depth));
            from_str::<Value>(&text)
        };
        assert!(nested(DEPTH_MAX).is_ok(), "{open}");
        assert!(nested(DEPTH_MAX + 1).is_err(), "{open}");
        assert!(nested(100_000).is_err(), "{open}");
    }
    let mixed = "- ".repeat(DEPTH_MAX / 2) + &"[".repeat(DEPTH_MAX / 2 + 1);
    assert!(from_str::<Value>(&mixed).is_err());
}

#[test]
fn aliases_are_followed_a_bounded_number_of_times() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert!(from_str::<Value>(&bomb).is_err());
    assert!(from_str::<Value>("&a [*a]").is_err());
    assert!(from_str::<Value>("*a").is_err());
}

#[test]
fn no_text_takes_longer_than_its_length_says() {
    let tags: String = (0..20_000)
        .map(|number| format!("%TAG !a{number}! tag:x\n"))
        .collect();
    let anchors: String = (0..20_000)
        .map(|number| format!("- &a{number} x\n- *a{number}\n"))
        .collect();
    let repeated = PARTS
        .iter()
        .chain(&[
            "[", "{a: #}\n", "- - ", "a:\n ", "a: |\n", "[a: ", "[\n", "\"\\n", "#\n",
        ])
        .map(|part| part.repeat((1 << 18) / part.len()));
    for text in repeated.chain([tags, anchors]) {
        // It is read or refused: what counts is that this ends.
        let _ = from_str::<IgnoredAny>(&text);
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert!(from_slice::<Value>(b"a: \xff").is_err());
    // UTF-16 is no UTF-8.
    assert!(from_slice::<Value>(b"\xff\xfea\0").is_err());
    assert!(from_slice::<Value>(b"a: \x01b\n").is_err());
}

fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(&PARTS[..]).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    prop_oneof![
        Just("plain".to_owned()),
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat()),
        (100..200_usize).prop_map(|length| "k".repeat(length)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::vec((text(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in value()) {
        let text = to_string(&value);
        prop_assert_eq!(from_str::<Value>(&text).ok(), Some(value), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in text(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = from_str::<Value>(&text);
        let _ = from_slice::<Value>(&bytes);
    }
}

#[test]
fn what_readers_of_yaml_1_1_take_for_another_value_is_quoted() {
    for text in [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "N",
        "<<",
        "=",
        "1_000",
        "10:15",
        "0x1_f",
        "012",
        "~",
        "",
        "2026-11-29",
    ] {
        let written = to_string(&Value::from(text));
        assert!(written.starts_with(['\'', '"']), "{written}");
    }
    for text in ["yes!", "v1_0", "nginx"] {
        assert_eq!(to_string(&Value::from(text)), format!("{text}\n"));
    }
}
