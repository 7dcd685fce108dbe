//! `synod check-binary` and `synod check-drop`: whether a binary may join, and whether a version may be dropped.

use std::collections::BTreeSet;

use clap::ArgMatches;
use serde::Deserialize;
use synod_client::{
    ApiVersion, Binary, BinaryResource, Kind, ReadOptions, ResourceSpelling, Safety, ScopeSpelling,
    Stance, Violation, Violations,
};

use super::connect;
use super::objects::text;
use crate::args::{CheckBinaryArgs, CheckDropArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, spelling};
use crate::output::Format;
use crate::{output, views};

/// The manifest of a binary, as people write it: everything that the binary decodes and encodes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    resources: Vec<Decodes>,
    /// The scopes of resources that other binaries handle.
    #[serde(default)]
    left_to_others: Vec<String>,
}

/// What the binary decodes of one resource, and how it will encode it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Decodes {
    resource: String,
    kind: Option<String>,
    decodable_versions: Vec<String>,
    encoding_version: Option<String>,
    preferred_version: Option<String>,
    /// Whether the binary brings the resource, so that nothing knows it yet.
    #[serde(default)]
    new: bool,
}

/// The place of the resource in a message.
const RESOURCE: &str = "RESOURCE";

pub(crate) async fn check_binary(
    args: &CheckBinaryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let manifest = manifest(&text(&args.filename)?)?;
    let client = connect(&args.query.client, matches).await?;
    let resolver = Resolver::load_for_manifest(&client, args.new.new).await?;
    let binary = manifest.resolve(resolver)?;
    let options = ReadOptions::linearizable();
    let safety = client.check_binary(binary, options).await?;
    answer(&safety, args.assume_complete, args.query.output)
}

pub(crate) async fn check_drop(
    args: &CheckDropArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let mut found = Violations::new();
    let spelling = found.parsed("", spelling(&args.resource, RESOURCE));
    let version = found.parsed("VERSION", ApiVersion::parse(&args.version));
    let (Some(spelling), Some(version)) = (spelling, version) else {
        return Err(Failure::invalid("this is no version of a resource", found));
    };
    let client = connect(&args.query.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one(RESOURCE, &spelling)?;
    let options = ReadOptions::linearizable();
    let safety = client.check_drop(&resource, &version, options).await?;
    answer(&safety, args.assume_complete, args.query.output)
}

/// Prints the answer with its assumptions. The exit is 0 if all is safe for sure, or safe and vouched for.
pub(super) fn answer(
    safety: &Safety,
    assume_complete: bool,
    format: Format,
) -> Result<Exit, Failure> {
    output::print(&views::safety(safety).render(format))?;
    let exit = exit(safety, assume_complete);
    if format == Format::Name && safety.is_safe() && exit == Exit::Disagree {
        // Names alone do not say why the exit is not 0.
        output::warn(&views::assumption_lines(&safety.assumptions));
    }
    Ok(exit)
}

fn exit(safety: &Safety, assume_complete: bool) -> Exit {
    if safety.is_safe_for_sure() || (assume_complete && safety.is_safe()) {
        Exit::Ok
    } else {
        Exit::Disagree
    }
}

/// Parses a manifest in YAML or JSON, and checks all rules but whether its names are known.
fn manifest(text: &str) -> Result<TypedBinary, Failure> {
    let manifest: Manifest = synod_yaml::from_str(text).map_err(|error| {
        let fault = Violation::invalid(&error.to_string(), "must be a manifest in YAML or JSON");
        Failure::invalid("the manifest cannot be read", fault.at("--filename").into())
    })?;
    let mut found = Violations::new();
    let mut resources = Vec::new();
    for (place, decodes) in manifest.resources.iter().enumerate() {
        resources.extend(found.parsed(format_args!("resources[{place}]"), parsed(decodes)));
    }
    let mut left_to_others = Vec::new();
    for (place, scope) in manifest.left_to_others.iter().enumerate() {
        left_to_others.extend(found.parsed(left_at(place), ScopeSpelling::parse(scope)));
    }
    let (resources, names) = resources.into_iter().unzip();
    let scopes = left_to_others.iter().map(ScopeSpelling::first_reading);
    let binary = Binary {
        resources,
        left_to_others: scopes.collect(),
    };
    if found.is_empty() {
        found = binary.check();
    }
    if found.is_empty() {
        Ok(TypedBinary {
            binary,
            names,
            left_to_others,
        })
    } else {
        Err(Failure::invalid(BROKEN, found))
    }
}

const BROKEN: &str = "the manifest breaks rules";

/// The place of a scope in a manifest.
fn left_at(place: usize) -> String {
    format!("leftToOthers[{place}]")
}

/// The binary of a manifest whose names are not looked up yet: until then each has its first reading.
#[derive(Debug)]
struct TypedBinary {
    binary: Binary,
    /// The names of its resources, in their order.
    names: Vec<ResourceSpelling>,
    left_to_others: Vec<ScopeSpelling>,
}

impl TypedBinary {
    /// Looks all names up.
    fn resolve(self, mut resolver: Resolver) -> Result<Binary, Failure> {
        let mut binary = self.binary;
        let named = binary.resources.iter_mut().zip(&self.names);
        for (place, (decodes, name)) in named.enumerate() {
            let place = format!("resources[{place}].resource");
            let resource = match decodes.new {
                true => resolver.take_as_written(&place, name),
                false => resolver.resolve(&place, name),
            };
            if let Some(resource) = resource {
                decodes.resource = resource;
            }
        }
        let scopes = self.left_to_others.iter().enumerate();
        let scopes =
            scopes.filter_map(|(place, scope)| resolver.resolve_scope(&left_at(place), scope));
        binary.left_to_others = scopes.collect();
        let binary = resolver.finish(Some(binary))?;
        // Two names may be of one resource.
        let found = binary.check();
        if found.is_empty() {
            Ok(binary)
        } else {
            Err(Failure::invalid(BROKEN, found))
        }
    }
}

fn parsed(decodes: &Decodes) -> Result<(BinaryResource, ResourceSpelling), Violations> {
    let mut found = Violations::new();
    let name = found.parsed("", spelling(&decodes.resource, "resource"));
    let kind = decodes.kind.as_deref().map(Kind::parse).transpose();
    let kind = found.parsed("kind", kind);
    let mut decodable = BTreeSet::new();
    for (place, version) in decodes.decodable_versions.iter().enumerate() {
        let place = format!("decodableVersions[{place}]");
        decodable.extend(found.parsed(&place, ApiVersion::parse(version)));
    }
    let stance = found.parsed("", stance(decodes));
    let (Some(name), Some(kind), Some(stance)) = (name, kind, stance) else {
        return Err(found);
    };
    if !found.is_empty() {
        return Err(found);
    }
    let decodes = BinaryResource {
        resource: name.first_reading().clone(),
        kind,
        decodable,
        stance,
        new: decodes.new,
    };
    Ok((decodes, name))
}

/// The version that the binary will encode or vote for, if the manifest names one.
fn stance(decodes: &Decodes) -> Result<Option<Stance>, Violation> {
    let (encoding, preferred) = (&decodes.encoding_version, &decodes.preferred_version);
    Ok(match (encoding, preferred) {
        (None, None) => None,
        (Some(encoding), None) => {
            let encoding = ApiVersion::parse(encoding);
            let encoding = encoding.map_err(|fault| fault.at("encodingVersion"))?;
            Some(Stance::Fixed { encoding })
        }
        (None, Some(preferred)) => {
            let preferred = ApiVersion::parse(preferred);
            let preferred = preferred.map_err(|fault| fault.at("preferredVersion"))?;
            Some(Stance::Voting { preferred })
        }
        (Some(_), Some(preferred)) => {
            let rule =
                "must not be given beside encodingVersion: who votes encodes what is selected";
            return Err(Violation::invalid(preferred, rule).at("preferredVersion"));
        }
    })
}

#[cfg(test)]
mod tests;
