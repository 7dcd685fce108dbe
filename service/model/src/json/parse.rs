//! The JSON parser.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::{Json, JsonNumber, number};
use crate::Violation;
use crate::limits::{JSON_DEPTH_MAX, JSON_EXPONENT_MAX, JSON_NUMBER_BYTES_MAX};

pub(super) fn parse(text: &[u8]) -> Result<Json, Violation> {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => return Err(fault(error.valid_up_to(), "is not UTF-8")),
    };
    let mut reader = Reader { text, at: 0 };
    reader.skip_blanks();
    let value = reader.value(0)?;
    reader.skip_blanks();
    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(reader.fault("must be one JSON value, and something follows it"))
    }
}

fn fault(at: usize, rule: impl Display) -> Violation {
    Violation::not_json(format_args!("byte {at}: {rule}"))
}

/// The text, and the byte up to which it was read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, Violation> {
        match self.peek() {
            Some(b'{' | b'[') if depth == JSON_DEPTH_MAX => Err(self.fault(format_args!(
                "must not nest deeper than {JSON_DEPTH_MAX} levels"
            ))),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, Violation> {
        for (word, value) in [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("must be a JSON value"))
    }

    fn number(&mut self) -> Result<JsonNumber, Violation> {
        let rest = &self.text[self.at..];
        let Some(length) = number::length(rest.as_bytes()) else {
            return Err(self.fault("must be a number as JSON writes it"));
        };
        let Some(number) = JsonNumber::parse(&rest[..length]) else {
            return Err(self.fault(format_args!(
                "must be a number of no more than {JSON_NUMBER_BYTES_MAX} bytes, with an exponent of no more than {JSON_EXPONENT_MAX} either way"
            )));
        };
        self.at += length;
        Ok(number)
    }

    fn array(&mut self, depth: usize) -> Result<Json, Violation> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.took(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_blanks();
            items.push(self.value(depth)?);
            self.skip_blanks();
            if self.took(b']') {
                return Ok(Json::Array(items));
            }
            if !self.took(b',') {
                return Err(self.fault("must be ',' or ']'"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Violation> {
        let mut members = BTreeMap::new();
        self.at += 1;
        self.skip_blanks();
        if self.took(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            let begins = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("must be a key"));
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.took(b':') {
                return Err(self.fault("must be ':'"));
            }
            self.skip_blanks();
            let value = self.value(depth)?;
            if members.contains_key(&key) {
                let twice = Violation::duplicate(&key);
                return Err(fault(begins, format_args!("key: {twice}")));
            }
            members.insert(key, value);
            self.skip_blanks();
            if self.took(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.took(b',') {
                return Err(self.fault("must be ',' or '}'"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Violation> {
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .find(|c: char| c == '"' || c == '\\' || c < ' ')
                .unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.fault("must escape a control character")),
                None => return Err(self.fault("must be '\"'")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Violation> {
        let plain = match self.text.as_bytes().get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.fault("must be an escape that JSON knows")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Violation> {
        let begins = self.at;
        let unit = self.unit()?;
        let code = match unit {
            0xd800..=0xdbff => {
                let low = self.unit().unwrap_or(0);
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(fault(begins, "must be a whole surrogate pair"));
                }
                0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            _ => unit,
        };
        char::from_u32(code).ok_or_else(|| fault(begins, "must be a whole surrogate pair"))
    }

    /// The code unit of a `\uXXXX`.
    fn unit(&mut self) -> Result<u32, Violation> {
        let bytes = self.text.as_bytes();
        let unit = match bytes.get(self.at..self.at + 6) {
            Some([b'\\', b'u', digits @ ..]) => digits.iter().try_fold(0, |unit, digit| {
                Some((unit << 4) | char::from(*digit).to_digit(16)?)
            }),
            _ => None,
        };
        let unit = unit.ok_or_else(|| self.fault("must be \\u and four hexadecimal digits"))?;
        self.at += 6;
        Ok(unit)
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn took(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, rule: impl Display) -> Violation {
        fault(self.at, rule)
    }
}
