//! Generates what each method needs, and whom and what the requests name, from the options in `access.proto`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use protox::prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
};

/// A text of a request whose name is one of these says who acts, so it must have the option `naming`.
const SUSPECTS: [&str; 5] = ["holder", "identity", "marker", "member", "worker"];

/// The source of the table of rights, and of the function of each request that visits what it names.
///
/// # Errors
///
/// A method, field or message that lacks its option.
pub(super) fn generate(pool: &DescriptorPool) -> Result<String, String> {
    let mut source = String::from(
        "/// What each method needs, by its path.\npub const RIGHTS: &[(&str, v1::Right)] = &[\n",
    );
    let mut requests = BTreeSet::new();
    for method in methods(pool) {
        let right = right(pool, &method)?;
        let (service, name) = (
            method.parent_service().full_name().to_owned(),
            method.name(),
        );
        writeln!(source, "    (\"{service}/{name}\", v1::Right::{right}),")
            .expect("a text can be written");
        requests.insert(method.input().full_name().to_owned());
    }
    source.push_str("];\n");
    let answers: BTreeSet<String> = methods(pool)
        .map(|method| method.output().name().to_owned())
        .collect();
    for answer in &answers {
        source.push_str(&revised(pool, answer)?);
    }
    let mut visited = BTreeSet::new();
    for name in &requests {
        let message = pool
            .get_message_by_name(name)
            .ok_or("a request is a message")?;
        visits(pool, &message, &mut visited, &mut source)?;
    }
    Ok(source)
}

fn methods(pool: &DescriptorPool) -> impl Iterator<Item = MethodDescriptor> {
    pool.services()
        .flat_map(|service| service.methods().collect::<Vec<_>>())
}

/// The function that says at which revision an answer was given.
fn revised(pool: &DescriptorPool, answer: &str) -> Result<String, String> {
    let message = pool.get_message_by_name(&format!("synod.v1.{answer}"));
    let message = message.ok_or("an answer is a message")?;
    let said = match message.get_field_by_name("header") {
        Some(_) => "self.header.as_ref().map(|header| header.revision)",
        // A stream says it in its messages.
        None => "None",
    };
    Ok(format!(
        "\nimpl Revised for v1::{answer} {{\n    fn revision(&self) -> Option<u64> {{ {said} }}\n}}\n"
    ))
}

/// The variant of `Right` that a method needs.
fn right(pool: &DescriptorPool, method: &MethodDescriptor) -> Result<String, String> {
    let right = variant(pool, &method.options(), "synod.v1.access", "RIGHT_");
    right.ok_or_else(|| {
        format!(
            "{}: say `option (access)`, what a caller must be granted",
            method.full_name()
        )
    })
}

/// Appends the functions of a message and of the messages in it. A message is appended once.
fn visits(
    pool: &DescriptorPool,
    message: &MessageDescriptor,
    visited: &mut BTreeSet<String>,
    source: &mut String,
) -> Result<(), String> {
    if !visited.insert(message.full_name().to_owned()) {
        return Ok(());
    }
    let mut body = String::new();
    let place = variant(pool, &message.options(), "synod.v1.place", "PLACE_");
    match place.as_deref() {
        Some(place) => body.push_str(&named_place(message, place)),
        None if message.get_field_by_name("namespace").is_some() => {
            return Err(format!(
                "{}: say `option (place)`, of what its namespace is",
                message.full_name()
            ));
        }
        None => {}
    }
    for field in message
        .fields()
        .filter(|field| field.containing_oneof().is_none_or(|it| it.is_synthetic()))
    {
        body.push_str(&visit(pool, &field)?);
    }
    for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
        let (of, name) = (snake(message.name()), oneof.name());
        let choice = format!("v1::{of}::{}", camel(name));
        check_choices(pool, oneof.fields())?;
        let messages = oneof.fields().filter(|field| is_ours(&field.kind()));
        for field in messages {
            let variant = camel(field.name());
            writeln!(
                body,
                "        if let Some({choice}::{variant}(it)) = &self.{name} {{ it.visit(each); }}"
            )
            .expect("a text can be written");
        }
    }
    let unused = if body.is_empty() { "_" } else { "each" };
    let name = message.name();
    writeln!(
        source,
        "\nimpl Names for v1::{name} {{\n    fn visit<'a>(&'a self, {unused}: &mut dyn FnMut(Named<'a>)) {{\n{body}    }}\n}}"
    )
    .expect("a text can be written");
    for field in message.fields() {
        if let Kind::Message(inner) = field.kind()
            && is_ours(&field.kind())
        {
            visits(pool, &inner, visited, source)?;
        }
    }
    Ok(())
}

/// Refuses what a choice of a oneof would name itself: only the messages in it are visited.
fn check_choices(
    pool: &DescriptorPool,
    choices: impl Iterator<Item = FieldDescriptor>,
) -> Result<(), String> {
    for field in choices {
        let naming = variant(pool, &field.options(), "synod.v1.naming", "NAMING_");
        let is_named =
            naming.is_some() || !visit(pool, &field)?.is_empty() && !is_ours(&field.kind());
        let is_bare = ["synod.v1.RequestId", "synod.v1.GroupResource"];
        if is_named || is_bare.into_iter().any(|message| is_a(&field, message)) {
            return Err(format!(
                "{}: what is named stands in no oneof",
                field.full_name()
            ));
        }
    }
    Ok(())
}

/// The statement that visits what a field names.
fn visit(pool: &DescriptorPool, field: &FieldDescriptor) -> Result<String, String> {
    let name = field.name();
    let naming = variant(pool, &field.options(), "synod.v1.naming", "NAMING_");
    let names = match naming.as_deref() {
        None if SUSPECTS.contains(&name) && matches!(field.kind(), Kind::String) => {
            return Err(format!(
                "{}: say `naming`, who acts by it",
                field.full_name()
            ));
        }
        None if is_a(field, "synod.v1.RequestId") => {
            return Ok(format!(
                "        if let Some(it) = &self.{name} {{ each(Named::Request(it)); }}\n"
            ));
        }
        None if name == "dry_run" => format!("        if self.{name} {{ each(Named::DryRun); }}\n"),
        None => String::new(),
        Some("Resource") => {
            format!("        if let Some(it) = &self.{name} {{ each(Named::Resource(it)); }}\n")
        }
        Some(variant) => format!("        each(Named::{variant}(&self.{name}));\n"),
    };
    let Kind::Message(inner) = field.kind() else {
        return Ok(names);
    };
    if inner.is_map_entry() && is_ours(&inner.map_entry_value_field().kind()) {
        return Err(format!(
            "{}: what a map names is not visited",
            field.full_name()
        ));
    }
    if !is_ours(&field.kind()) {
        return Ok(names);
    }
    let place = variant(pool, &inner.options(), "synod.v1.place", "PLACE_");
    Ok(if field.is_list() {
        format!("{names}        for it in &self.{name} {{ it.visit(each); }}\n")
    } else if let Some(place) = place {
        // Left out, it stands for everything.
        format!(
            "{names}        match &self.{name} {{ Some(it) => it.visit(each), None => each(Named::{place}(Default::default())) }}\n"
        )
    } else {
        format!("{names}        if let Some(it) = &self.{name} {{ it.visit(each); }}\n")
    })
}

/// The statement that visits the place of a message itself.
fn named_place(message: &MessageDescriptor, place: &str) -> String {
    let said = |field: &str, value: &str, none: &str| {
        let has = message.get_field_by_name(field).is_some();
        format!("{field}: {}", if has { value } else { none })
    };
    let resource = said("resource", "self.resource.as_ref()", "None");
    let namespace = said("namespace", "&self.namespace", "\"\"");
    let name = said("name", "&self.name", "\"\"");
    format!("        each(Named::{place}(Spot {{ {resource}, {namespace}, {name} }}));\n")
}

/// The variant in Rust of an option that is an enum; `None` if it is not said.
fn variant(
    pool: &DescriptorPool,
    options: &DynamicMessage,
    option: &str,
    prefix: &str,
) -> Option<String> {
    let extension = pool.get_extension_by_name(option)?;
    let number = options.get_extension(&extension).as_enum_number()?;
    let Kind::Enum(of) = extension.kind() else {
        return None;
    };
    let value = of.get_value(number).filter(|_| number != 0)?;
    Some(camel(&value.name().strip_prefix(prefix)?.to_lowercase()))
}

/// Whether a field has this message.
fn is_a(field: &FieldDescriptor, message: &str) -> bool {
    matches!(field.kind(), Kind::Message(it) if it.full_name() == message)
}

/// Whether a field has a message of this protocol, which may name something.
fn is_ours(kind: &Kind) -> bool {
    matches!(kind, Kind::Message(it) if it.full_name().starts_with("synod.") && !it.is_map_entry())
}

/// `take_part` is `TakePart`.
fn camel(name: &str) -> String {
    let words = name.split('_').filter_map(|word| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(first.to_uppercase() + rest)
    });
    words.collect()
}

/// `LeaseKey` is `lease_key`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
