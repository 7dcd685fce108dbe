//! How long a text of YAML takes to be read, at most, before it is read.
//!
//! Its reader goes through all brackets that are open at each token, and through all directives at each of them: half a
//! MiB of `{a: ` took it 100 seconds, and nobody can stop it. It nests no deeper than 128 afterwards, whatever it has read.

/// The most steps: about half a second.
const STEPS_MAX: usize = 1 << 28;

/// Whether reading a text takes no longer than a request may.
pub(super) fn are_few(text: &[u8]) -> bool {
    let directives = text
        .split(|byte| *byte == b'\n' || *byte == b'\r')
        .filter(|line| line.starts_with(b"%"));
    let open = match std::str::from_utf8(text) {
        Ok(_) => most_open(text),
        // The reader takes other encodings, too.
        Err(_) => text.iter().filter(|byte| is_opening(byte)).count(),
    };
    let open = open.saturating_add(directives.count());
    open.saturating_mul(text.len()) <= STEPS_MAX
}

const fn is_opening(byte: &u8) -> bool {
    matches!(*byte, b'[' | b'{')
}

/// Where a reader that has met an opening bracket is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Something begins here.
    Begin,
    Plain,
    /// Behind a bracket or a quoted text.
    Behind,
    Quoted(u8),
}

/// The most brackets that can be open at once; where it cannot be told simply, more than there are.
///
/// A bracket that closes counts only if the one that it belongs to, if it is one and no part of a text, is surely closed by it:
/// from there on the text is read as the reader does it, until something comes that is not as simple.
fn most_open(text: &[u8]) -> usize {
    let (mut open, mut most, mut matched) = (0_usize, 0_usize, 0_usize);
    let mut at = At::Begin;
    for (place, &byte) in text.iter().enumerate() {
        let is_quoted = matches!(at, At::Quoted(_));
        if is_opening(&byte) {
            open += 1;
            most = most.max(open);
            if !is_quoted {
                matched += 1;
                at = At::Begin;
            }
            continue;
        }
        if matched == 0 {
            continue;
        }
        let next_is_blank = || matches!(text.get(place + 1), Some(b' ' | b'\t' | b'\n' | b'\r'));
        at = match (at, byte) {
            (At::Quoted(quote), _) if byte == quote => At::Behind,
            (At::Quoted(_), b' '..=b'[' | b']'..=b'~' | 0x80..)
            | (At::Begin | At::Plain | At::Behind, b' ' | b'\t' | b'\n' | b'\r') => at,
            (At::Begin | At::Plain | At::Behind, b']' | b'}') => {
                open -= 1;
                matched -= 1;
                At::Behind
            }
            (At::Begin, b'"' | b'\'') => At::Quoted(byte),
            (At::Begin | At::Plain | At::Behind, b',') | (At::Begin | At::Behind, b':') => {
                At::Begin
            }
            (At::Plain, b':') if next_is_blank() => At::Begin,
            (
                At::Begin | At::Plain,
                b'a'..=b'z'
                | b'A'..=b'Z'
                | b'0'..=b'9'
                | b'.'
                | b'/'
                | b'_'
                | b'-'
                | b'+'
                | b'='
                | b':'
                | 0x80..,
            ) => At::Plain,
            _ => {
                matched = 0;
                At::Begin
            }
        };
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_that_are_surely_closed_are_not_open() {
        for (text, most) in [
            ("a: {}\nb: []\n", 1),
            ("a: [1, two, {b: c}]\nb: [3]\n", 2),
            ("[é, \"ü\", {ä: ö}]\n", 2),
            (r#"[{"a": "b", "c":"d]"}, {'e': [f, "g"]}]"#, 3),
            ("a: [\n  b,\n  c,\n]\nd: []\n", 1),
            ("a: \"{{ x }} and {{ y }}\"\n", 2),
        ] {
            assert_eq!(most_open(text.as_bytes()), most, "{text}");
        }
        assert!(are_few("- [a, \"b\", {c: d}]\n".repeat(80_000).as_bytes()));
    }

    #[test]
    fn brackets_that_may_be_open_are() {
        for text in [
            "{a: #}\n",
            "{a: \"}\\\"\"\n",
            "{a\"b: \"}\n",
            "{a \"b: \"}\n",
            "{a: '}''\n",
            "{a: !b}\n",
            "{a: &b}\n",
            "{a:\"}\n",
            "[a'b]'\n",
            "{a: |\n }\n",
        ] {
            let many = text.repeat(10);
            assert_eq!(most_open(many.as_bytes()), 10, "{text}");
        }
        assert_eq!(most_open(b"]]]]}}}[[["), 3);
        // In UTF-16, of which a part looks as if it was a bracket that closes.
        let utf16 = [b"\xfe\xff".to_vec(), b"\0{}\x2c\0:\0 ".repeat(20_000)].concat();
        assert!(!are_few(&utf16));
    }
}
