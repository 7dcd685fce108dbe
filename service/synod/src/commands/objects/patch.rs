//! `synod patch`.

use clap::ArgMatches;
use serde_json::Value;
use synod_client::{
    ApiVersion, Client, ErrorKind, Fences, LeaseToken, ObjectKey, Patch, PatchFormat, PatchObject,
    ReadOptions, Violation,
};

use super::super::{collections, connect};
use super::{fence, key, objects, show_writes};
use crate::args::{PatchArgs, PatchType};
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
    document: Value,
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
                document: document.to_string().into_bytes().into(),
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

/// A patch, as YAML or JSON.
fn document(text: &str) -> Result<Value, Failure> {
    serde_yaml_ng::from_str(text).map_err(|error| {
        let fault = Violation::invalid(&error.to_string(), "must be YAML or JSON");
        Failure::invalid("this is no patch", fault.at("--patch").into())
    })
}
