//! `synod check-binary` and `synod check-drop`: may this be deployed, and may this version go?

use std::collections::BTreeSet;

use clap::ArgMatches;
use serde::Deserialize;
use synod_client::{ApiVersion, BinaryResource, Kind, ReadOptions, Safety, Violation, Violations};

use super::objects::text;
use super::{connect, resource};
use crate::args::{CheckBinaryArgs, CheckDropArgs, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, views};

/// What a binary decodes, as people write it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manifest {
    resources: Vec<Decodes>,
}

/// What it decodes of one resource.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Decodes {
    resource: String,
    kind: Option<String>,
    decodable_versions: Vec<String>,
}

pub(crate) async fn check_binary(
    args: &CheckBinaryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let resources = manifest(&text(&args.filename)?)?;
    let client = connect(&args.query.client, matches).await?;
    let options = ReadOptions::linearizable();
    let safety = client.check_binary(resources, options).await?;
    answer(&safety, args.query.output)
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
    answer(&safety, args.query.output)
}

fn answer(safety: &Safety, format: Format) -> Result<Exit, Failure> {
    output::print(&views::safety(safety).render(format))?;
    Ok(if safety.is_safe() {
        Exit::Ok
    } else {
        Exit::Disagree
    })
}

/// What a manifest says, YAML or JSON.
fn manifest(text: &str) -> Result<Vec<BinaryResource>, Failure> {
    let manifest: Manifest = serde_yaml_ng::from_str(text).map_err(|error| {
        let fault = Violation::invalid(&error.to_string(), "must be a manifest in YAML or JSON");
        Failure::invalid("the manifest cannot be read", fault.at("--filename").into())
    })?;
    let mut found = Violations::new();
    let mut resources = Vec::new();
    for (place, decodes) in manifest.resources.iter().enumerate() {
        resources.extend(found.parsed(&format!("resources[{place}]"), parsed(decodes)));
    }
    if found.is_empty() {
        Ok(resources)
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
    match (resource, kind) {
        (Some(resource), Some(kind)) if found.is_empty() => Ok(BinaryResource {
            resource,
            kind,
            decodable,
        }),
        _ => Err(found),
    }
}

#[cfg(test)]
mod tests;
