//! Documents as messages.

use prost::encoding::{WireType, bool, encode_key, encode_varint, int64};
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::messages::{Field, Holds, LIST_METADATA, Message};
use crate::escaped;

/// Writes the members of a document that a message has.
pub(super) fn write(message: &Message, document: &Value, out: &mut Vec<u8>) {
    for field in message.0 {
        match &document[field.name] {
            Value::Array(items) if field.is_list => {
                items.iter().for_each(|item| field.write(item, out));
            }
            value => field.write(value, out),
        }
    }
}

/// Writes a list of these: the same two fields, whatever its items are.
pub(super) fn write_list(item: &Message, document: &Value, out: &mut Vec<u8>) {
    nested(1, out, |out| {
        write(&LIST_METADATA, &document["metadata"], out);
    });
    for one in document["items"].as_array().into_iter().flatten() {
        nested(2, out, |out| write(item, one, out));
    }
}

/// An event of a watch, behind its length.
pub(super) fn event(name: &str, object: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 4];
    bytes(1, name.as_bytes(), &mut out);
    nested(2, &mut out, |out| bytes(1, object, out));
    // No event is as long as a gigabyte.
    let length = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
    out[..4].copy_from_slice(&length.to_be_bytes());
    out
}

impl Field {
    /// Writes a value, if it is of the type of the field.
    fn write(&self, value: &Value, out: &mut Vec<u8>) {
        match (self.holds, value) {
            (Holds::Text, Value::String(text)) => bytes(self.number, text.as_bytes(), out),
            (Holds::Number, Value::Number(number)) => {
                if let Some(number) = number.as_i64() {
                    int64::encode(self.number, &number, out);
                }
            }
            (Holds::Bool, Value::Bool(is)) => bool::encode(self.number, is, out),
            (Holds::Texts, Value::Object(texts)) => {
                for (key, value) in texts {
                    let value = value.as_str().unwrap_or_default();
                    nested(self.number, out, |out| {
                        bytes(1, key.as_bytes(), out);
                        bytes(2, value.as_bytes(), out);
                    });
                }
            }
            (Holds::Time | Holds::MicroTime, Value::String(text)) => self.write_time(text, out),
            (Holds::Json, value) if !value.is_null() => {
                let text = escaped::text(value);
                nested(self.number, out, |out| bytes(1, text.as_bytes(), out));
            }
            (Holds::Message(message), value @ Value::Object(_)) => {
                nested(self.number, out, |out| write(message, value, out));
            }
            _ => {}
        }
    }

    fn write_time(&self, text: &str, out: &mut Vec<u8>) {
        let Ok(time) = OffsetDateTime::parse(text, &Rfc3339) else {
            return;
        };
        nested(self.number, out, |out| {
            int64::encode(1, &time.unix_timestamp(), out);
            if matches!(self.holds, Holds::MicroTime) {
                int64::encode(2, &(i64::from(time.microsecond()) * 1_000), out);
            }
        });
    }
}

fn bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Writes a field that is a message.
fn nested(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(number, &inner, out);
}
