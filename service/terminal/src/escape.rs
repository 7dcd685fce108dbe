//! Texts of others, without what would do something to a terminal.

use synod_model::misleads;

/// A text of somebody else in one line, without anything that does something to what stands around it.
pub fn printable(text: &str) -> String {
    escaped(text, |_| false)
}

/// What goes to a terminal: lines end, and nothing else does anything to what stands around it. In JSON such characters
/// stand in texts alone, where they are escaped in the same way.
pub fn harmless(text: &str) -> String {
    escaped(text, |letter| letter == '\n')
}

/// The text with everything escaped that misleads, as JSON does it, but for what is `kept`.
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
