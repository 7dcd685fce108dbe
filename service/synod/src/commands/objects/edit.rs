//! `synod edit`: changes an object in an editor.

use std::io::Write as _;
use std::path::Path;

use clap::ArgMatches;
use serde_json::Value;
use synod_client::{
    Fences, Preconditions, ReadOptions, Revision, TtlChange, UpdateObject, Violation,
};
use tempfile::NamedTempFile;
use tokio::process::Command;

use super::super::connect;
use super::{check_json, collection_of, fence, key, objects, show_writes};
use crate::args::{EditArgs, EditFormat};
use crate::documents::{self, Document};
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &EditArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let key = key(&args.resource, args.namespace.as_deref(), &args.name)?;
    let fence = fence(&args.fence)?;
    let client = connect(&args.write.query.client, matches).await?;
    let key = key.resolve(&client).await?;
    let collection = collection_of(&client, &key.resource).await?;
    let view = client
        .raw_objects()
        .get(&key, ReadOptions::linearizable())
        .await?;
    check_json(&view.object, "edited")?;
    let shown = documents::shown(&view.object, &collection.kind);
    let Some((document, file)) = edited(&shown, args.format).await? else {
        return Ok(Exit::Ok);
    };
    if (&document.key(), &document.kind) != (&key.name, &collection.kind) {
        let fault = Violation::invalid(&document.key().to_string(), "must stay what it is");
        let place = fault.at("metadata.name").into();
        return Err(keep(
            file,
            Failure::invalid("the document names another object", place),
        ));
    }
    let revision = args.write.if_revision.map(Revision::new);
    let update = UpdateObject {
        key: key.clone(),
        attributes: document.attributes.clone(),
        content: document.content_after(&view.object.content),
        ttl: TtlChange::Keep,
        preconditions: Preconditions {
            uid: Some(view.object.metadata.uid),
            resource_version: revision.or(Some(view.object.metadata.resource_version)),
        },
        fences: Fences::default(),
    };
    let written = objects(&client, args.write.dry_run, fence)
        .update(update)
        .await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    match written {
        Ok(written) => show_writes(&vec![(key, written)], Ok(()), &args.write.query),
        Err(error) => Err(keep(file, error.into())),
    }
}

/// The edited document and its file; `None` if it was not changed.
async fn edited(
    shown: &Value,
    format: EditFormat,
) -> Result<Option<(Document, NamedTempFile)>, Failure> {
    let (text, suffix) = match format {
        EditFormat::Yaml => (synod_yaml::to_string(shown), ".yaml"),
        EditFormat::Json => (format!("{shown:#}\n"), ".json"),
    };
    let file = written(&text, suffix).map_err(|error| no_file(&error))?;
    open_editor(file.path()).await?;
    let after = std::fs::read_to_string(file.path()).map_err(|error| no_file(&error))?;
    if after == text {
        return Ok(None);
    }
    match documents::read(&after) {
        Ok(mut documents) if documents.len() == 1 => Ok(Some((documents.remove(0), file))),
        Ok(documents) => {
            let count = documents.len().to_string();
            let fault = Violation::invalid(&count, "must be one document").into();
            Err(keep(file, Failure::invalid("one object is edited", fault)))
        }
        Err(failure) => Err(keep(file, failure)),
    }
}

fn written(text: &str, suffix: &str) -> std::io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("synod-edit-")
        .suffix(suffix)
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Runs the editor until it ends. A shell parses the variable's value, since it may have arguments.
async fn open_editor(path: &Path) -> Result<(), Failure> {
    let variables = ["SYNOD_EDITOR", "VISUAL", "EDITOR"];
    let named = variables.iter().find_map(|name| std::env::var(name).ok());
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    let ended = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(path)
        .status()
        .await;
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(no_editor(&format!("{editor} ended with {status}"))),
        Err(error) => Err(no_editor(&format!("{editor} cannot be run: {error}"))),
    }
}

fn no_editor(why: &str) -> Failure {
    Failure::local(
        format!("{why}: nothing was changed"),
        "name an editor in SYNOD_EDITOR",
    )
}

fn no_file(error: &std::io::Error) -> Failure {
    let message = format!("there is no file to edit: {error}");
    Failure::local(message, "check the folder for temporary files")
}

/// The failure, with advice that names the file in which the edited text is kept.
fn keep(file: NamedTempFile, failure: Failure) -> Failure {
    match file.keep() {
        Ok((_, path)) => failure.with_advice(format!(
            "your edit is saved in {}: compare it with the current object, then run `synod replace -f` with it",
            path.display()
        )),
        Err(_) => failure,
    }
}
