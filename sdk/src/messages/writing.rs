//! Writes messages as JSON.

use data_encoding::BASE64;
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, ReflectMessage as _, Value,
};
use serde_json::{Map, Value as Json};

/// Writes a message as a document. A field without presence is written even if it is empty; one with presence only if
/// it is set. 64-bit numbers are strings, since many readers of JSON keep only 53 bits; maps are in the order of their
/// keys.
pub(crate) fn write(message: &DynamicMessage) -> Json {
    let mut document = Map::new();
    for field in message.descriptor().fields() {
        if field.supports_presence() && !message.has_field(&field) {
            continue;
        }
        let value = message.get_field(&field);
        document.insert(field.json_name().to_owned(), write_field(&field, &value));
    }
    Json::Object(document)
}

fn write_field(field: &FieldDescriptor, value: &Value) -> Json {
    let kind = field.kind();
    match value {
        Value::List(items) => items.iter().map(|item| write_value(&kind, item)).collect(),
        Value::Map(map) => {
            let values = kind
                .as_message()
                .map_or(Kind::String, |entry| entry.map_entry_value_field().kind());
            let mut items: Vec<(String, Json)> = map
                .iter()
                .map(|(key, item)| (write_key(key), write_value(&values, item)))
                .collect();
            items.sort_by(|one, other| one.0.cmp(&other.0));
            Json::Object(items.into_iter().collect())
        }
        single => write_value(&kind, single),
    }
}

fn write_key(key: &MapKey) -> String {
    match key {
        MapKey::Bool(flag) => flag.to_string(),
        MapKey::I32(number) => number.to_string(),
        MapKey::I64(number) => number.to_string(),
        MapKey::U32(number) => number.to_string(),
        MapKey::U64(number) => number.to_string(),
        MapKey::String(text) => text.clone(),
    }
}

fn write_value(kind: &Kind, value: &Value) -> Json {
    match value {
        Value::Bool(flag) => Json::Bool(*flag),
        Value::I32(number) => Json::from(*number),
        Value::U32(number) => Json::from(*number),
        Value::I64(number) => Json::String(number.to_string()),
        Value::U64(number) => Json::String(number.to_string()),
        Value::F32(number) => Json::from(*number),
        Value::F64(number) => Json::from(*number),
        Value::String(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => Json::String(BASE64.encode(bytes)),
        Value::EnumNumber(number) => write_enum(kind.as_enum(), *number),
        Value::Message(message) => write(message),
        // A list contains no lists and no maps.
        Value::List(_) | Value::Map(_) => Json::Null,
    }
}

/// The name of an enum value; a value of a later release has no name here, and is written as its number.
fn write_enum(descriptor: Option<&EnumDescriptor>, number: i32) -> Json {
    let known = descriptor.and_then(|descriptor| descriptor.get_value(number));
    match known {
        Some(value) => Json::String(value.name().to_owned()),
        None => Json::from(number),
    }
}
