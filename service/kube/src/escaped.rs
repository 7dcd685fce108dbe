//! Texts of JSON as Go writes them.

use serde_json::Value;

/// The letters that Go escapes.
const ESCAPED: [char; 5] = ['<', '>', '&', '\u{2028}', '\u{2029}'];

/// The text of a document, in which the letters are escaped that Go escapes: its clients keep the data of a snapshot as it is
/// written, and compare it byte by byte with what they have written themselves.
pub(crate) fn text(document: &Value) -> String {
    let text = document.to_string();
    if !text.contains(ESCAPED) {
        return text;
    }
    // They stand in strings alone, and none of them behind the backslash of another escape.
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match ESCAPED.contains(&letter) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn letters_are_escaped_as_go_escapes_them() {
        let document = json!({"command": "a && b <c> \\<\u{2028}", "ä": 1});
        let written = text(&document);
        assert_eq!(
            written,
            r#"{"command":"a \u0026\u0026 b \u003cc\u003e \\\u003c\u2028","ä":1}"#
        );
        let read: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read, document);
        assert_eq!(text(&json!(["x"])), r#"["x"]"#);
    }
}
