//! `synod check-binary` and `synod check-drop`: whether a binary may join, and whether a version may be dropped.

use std::collections::BTreeSet;

use clap::ArgMatches;
use serde::Deserialize;
use synod_client::{
    ApiVersion, Binary, BinaryResource, Kind, ReadOptions, Safety, Stance, Violation, Violations,
};

use super::objects::text;
use super::{connect, resource};
use crate::args::{CheckBinaryArgs, CheckDropArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Format;
use crate::{named, output, views};

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
}

pub(crate) async fn check_binary(
    args: &CheckBinaryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let binary = manifest(&text(&args.filename)?)?;
    let client = connect(&args.query.client, matches).await?;
    let options = ReadOptions::linearizable();
    let safety = client.check_binary(binary, options).await?;
    answer(&safety, args.assume_complete, args.query.output)
}

pub(crate) async fn check_drop(
    args: &CheckDropArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let mut found = Violations::new();
    let resource = found.parsed("", resource(&args.resource, "RESOURCE"));
    let version = found.parsed("VERSION", ApiVersion::parse(&args.version));
    let (Some(resource), Some(version)) = (resource, version) else {
        return Err(Failure::invalid("this is no version of a resource", found));
    };
    let client = connect(&args.query.client, matches).await?;
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
        output::warn(&views::assumption_lines(safety));
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

/// Parses a manifest in YAML or JSON.
fn manifest(text: &str) -> Result<Binary, Failure> {
    let manifest: Manifest = serde_yaml_ng::from_str(text).map_err(|error| {
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
        let place = format!("leftToOthers[{place}]");
        left_to_others.extend(found.parsed(&place, named::scope(scope)));
    }
    let binary = Binary {
        resources,
        left_to_others,
    };
    if found.is_empty() {
        found = binary.check();
    }
    if found.is_empty() {
        Ok(binary)
    } else {
        Err(Failure::invalid("the manifest breaks rules", found))
    }
}

fn parsed(decodes: &Decodes) -> Result<BinaryResource, Violations> {
    let mut found = Violations::new();
    let resource = found.parsed("", resource(&decodes.resource, "resource"));
    let kind = decodes.kind.as_deref().map(Kind::parse).transpose();
    let kind = found.parsed("kind", kind);
    let mut decodable = BTreeSet::new();
    for (place, version) in decodes.decodable_versions.iter().enumerate() {
        let place = format!("decodableVersions[{place}]");
        decodable.extend(found.parsed(&place, ApiVersion::parse(version)));
    }
    let stance = found.parsed("", stance(decodes));
    match (resource, kind, stance) {
        (Some(resource), Some(kind), Some(stance)) if found.is_empty() => Ok(BinaryResource {
            resource,
            kind,
            decodable,
            stance,
        }),
        _ => Err(found),
    }
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
