//! Documents with the numbers that their values do not hold with all digits.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use crate::Error;
use crate::text::all;

/// A document of a text.
#[derive(Debug)]
pub struct Document {
    /// The value. A number is an integer of 64 bits or the nearest double.
    pub value: Value,
    /// Numbers that were read as doubles, with their places, in the order of the text.
    pub inexact: Vec<InexactNumber>,
}

/// A number that was read as the nearest double.
#[derive(Debug)]
pub struct InexactNumber {
    /// The field, such as `spec.weights[1]`; empty for the document itself.
    pub field: String,
    /// The text as it is written.
    pub text: String,
    /// The double.
    pub number: Number,
}

/// Reads the documents of a text, without the empty ones. No mapping may have a key twice.
///
/// # Errors
///
/// The text is no YAML, or exceeds a bound.
pub fn documents(text: &str) -> Result<Vec<Document>, Error> {
    let parts: Vec<Spanned<Part>> = all(text)?;
    let documents = parts.into_iter().map(|part| {
        let mut inexact = Vec::new();
        let value = part_value(part, text, &mut String::new(), &mut inexact);
        Document { value, inexact }
    });
    Ok(documents.collect())
}

/// A part of a document that is not yet compared with its text.
enum Part {
    Double(Number),
    Other(Value),
    List(Vec<Spanned<Part>>),
    Mapping(Vec<(String, Spanned<Part>)>),
}

/// The value of a part, whose doubles go to `inexact`.
fn part_value(
    part: Spanned<Part>,
    text: &str,
    field: &mut String,
    inexact: &mut Vec<InexactNumber>,
) -> Value {
    let length = field.len();
    match part.value {
        Part::Other(value) => value,
        Part::Double(number) => {
            let span = part.defined.span();
            let (begin, length) = (span.byte_offset(), span.byte_len());
            let bytes = begin.zip(length).and_then(|(begin, length)| {
                let begin = usize::try_from(begin).ok()?;
                text.get(begin..begin.checked_add(usize::try_from(length).ok()?)?)
            });
            inexact.push(InexactNumber {
                field: field.clone(),
                text: bytes.unwrap_or_default().trim().to_owned(),
                number: number.clone(),
            });
            Value::Number(number)
        }
        Part::List(items) => {
            let mut list = Vec::with_capacity(items.len());
            for (place, item) in items.into_iter().enumerate() {
                field.push_str(&format!("[{place}]"));
                list.push(part_value(item, text, field, inexact));
                field.truncate(length);
            }
            Value::Array(list)
        }
        Part::Mapping(members) => {
            let mut map = Map::new();
            for (key, member) in members {
                if length > 0 {
                    field.push('.');
                }
                field.push_str(&key);
                let member = part_value(member, text, field, inexact);
                field.truncate(length);
                map.insert(key, member);
            }
            Value::Object(map)
        }
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value that JSON has")
    }

    fn visit_unit<E>(self) -> Result<Part, E> {
        Ok(Part::Other(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Part, E> {
        Ok(Part::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Part, E> {
        Ok(Part::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Part, E> {
        Ok(Part::Other(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Part, E> {
        let number = Number::from_f64(value);
        number
            .map(Part::Double)
            .ok_or_else(|| E::custom("it is a number that JSON does not have"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Other(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Part, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Part::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Part, A::Error> {
        let mut map = Vec::new();
        while let Some(member) = members.next_entry()? {
            map.push(member);
        }
        Ok(Part::Mapping(map))
    }
}
