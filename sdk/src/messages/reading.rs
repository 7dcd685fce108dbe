//! Parses JSON into a message; every fault is found, and named by its path.

use std::collections::{BTreeSet, HashMap};

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};
use serde_json::Value as Json;
use synod_model::{Violation, Violations};

/// Parses a document into a message. Names are in lowerCamelCase or as in the sources, 64-bit numbers are strings or
/// numbers, bytes are base64 in either alphabet, enums are names or numbers, and `null` is a field that is not set.
///
/// # Errors
///
/// Every field that its message does not have, and every value that is not of its field's type.
pub(crate) fn read(
    descriptor: &MessageDescriptor,
    document: &Json,
) -> Result<DynamicMessage, Violations> {
    let Json::Object(fields) = document else {
        return Err(wrong(document, "must be an object").into());
    };
    let mut message = DynamicMessage::new(descriptor.clone());
    let mut found = Violations::new();
    let mut seen = BTreeSet::new();
    for (name, value) in fields {
        let known = descriptor
            .get_field_by_json_name(name)
            .or_else(|| descriptor.get_field_by_name(name));
        let Some(field) = known else {
            let rule = format!(
                "Unknown field: the message {} has no field of this name",
                descriptor.full_name()
            );
            found.push(violation(rule).at(name));
            continue;
        };
        if value.is_null() {
            continue;
        }
        if !seen.insert(place(&field)) {
            found.push(violation(twice(&field)).at(name));
            continue;
        }
        if let Some(value) = found.parsed(name, read_field(&field, value)) {
            message.set_field(&field, value);
        }
    }
    if found.is_empty() {
        Ok(message)
    } else {
        Err(found)
    }
}

/// The name that may be set only once: of a field, or of the `oneof` that it belongs to.
fn place(field: &FieldDescriptor) -> String {
    match field.containing_oneof() {
        Some(choice) if !choice.is_synthetic() => choice.full_name().to_owned(),
        Some(_) | None => field.full_name().to_owned(),
    }
}

fn twice(field: &FieldDescriptor) -> String {
    match field.containing_oneof() {
        Some(choice) if !choice.is_synthetic() => {
            format!(
                "Forbidden: only one field of {:?} may be set",
                choice.name()
            )
        }
        Some(_) | None => "Duplicate value: the field is given under both of its names".to_owned(),
    }
}

fn read_field(field: &FieldDescriptor, value: &Json) -> Result<Value, Violations> {
    if field.is_map() {
        return read_map(field, value);
    }
    if !field.is_list() {
        return read_value(&field.kind(), value);
    }
    let Json::Array(items) = value else {
        return Err(wrong(value, "must be a list").into());
    };
    let mut found = Violations::new();
    let mut list = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        list.extend(found.parsed(format_args!("[{i}]"), read_value(&field.kind(), item)));
    }
    if found.is_empty() {
        Ok(Value::List(list))
    } else {
        Err(found)
    }
}

/// Every map of the protocol has strings as its keys.
fn read_map(field: &FieldDescriptor, value: &Json) -> Result<Value, Violations> {
    let Json::Object(items) = value else {
        return Err(wrong(value, "must be an object").into());
    };
    let kind = field.kind();
    let values = kind
        .as_message()
        .map(MessageDescriptor::map_entry_value_field);
    let Some(values) = values else {
        return Err(violation("Unsupported: the field is no map".to_owned()).into());
    };
    let mut found = Violations::new();
    let mut map = HashMap::new();
    for (key, item) in items {
        let path = format!("[{key:?}]");
        if let Some(item) = found.parsed(&path, read_value(&values.kind(), item)) {
            map.insert(MapKey::String(key.clone()), item);
        }
    }
    if found.is_empty() {
        Ok(Value::Map(map))
    } else {
        Err(found)
    }
}

fn read_value(kind: &Kind, value: &Json) -> Result<Value, Violations> {
    let read = match kind {
        Kind::Message(descriptor) => return read(descriptor, value).map(Value::Message),
        Kind::Enum(descriptor) => read_enum(descriptor, value),
        Kind::Bool => match value {
            Json::Bool(flag) => Ok(Value::Bool(*flag)),
            _ => Err(wrong(value, "must be true or false")),
        },
        Kind::String => match value {
            Json::String(text) => Ok(Value::String(text.clone())),
            _ => Err(wrong(value, "must be a text")),
        },
        Kind::Bytes => read_bytes(value),
        Kind::Uint32 | Kind::Fixed32 => whole(value).map(Value::U32),
        Kind::Uint64 | Kind::Fixed64 => whole(value).map(Value::U64),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => whole(value).map(Value::I32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => whole(value).map(Value::I64),
        Kind::Float => real(value).map(|number| Value::F32(number as f32)),
        Kind::Double => real(value).map(Value::F64),
    };
    read.map_err(Violations::from)
}

fn read_enum(descriptor: &EnumDescriptor, value: &Json) -> Result<Value, Violation> {
    let number = match value {
        Json::String(name) => descriptor
            .get_value_by_name(name)
            .map(|value| value.number()),
        Json::Number(number) => number.as_i64().and_then(|number| number.try_into().ok()),
        _ => None,
    };
    number.map(Value::EnumNumber).ok_or_else(|| {
        let names: Vec<String> = descriptor
            .values()
            .map(|value| value.name().to_owned())
            .collect();
        wrong(value, &format!("must be one of {}", names.join(", ")))
    })
}

fn read_bytes(value: &Json) -> Result<Value, Violation> {
    let Json::String(text) = value else {
        return Err(wrong(value, "must be a text in base64"));
    };
    let text = text.as_bytes();
    let codecs = [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
    let decoded = codecs.iter().find_map(|codec| codec.decode(text).ok());
    // The text is not quoted: it may be a secret, and does not help the reader.
    let rule = || violation("Invalid value: must be base64".to_owned());
    decoded
        .map(|bytes| Value::Bytes(bytes.into()))
        .ok_or_else(rule)
}

/// A whole number in the range of its type: a number, or a text of digits.
fn whole<T: std::str::FromStr + TryFrom<i64> + TryFrom<u64>>(value: &Json) -> Result<T, Violation> {
    /// Above this, not every whole number has a floating-point form of its own.
    const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
    let read = match value {
        Json::String(text) => text.parse().ok(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => T::try_from(number).ok(),
            (None, Some(number), _) => T::try_from(number).ok(),
            (None, None, Some(real)) if real.fract() == 0.0 && real.abs() <= EXACT_MAX => {
                T::try_from(real as i64).ok()
            }
            (None, None, _) => None,
        },
        _ => None,
    };
    let bits = 8 * size_of::<T>();
    read.ok_or_else(|| wrong(value, &format!("must be a whole number of {bits} bits")))
}

fn real(value: &Json) -> Result<f64, Violation> {
    value
        .as_f64()
        .ok_or_else(|| wrong(value, "must be a number"))
}

/// The violation by a value that is not of its field's type.
fn wrong(value: &Json, rule: &str) -> Violation {
    match value {
        Json::String(text) => Violation::invalid(text, rule),
        Json::Bool(_) | Json::Number(_) | Json::Null => {
            violation(format!("Invalid value: {value}: {rule}"))
        }
        Json::Array(_) => violation(format!("Invalid value: a list: {rule}")),
        Json::Object(_) => violation(format!("Invalid value: an object: {rule}")),
    }
}

fn violation(rule: String) -> Violation {
    let field = String::new();
    Violation { field, rule }
}
