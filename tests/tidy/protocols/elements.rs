//! Lists the elements of a protocol, each with its comment and its place.

use std::collections::BTreeMap;
use std::fmt;

use prost_types::source_code_info::Location;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    ServiceDescriptorProto,
};

use super::ROOT;
use crate::finding::Finding;
use crate::tree::Tree;

/// The kind of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Message,
    Field,
    Oneof,
    Enum,
    Value,
    Service,
    Rpc,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Message => "message",
            Self::Field => "field",
            Self::Oneof => "oneof",
            Self::Enum => "enum",
            Self::Value => "enum value",
            Self::Service => "service",
            Self::Rpc => "rpc",
        })
    }
}

/// An element of a protocol.
pub(super) struct Element {
    pub(super) kind: Kind,
    /// With package and parents: `synod.v1.Member.ttl_ms`.
    pub(super) name: String,
    pub(super) package: String,
    /// Empty if there is none.
    pub(super) comment: String,
    /// The position of its parent, which comes before it in the list.
    pub(super) parent: Option<usize>,
    path: String,
    line: usize,
}

impl Element {
    pub(super) fn finding(&self, message: &str) -> Finding {
        Finding::at(
            &self.path,
            self.line,
            format!("{} `{}` {message}", self.kind, self.name),
        )
    }

    /// The version that its own comment names: "Since 0.1."
    pub(super) fn since(&self) -> Option<Version> {
        let (_, version) = self.comment.split_once("Since ")?;
        Version::parse(version)
    }
}

/// A minor version, by which the protocols are versioned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// The version of the workspace.
    pub(super) fn of_workspace(tree: &Tree) -> Self {
        let manifest: Option<toml::Table> =
            tree.text("Cargo.toml").and_then(|text| text.parse().ok());
        let version = manifest.as_ref().and_then(|manifest| {
            let package = manifest.get("workspace")?.get("package")?;
            Self::parse(package.get("version")?.as_str()?)
        });
        version.expect("the workspace has a version")
    }

    /// Reads `major.minor` and ignores the rest.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, rest) = text.split_once('.')?;
        let digits = rest
            .find(|letter: char| !letter.is_ascii_digit())
            .unwrap_or(rest.len());
        Some(Self {
            major: major.parse().ok()?,
            minor: rest[..digits].parse().ok()?,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// All elements in `files`, except the entries of maps and the oneofs of `optional`, which the source does not name.
pub(super) fn of(files: &[FileDescriptorProto]) -> Vec<Element> {
    let mut elements = Vec::new();
    for file in files {
        let locations = file.source_code_info.iter().flat_map(|info| &info.location);
        let mut walk = Walk {
            file,
            locations: locations
                .map(|location| (location.path.as_slice(), location))
                .collect(),
            elements: &mut elements,
        };
        for (index, message) in (0..).zip(&file.message_type) {
            walk.message(&[4, index], None, message);
        }
        for (index, enumeration) in (0..).zip(&file.enum_type) {
            walk.enumeration(&[5, index], None, enumeration);
        }
        for (index, service) in (0..).zip(&file.service) {
            walk.service(&[6, index], service);
        }
    }
    elements
}

/// Walks through one file. The numbers are field numbers of `descriptor.proto`, of which the compiler makes the path to
/// each place in the source.
struct Walk<'a> {
    file: &'a FileDescriptorProto,
    locations: BTreeMap<&'a [i32], &'a Location>,
    elements: &'a mut Vec<Element>,
}

impl Walk<'_> {
    fn message(&mut self, path: &[i32], parent: Option<usize>, message: &DescriptorProto) {
        let this = self.push(Kind::Message, path, parent, message.name());
        for (index, field) in (0..).zip(&message.field) {
            self.push(
                Kind::Field,
                &[path, &[2, index]].concat(),
                Some(this),
                field.name(),
            );
        }
        for (index, oneof) in (0..).zip(&message.oneof_decl) {
            let is_real = |field: &FieldDescriptorProto| {
                field.oneof_index == Some(index) && !field.proto3_optional()
            };
            if message.field.iter().any(is_real) {
                self.push(
                    Kind::Oneof,
                    &[path, &[8, index]].concat(),
                    Some(this),
                    oneof.name(),
                );
            }
        }
        for (index, nested) in (0..).zip(&message.nested_type) {
            if !nested
                .options
                .as_ref()
                .is_some_and(|options| options.map_entry())
            {
                self.message(&[path, &[3, index]].concat(), Some(this), nested);
            }
        }
        for (index, nested) in (0..).zip(&message.enum_type) {
            self.enumeration(&[path, &[4, index]].concat(), Some(this), nested);
        }
    }

    fn enumeration(
        &mut self,
        path: &[i32],
        parent: Option<usize>,
        enumeration: &EnumDescriptorProto,
    ) {
        let this = self.push(Kind::Enum, path, parent, enumeration.name());
        for (index, value) in (0..).zip(&enumeration.value) {
            self.push(
                Kind::Value,
                &[path, &[2, index]].concat(),
                Some(this),
                value.name(),
            );
        }
    }

    fn service(&mut self, path: &[i32], service: &ServiceDescriptorProto) {
        let this = self.push(Kind::Service, path, None, service.name());
        for (index, method) in (0..).zip(&service.method) {
            self.push(
                Kind::Rpc,
                &[path, &[2, index]].concat(),
                Some(this),
                method.name(),
            );
        }
    }

    fn push(&mut self, kind: Kind, path: &[i32], parent: Option<usize>, name: &str) -> usize {
        let scope = parent.map_or(self.file.package(), |parent| &self.elements[parent].name);
        let location = self.locations.get(path);
        let comment = location.and_then(|location| {
            let comments = [&location.leading_comments, &location.trailing_comments];
            comments.into_iter().flatten().next().cloned()
        });
        // Lines of a span are counted from zero.
        let line = location.and_then(|location| usize::try_from(*location.span.first()?).ok());
        self.elements.push(Element {
            kind,
            name: format!("{scope}.{name}"),
            package: self.file.package().to_owned(),
            comment: comment
                .unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            parent,
            path: format!("{ROOT}{}", self.file.name()),
            line: line.map_or(0, |line| line + 1),
        });
        self.elements.len() - 1
    }
}

#[test]
fn every_part_is_listed_with_its_comment_and_its_place() {
    let files = super::sample(
        "synod/v1/a.proto",
        "// A message.\n// Since 0.1.\n\
         message A {\n\
         \x20 optional string b = 1; // Trails.\n\
         \x20 map<string, string> c = 2;\n\
         \x20 oneof d { uint64 e = 3; }\n\
         \x20 enum F { F_UNSPECIFIED = 0; }\n\
         }\n\
         // A service.\n\
         service G { rpc H(A) returns (A); }\n",
    );
    let elements = of(&files);
    let names: Vec<String> = elements
        .iter()
        .map(|element| format!("{} {}", element.kind, element.name))
        .collect();
    assert_eq!(
        names,
        [
            "message synod.v1.A",
            "field synod.v1.A.b",
            "field synod.v1.A.c",
            "field synod.v1.A.e",
            "oneof synod.v1.A.d",
            "enum synod.v1.A.F",
            "enum value synod.v1.A.F.F_UNSPECIFIED",
            "service synod.v1.G",
            "rpc synod.v1.G.H",
        ]
    );
    assert_eq!(elements[0].comment, "A message. Since 0.1.");
    assert_eq!(elements[0].since(), Version::parse("0.1"));
    assert_eq!(elements[1].comment, "Trails.");
    assert_eq!(elements[8].parent, Some(7));
    assert_eq!(
        elements[0].finding("is odd").to_string(),
        "proto/proto/synod/v1/a.proto:5: message `synod.v1.A` is odd"
    );
}

#[test]
fn versions_are_ordered_as_numbers() {
    assert!(Version::parse("0.9").unwrap() < Version::parse("0.10.3").unwrap());
    assert_eq!(Version::parse("0.1.").unwrap().to_string(), "0.1");
    assert_eq!(Version::parse("soon"), None);
}
