//! Writing a JSON value.

use std::fmt::Write;

use super::Json;

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    AsGiven,
    Canonical,
}

pub(super) fn text(value: &Json) -> String {
    let mut out = String::new();
    write(value, Numbers::AsGiven, &mut out);
    out
}

pub(super) fn canonical(value: &Json) -> String {
    let mut out = String::new();
    write(value, Numbers::Canonical, &mut out);
    out
}

fn write(value: &Json, numbers: Numbers, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) if numbers == Numbers::Canonical => {
            out.push_str(&number.to_canonical());
        }
        Json::Number(number) => out.push_str(number.as_str()),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, numbers, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (place, (key, value)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(value, numbers, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes every character");
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
