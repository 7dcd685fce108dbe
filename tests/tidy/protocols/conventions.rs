//! The protocols keep those conventions of `buf`'s STANDARD rules that matter to readers.

use std::collections::BTreeMap;

use prost_types::{EnumDescriptorProto, FileDescriptorProto};

use super::ROOT;
use crate::finding::{Finding, lines};

pub(super) fn faults(files: &[FileDescriptorProto]) -> Vec<Finding> {
    let packages = files.iter().filter_map(misplaced);
    let enums = files.iter().flat_map(badly_numbered);
    packages
        .chain(enums)
        .chain(shared_messages(files))
        .collect()
}

/// A package lies in the folder of its name.
fn misplaced(file: &FileDescriptorProto) -> Option<Finding> {
    let (folder, _) = file.name().rsplit_once('/').unwrap_or_default();
    let wanted = file.package().replace('.', "/");
    let message = format!("package `{}` lies in `{ROOT}{wanted}/`", file.package());
    (folder != wanted).then(|| Finding::about(&format!("{ROOT}{}", file.name()), message))
}

/// The value zero is what an older writer leaves out, so it must mean "unspecified". The values of an enum carry its
/// name, because protobuf puts them into the scope around the enum.
fn badly_numbered(file: &FileDescriptorProto) -> Vec<Finding> {
    let nested = file
        .message_type
        .iter()
        .flat_map(|message| &message.enum_type);
    file.enum_type
        .iter()
        .chain(nested)
        .flat_map(|enumeration| {
            let prefix = screaming(enumeration.name()) + "_";
            let zero = format!("{prefix}UNSPECIFIED");
            let has_zero = first_value(enumeration) == Some(zero.as_str());
            let zero = (!has_zero)
                .then(|| format!("the zero of enum `{}` is `{zero}`", enumeration.name()));
            let stray = enumeration
                .value
                .iter()
                .filter(move |value| !value.name().starts_with(&prefix));
            let stray = stray.map(|value| {
                format!(
                    "`{}` does not carry the name of its enum `{}`",
                    value.name(),
                    enumeration.name()
                )
            });
            zero.into_iter().chain(stray)
        })
        .map(|message| Finding::about(&format!("{ROOT}{}", file.name()), message))
        .collect()
}

fn first_value(enumeration: &EnumDescriptorProto) -> Option<&str> {
    let zero = enumeration.value.iter().find(|value| value.number() == 0)?;
    Some(zero.name())
}

/// `MemberPhase` as `MEMBER_PHASE`.
fn screaming(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

/// Each rpc has its own request and response, so that either can grow without the other.
fn shared_messages(files: &[FileDescriptorProto]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut owners = BTreeMap::new();
    for message in files.iter().flat_map(messages) {
        let Message {
            name,
            wanted,
            rpc,
            path,
        } = message;
        if !wanted.contains(&name) {
            let text = format!(
                "`{name}` of rpc `{rpc}` is named `{}`",
                wanted.join("` or `")
            );
            findings.push(Finding::about(&path, text));
        }
        if let Some(owner) = owners.insert(name.clone(), rpc.clone()) {
            let text = format!("`{name}` is of rpc `{owner}` and of rpc `{rpc}`");
            findings.push(Finding::about(&path, text));
        }
    }
    findings
}

/// A request or a response.
struct Message {
    name: String,
    /// The names that it may have.
    wanted: [String; 2],
    rpc: String,
    path: String,
}

/// The requests and responses of all rpcs of a file.
fn messages(file: &FileDescriptorProto) -> Vec<Message> {
    let mut messages = Vec::new();
    for service in &file.service {
        for method in &service.method {
            let (package, service, rpc) = (file.package(), service.name(), method.name());
            for (kind, name) in [
                ("Request", method.input_type()),
                ("Response", method.output_type()),
            ] {
                messages.push(Message {
                    name: name.trim_start_matches('.').to_owned(),
                    wanted: [
                        format!("{package}.{rpc}{kind}"),
                        format!("{package}.{service}{rpc}{kind}"),
                    ],
                    rpc: format!("{service}.{rpc}"),
                    path: format!("{ROOT}{}", file.name()),
                });
            }
        }
    }
    messages
}

#[test]
fn what_is_not_the_convention_is_found() {
    let files = super::sample(
        "synod/v1/a.proto",
        "enum GoodOne { GOOD_ONE_UNSPECIFIED = 0; GOOD_ONE_FIRST = 1; }\n\
         enum Bad { BAD_NOTHING = 0; WORSE = 1; }\n\
         message GetRequest {}\n\
         message GetResponse {}\n\
         message Thing {}\n\
         service Things {\n\
         \x20 rpc Get(GetRequest) returns (GetResponse);\n\
         \x20 rpc List(GetRequest) returns (Thing);\n\
         }\n",
    );
    assert_eq!(
        lines(&faults(&files)).replace("proto/proto/synod/v1/a.proto: ", ""),
        "the zero of enum `Bad` is `BAD_UNSPECIFIED`\n\
         `WORSE` does not carry the name of its enum `Bad`\n\
         `synod.v1.GetRequest` of rpc `Things.List` is named \
         `synod.v1.ListRequest` or `synod.v1.ThingsListRequest`\n\
         `synod.v1.GetRequest` is of rpc `Things.Get` and of rpc `Things.List`\n\
         `synod.v1.Thing` of rpc `Things.List` is named \
         `synod.v1.ListResponse` or `synod.v1.ThingsListResponse`"
    );
}

#[test]
fn a_package_in_a_strange_folder_is_found() {
    let text = "syntax = \"proto3\";\npackage synod.v1;\n";
    let tree = crate::tree::Tree::of(&[("proto/proto/synod/v2/a.proto", text)]);
    assert_eq!(
        lines(&faults(&super::compile(&tree))),
        "proto/proto/synod/v2/a.proto: package `synod.v1` lies in `proto/proto/synod/v1/`"
    );
}
