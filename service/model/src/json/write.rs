//! The JSON writer: text as given, canonical or indented.

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

/// The text over several lines, two blanks for each level; `None` if it is longer than `bytes_max`
/// without its final line break.
pub(super) fn pretty(value: &Json, bytes_max: usize) -> Option<String> {
    let mut out = String::new();
    write_pretty(value, 0, bytes_max, &mut out)?;
    out.push('\n');
    Some(out)
}

fn write_pretty(value: &Json, level: usize, bytes_max: usize, out: &mut String) -> Option<()> {
    let open = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                open(out, level + 1);
                write_pretty(item, level + 1, bytes_max, out)?;
            }
            open(out, level);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (place, (key, value)) in members.iter().enumerate() {
                out.push_str(if place > 0 { "," } else { "" });
                open(out, level + 1);
                string(key, out);
                out.push_str(": ");
                write_pretty(value, level + 1, bytes_max, out)?;
            }
            open(out, level);
            out.push('}');
        }
        Json::Null
        | Json::Bool(_)
        | Json::Number(_)
        | Json::String(_)
        | Json::Array(_)
        | Json::Object(_) => write(value, Numbers::AsGiven, out),
    }
    (out.len() <= bytes_max).then_some(())
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
        Json::String(text) => string(text, out),
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
                string(key, out);
                out.push(':');
                write(value, numbers, out);
            }
            out.push('}');
        }
    }
}

pub(super) fn string(text: &str, out: &mut String) {
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
