//! Documents as they are read: bounded in what they hold, whatever their text says.
//!
//! A short text can be a large value: each `0,` of a list is a value of its own, and an alias of YAML stands for all that
//! its anchor holds, as often as it is named.

mod duplicates;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use synod_model::limits::REQUEST_BYTES_MAX;
use synod_model::{Json, Violation};

/// The most values of a document, each of which takes some ten times the memory of its text.
pub(crate) const VALUES_MAX: usize = 200_000;

/// 2^63. A double beyond it may be an integer that lost digits: in JSON, its text tells.
const INTEGERS_END: f64 = 9_223_372_036_854_775_808.0;

/// What is said of a number that would lose digits.
pub(crate) const INEXACT: &str =
    "it holds a number that is neither an integer of 64 bits nor exact in floating point";

/// What a document may still hold.
pub(crate) struct Budget {
    values: usize,
    /// Bytes of keys and texts. A text of JSON never has more than itself.
    bytes: usize,
    /// The least magnitude of doubles that are refused.
    doubles_end: f64,
}

impl Budget {
    pub(crate) const fn new() -> Self {
        Self {
            values: VALUES_MAX,
            bytes: REQUEST_BYTES_MAX,
            doubles_end: f64::INFINITY,
        }
    }

    /// Takes one value with these bytes of keys and texts.
    ///
    /// # Errors
    ///
    /// Less is left.
    pub(crate) fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = self
            .values
            .checked_sub(1)
            .zip(self.bytes.checked_sub(bytes));
        let Some((values, bytes)) = left else {
            return Err(E::custom(format_args!(
                "it holds more than {VALUES_MAX} values, or {REQUEST_BYTES_MAX} bytes of text"
            )));
        };
        (self.values, self.bytes) = (values, bytes);
        Ok(())
    }
}

/// The value of a text of JSON.
///
/// # Errors
///
/// It is no JSON, nested too deep, or holds too much.
pub(crate) fn json(text: &[u8]) -> Result<Value, serde_json::Error> {
    json_within(text, &mut Budget::new())
}

/// The same for a text that is a part of a document.
///
/// # Errors
///
/// As [`json`].
pub(crate) fn json_within(text: &[u8], budget: &mut Budget) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Bounded(budget).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Whether a document says what its text of JSON does, every digit of its numbers.
///
/// # Errors
///
/// The text says something in a way that no document does.
pub(crate) fn is_exact(text: &[u8], document: &Value) -> Result<bool, Violation> {
    let said = Json::parse(text)?;
    Ok(Json::parse(document.to_string().as_bytes()).is_ok_and(|kept| kept == said))
}

/// What of a text of JSON its document does not say.
///
/// # Errors
///
/// A number would lose digits.
pub(crate) fn lost(text: &[u8], document: &Value) -> Result<Vec<String>, &'static str> {
    match is_exact(text, document) {
        Ok(true) => Ok(Vec::new()),
        Ok(false) => Err(INEXACT),
        Err(fault) => {
            let duplicates = duplicates::of_json(text);
            Ok(match duplicates.is_empty() {
                true => vec![format!("not kept as it is written: {}", fault.rule)],
                false => duplicates,
            })
        }
    }
}

/// What of a text of YAML, which was read before, its document does not say.
pub(crate) fn lost_of_yaml(text: &[u8]) -> Vec<String> {
    duplicates::of_yaml(text)
}

/// The value of a text of YAML.
///
/// # Errors
///
/// The text is no YAML, nested too deep, or holds too much, or an integer of more than 64 bits.
pub(crate) fn yaml(text: &[u8]) -> Result<Value, synod_yaml::Error> {
    let mut budget = Budget {
        doubles_end: INTEGERS_END,
        ..Budget::new()
    };
    synod_yaml::from_slice_seed(text, Bounded(&mut budget))
}

/// A value that is read on a budget.
struct Bounded<'a>(&'a mut Budget);

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.0.spend(0)?;
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.0.spend(0)?;
        if value.abs() >= self.0.doubles_end {
            return Err(E::custom(format_args!(
                "{INEXACT}: send JSON in place of YAML"
            )));
        }
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("it holds a number that JSON does not have"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.0.spend(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Bounded(self.0))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.0.spend(0)?;
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.0.spend(key.len())?;
            let value = members.next_value_seed(Bounded(self.0))?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_holds_little_is_read_whole() {
        let text = br#"{"a": [1, -2, 2.5, "x", true, null, {"b": {}}], "c": 18446744073709551615}"#;
        let expected = json!({"a": [1, -2, 2.5, "x", true, null, {"b": {}}], "c": u64::MAX});
        assert_eq!(json(text).unwrap(), expected);
        let text = "a: &x [1, two, null]\nb: *x\n1: yes\n";
        let expected = json!({"a": [1, "two", null], "b": [1, "two", null], "1": "yes"});
        assert_eq!(yaml(text.as_bytes()).unwrap(), expected);
        assert!(json(b"{} {}").is_err());
        for number in [
            ".nan",
            "18446744073709551616",
            "-9223372036854775809",
            "1e30",
        ] {
            assert!(yaml(format!("a: {number}").as_bytes()).is_err(), "{number}");
        }
    }

    #[test]
    fn a_short_text_of_many_values_is_refused() {
        let many = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        assert!(json(many(VALUES_MAX - 1).as_bytes()).is_ok());
        let refused = json(many(VALUES_MAX).as_bytes()).unwrap_err();
        assert!(refused.to_string().contains("200000 values"), "{refused}");
    }

    #[test]
    fn aliases_of_yaml_hold_what_their_anchors_do() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let below = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        assert!(yaml(bomb.as_bytes()).is_err());
        // Few values, each of them large.
        let text = format!(
            "a: &a {}\nb: [{}]\n",
            "x".repeat(100_000),
            ["*a"; 100].join(", ")
        );
        assert!(yaml(text.as_bytes()).is_err());
    }

    #[test]
    fn yaml_that_is_nested_deep_or_has_many_directives_is_refused() {
        let directives: String = (0..60_000)
            .map(|number| format!("%TAG !a{number}! tag:x\n"))
            .collect();
        for text in [
            "{a: ".repeat(300_000),
            "[".repeat(1 << 20),
            "{a: #}\n".repeat(200_000),
            directives,
        ] {
            assert!(yaml(text.as_bytes()).is_err(), "{}", &text[..10]);
        }
    }

    #[test]
    fn a_number_that_loses_digits_is_not_exact() {
        for (text, is_kept) in [
            ("[1, 1.10, -0.1, 18446744073709551615, 1e3]", true),
            ("[18446744073709551616]", false),
            ("[0.12345678901234567890123]", false),
        ] {
            let document = json(text.as_bytes()).unwrap();
            let exact = is_exact(text.as_bytes(), &document).unwrap();
            assert_eq!(exact, is_kept, "{text}");
        }
    }
}
