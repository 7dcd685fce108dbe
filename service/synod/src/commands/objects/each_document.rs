//! Writes the documents of a file, one after the other.

use clap::ArgMatches;
use synod_client::{Client, LeaseToken, ObjectKey, ObjectWritten, RawObjects, TtlChange};

use super::super::connect;
use super::{Kinds, Writes, check_one, fence, objects, read, show_writes, ttl_change};
use crate::args::{DocumentsArgs, WriteArgs};
use crate::documents::Document;
use crate::exit::Exit;
use crate::failure::Failure;

/// The client that writes, and the arguments that hold for each document.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) client: &'a Client,
    pub(super) write: &'a WriteArgs,
    fence: &'a Option<LeaseToken>,
    pub(super) ttl: TtlChange,
}

impl Writer<'_> {
    /// The objects, with the dry run and the fence of the arguments.
    pub(super) fn objects(&self) -> RawObjects {
        objects(self.client, self.write.dry_run, self.fence.clone())
    }
}

/// Writes each document by `write_one` until one fails, and prints the writes that were made.
pub(super) async fn write_each(
    args: &DocumentsArgs,
    matches: &ArgMatches,
    write_one: impl AsyncFn(Writer<'_>, &Document, &ObjectKey) -> Result<ObjectWritten, Failure>,
) -> Result<Exit, Failure> {
    let documents = read(&args.filename, args.namespace.as_deref())?;
    check_one(&documents, &args.write)?;
    let fence = fence(&args.fence)?;
    let ttl = ttl_change(args.ttl)?;
    let client = connect(&args.write.query.client, matches).await?;
    let writer = Writer {
        client: &client,
        write: &args.write,
        fence: &fence,
        ttl,
    };
    let mut writes = Writes::new();
    let all = async {
        let kinds = Kinds::of(&client).await?;
        for document in &documents {
            let key = kinds.key(document)?;
            let written = write_one(writer, document, &key).await?;
            writes.push((key, written));
        }
        Ok(())
    };
    let failed = all.await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the changes.
    let _ = client.close().await;
    show_writes(&writes, failed, &args.write.query)
}
