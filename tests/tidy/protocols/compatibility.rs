//! What was released is never broken: neither for a client nor on the wire nor on disk.
//!
//! `proto/baseline/` holds the protocols as released, one file a package, recorded by
//! `cargo xtask proto-baseline`. Clients see names too, through JSON and generated code; between
//! replicas and on disk there are only numbers and types, so names may change there.

use std::collections::BTreeMap;
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

/// Writes the baseline of every package, after saying what it no longer protects.
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
            // Comments are free to change.
            file.source_code_info = None;
        }
        let bytes = FileDescriptorSet { file: files }.encode_to_vec();
        std::fs::write(path(&package), bytes).expect("the baseline can be written");
        println!("recorded {BASELINE}/{package}.binpb");
    }
}

/// What breaks the baseline, and what is new and does not say so.
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

/// What is new in the public package and does not say that it is of this version.
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

/// Every break between what was released and what there is, by the name of the element.
fn broken(released: &[FileDescriptorProto], current: &[FileDescriptorProto]) -> Vec<String> {
    let (released, current) = (Protocol::of(released), Protocol::of(current));
    let mut breaks = Vec::new();
    for (name, old) in &released.messages {
        match current.messages.get(name) {
            Some(new) => compare_messages(name, old, new, &released, &current, &mut breaks),
            None => breaks.push(format!("message `{name}` is gone")),
        }
    }
    for (name, old) in &released.enums {
        match current.enums.get(name) {
            Some(new) => compare_enums(name, old, new, released.names_matter, &mut breaks),
            None => breaks.push(format!("enum `{name}` is gone")),
        }
    }
    for (name, old) in &released.methods {
        let new = current.methods.get(name).map(|new| signature(new));
        match new {
            None => breaks.push(format!("rpc `{name}` is gone")),
            Some(new) if new != signature(old) => {
                breaks.push(format!(
                    "rpc `{name}` was `{}` and is `{new}`",
                    signature(old)
                ));
            }
            Some(_) => {}
        }
    }
    breaks
}

/// A package by the names of its parts.
struct Protocol<'a> {
    messages: BTreeMap<String, &'a DescriptorProto>,
    /// What the compiler makes of maps: messages that nobody wrote.
    map_entries: BTreeMap<String, &'a DescriptorProto>,
    enums: BTreeMap<String, &'a EnumDescriptorProto>,
    methods: BTreeMap<String, &'a MethodDescriptorProto>,
    /// Whether somebody sees names: in JSON, in generated code.
    names_matter: bool,
}

impl<'a> Protocol<'a> {
    fn of(files: &'a [FileDescriptorProto]) -> Self {
        let mut protocol = Self {
            messages: BTreeMap::new(),
            map_entries: BTreeMap::new(),
            enums: BTreeMap::new(),
            methods: BTreeMap::new(),
            names_matter: files.iter().any(|file| file.package() == PUBLIC),
        };
        for file in files {
            let package = file.package();
            for message in &file.message_type {
                protocol.insert(package, message);
            }
            let enums = file
                .enum_type
                .iter()
                .map(|item| (format!("{package}.{}", item.name()), item));
            protocol.enums.extend(enums);
            for service in &file.service {
                let name = |method: &MethodDescriptorProto| {
                    format!("{package}.{}.{}", service.name(), method.name())
                };
                protocol
                    .methods
                    .extend(service.method.iter().map(|method| (name(method), method)));
            }
        }
        protocol
    }

    fn insert(&mut self, scope: &str, message: &'a DescriptorProto) {
        let name = format!("{scope}.{}", message.name());
        for nested in &message.nested_type {
            self.insert(&name, nested);
        }
        let enums = message
            .enum_type
            .iter()
            .map(|item| (format!("{name}.{}", item.name()), item));
        self.enums.extend(enums);
        let is_map_entry = message
            .options
            .as_ref()
            .is_some_and(|options| options.map_entry());
        let messages = if is_map_entry {
            &mut self.map_entries
        } else {
            &mut self.messages
        };
        messages.insert(name, message);
    }

    /// A field's type as it is written, `map<…>` too.
    fn type_of(&self, field: &FieldDescriptorProto) -> String {
        let entry = self
            .map_entries
            .get(field.type_name().trim_start_matches('.'));
        if let Some([key, value]) = entry.map(|entry| entry.field.as_slice()) {
            return format!("map<{}, {}>", self.type_of(key), self.type_of(value));
        }
        let base = match field.r#type() {
            Type::Message | Type::Enum | Type::Group => {
                field.type_name().trim_start_matches('.').to_owned()
            }
            scalar => scalar
                .as_str_name()
                .trim_start_matches("TYPE_")
                .to_lowercase(),
        };
        match field.label() {
            Label::Repeated => format!("repeated {base}"),
            _ if field.proto3_optional() => format!("optional {base}"),
            Label::Optional | Label::Required => base,
        }
    }
}

fn compare_messages(
    name: &str,
    old: &DescriptorProto,
    new: &DescriptorProto,
    released: &Protocol<'_>,
    current: &Protocol<'_>,
    breaks: &mut Vec<String>,
) {
    for field in &old.field {
        let number = field.number();
        let title = format!("field `{name}.{}` = {number}", field.name());
        let Some(heir) = new.field.iter().find(|heir| heir.number() == number) else {
            let keeps_number = new
                .reserved_range
                .iter()
                .any(|range| (range.start()..range.end()).contains(&number));
            let keeps_name = new
                .reserved_name
                .iter()
                .any(|reserved| reserved == field.name());
            breaks.extend(removal(
                &title,
                keeps_number,
                keeps_name || !released.names_matter,
            ));
            continue;
        };
        let (was, is) = (released.type_of(field), current.type_of(heir));
        if was != is {
            breaks.push(format!("{title} was `{was}` and is `{is}`"));
        }
        if oneof_of(old, field).is_some() != oneof_of(new, heir).is_some() {
            breaks.push(format!("{title} moved into or out of a `oneof`"));
        }
        if released.names_matter
            && (field.name(), field.json_name()) != (heir.name(), heir.json_name())
        {
            breaks.push(format!(
                "{title} is now called `{}` (`{}`)",
                heir.name(),
                heir.json_name()
            ));
        }
    }
    for range in &old.reserved_range {
        let is_kept = new
            .reserved_range
            .iter()
            .any(|new| new.start() <= range.start() && range.end() <= new.end());
        if !is_kept {
            breaks.push(format!(
                "message `{name}` no longer reserves {} to {}",
                range.start(),
                range.end() - 1
            ));
        }
    }
}

fn compare_enums(
    name: &str,
    old: &EnumDescriptorProto,
    new: &EnumDescriptorProto,
    names_matter: bool,
    breaks: &mut Vec<String>,
) {
    for value in &old.value {
        let number = value.number();
        let title = format!("enum value `{name}.{}` = {number}", value.name());
        let mut heirs = new
            .value
            .iter()
            .filter(|heir| heir.number() == number)
            .peekable();
        if heirs.peek().is_none() {
            // Unlike those of messages, these ranges include their end.
            let keeps_number = new
                .reserved_range
                .iter()
                .any(|range| (range.start()..=range.end()).contains(&number));
            let keeps_name = new
                .reserved_name
                .iter()
                .any(|reserved| reserved == value.name());
            breaks.extend(removal(&title, keeps_number, keeps_name || !names_matter));
        } else if names_matter && heirs.all(|heir| heir.name() != value.name()) {
            breaks.push(format!("{title} has another name now"));
        }
    }
    for range in &old.reserved_range {
        let is_kept = new
            .reserved_range
            .iter()
            .any(|new| new.start() <= range.start() && range.end() <= new.end());
        if !is_kept {
            breaks.push(format!(
                "enum `{name}` no longer reserves {} to {}",
                range.start(),
                range.end()
            ));
        }
    }
}

/// What a removal forgot: nobody may ever use its number again, nor its name where names matter.
fn removal(title: &str, keeps_number: bool, keeps_name: bool) -> Option<String> {
    match (keeps_number, keeps_name) {
        (true, true) => None,
        (false, _) => Some(format!("{title} is gone and its number is not reserved")),
        (true, false) => Some(format!("{title} is gone and its name is not reserved")),
    }
}

/// The oneof that a field is written in; the ones that `optional` makes do not count.
fn oneof_of<'a>(message: &'a DescriptorProto, field: &FieldDescriptorProto) -> Option<&'a str> {
    let index = usize::try_from(field.oneof_index?).ok()?;
    let oneof = message.oneof_decl.get(index)?;
    (!field.proto3_optional()).then(|| oneof.name())
}

/// An rpc as it is written.
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
