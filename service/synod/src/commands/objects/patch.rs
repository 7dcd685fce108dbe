//! `synod patch`: changes a part of an object where it is stored.

use clap::ArgMatches;
use synod_client::{
    ApiVersion, Client, ErrorKind, Fences, LeaseToken, MetadataPatch, ObjectKey, ObjectWritten,
    Patch, PatchFormat, PatchObject, ReadOptions, TtlChange, Violation, Violations,
};
use synod_model::Json;

use super::super::{collections, connect};
use super::overtaken::TRIES_MAX;
use super::{fence, key, objects, show_writes, ttl_change};
use crate::args::{PatchArgs, PatchType};
use crate::documents::exact;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &PatchArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let key = key(&args.resource, args.namespace.as_deref(), &args.name)?;
    let patch = Typed::of(args)?;
    let fence = fence(&args.fence)?;
    let client = connect(&args.write.query.client, matches).await?;
    let key = key.resolve(&client).await?;
    let patched = carry_out(&client, args, &key, (patch, fence)).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show_writes(&vec![(key, patched?)], Ok(()), &args.write.query)
}

/// The arguments, parsed.
struct Typed {
    format: PatchFormat,
    /// The patch of the data, and the version that `--version` names for it.
    data: Option<(Vec<u8>, Option<ApiVersion>)>,
    metadata: Option<MetadataPatch>,
    ttl: TtlChange,
}

impl Typed {
    fn of(args: &PatchArgs) -> Result<Self, Failure> {
        let format = match args.kind {
            PatchType::Merge => PatchFormat::Merge,
            PatchType::Json => PatchFormat::Json,
        };
        let version = args.version.as_deref().map(ApiVersion::parse).transpose();
        let version = version.map_err(|fault| {
            Failure::invalid("this is no version", fault.at("--version").into())
        })?;
        let data = args.patch.as_deref().map(|text| document(text, "--patch"));
        let metadata = args.metadata.as_deref();
        let metadata = metadata.map(|text| document(text, "--metadata"));
        Ok(Self {
            format,
            data: data.transpose()?.map(|document| (document, version)),
            metadata: metadata.transpose()?.map(|document| MetadataPatch {
                format,
                document: document.into(),
            }),
            ttl: ttl_change(args.ttl)?,
        })
    }

    /// The patch for an object that is stored in this version.
    fn made_for(&self, stored: Option<&ApiVersion>) -> Option<Patch> {
        let (document, version) = self.data.as_ref()?;
        Some(Patch {
            encoding: version.as_ref().or(stored)?.clone(),
            format: self.format,
            document: document.clone().into(),
        })
    }

    /// Whether the stored version must be read first, because `--version` is not given.
    fn asks_version(&self) -> bool {
        matches!(self.data, Some((_, None)))
    }
}

async fn carry_out(
    client: &Client,
    args: &PatchArgs,
    key: &ObjectKey,
    (typed, fence): (Typed, Option<LeaseToken>),
) -> Result<ObjectWritten, Failure> {
    let mut tries = TRIES_MAX;
    loop {
        let stored = if typed.asks_version() {
            let options = ReadOptions::linearizable();
            let view = client.raw_objects().get(key, options).await?;
            Some(view.object.content.encoding)
        } else {
            None
        };
        let patch = PatchObject {
            key: key.clone(),
            data: typed.made_for(stored.as_ref()),
            metadata: typed.metadata.clone(),
            ttl: typed.ttl,
            preconditions: collections::preconditions(&args.write),
            fences: Fences::default(),
        };
        let objects = objects(client, args.write.dry_run, fence.clone());
        match (objects.patch(patch).await, stored) {
            // The object was rewritten in another version between the read and the patch: try again.
            (Err(error), Some(stored))
                if error.kind() == ErrorKind::Conflict
                    && args.write.if_revision.is_none()
                    && moved(&error, &stored)
                    && tries > 1 =>
            {
                tries -= 1;
            }
            (patched, _) => return Ok(patched?),
        }
    }
}

/// Whether a conflict shows the object in another version than this one.
fn moved(error: &synod_client::Error, encoding: &ApiVersion) -> bool {
    match error.current() {
        Some(synod_client::Current::Object(object)) => object.content.encoding != *encoding,
        _ => false,
    }
}

/// A patch as JSON: one in JSON is sent as it was typed, one in YAML is converted.
fn document(text: &str, flag: &str) -> Result<Vec<u8>, Failure> {
    if Json::parse(text.as_bytes()).is_ok() {
        return Ok(text.as_bytes().to_vec());
    }
    let invalid = |value: &str, rule| {
        let fault = Violation::invalid(value, rule);
        Failure::invalid("this is no patch", fault.at(flag).into())
    };
    let read = synod_yaml::documents(text);
    let mut read = read.map_err(|error| invalid(&error.to_string(), "must be YAML or JSON"))?;
    let count = read.len();
    let Some(patch) = read.pop().filter(|_| count == 1) else {
        return Err(invalid(&count.to_string(), "must be one document"));
    };
    let lost = exact::lost(&patch.inexact);
    if lost.is_empty() {
        return Ok(patch.value.to_string().into_bytes());
    }
    let mut found = Violations::new();
    found.extend_at(flag, lost);
    Err(Failure::invalid("write this patch as JSON", found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_sent_as_it_was_typed_and_yaml_only_if_it_loses_nothing() {
        let exact = r#"[ {"op":"test","path":"/n","value":12345678901234567890123} ]"#;
        assert_eq!(document(exact, "--patch").unwrap(), exact.as_bytes());
        assert_eq!(
            document("{spec: {size: 5}}", "--patch").unwrap(),
            br#"{"spec":{"size":5}}"#
        );
        let lost = document("{x: 0.12345678901234567890}", "--metadata").unwrap_err();
        assert!(lost.to_string().contains("  --metadata.x: "), "{lost}");
        assert!(
            document("{", "--patch").is_err() && document("a: 1\n---\nb: 2\n", "--patch").is_err()
        );
    }
}
