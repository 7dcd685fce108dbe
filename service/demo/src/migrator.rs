//! A migration worker of the demo: a process of its own that claims migrations and carries them out through the API
//! servers, as an administrator's job would.
//!
//! The worker lists objects and puts each one back as it was read. The API server decodes each object from its stored
//! version, and encodes it as its permit says.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, Method};
use clap::Args;
use serde_json::Value;
use synod_client::{
    Client, ContinueToken, GroupResource, Migration, Migrator, MigratorOptions, Store, StoreError,
    StorePage, Ttl, Walk, WorkerName,
};
use tokio::signal::unix::{SignalKind, signal};

use super::release::{CONTROL_PLANE, Release, Resource};
use synod_terminal::exit::Exit;
use synod_terminal::failure::Failure;
use synod_terminal::http::{Http, NoReply, Reply};

/// What the process of a worker is started with.
#[derive(Debug, Args)]
pub struct MigratorArgs {
    /// Its name.
    #[arg(long)]
    name: String,
    /// Where the replicas serve clients.
    #[arg(long, value_delimiter = ',')]
    endpoints: Vec<String>,
    /// Where the API servers serve.
    #[arg(long, value_delimiter = ',')]
    servers: Vec<String>,
    /// The plural names of the resources to migrate.
    #[arg(long, value_delimiter = ',')]
    resources: Vec<String>,
    /// How many objects to rewrite in a second at most.
    #[arg(long)]
    objects_per_second: Option<NonZeroU32>,
}

/// How long another worker waits before it takes over from a dead one.
const TTL_MS: u64 = 2_000;

/// The number of objects on a page.
const PAGE: usize = 10;

/// How long an API server may take for an answer.
const LIMIT: Duration = Duration::from_secs(3);

/// The newest release of the control plane: the versions that it serves are the ones the worker reads and writes.
const SERVED: Release = CONTROL_PLANE[2];

/// Works until SIGTERM arrives, and gives back then what it has claimed.
///
/// # Errors
///
/// Synod cannot be watched, or an argument is invalid.
pub async fn run(args: &MigratorArgs) -> Result<Exit, Failure> {
    let fault = |error: synod_client::Violation| Failure::local(error.to_string(), "its arguments");
    let resources = SERVED.resources.iter();
    let resources = resources.filter(|one| args.resources.iter().any(|name| name == one.plural));
    let resources: BTreeSet<GroupResource> = resources.map(Resource::group_resource).collect();
    let client = Client::builder()
        .endpoints(args.endpoints.clone())
        .connect()
        .await?;
    let worker = WorkerName::parse(&args.name).map_err(fault)?;
    let mut options =
        MigratorOptions::new(worker, resources).ttl(Ttl::from_millis(TTL_MS).map_err(fault)?);
    if let Some(rate) = args.objects_per_second {
        options = options.objects_per_second(rate);
    }
    let store = ApiServers {
        http: Http::default(),
        addresses: args.servers.clone(),
        turn: AtomicUsize::new(0),
    };
    let migrator = Migrator::new(client, store, options);
    let asked = signal(SignalKind::terminate());
    let mut asked = asked.map_err(|error| Failure::local(error.to_string(), "run it again"))?;
    let told = async {
        asked.recv().await;
    };
    migrator.run_until(told).await?;
    Ok(Exit::Ok)
}

/// The API servers, used as one store: each request goes to the next of them.
#[derive(Debug)]
struct ApiServers {
    http: Http,
    addresses: Vec<String>,
    turn: AtomicUsize,
}

impl Store for ApiServers {
    /// The object as an API server answered it.
    type Object = Value;

    /// API servers list what they have stored, wherever that is.
    fn walks(&self) -> Walk {
        Walk::Both
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Value>, StoreError> {
        let resource = served(migration)?;
        let mut path = format!("{}?limit={PAGE}", path(resource));
        if let Some(token) = token {
            path = format!("{path}&continue={}", token.as_str());
        }
        let body = self.ask(Method::GET, &path, None).await?.json();
        let Some(Value::Array(objects)) = body.get("items").cloned() else {
            return Err(StoreError::Refused(format!("{path} answered {body}")));
        };
        let next = body.pointer("/metadata/continue").and_then(Value::as_str);
        let next = next.filter(|next| !next.is_empty());
        let next = next.map(ContinueToken::parse).transpose();
        Ok(StorePage {
            objects,
            next: next.map_err(|fault| StoreError::Refused(fault.to_string()))?,
            remaining: body
                .pointer("/metadata/remainingItemCount")
                .and_then(Value::as_u64),
        })
    }

    async fn rewrite(&self, migration: &Migration, object: &Value) -> Result<(), StoreError> {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        let name = name.ok_or_else(|| StoreError::Refused(format!("{object} has no name")))?;
        let path = format!("{}/{name}", path(served(migration)?));
        self.ask(Method::PUT, &path, Some(object)).await.map(drop)
    }
}

impl ApiServers {
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, StoreError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let address = &self.addresses[turn % self.addresses.len()];
        let reply = self.http.ask(method, address, path, body, LIMIT).await;
        // A server that is down or does not answer counts as busy: the next try asks another one.
        let reply = match reply {
            Ok(reply) => reply,
            Err(NoReply::NotSent(_) | NoReply::Unanswered(_)) => {
                return Err(StoreError::Busy { retry_after: None });
            }
        };
        match StoreError::of_http(reply.status, &HeaderMap::new()) {
            None => Ok(reply),
            Some(error) => Err(error),
        }
    }
}

/// The resource of a migration, as the newest release serves it.
fn served(migration: &Migration) -> Result<Resource, StoreError> {
    let mut served = SERVED.resources.iter().copied();
    let found = served.find(|one| one.group_resource() == *migration.id.resource());
    found.ok_or(StoreError::NotFound)
}

fn path(resource: Resource) -> String {
    format!("/apis/{}/{}", resource.served, resource.plural)
}
