//! `synod patch`.

use clap::ArgMatches;
use serde_json::Value;
use synod_client::{
    ApiVersion, Client, ErrorKind, Fences, LeaseToken, ObjectKey, Patch, PatchFormat, PatchObject,
    ReadOptions, Violation, Violations,
};
use synod_model::Json;

use super::super::{collections, connect};
use super::{fence, key, objects, show_writes};
use crate::args::{PatchArgs, PatchType};
use crate::documents::exact;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &PatchArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let key = key(&args.resource, args.namespace.as_deref(), &args.name)?;
    let document = document(&args.patch)?;
    let fence = fence(&args.fence)?;
    let version = args.version.as_deref().map(ApiVersion::parse).transpose();
    let version = version
        .map_err(|fault| Failure::invalid("this is no version", fault.at("--version").into()))?;
    let client = connect(&args.write.query.client, matches).await?;
    let patched = patch(&client, args, &key, document, (version, fence)).await;
    // The session would end by itself; that it could not be ended now says nothing about the change.
    let _ = client.close().await;
    show_writes(&vec![(key, patched?)], Ok(()), &args.write.query)
}

async fn patch(
    client: &Client,
    args: &PatchArgs,
    key: &ObjectKey,
    document: Vec<u8>,
    (version, fence): (Option<ApiVersion>, Option<LeaseToken>),
) -> Result<synod_client::ObjectWritten, Failure> {
    let format = match args.kind {
        PatchType::Merge => PatchFormat::Merge,
        PatchType::Json => PatchFormat::Json,
    };
    let is_given = version.is_some();
    loop {
        let encoding = match &version {
            Some(version) => version.clone(),
            None => {
                let options = ReadOptions::linearizable();
                let view = client.raw_objects().get(key, options).await?;
                view.object.content.encoding
            }
        };
        let patch = PatchObject {
            key: key.clone(),
            patch: Patch {
                encoding: encoding.clone(),
                format,
                document: document.clone().into(),
            },
            preconditions: collections::preconditions(&args.write),
            fences: Fences::default(),
        };
        match objects(client, args.write.dry_run, fence.clone())
            .patch(patch)
            .await
        {
            // It was rewritten in another version between the read and the patch.
            Err(error)
                if error.kind() == ErrorKind::Conflict
                    && !is_given
                    && args.write.if_revision.is_none()
                    && moved(&error, &encoding) => {}
            patched => return Ok(patched?),
        }
    }
}

/// Whether the object that a comparison was lost to is stored in another version than this one.
fn moved(error: &synod_client::Error, encoding: &ApiVersion) -> bool {
    match error.current() {
        Some(synod_client::Current::Object(object)) => object.content.encoding != *encoding,
        _ => false,
    }
}

/// A patch, as JSON, which is sent as it was typed, or as YAML.
fn document(text: &str) -> Result<Vec<u8>, Failure> {
    if Json::parse(text.as_bytes()).is_ok() {
        return Ok(text.as_bytes().to_vec());
    }
    let mut lost = Violations::new();
    let read = serde_yaml_ng::from_str(text).and_then(|value: Value| {
        let again = serde_yaml_ng::Deserializer::from_str(text);
        exact::check(again, &value, &mut lost).map(|()| value)
    });
    let value = read.map_err(|error| {
        let fault = Violation::invalid(&error.to_string(), "must be YAML or JSON");
        Failure::invalid("this is no patch", fault.at("--patch").into())
    })?;
    if lost.is_empty() {
        return Ok(value.to_string().into_bytes());
    }
    let mut found = Violations::new();
    found.extend_at("--patch", lost);
    Err(Failure::invalid("write this patch as JSON", found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_sent_as_it_was_typed_and_yaml_only_if_it_loses_nothing() {
        let exact = r#"[ {"op":"test","path":"/n","value":12345678901234567890123} ]"#;
        assert_eq!(document(exact).unwrap(), exact.as_bytes());
        assert_eq!(
            document("{spec: {size: 5}}").unwrap(),
            br#"{"spec":{"size":5}}"#
        );
        let lost = document("{x: 0.12345678901234567890}").unwrap_err();
        assert!(lost.to_string().contains("  --patch.x: "), "{lost}");
        assert!(document("{").is_err() && document("a: 1\n---\nb: 2\n").is_err());
    }
}
