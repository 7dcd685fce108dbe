//! Generates the TypeScript of the protocol: its errors, messages and services, and the table that converts values.

use std::fmt::Write as _;

use synod_client::traces::grpc_statuses;

use super::{Enum, Field, FieldKind, Method, Protocol, Service, Shape, lower_camel};
use crate::caller::REQUESTS;

/// The first line of every generated file.
const HEAD: &str = "\
// Generated from the protocol. To write it again: UPDATE_GOLDEN=1 cargo test -p synod-bound generated
";

/// The generated files of the package `@synod/client`, each by its name within `bindings/node/ts/generated`.
#[must_use]
pub fn files(protocol: &Protocol) -> Vec<(&'static str, String)> {
    vec![
        ("errors.cts", errors(protocol)),
        ("messages.cts", messages(protocol)),
        ("schema.cts", schema(protocol)),
        ("services.cts", services(protocol)),
        ("traces.cts", traces()),
    ]
}

/// Writes one class for each reason of an error, except the unspecified one, which is never sent.
fn errors(protocol: &Protocol) -> String {
    let mut text = HEAD.to_owned();
    text += "\nimport { SynodError } from '../base.cjs';\n";
    let mut enums = protocol.enums.iter();
    let reasons = enums.find(|of| of.name == "ErrorReason");
    let reasons = reasons.expect("the protocol lists its reasons");
    let reasons: Vec<_> = reasons.values.iter().filter(|it| it.number != 0).collect();
    text += "\n/** What a program decides on: why a request failed. */\nexport type ErrorCode =";
    for reason in &reasons {
        let _ = write!(text, "\n  | '{}'", reason.short_name);
    }
    text += ";\n";
    for reason in &reasons {
        documented(&mut text, "", &reason.docs);
        let class = pascal(&reason.short_name);
        let _ = writeln!(text, "export class {class}Error extends SynodError {{}}");
    }
    text += "\n/** The class of each code. @internal */\n";
    text += "export const classes: { readonly [code: string]: typeof SynodError } = {\n";
    for reason in &reasons {
        let (code, class) = (&reason.short_name, pascal(&reason.short_name));
        let _ = writeln!(text, "  {code}: {class}Error,");
    }
    text += "};\n";
    text
}

/// Writes what spans of calls say: the requests that functions of handles are for, and the codes of errors.
fn traces() -> String {
    let mut text = HEAD.to_owned();
    text += "\n/** What functions of handles ask of replicas: the requests that their spans are named after. */\n";
    text += "export const requests = {\n";
    for (function, request) in REQUESTS {
        let _ = writeln!(text, "  '{function}': '{request}',");
    }
    text += "} as const;\n\n/** The code of gRPC that an error has. */\n";
    text += "export const grpcStatus: { readonly [code: string]: number } = {\n";
    for (reason, status) in grpc_statuses() {
        let _ = writeln!(text, "  {reason}: {status},");
    }
    text += "};\n";
    text
}

fn messages(protocol: &Protocol) -> String {
    let mut text = HEAD.to_owned();
    for of in &protocol.enums {
        documented(&mut text, "", &of.docs);
        let _ = write!(text, "export type {} =", of.name);
        for value in &of.values {
            let _ = write!(text, "\n  | '{}'", value.name);
        }
        text += ";\n";
    }
    for message in &protocol.messages {
        documented(&mut text, "", &message.docs);
        let _ = writeln!(text, "export interface {} {{", message.name);
        for field in &message.fields {
            comment(&mut text, "  ", &field.docs);
            let mark = if field.optional { "?" } else { "" };
            let _ = writeln!(text, "  {}{mark}: {};", field.json_name, type_of(field));
        }
        text += "}\n";
    }
    text
}

/// The TypeScript type of a field's value.
fn type_of(field: &Field) -> String {
    let one = match &field.kind {
        FieldKind::Bool => "boolean",
        FieldKind::Number { .. } => "number",
        FieldKind::LongNumber { .. } => "bigint",
        FieldKind::Text => "string",
        FieldKind::Bytes => "Uint8Array",
        FieldKind::Enum(name) | FieldKind::Message(name) => name,
    };
    match field.shape {
        Shape::Single => one.to_owned(),
        Shape::List => format!("{one}[]"),
        Shape::Map => format!("Record<string, {one}>"),
    }
}

/// Writes the table of how fields are converted. A shape is `?` for a field that may be absent, `=` for one with a
/// default, `*` for a list and `%` for a map; a kind is a message's name or one of the letters that `values.cts` knows.
fn schema(protocol: &Protocol) -> String {
    let mut text = HEAD.to_owned();
    text += "\n/** How a field is converted: its shape, its kind, and the first name of an enumeration. */\n";
    text += "export type Field = readonly [shape: '?' | '=' | '*' | '%', kind: string, zero?: string];\n";
    text += "\n/** How every message is converted, by its name. */\n";
    text += "export const schema: { readonly [message: string]: { readonly [field: string]: Field } } = {\n";
    for message in &protocol.messages {
        let _ = writeln!(text, "  {}: {{", message.name);
        for field in &message.fields {
            let row = row(&protocol.enums, field);
            let _ = writeln!(text, "    {}: {row},", field.json_name);
        }
        text += "  },\n";
    }
    text += "};\n";
    text
}

fn row(enums: &[Enum], field: &Field) -> String {
    let shape = match field.shape {
        Shape::Map => '%',
        Shape::List => '*',
        Shape::Single if field.optional => '?',
        Shape::Single => '=',
    };
    let kind = match &field.kind {
        FieldKind::Bool => "b",
        FieldKind::Number { .. } => "n",
        FieldKind::LongNumber { .. } => "l",
        FieldKind::Text => "s",
        FieldKind::Bytes => "y",
        FieldKind::Message(name) => name,
        FieldKind::Enum(name) => {
            let of = enums.iter().find(|of| of.name == *name);
            let zero = of.and_then(|of| of.values.first());
            let zero = zero.map_or("", |zero| &zero.name);
            return format!("['{shape}', 'e', '{zero}']");
        }
    };
    format!("['{shape}', '{kind}']")
}

fn services(protocol: &Protocol) -> String {
    let mut text = HEAD.to_owned();
    text += "\nimport type { CallOptions, Caller } from '../call.cjs';\n";
    text += "import type { Init } from '../values.cjs';\n";
    text += "import type * as v1 from './messages.cjs';\n";
    let all = protocol.services.iter();
    let all: Vec<_> = all
        .filter(|service| unary(service).next().is_some())
        .collect();
    for service in &all {
        documented(&mut text, "", &service.docs);
        let _ = writeln!(text, "export class {}Service {{", service.name);
        text += "  readonly #caller: Caller;\n\n";
        text += "  /** @internal */\n";
        text += "  constructor(caller: Caller) {\n    this.#caller = caller;\n  }\n";
        for method in unary(service) {
            documented(&mut text, "  ", &method.docs);
            text += &call(method);
        }
        text += "}\n";
    }
    text += "\n/** The services of a cluster, one attribute each. */\n";
    text += "export abstract class Services {\n";
    for service in &all {
        let (name, class) = (lower_camel(&service.name), &service.name);
        documented(&mut text, "  ", &service.docs);
        let _ = writeln!(text, "  readonly {name}: {class}Service;");
    }
    text += "\n  /** @internal */\n  constructor(caller: Caller) {\n";
    for service in &all {
        let (name, class) = (lower_camel(&service.name), &service.name);
        let _ = writeln!(text, "    this.{name} = new {class}Service(caller);");
    }
    text += "  }\n}\n";
    text
}

/// The methods that answer once. The handles (memberships, locks, watches) cover the others, which are streams.
fn unary(service: &Service) -> impl Iterator<Item = &Method> {
    service.methods.iter().filter(|method| !method.streams)
}

fn call(method: &Method) -> String {
    let Method {
        name,
        full_name,
        request,
        response,
        ..
    } = method;
    let name = lower_camel(name);
    format!(
        "  {name}(request: Init<v1.{request}> = {{}}, options: CallOptions = {{}}): Promise<v1.{response}> {{\n    \
         return this.#caller.call('{full_name}', '{request}', '{response}', request, options);\n  }}\n"
    )
}

/// Turns `NOT_FOUND` into `NotFound`.
fn pascal(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{first}{}", rest.to_ascii_lowercase())
    };
    name.split('_').map(word).collect()
}

/// Writes a blank line and the comment of the protocol that describes what follows.
fn documented(text: &mut String, indent: &str, docs: &str) {
    text.push('\n');
    comment(text, indent, docs);
}

fn comment(text: &mut String, indent: &str, docs: &str) {
    let docs = docs.replace("*/", "* /");
    if !docs.contains('\n') {
        let _ = writeln!(text, "{indent}/** {docs} */");
        return;
    }
    let _ = writeln!(text, "{indent}/**");
    for line in docs.lines() {
        let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
    }
    let _ = writeln!(text, "{indent} */");
}
