//! Generates the Python of the protocol: `synod/v1.py`, its messages and enums, and `synod/_services.py`, its methods.

use std::fmt::Write as _;

use super::{Enum, Field, FieldKind, Message, Method, Protocol, Service, Shape, snake};

/// The generated files of the package `synod`, each by its path within the package.
#[must_use]
pub fn files(protocol: &Protocol) -> Vec<(&'static str, String)> {
    vec![
        ("v1.py", messages(protocol)),
        ("_services.py", services(protocol)),
    ]
}

const MESSAGES: &str = r#""""The messages of Synod's protocol, `synod.v1`, as frozen values.

Every message has `to_dict` and `from_dict`, which are protobuf's JSON form: keys in lowerCamelCase, 64-bit numbers as
decimal strings, bytes in base64. A field that is `None` is not set.
"""

# Generated from the sources of the protocol: UPDATE_GOLDEN=1 cargo test --package synod-bound --test bound generated

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from synod._message import Field, Message, ProtocolEnum
"#;

fn messages(protocol: &Protocol) -> String {
    let mut text = MESSAGES.to_owned();
    for listed in &protocol.enums {
        write_enum(&mut text, listed);
    }
    for message in &protocol.messages {
        write_message(&mut text, message);
    }
    let enums = protocol.enums.iter().map(|listed| &listed.name);
    let messages = protocol.messages.iter().map(|message| &message.name);
    write_names(&mut text, enums.chain(messages).cloned().collect());
    text
}

/// Writes the module's `__all__`.
fn write_names(text: &mut String, mut names: Vec<String>) {
    names.sort_unstable();
    text.push_str("\n\n__all__ = [\n");
    for name in names {
        write_line(text, 1, &format!("\"{name}\","));
    }
    text.push_str("]\n");
}

fn write_enum(text: &mut String, listed: &Enum) {
    let _ = write!(text, "\n\nclass {}(ProtocolEnum):\n", listed.name);
    write_docs(text, 1, &listed.docs);
    for value in &listed.values {
        text.push('\n');
        write_line(
            text,
            1,
            &format!("{} = \"{}\"", value.short_name, value.name),
        );
        write_docs(text, 1, &value.docs);
    }
}

fn write_message(text: &mut String, message: &Message) {
    text.push_str("\n\n@dataclass(frozen=True, kw_only=True, slots=True, repr=False)\n");
    let _ = writeln!(text, "class {}(Message):", message.name);
    write_docs(text, 1, &message.docs);
    for field in &message.fields {
        let default = match field.shape {
            Shape::Map => "field(default_factory=dict)".to_owned(),
            Shape::Single | Shape::List => default(field, ""),
        };
        text.push('\n');
        let declared = format!(
            "{}: {} = {default}",
            attribute(field),
            annotation(field, "")
        );
        write_line(text, 1, &declared);
        write_docs(text, 1, &field.docs);
    }
    if message.fields.is_empty() {
        return;
    }
    text.push('\n');
    write_line(text, 1, "_fields: ClassVar[tuple[Field, ...]] = (");
    for field in &message.fields {
        let (name, key, shape) = (attribute(field), &field.json_name, shape(field));
        let kind = conversion(&field.kind);
        let written = format!("Field(\"{name}\", \"{key}\", \"{shape}\", \"{kind}\"),");
        write_line(text, 2, &written);
    }
    write_line(text, 1, ")");
}

fn write_line(text: &mut String, depth: usize, line: &str) {
    let _ = writeln!(text, "{}{line}", "    ".repeat(depth));
}

fn write_docs(text: &mut String, depth: usize, docs: &str) {
    let docs = docs.replace('\\', "\\\\").replace("\"\"\"", "'''");
    match docs.split_once('\n') {
        None if docs.is_empty() => {}
        None => write_line(text, depth, &format!("\"\"\"{docs}\"\"\"")),
        Some((first, rest)) => {
            write_line(text, depth, &format!("\"\"\"{first}"));
            for line in rest.lines() {
                write_line(text, if line.is_empty() { 0 } else { depth }, line);
            }
            write_line(text, depth, "\"\"\"");
        }
    }
}

/// The name of a field in Python.
fn attribute(field: &Field) -> String {
    if KEYWORDS.contains(&field.name.as_str()) {
        format!("{}_", field.name)
    } else {
        field.name.clone()
    }
}

/// Python's keywords, which cannot be names of attributes.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// The type of one value of a field, with `module` before the messages.
fn value_type(kind: &FieldKind, module: &str) -> String {
    match kind {
        FieldKind::Bool => "bool".to_owned(),
        FieldKind::Number { .. } | FieldKind::LongNumber { .. } => "int".to_owned(),
        FieldKind::Text => "str".to_owned(),
        FieldKind::Bytes => "bytes".to_owned(),
        FieldKind::Enum(name) | FieldKind::Message(name) => format!("{module}{name}"),
    }
}

fn annotation(field: &Field, module: &str) -> String {
    let value = value_type(&field.kind, module);
    match field.shape {
        Shape::Map => format!("Mapping[str, {value}]"),
        Shape::List => format!("tuple[{value}, ...]"),
        Shape::Single if field.optional => format!("{value} | None"),
        Shape::Single => value,
    }
}

fn default(field: &Field, module: &str) -> String {
    match (field.shape, &field.kind) {
        (Shape::Map, _) | (Shape::Single, FieldKind::Message(_)) => "None".to_owned(),
        (Shape::List, _) => "()".to_owned(),
        (Shape::Single, _) if field.optional => "None".to_owned(),
        (Shape::Single, FieldKind::Bool) => "False".to_owned(),
        (Shape::Single, FieldKind::Number { .. } | FieldKind::LongNumber { .. }) => "0".to_owned(),
        (Shape::Single, FieldKind::Text) => "\"\"".to_owned(),
        (Shape::Single, FieldKind::Bytes) => "b\"\"".to_owned(),
        (Shape::Single, FieldKind::Enum(name)) => format!("{module}{name}.UNSPECIFIED"),
    }
}

/// The name of the field's shape in the generated code: one value, an optional one, a list or a map.
fn shape(field: &Field) -> &'static str {
    match field.shape {
        Shape::Map => "map",
        Shape::List => "many",
        Shape::Single if field.optional => "optional",
        Shape::Single => "one",
    }
}

/// The conversion of one value: the name of its kind, or of its class, quoted since it may be defined further down.
fn conversion(kind: &FieldKind) -> String {
    match kind {
        FieldKind::LongNumber { .. } => "long".to_owned(),
        other => value_type(other, ""),
    }
}

const SERVICES: &str = r#""""The services of Synod's protocol: one method for each of its calls, for threads and for event loops."""

# Generated from the sources of the protocol: UPDATE_GOLDEN=1 cargo test --package synod-bound --test bound generated

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

from synod import v1
from synod._service import AsyncService, Service
"#;

fn services(protocol: &Protocol) -> String {
    let mut text = SERVICES.to_owned();
    let mut names = Vec::new();
    for service in &protocol.services {
        if service.methods.iter().all(|method| method.streams) {
            continue;
        }
        for waiting in [Waiting::Thread, Waiting::Loop] {
            write_service(&mut text, protocol, service, waiting);
            names.push(waiting.class(&service.name));
        }
    }
    write_names(&mut text, names);
    text
}

/// Whether a generated method blocks a thread or is awaited.
#[derive(Clone, Copy)]
enum Waiting {
    Thread,
    Loop,
}

impl Waiting {
    fn class(self, service: &str) -> String {
        match self {
            Self::Thread => format!("{service}Service"),
            Self::Loop => format!("Async{service}Service"),
        }
    }

    fn base(self) -> &'static str {
        match self {
            Self::Thread => "Service",
            Self::Loop => "AsyncService",
        }
    }

    fn iterator(self) -> &'static str {
        match self {
            Self::Thread => "Iterator",
            Self::Loop => "AsyncIterator",
        }
    }
}

fn write_service(text: &mut String, protocol: &Protocol, service: &Service, waiting: Waiting) {
    let (class, base) = (waiting.class(&service.name), waiting.base());
    let _ = write!(text, "\n\nclass {class}({base}):\n");
    write_docs(text, 1, &service.docs);
    for method in service.methods.iter().filter(|method| !method.streams) {
        let Some(request) = protocol.message(&method.request) else {
            continue;
        };
        write_method(text, method, request, waiting);
        if let Some(item) = item_of(protocol, method, request) {
            write_listing(text, method, request, item, waiting);
        }
    }
}

fn write_method(text: &mut String, method: &Method, request: &Message, waiting: Waiting) {
    let (keyword, wait) = match waiting {
        Waiting::Thread => ("def", ""),
        Waiting::Loop => ("async def", "await "),
    };
    let fields: Vec<&Field> = request.fields.iter().collect();
    text.push('\n');
    write_line(text, 1, &format!("{keyword} {}(", snake(&method.name)));
    write_parameters(text, &fields);
    write_line(text, 1, &format!(") -> v1.{}:", method.response));
    write_docs(text, 2, &method.docs);
    write_request(text, request, &fields);
    let (name, response) = (&method.full_name, &method.response);
    let call = format!("return {wait}self._call(\"{name}\", request, v1.{response}, timeout)");
    write_line(text, 2, &call);
}

/// The method that reads all pages of a list, one after the other.
fn write_listing(
    text: &mut String,
    method: &Method,
    request: &Message,
    item: &str,
    waiting: Waiting,
) {
    let (name, iterator) = (snake(&method.name), waiting.iterator());
    let fields = request.fields.iter();
    let fields: Vec<&Field> = fields.filter(|field| field.name != PAGE_TOKEN).collect();
    text.push('\n');
    write_line(text, 1, &format!("def {name}_all("));
    write_parameters(text, &fields);
    write_line(text, 1, &format!(") -> {iterator}[v1.{item}]:"));
    let docs = "over all pages, which are read at one revision as they are needed.";
    write_docs(text, 2, &format!("As `{name}`, {docs}"));
    write_request(text, request, &fields);
    let (name, page) = (&method.full_name, &method.response);
    let call = format!("return self._pages(\"{name}\", request, v1.{page}, v1.{item}, timeout)");
    write_line(text, 2, &call);
}

/// The field of a request for the page of a list, and of an answer for the page after it.
const PAGE_TOKEN: &str = "continue_token";

/// The type of the items, if the method answers a list in pages.
fn item_of<'a>(protocol: &'a Protocol, method: &Method, request: &Message) -> Option<&'a str> {
    let page = protocol.message(&method.response)?;
    let has_token = |message: &Message| message.fields.iter().any(|field| field.name == PAGE_TOKEN);
    let items = page.fields.iter().find(|field| field.name == "items")?;
    match &items.kind {
        FieldKind::Message(item) if has_token(request) && has_token(page) => Some(item),
        _ => None,
    }
}

fn write_parameters(text: &mut String, fields: &[&Field]) {
    write_line(text, 2, "self,");
    write_line(text, 2, "*,");
    for field in fields {
        let (name, mut kind) = (attribute(field), annotation(field, "v1."));
        if field.shape == Shape::Map {
            kind += " | None";
        }
        write_line(
            text,
            2,
            &format!("{name}: {kind} = {},", default(field, "v1.")),
        );
    }
    write_line(text, 2, "timeout: float | None = None,");
}

fn write_request(text: &mut String, request: &Message, fields: &[&Field]) {
    if fields.is_empty() {
        write_line(text, 2, &format!("request = v1.{}()", request.name));
        return;
    }
    write_line(text, 2, &format!("request = v1.{}(", request.name));
    for field in fields {
        let name = attribute(field);
        let given = match field.shape {
            Shape::Map => format!("{name} or {{}}"),
            Shape::Single | Shape::List => name.clone(),
        };
        write_line(text, 3, &format!("{name}={given},"));
    }
    write_line(text, 2, ")");
}
