//! Messages as documents: bounded in what they hold, as documents of JSON are.

use std::fmt;

use prost::DecodeError;
use prost::encoding::{
    DecodeContext, WireType, check_wire_type, decode_key, decode_varint, skip_field,
};
use serde_json::{Map, Value, json};

use super::messages::{Field, Holds, Message};
use crate::bounded::{self, Budget};
use crate::documents::stamp;

/// Why bytes are no message.
#[derive(Debug)]
pub(crate) struct Unreadable(String);

impl Unreadable {
    pub(super) fn new(fault: impl Into<String>) -> Self {
        Self(fault.into())
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<DecodeError> for Unreadable {
    fn from(fault: DecodeError) -> Self {
        Self(fault.to_string())
    }
}

impl From<serde_json::Error> for Unreadable {
    fn from(fault: serde_json::Error) -> Self {
        Self(fault.to_string())
    }
}

/// `Time` and `MicroTime`.
static TIME: Message = Message(&[
    Field {
        number: 1,
        name: "seconds",
        holds: Holds::Number,
        is_list: false,
    },
    Field {
        number: 2,
        name: "nanos",
        holds: Holds::Number,
        is_list: false,
    },
]);

/// Reads a message into the members of a document. A field that is there again adds to a message or a list, and replaces all
/// else.
pub(super) fn read(
    message: &Message,
    mut bytes: &[u8],
    into: &mut Map<String, Value>,
    budget: &mut Budget,
) -> Result<(), Unreadable> {
    while !bytes.is_empty() {
        let (number, wire) = decode_key(&mut bytes)?;
        match message.0.iter().find(|field| field.number == number) {
            Some(field) => field.read(wire, &mut bytes, into, budget)?,
            None => skip_field(wire, number, &mut bytes, DecodeContext::default())?,
        }
    }
    Ok(())
}

impl Field {
    fn read(
        &self,
        wire: WireType,
        bytes: &mut &[u8],
        into: &mut Map<String, Value>,
        budget: &mut Budget,
    ) -> Result<(), Unreadable> {
        let value = match self.holds {
            Holds::Number | Holds::Bool => {
                check_wire_type(WireType::Varint, wire)?;
                budget.spend::<serde_json::Error>(self.name.len())?;
                let number = decode_varint(bytes)?;
                match self.holds {
                    Holds::Bool => json!(number != 0),
                    _ => json!(number.cast_signed()),
                }
            }
            _ => {
                let part = part(wire, bytes)?;
                budget.spend::<serde_json::Error>(self.name.len())?;
                match self.holds {
                    Holds::Texts => return self.read_pair(part, into, budget),
                    Holds::Message(message) if !self.is_list => {
                        let inner = into.entry(self.name).or_insert_with(|| json!({}));
                        return match inner {
                            Value::Object(inner) => read(message, part, inner, budget),
                            _ => Ok(()),
                        };
                    }
                    _ => self.value(part, budget)?,
                }
            }
        };
        if !self.is_list {
            into.insert(self.name.to_owned(), value);
        } else if let Value::Array(list) = into.entry(self.name).or_insert_with(|| json!([])) {
            list.push(value);
        }
        Ok(())
    }

    /// What the bytes of a field hold.
    fn value(&self, part: &[u8], budget: &mut Budget) -> Result<Value, Unreadable> {
        Ok(match self.holds {
            Holds::Text => json!(text(part, budget)?),
            Holds::Time | Holds::MicroTime => self.time(part, budget)?,
            Holds::Json => json_in(part, budget)?,
            Holds::Message(message) => {
                let mut inner = Map::new();
                read(message, part, &mut inner, budget)?;
                Value::Object(inner)
            }
            Holds::Texts | Holds::Number | Holds::Bool => Value::Null,
        })
    }

    /// A time; of no seconds at all, none.
    fn time(&self, part: &[u8], budget: &mut Budget) -> Result<Value, Unreadable> {
        if part.is_empty() {
            return Ok(Value::Null);
        }
        let mut inner = Map::new();
        read(&TIME, part, &mut inner, budget)?;
        let number = |name: &str| inner.get(name).and_then(Value::as_i64).unwrap_or_default();
        let micros = match self.holds {
            Holds::MicroTime => Some(number("nanos") / 1_000),
            _ => None,
        };
        let text = stamp(number("seconds"), micros);
        let text = text.ok_or_else(|| Unreadable::new(format!("{} is no time", self.name)))?;
        Ok(json!(text))
    }

    /// Reads an entry of a map of texts.
    fn read_pair(
        &self,
        mut part: &[u8],
        into: &mut Map<String, Value>,
        budget: &mut Budget,
    ) -> Result<(), Unreadable> {
        let (mut key, mut value) = (String::new(), String::new());
        while !part.is_empty() {
            let (number, wire) = decode_key(&mut part)?;
            match number {
                1 => key = text(self::part(wire, &mut part)?, budget)?,
                2 => value = text(self::part(wire, &mut part)?, budget)?,
                _ => skip_field(wire, number, &mut part, DecodeContext::default())?,
            }
        }
        if let Value::Object(texts) = into.entry(self.name).or_insert_with(|| json!({})) {
            texts.insert(key, json!(value));
        }
        Ok(())
    }
}

/// The bytes of a field that tells how many it has.
fn part<'a>(wire: WireType, bytes: &mut &'a [u8]) -> Result<&'a [u8], Unreadable> {
    check_wire_type(WireType::LengthDelimited, wire)?;
    let length = decode_varint(bytes)?;
    let parts = usize::try_from(length)
        .ok()
        .and_then(|length| bytes.split_at_checked(length));
    let (part, behind) = parts.ok_or_else(|| Unreadable::new("it is cut off"))?;
    *bytes = behind;
    Ok(part)
}

fn text(part: &[u8], budget: &mut Budget) -> Result<String, Unreadable> {
    let text = std::str::from_utf8(part).map_err(|_| Unreadable::new("a text is no UTF-8"))?;
    budget.spend::<serde_json::Error>(text.len())?;
    Ok(text.to_owned())
}

/// The value of a text of JSON that is the one field of its message. A number that would lose digits is a fault.
fn json_in(mut part: &[u8], budget: &mut Budget) -> Result<Value, Unreadable> {
    let mut value = Value::Null;
    while !part.is_empty() {
        let (number, wire) = decode_key(&mut part)?;
        if number != 1 {
            skip_field(wire, number, &mut part, DecodeContext::default())?;
            continue;
        }
        let text = self::part(wire, &mut part)?;
        value = match text {
            [] => Value::Null,
            text => {
                let value = bounded::json_within(text, budget)?;
                match bounded::is_exact(text, &value) {
                    Ok(true) => value,
                    Ok(false) | Err(_) => return Err(Unreadable::new(bounded::INEXACT)),
                }
            }
        };
    }
    Ok(value)
}
