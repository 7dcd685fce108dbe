//! `synod get`: shows objects.

use clap::ArgMatches;
use synod_client::{
    FieldSelector, GroupResource, LabelSelector, ListObjects, Namespace, ReadOptions, Violations,
};
use synod_model::Json;

use super::super::{collections, connect, now, show};
use super::{collection_of, key, resource};
use crate::args::GetArgs;
use crate::documents;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Document, Format};
use crate::views;

pub(crate) async fn run(args: &GetArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.name {
        Some(name) => one(args, name, matches).await,
        None => all(args, matches).await,
    }
}

async fn one(args: &GetArgs, name: &str, matches: &ArgMatches) -> Result<Exit, Failure> {
    let key = key(&args.resource, args.namespace.as_deref(), name)?;
    let client = connect(&args.query.client, matches).await?;
    let key = key.resolve(&client).await?;
    let collection = collection_of(&client, &key.resource).await?;
    let view = client
        .raw_objects()
        .get(&key, ReadOptions::linearizable())
        .await?;
    let document = views::object(&view, &collection, now());
    show_exactly(
        &document,
        &documents::exactly(&view.object),
        args.query.output,
    )
}

async fn all(args: &GetArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = collections::spelling(&args.resource)?;
    let mut list = list(args, spelling.first_reading())?;
    let client = connect(&args.query.client, matches).await?;
    list.resource = resource(&client, &spelling).await?;
    let collection = collection_of(&client, &list.resource).await?;
    let page = client.raw_objects().list(&list).all().await?;
    let document = views::objects(&page, &collection, now());
    let objects = page.items.iter();
    let objects = objects.map(|item| documents::exactly(&item.object));
    let stored = Json::Object([("items".to_owned(), Json::Array(objects.collect()))].into());
    show_exactly(&document, &stored, args.query.output)
}

/// Shows objects with all digits of their numbers. If YAML's block form would lose digits, the flow form is printed,
/// which is JSON.
fn show_exactly(document: &Document, stored: &Json, format: Format) -> Result<Exit, Failure> {
    let is_data = matches!(format, Format::Json | Format::Yaml);
    let exact = is_data.then(|| documents::with_all_digits(&document.value, stored));
    match exact.flatten() {
        Some(text) => {
            output::print(&text)?;
            Ok(Exit::Ok)
        }
        None => show(document, format),
    }
}

fn list(args: &GetArgs, resource: &GroupResource) -> Result<ListObjects, Failure> {
    let mut found = Violations::new();
    let mut list = ListObjects::new(resource.clone());
    let space = args.namespace.as_deref().map(Namespace::parse).transpose();
    list.namespace = found.parsed("--namespace", space).flatten();
    let labels = LabelSelector::parse(args.selector.as_deref().unwrap_or_default());
    list.labels = found.parsed("--selector", labels).unwrap_or_default();
    let fields = FieldSelector::parse(args.field_selector.as_deref().unwrap_or_default());
    list.fields = found.parsed("--field-selector", fields).unwrap_or_default();
    if found.is_empty() {
        Ok(list)
    } else {
        Err(Failure::invalid(
            "the arguments of the list are invalid",
            found,
        ))
    }
}
