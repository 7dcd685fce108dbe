//! `synod delete`: deletes an object.

use clap::ArgMatches;
use synod_client::{DeleteObject, Fences, Propagation};

use super::super::{collections, connect};
use super::{fence, key, objects, show_writes};
use crate::args::{Cascade, DeleteArgs};
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &DeleteArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let key = key(&args.resource, args.namespace.as_deref(), &args.name)?;
    let fence = fence(&args.fence)?;
    let client = connect(&args.write.query.client, matches).await?;
    let key = key.resolve(&client).await?;
    let delete = DeleteObject {
        key: key.clone(),
        propagation: args.cascade.map(|cascade| match cascade {
            Cascade::Background => Propagation::Background,
            Cascade::Foreground => Propagation::Foreground,
            Cascade::Orphan => Propagation::Orphan,
        }),
        preconditions: collections::preconditions(&args.write),
        fences: Fences::default(),
    };
    let deleted = objects(&client, args.write.dry_run, fence)
        .delete(delete)
        .await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show_writes(&vec![(key, deleted?)], Ok(()), &args.write.query)
}
