//! `synod create`: stores new objects from a file.

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Client, CreateObject, Fences, RawObjects, Ttl};

use super::super::connect;
use super::{Kinds, Writes, fence, objects, read, show_writes};
use crate::args::CreateArgs;
use crate::documents::Document;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &CreateArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let documents = read(&args.filename, args.namespace.as_deref())?;
    let ttl = ttl(args.ttl)?;
    let fence = fence(&args.fence)?;
    let client = connect(&args.query.client, matches).await?;
    let mut writes = Writes::new();
    let objects = objects(&client, args.dry_run, fence);
    let failed = create(&client, &objects, &documents, ttl, &mut writes).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the changes.
    let _ = client.close().await;
    show_writes(&writes, failed, &args.query)
}

async fn create(
    client: &Client,
    objects: &RawObjects,
    documents: &[Document],
    ttl: Option<Ttl>,
    writes: &mut Writes,
) -> Result<(), Failure> {
    let kinds = Kinds::of(client).await?;
    for document in documents {
        let key = kinds.key(document)?;
        let create = CreateObject {
            key: key.clone(),
            attributes: document.attributes.clone(),
            content: document.content(),
            ttl,
            fences: Fences::default(),
        };
        let written = objects.create(create).await?;
        writes.push((key, written));
    }
    Ok(())
}

fn ttl(asked: Option<Duration>) -> Result<Option<Ttl>, Failure> {
    let millis = |ttl: Duration| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    let ttl = asked.map(|ttl| Ttl::from_millis(millis(ttl))).transpose();
    ttl.map_err(|fault| Failure::invalid("no object lives so long", fault.at("--ttl").into()))
}
