//! Escapes texts of others, so that they cannot control the terminal on which they are printed.

use synod_model::misleads;

/// The text on one line, with every character escaped that could change how the text around it is shown.
pub fn printable(text: &str) -> String {
    escaped(text, |_| false)
}

/// The text for a terminal: line breaks stay, every other misleading character is escaped. In JSON such characters
/// occur only within strings, where they are escaped in the same way.
pub fn harmless(text: &str) -> String {
    escaped(text, |letter| letter == '\n')
}

/// The text with every misleading character escaped as in JSON, except those for which `kept` is true.
fn escaped(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut to = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            _ if !misleads(letter) || kept(letter) => to.push(letter),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            _ => to.push_str(&format!("\\u{:04x}", u32::from(letter))),
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_escaped_once_and_only_where_it_misleads() {
        assert_eq!(printable("a\nb\u{202e}c"), "a\\nb\\u202ec");
        assert_eq!(harmless(&printable("a\nb")), "a\\nb");
        assert_eq!(printable("\u{e4}\u{5d0}\\"), "\u{e4}\u{5d0}\\");
    }
}
