//! A member that votes, for `docs/start.md`.
//!
//! It takes part as an API server that reads some versions of widgets and votes for the last of them, and it works at
//! migrations of the collection. `voter apiserver-1 v1 v2` reads v1 and v2 and votes for v2, until Ctrl-C or SIGTERM. It
//! prints each version that it encodes. `SYNOD_ENDPOINTS` says where the replicas are.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::{Value, json};
use synod_client::{
    ApiVersion, Client, CollectionStore, Content, GroupResource, JoinOptions, Kind, MediaType,
    MemberId, Membership, Migrator, MigratorOptions, ObjectKind, RecodeError, Reflector,
    ReportEntry, Revision, Stance, StoredIn, WorkerName,
};
use tokio::signal::unix::{SignalKind, signal};

type AnyError = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1);
    let id = arguments
        .next()
        .ok_or("usage: voter MEMBER VERSION... (as in: voter apiserver-1 v1 v2)")?;
    let mut versions = Vec::new();
    for version in arguments {
        versions.push(ApiVersion::parse(&format!("example.io/{version}"))?);
    }
    let client = Client::builder().endpoints(endpoints()).connect().await?;
    let widgets = GroupResource::new("example.io", "widgets")?;
    let membership = client.join(JoinOptions::new(MemberId::parse(&id)?)).await?;
    membership.report(vec![entry(&widgets, versions)?]).await?;
    membership.ready().await?;

    let options = MigratorOptions::new(WorkerName::parse(&id)?, BTreeSet::from([widgets.clone()]));
    let store = CollectionStore::recoded_by(client.clone(), |object, target| {
        async move { recode(&object.content.data, &target) }.boxed()
    });
    let migrator = Migrator::new(client.clone(), store, options);
    let kinds = vec![ObjectKind::StorageVersion];
    let reflector = client.reflect(kinds).await?;
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::select! {
        biased;
        ended = migrator.run() => ended?,
        ended = print_encodings(&reflector, &membership, &widgets) => ended?,
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    membership.leave(Duration::from_secs(5)).await?;
    client.close().await?;
    Ok(())
}

/// A vote for the last of the versions that this server reads.
fn entry(resource: &GroupResource, versions: Vec<ApiVersion>) -> Result<ReportEntry, AnyError> {
    let preferred = versions.last().cloned().ok_or("a server reads a version")?;
    Ok(ReportEntry {
        resource: resource.clone(),
        kind: Kind::parse("Widget")?,
        decodable: versions.iter().cloned().collect(),
        served: versions.into_iter().collect(),
        stance: Stance::Voting { preferred },
        serve_until: None,
        stored: StoredIn::Collection,
        equivalents: BTreeSet::new(),
    })
}

/// Prints each version that this server encodes, from when it adopts it.
async fn print_encodings(
    reflector: &Reflector,
    membership: &Membership,
    resource: &GroupResource,
) -> Result<(), AnyError> {
    let (mut printed, mut seen) = (None, Revision::ZERO);
    loop {
        let known = reflector.storage_version(resource);
        let entries = known.iter().flat_map(|known| &known.entries);
        let own = entries
            .filter(|entry| entry.member == *membership.id())
            .find_map(|entry| entry.encoding.clone());
        if let Some(encoding) = own.filter(|encoding| printed.as_ref() != Some(encoding)) {
            writeln!(std::io::stdout(), "{} encodes {encoding}", membership.id())?;
            printed = Some(encoding);
        }
        seen = reflector.changed(seen).await?;
    }
}

/// Encodes a widget anew: its size is a number in v1, and a text with its unit in v2.
fn recode(data: &[u8], target: &ApiVersion) -> Result<Content, RecodeError> {
    let decoded = serde_json::from_slice(data);
    let mut widget: Value = decoded.map_err(|error| RecodeError::Decode(error.into()))?;
    let size = widget["spec"]["size"].to_string();
    let size = size.trim_matches('"').trim_end_matches("mm");
    widget["apiVersion"] = json!(target.as_str());
    widget["spec"]["size"] = if target.as_str() == "example.io/v1" {
        let number: u64 = size
            .parse()
            .map_err(|_| RecodeError::Decode("a size is a number".into()))?;
        json!(number)
    } else {
        json!(format!("{size}mm"))
    };
    Ok(Content {
        encoding: target.clone(),
        media_type: MediaType::JSON,
        data: widget.to_string().into(),
    })
}

fn endpoints() -> Vec<String> {
    let given = std::env::var("SYNOD_ENDPOINTS");
    let given = given.unwrap_or_else(|_| "127.0.0.1:4600".to_owned());
    given.split(',').map(str::to_owned).collect()
}
