//! A released protocol is never broken. What replicas exchange and store is in tables, which have a rule of their own.
//!
//! `proto/baseline/` holds the released protocols, one file for each package, recorded by `cargo xtask proto-baseline`.
//! Clients see names too, through JSON and generated code; between replicas and on disk there are only numbers and
//! types, so names may change there.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, MethodDescriptorProto,
};

use super::PUBLIC;
use super::documentation::since;
use super::elements::{self, Version};
use crate::finding::Finding;

const BASELINE: &str = "proto/baseline";

/// Writes the baseline of every package, after printing the breaks that it will no longer report.
pub(super) fn record(current: &[FileDescriptorProto]) {
    let packages = packages(current);
    for (package, files) in &packages {
        for broken in read(package)
            .map(|released| broken(&released, files))
            .unwrap_or_default()
        {
            println!("given up: {broken}");
        }
    }
    std::fs::create_dir_all(folder()).expect("the folder of the baseline can be made");
    for (package, mut files) in packages {
        for file in &mut files {
            // Comments may change.
            file.source_code_info = None;
        }
        let bytes = FileDescriptorSet { file: files }.encode_to_vec();
        std::fs::write(path(&package), bytes).expect("the baseline can be written");
        println!("recorded {BASELINE}/{package}.binpb");
    }
}

/// Breaks of the baseline, and new elements without the version that they came with.
pub(super) fn faults(current: &[FileDescriptorProto], workspace: Version) -> Vec<Finding> {
    let mut findings = Vec::new();
    let current = packages(current);
    for (package, files) in &current {
        let place = format!("{BASELINE}/{package}.binpb");
        let Some(released) = read(package) else {
            let message = "it is missing: record it with `cargo xtask proto-baseline`";
            findings.push(Finding::about(&place, message));
            continue;
        };
        findings.extend(
            broken(&released, files)
                .into_iter()
                .map(|text| Finding::about(&place, text)),
        );
        findings.extend(undated(&released, files, workspace));
    }
    for package in recorded()
        .into_iter()
        .filter(|package| !current.contains_key(package))
    {
        let message = "the package was released and is gone";
        findings.push(Finding::about(
            &format!("{BASELINE}/{package}.binpb"),
            message,
        ));
    }
    findings
}

fn folder() -> PathBuf {
    synod_tests::checkout().join(BASELINE)
}

fn path(package: &str) -> PathBuf {
    folder().join(format!("{package}.binpb"))
}

fn read(package: &str) -> Option<Vec<FileDescriptorProto>> {
    let bytes = std::fs::read(path(package)).ok()?;
    let set = FileDescriptorSet::decode(bytes.as_slice()).expect("a baseline is a descriptor set");
    Some(set.file)
}

/// The packages that have a baseline.
fn recorded() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| Some(name.strip_suffix(".binpb")?.to_owned()))
        .collect()
}

fn packages(files: &[FileDescriptorProto]) -> BTreeMap<String, Vec<FileDescriptorProto>> {
    let mut packages: BTreeMap<String, Vec<FileDescriptorProto>> = BTreeMap::new();
    for file in files {
        packages
            .entry(file.package().to_owned())
            .or_default()
            .push(file.clone());
    }
    packages
}

/// New elements of the public package whose comments do not name this version.
fn undated(
    released: &[FileDescriptorProto],
    current: &[FileDescriptorProto],
    workspace: Version,
) -> Vec<Finding> {
    let released = elements::of(released);
    let current = elements::of(current);
    current
        .iter()
        .filter(|element| element.package == PUBLIC)
        .filter(|element| released.iter().all(|old| old.name != element.name))
        .filter(|element| since(&current, element) != Some(workspace))
        .map(|element| element.finding(&format!("is new: say \"Since {workspace}.\"")))
        .collect()
}

/// Every break of the released protocols, sorted by element.
fn broken(released: &[FileDescriptorProto], current: &[FileDescriptorProto]) -> Vec<String> {
    let names_matter = released.iter().any(|file| file.package() == PUBLIC);
    let (released, current) = (Protocol::of(released), Protocol::of(current));
    let mut comparison = Comparison {
        released: &released,
        current: &current,
        names_matter,
        breaks: Vec::new(),
    };
    comparison.messages();
    comparison.enums();
    comparison.methods();
    comparison.breaks
}

struct Comparison<'a> {
    released: &'a Protocol<'a>,
    current: &'a Protocol<'a>,
    /// Whether names are visible to clients, in JSON and in generated code.
    names_matter: bool,
    breaks: Vec<String>,
}

impl Comparison<'_> {
    fn messages(&mut self) {
        for (name, old) in &self.released.messages {
            let Some(new) = self.current.messages.get(name) else {
                self.breaks.push(format!("message `{name}` is gone"));
                continue;
            };
            let reserved = Reserved::of_message(new);
            for field in &old.field {
                let title = format!("field `{name}.{}` = {}", field.name(), field.number());
                match new
                    .field
                    .iter()
                    .find(|heir| heir.number() == field.number())
                {
                    Some(heir) => self.field(&title, (old, field), (new, heir)),
                    None => self.removal(&title, field.name(), field.number(), &reserved),
                }
            }
            self.reserved(
                &format!("message `{name}`"),
                &Reserved::of_message(old),
                &reserved,
            );
        }
    }

    fn field(
        &mut self,
        title: &str,
        (old, field): (&DescriptorProto, &FieldDescriptorProto),
        (new, heir): (&DescriptorProto, &FieldDescriptorProto),
    ) {
        let (was, is) = (self.released.type_of(field), self.current.type_of(heir));
        if was != is {
            self.breaks
                .push(format!("{title} was `{was}` and is `{is}`"));
        }
        let (was, is) = (oneof_of(old, field), oneof_of(new, heir));
        if was.is_some() != is.is_some() || self.names_matter && was != is {
            self.breaks
                .push(format!("{title} moved into or out of a `oneof`"));
        }
        let (name, json_name) = (heir.name(), heir.json_name());
        if self.names_matter && (field.name(), field.json_name()) != (name, json_name) {
            self.breaks
                .push(format!("{title} is now called `{name}` (`{json_name}`)"));
        }
    }

    fn enums(&mut self) {
        for (name, old) in &self.released.enums {
            let Some(new) = self.current.enums.get(name) else {
                self.breaks.push(format!("enum `{name}` is gone"));
                continue;
            };
            let reserved = Reserved::of_enum(new);
            for value in &old.value {
                let title = format!("enum value `{name}.{}` = {}", value.name(), value.number());
                // There may be several, since aliases share a number.
                let heirs = new
                    .value
                    .iter()
                    .filter(|heir| heir.number() == value.number());
                let names: Vec<&str> = heirs.map(|heir| heir.name()).collect();
                if names.is_empty() {
                    self.removal(&title, value.name(), value.number(), &reserved);
                } else if self.names_matter && !names.contains(&value.name()) {
                    self.breaks
                        .push(format!("{title} is now called `{}`", names.join("`, `")));
                }
            }
            self.reserved(
                &format!("enum `{name}`"),
                &Reserved::of_enum(old),
                &reserved,
            );
        }
    }

    fn methods(&mut self) {
        for (name, was) in &self.released.methods {
            match self.current.methods.get(name) {
                None => self.breaks.push(format!("rpc `{name}` is gone")),
                Some(is) if is != was => {
                    self.breaks
                        .push(format!("rpc `{name}` was `{was}` and is `{is}`"));
                }
                Some(_) => {}
            }
        }
    }

    /// The number of a removed element must be reserved, and its name too where names matter.
    fn removal(&mut self, title: &str, name: &str, number: i32, reserved: &Reserved) {
        if !reserved.numbers.iter().any(|range| range.contains(&number)) {
            self.breaks
                .push(format!("{title} is gone and its number is not reserved"));
        } else if self.names_matter && !reserved.names.iter().any(|reserved| reserved == name) {
            self.breaks
                .push(format!("{title} is gone and its name is not reserved"));
        }
    }

    /// A reserved number or name must stay reserved.
    fn reserved(&mut self, title: &str, old: &Reserved, new: &Reserved) {
        for range in &old.numbers {
            let (start, end) = (range.start(), range.end());
            if !new
                .numbers
                .iter()
                .any(|new| new.contains(start) && new.contains(end))
            {
                self.breaks
                    .push(format!("{title} no longer reserves {start} to {end}"));
            }
        }
        for name in old.names.iter().filter(|name| !new.names.contains(name)) {
            if self.names_matter {
                self.breaks
                    .push(format!("{title} no longer reserves `{name}`"));
            }
        }
    }
}

/// The elements of a package, by name.
#[derive(Default)]
struct Protocol<'a> {
    messages: BTreeMap<String, &'a DescriptorProto>,
    /// The messages that the compiler makes for the entries of maps.
    map_entries: BTreeMap<String, &'a DescriptorProto>,
    enums: BTreeMap<String, &'a EnumDescriptorProto>,
    /// Each rpc as it is written in the source.
    methods: BTreeMap<String, String>,
}

impl<'a> Protocol<'a> {
    fn of(files: &'a [FileDescriptorProto]) -> Self {
        let mut protocol = Self::default();
        for file in files {
            let package = file.package();
            for message in &file.message_type {
                protocol.insert_message(package, message);
            }
            protocol.insert_enums(package, &file.enum_type);
            for service in &file.service {
                for method in &service.method {
                    let name = format!("{package}.{}.{}", service.name(), method.name());
                    protocol.methods.insert(name, signature(method));
                }
            }
        }
        protocol
    }

    fn insert_message(&mut self, scope: &str, message: &'a DescriptorProto) {
        let name = format!("{scope}.{}", message.name());
        for nested in &message.nested_type {
            self.insert_message(&name, nested);
        }
        self.insert_enums(&name, &message.enum_type);
        if message
            .options
            .as_ref()
            .is_some_and(|options| options.map_entry())
        {
            self.map_entries.insert(name, message);
        } else {
            self.messages.insert(name, message);
        }
    }

    fn insert_enums(&mut self, scope: &str, enums: &'a [EnumDescriptorProto]) {
        self.enums.extend(
            enums
                .iter()
                .map(|item| (format!("{scope}.{}", item.name()), item)),
        );
    }

    /// A field's type as it is written in the source, also `map<…>`.
    fn type_of(&self, field: &FieldDescriptorProto) -> String {
        let named = field.type_name().trim_start_matches('.');
        let entry = self
            .map_entries
            .get(named)
            .map(|entry| entry.field.as_slice());
        if let Some([key, value]) = entry {
            return format!("map<{}, {}>", self.type_of(key), self.type_of(value));
        }
        let base = match field.r#type() {
            Type::Message | Type::Enum | Type::Group => named.to_owned(),
            scalar => scalar
                .as_str_name()
                .trim_start_matches("TYPE_")
                .to_lowercase(),
        };
        match field.label() {
            Label::Repeated => format!("repeated {base}"),
            Label::Optional if field.proto3_optional() => format!("optional {base}"),
            Label::Optional | Label::Required => base,
        }
    }
}

/// The reserved numbers and names of a message or an enum.
struct Reserved {
    numbers: Vec<RangeInclusive<i32>>,
    names: Vec<String>,
}

impl Reserved {
    fn of_message(message: &DescriptorProto) -> Self {
        // Unlike those of enums, these ranges exclude their end.
        let numbers = message
            .reserved_range
            .iter()
            .map(|range| range.start()..=range.end() - 1);
        Self {
            numbers: numbers.collect(),
            names: message.reserved_name.clone(),
        }
    }

    fn of_enum(enumeration: &EnumDescriptorProto) -> Self {
        let numbers = enumeration
            .reserved_range
            .iter()
            .map(|range| range.start()..=range.end());
        Self {
            numbers: numbers.collect(),
            names: enumeration.reserved_name.clone(),
        }
    }
}

/// The oneof that a field is written in; those that the compiler makes for `optional` do not count.
fn oneof_of<'a>(message: &'a DescriptorProto, field: &FieldDescriptorProto) -> Option<&'a str> {
    let index = usize::try_from(field.oneof_index?).ok()?;
    let oneof = message.oneof_decl.get(index)?;
    (!field.proto3_optional()).then(|| oneof.name())
}

/// An rpc as it is written in the source.
fn signature(method: &MethodDescriptorProto) -> String {
    let stream = |is_stream: bool| if is_stream { "stream " } else { "" };
    format!(
        "({}{}) returns ({}{})",
        stream(method.client_streaming()),
        method.input_type().trim_start_matches('.'),
        stream(method.server_streaming()),
        method.output_type().trim_start_matches('.'),
    )
}

#[cfg(test)]
mod tests;
