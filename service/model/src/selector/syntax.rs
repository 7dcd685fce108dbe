//! The tokens of a label selector.

use std::fmt;

/// A token of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A key, a value, or `in` and `notin`.
    Word(&'a str),
    Comma,
    Not,
    /// `=` and `==`.
    Equal,
    NotEqual,
    Open,
    Close,
    End,
}

/// The tokens of a selector that are still to be read.
pub(super) struct Tokens<'a>(&'a str);

/// The characters that end a word.
const SPECIAL: [char; 6] = [',', '!', '=', '(', ')', ' '];

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self(text)
    }

    /// The next token, without reading it.
    pub(super) fn peek(&self) -> Token<'a> {
        self.first().0
    }

    /// Reads the next token; at the end always [`Token::End`].
    pub(super) fn next(&mut self) -> Token<'a> {
        let (token, rest) = self.first();
        self.0 = rest;
        token
    }

    /// Reads the next token if it is this one, and answers whether it was.
    pub(super) fn take(&mut self, token: Token<'_>) -> bool {
        let is_next = self.peek() == token;
        if is_next {
            self.next();
        }
        is_next
    }

    fn first(&self) -> (Token<'a>, &'a str) {
        let text = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace());
        for (mark, token) in [
            ("==", Token::Equal),
            ("!=", Token::NotEqual),
            ("=", Token::Equal),
            ("!", Token::Not),
            (",", Token::Comma),
            ("(", Token::Open),
            (")", Token::Close),
        ] {
            if let Some(rest) = text.strip_prefix(mark) {
                return (token, rest);
            }
        }
        let end = text
            .find(|c: char| SPECIAL.contains(&c) || c.is_ascii_whitespace())
            .unwrap_or(text.len());
        match text.split_at(end) {
            ("", rest) => (Token::End, rest),
            (word, rest) => (Token::Word(word), rest),
        }
    }
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Word(word) => word,
            Self::Comma => ",",
            Self::Not => "!",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Open => "(",
            Self::Close => ")",
            Self::End => "the end",
        })
    }
}
