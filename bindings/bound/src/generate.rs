//! Reads the protocol from its descriptors, to generate its messages and methods for another language.
//!
//! [`Protocol::load`] reads the descriptors with their comments; [`node`] and [`python`] turn the result into the
//! source files that are checked in with those packages. A test compares the files with what would be generated, and
//! `UPDATE_GOLDEN=1 cargo test -p synod-bound generated` writes them.

pub mod node;
pub mod python;

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::source_code_info::Location;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, ServiceDescriptorProto,
};

/// The protocol `synod.v1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Its services, by file and then in the order of the file.
    pub services: Vec<Service>,
    /// Its messages, in the same order, without the messages that protobuf makes for the entries of maps.
    pub messages: Vec<Message>,
    /// Its enums, in the same order.
    pub enums: Vec<Enum>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name without the package, such as `Objects`.
    pub name: String,
    /// Its comment in the source.
    pub docs: String,
    /// Its methods, in their order.
    pub methods: Vec<Method>,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name, such as `Create`.
    pub name: String,
    /// The name that it is called by: `synod.v1.Objects/Create`.
    pub full_name: String,
    /// Its comment in the source.
    pub docs: String,
    /// The message of its request, without the package.
    pub request: String,
    /// The message of its response, without the package.
    pub response: String,
    /// Whether the request or the response is a stream: then it cannot be called as one request.
    pub streams: bool,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name without the package.
    pub name: String,
    /// Its comment in the source.
    pub docs: String,
    /// Its fields, in the order of the source.
    pub fields: Vec<Field>,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in the source, in snake case.
    pub name: String,
    /// Its name in JSON, in lowerCamelCase.
    pub json_name: String,
    /// Its comment in the source.
    pub docs: String,
    /// The type of its value, or of each of its items.
    pub kind: FieldKind,
    /// Whether it holds one value, a list or a map.
    pub shape: Shape,
    /// Whether unset differs from the default: an unset field is then left out of a document. True of all single
    /// messages and of the fields of a `oneof`.
    pub optional: bool,
    /// The `oneof` that the field belongs to: at most one of its fields is set.
    pub choice: Option<String>,
}

/// How many values a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    Single,
    /// A list.
    List,
    /// The values of a map, whose keys are texts.
    Map,
}

/// The type of a field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// `true` or `false`.
    Bool,
    /// A whole number of 32 bits: a number in a document.
    Number {
        /// Whether it can be less than zero.
        signed: bool,
    },
    /// A whole number of 64 bits: its decimal digits as a text in a document.
    LongNumber {
        /// Whether it can be less than zero.
        signed: bool,
    },
    /// A text.
    Text,
    /// Bytes: base64 in a document.
    Bytes,
    /// An enum of this name, without the package: its value's full name in a document.
    Enum(String),
    /// A message of this name, without the package.
    Message(String),
}

/// An enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name without the package.
    pub name: String,
    /// Its comment in the source.
    pub docs: String,
    /// Its values, in their order; the first stands for "unspecified" and is never sent.
    pub values: Vec<EnumValue>,
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Its full name, such as `EVENT_TYPE_ADDED`.
    pub name: String,
    /// Its name without the prefix that repeats the enum's name, such as `ADDED`.
    pub short_name: String,
    /// Its number.
    pub number: i32,
    /// Its comment in the source.
    pub docs: String,
}

impl Protocol {
    /// The protocol that this client speaks.
    ///
    /// # Panics
    ///
    /// The descriptors of this build cannot be decoded.
    #[must_use]
    pub fn load() -> Self {
        let files = FileDescriptorSet::decode(synod_client::FILE_DESCRIPTOR_SET)
            .expect("the build wrote the descriptors");
        let mut protocol = Self {
            services: Vec::new(),
            messages: Vec::new(),
            enums: Vec::new(),
        };
        // What access needs is for replicas alone, and other packages only say how options are written.
        let of_clients = |file: &&FileDescriptorProto| {
            file.package() == "synod.v1" && file.name() != "synod/v1/access.proto"
        };
        for file in files.file.iter().filter(of_clients) {
            protocol.add(file);
        }
        protocol
    }

    /// The message of this name, without the package.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<&Message> {
        self.messages.iter().find(|message| message.name == name)
    }

    fn add(&mut self, file: &FileDescriptorProto) {
        let comments = Comments::of(file);
        for (i, service) in (0..).zip(&file.service) {
            self.services
                .push(read_service(file, service, &comments, i));
        }
        for (i, message) in (0..).zip(&file.message_type) {
            self.messages.push(read_message(message, &comments, i));
        }
        for (i, of) in (0..).zip(&file.enum_type) {
            self.enums.push(read_enum(of, &comments, i));
        }
    }
}

/// Field numbers in the messages of a descriptor: the paths of comments consist of them.
mod path {
    pub(super) const FILE_MESSAGE: i32 = 4;
    pub(super) const FILE_ENUM: i32 = 5;
    pub(super) const FILE_SERVICE: i32 = 6;
    pub(super) const MESSAGE_FIELD: i32 = 2;
    pub(super) const ENUM_VALUE: i32 = 2;
    pub(super) const SERVICE_METHOD: i32 = 2;
}

/// The leading comments in a file, by the path of what they describe.
struct Comments<'a>(BTreeMap<&'a [i32], &'a str>);

impl<'a> Comments<'a> {
    fn of(file: &'a FileDescriptorProto) -> Self {
        let locations = file.source_code_info.iter().flat_map(|info| &info.location);
        let commented = |location: &'a Location| {
            let comment = location.leading_comments.as_deref()?;
            Some((location.path.as_slice(), comment))
        };
        Self(locations.filter_map(commented).collect())
    }

    /// The comment at a path, without the space that begins each line.
    fn at(&self, path: &[i32]) -> String {
        let comment = self.0.get(path).copied().unwrap_or_default();
        let lines = comment
            .lines()
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

fn read_service(
    file: &FileDescriptorProto,
    service: &ServiceDescriptorProto,
    comments: &Comments<'_>,
    place: i32,
) -> Service {
    let methods = (0..).zip(&service.method).map(|(i, method)| Method {
        name: method.name().to_owned(),
        full_name: format!("{}.{}/{}", file.package(), service.name(), method.name()),
        docs: comments.at(&[path::FILE_SERVICE, place, path::SERVICE_METHOD, i]),
        request: short(method.input_type()),
        response: short(method.output_type()),
        streams: method.client_streaming() || method.server_streaming(),
    });
    Service {
        name: service.name().to_owned(),
        docs: comments.at(&[path::FILE_SERVICE, place]),
        methods: methods.collect(),
    }
}

fn read_message(message: &DescriptorProto, comments: &Comments<'_>, place: i32) -> Message {
    let fields = (0..).zip(&message.field).map(|(i, field)| {
        let docs = comments.at(&[path::FILE_MESSAGE, place, path::MESSAGE_FIELD, i]);
        read_field(message, field, docs)
    });
    Message {
        name: message.name().to_owned(),
        docs: comments.at(&[path::FILE_MESSAGE, place]),
        fields: fields.collect(),
    }
}

fn read_field(message: &DescriptorProto, field: &FieldDescriptorProto, docs: String) -> Field {
    let values = values_of_map(message, field);
    let shape = match (values, field.label()) {
        (Some(_), _) => Shape::Map,
        (None, Label::Repeated) => Shape::List,
        (None, Label::Optional | Label::Required) => Shape::Single,
    };
    let kind = field_kind(values.unwrap_or(field));
    // A field marked `optional` has a `oneof` of its own in the descriptor, which the source does not name.
    let choice = field.oneof_index.filter(|_| !field.proto3_optional());
    let choice = choice.and_then(|index| message.oneof_decl.get(usize::try_from(index).ok()?));
    let message_alone = shape == Shape::Single && matches!(kind, FieldKind::Message(_));
    Field {
        name: field.name().to_owned(),
        json_name: field.json_name().to_owned(),
        docs,
        optional: message_alone || field.oneof_index.is_some(),
        choice: choice.map(|choice| choice.name().to_owned()),
        kind,
        shape,
    }
}

/// If the field is a map, the field of its values: a descriptor holds a map as a list of messages, one for each entry.
fn values_of_map<'a>(
    message: &'a DescriptorProto,
    field: &FieldDescriptorProto,
) -> Option<&'a FieldDescriptorProto> {
    let mut entries = message.nested_type.iter().filter(|nested| {
        let options = nested.options.as_ref();
        options.is_some_and(prost_types::MessageOptions::map_entry)
    });
    let entry = entries.find(|entry| field.type_name().ends_with(&format!(".{}", entry.name())))?;
    entry.field.iter().find(|field| field.name() == "value")
}

fn field_kind(field: &FieldDescriptorProto) -> FieldKind {
    match field.r#type() {
        Type::Bool => FieldKind::Bool,
        Type::Uint32 | Type::Fixed32 => FieldKind::Number { signed: false },
        Type::Int32 | Type::Sint32 | Type::Sfixed32 => FieldKind::Number { signed: true },
        Type::Uint64 | Type::Fixed64 => FieldKind::LongNumber { signed: false },
        Type::Int64 | Type::Sint64 | Type::Sfixed64 => FieldKind::LongNumber { signed: true },
        Type::String => FieldKind::Text,
        Type::Bytes => FieldKind::Bytes,
        Type::Enum => FieldKind::Enum(short(field.type_name())),
        Type::Message => FieldKind::Message(short(field.type_name())),
        kind @ (Type::Double | Type::Float | Type::Group) => {
            panic!(
                "{} is a {kind:?}, which no language here has a form for yet",
                field.name()
            )
        }
    }
}

fn read_enum(of: &EnumDescriptorProto, comments: &Comments<'_>, place: i32) -> Enum {
    let prefix = format!("{}_", screaming(of.name()));
    let values = (0..).zip(&of.value).map(|(i, value)| EnumValue {
        name: value.name().to_owned(),
        short_name: value
            .name()
            .strip_prefix(&prefix)
            .unwrap_or(value.name())
            .to_owned(),
        number: value.number(),
        docs: comments.at(&[path::FILE_ENUM, place, path::ENUM_VALUE, i]),
    });
    Enum {
        name: of.name().to_owned(),
        docs: comments.at(&[path::FILE_ENUM, place]),
        values: values.collect(),
    }
}

/// A name without the package.
fn short(full: &str) -> String {
    full.trim_start_matches(".synod.v1.").to_owned()
}

/// Turns CamelCase into SCREAMING_SNAKE_CASE.
fn screaming(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

/// Turns CamelCase into snake_case, as Python names methods.
#[must_use]
pub fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Turns CamelCase into lowerCamelCase, as JavaScript names methods.
#[must_use]
pub fn lower_camel(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_the_protocol_is_read_and_described() {
        let protocol = Protocol::load();
        assert_eq!(protocol.services.len(), 12);
        let undocumented = |docs: &str| docs.is_empty();
        for service in &protocol.services {
            assert!(!undocumented(&service.docs), "{}", service.name);
            for method in &service.methods {
                assert!(!undocumented(&method.docs), "{}", method.full_name);
                assert!(
                    protocol.message(&method.request).is_some(),
                    "{}",
                    method.request
                );
                assert!(
                    protocol.message(&method.response).is_some(),
                    "{}",
                    method.response
                );
            }
        }
        for message in &protocol.messages {
            assert!(!undocumented(&message.docs), "{}", message.name);
            for field in &message.fields {
                assert!(
                    !undocumented(&field.docs),
                    "{}.{}",
                    message.name,
                    field.name
                );
                if let FieldKind::Message(name) = &field.kind {
                    assert!(protocol.message(name).is_some(), "{name}");
                }
            }
        }
        for of in &protocol.enums {
            for value in &of.values {
                assert!(!undocumented(&value.docs), "{}", value.name);
                assert_ne!(value.name, value.short_name, "{}", of.name);
            }
        }
    }

    #[test]
    fn a_field_says_how_it_is_written() {
        let protocol = Protocol::load();
        let field = |message: &str, name: &str| {
            let message = protocol.message(message).unwrap();
            let mut fields = message.fields.iter();
            fields
                .find(|field| field.json_name == name)
                .unwrap()
                .clone()
        };
        let labels = field("ObjectAttributes", "labels");
        assert_eq!((labels.shape, labels.kind), (Shape::Map, FieldKind::Text));
        let wait = field("LeasesAcquireRequest", "waitMs");
        assert_eq!((wait.optional, wait.choice), (true, None));
        assert_eq!(wait.kind, FieldKind::LongNumber { signed: false });
        let create = field("ObjectsOperation", "create");
        assert!(create.optional && create.choice.is_some());
        let data = field("ObjectContent", "data");
        assert_eq!((data.optional, data.kind), (false, FieldKind::Bytes));
        let header = field("ObjectsGetResponse", "header");
        assert!(header.optional && header.choice.is_none());
    }

    #[test]
    fn names_are_spelled_as_languages_do() {
        assert_eq!(snake("StorageVersions"), "storage_versions");
        assert_eq!(lower_camel("ControllerRevisions"), "controllerRevisions");
    }
}
