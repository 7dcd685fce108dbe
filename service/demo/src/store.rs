//! The store of the demo's API servers: a process of its own that knows nothing of Synod.
//!
//! It keeps one value for each resource and name, changes it only by compare-and-swap on its version, and appends every
//! write to a journal before it answers. It does not interpret the values.
//!
//! ```text
//! PUT /objects/<resource>/<name>   {"expected": 3, "writer": {...}, "data": {...}}   200, or 409 with what is there
//! GET /objects/<resource>/<name>   200 {"version": 3, "data": {...}}, or 404
//! GET /objects/<resource>?after=<name>&limit=<n>   200 {"items": [...], "remaining": 5}: a page, by name
//! GET /objects                     every object, one JSON document a line
//! GET /position                    {"position": 17}: how many writes there were
//! GET, PUT /definitions/<resource> {"storageVersion": "example.io/v2"}: what an administrator asks for
//! ```

mod client;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::clock::now_ms;
use super::journal::Journal;
use super::records::{StoredObject, StoredWrite, Writer};
use synod_terminal::exit::Exit;
use synod_terminal::failure::Failure;

pub(crate) use client::{Put, StoreClient};

/// What the process of the store is started with.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Where to serve.
    #[arg(long)]
    listen: String,
    /// The file to append every write to.
    #[arg(long)]
    journal: PathBuf,
}

/// The body of a write.
#[derive(Debug, Serialize, Deserialize)]
struct PutBody {
    /// The version that the object must have; 0 if it must not exist.
    expected: u64,
    writer: Writer,
    data: Value,
}

/// The version that an administrator asks for. It is kept beside the objects: nothing depends on its encoding.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    storage_version: Option<String>,
}

struct Shelf {
    objects: BTreeMap<(String, String), (u64, Value)>,
    definitions: BTreeMap<String, Definition>,
    position: u64,
    journal: Journal,
}

type SharedShelf = Arc<Mutex<Shelf>>;

/// Serves until the process is ended.
///
/// # Errors
///
/// The store cannot listen, or cannot open its journal.
pub async fn run(args: &StoreArgs) -> Result<Exit, Failure> {
    let fault = |error: std::io::Error| {
        let message = format!("the demo's store cannot start: {error}");
        Failure::local(message, "see the log beside its journal")
    };
    let shelf: SharedShelf = Arc::new(Mutex::new(Shelf {
        objects: BTreeMap::new(),
        definitions: BTreeMap::new(),
        position: 0,
        journal: Journal::open(&args.journal).map_err(fault)?,
    }));
    let listener = TcpListener::bind(&args.listen).await.map_err(fault)?;
    axum::serve(listener, router(shelf)).await.map_err(fault)?;
    Ok(Exit::Ok)
}

fn router(shelf: SharedShelf) -> Router {
    Router::new()
        .route("/objects", get(dump))
        .route("/objects/{resource}", get(list))
        .route("/objects/{resource}/{name}", get(read).put(write))
        .route("/definitions/{resource}", get(definition).put(define))
        .route("/position", get(position))
        .with_state(shelf)
}

fn lock(shelf: &SharedShelf) -> MutexGuard<'_, Shelf> {
    // A handler that panicked has changed nothing or has finished its only change.
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write(
    State(shelf): State<SharedShelf>,
    Path((resource, name)): Path<(String, String)>,
    Json(body): Json<PutBody>,
) -> (StatusCode, Json<Value>) {
    let mut shelf = lock(&shelf);
    let key = (resource, name);
    let (present, data) = shelf.objects.get(&key).cloned().unwrap_or((0, Value::Null));
    if present != body.expected {
        let current = json!({"version": present, "data": data});
        return (StatusCode::CONFLICT, Json(current));
    }
    let line = StoredWrite {
        position: shelf.position + 1,
        at_ms: now_ms(),
        resource: key.0.clone(),
        name: key.1.clone(),
        version: present + 1,
        writer: body.writer,
        data: body.data,
    };
    if let Err(error) = shelf.journal.append(&line) {
        // A write that cannot be recorded is not made: the check could not see it.
        let message = json!({"message": error.to_string()});
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(message));
    }
    shelf.position = line.position;
    shelf.objects.insert(key, (line.version, line.data));
    let written = json!({"version": line.version, "position": line.position});
    (StatusCode::OK, Json(written))
}

async fn read(
    State(shelf): State<SharedShelf>,
    Path(key): Path<(String, String)>,
) -> (StatusCode, Json<Value>) {
    match lock(&shelf).objects.get(&key) {
        Some((version, data)) => {
            let found = json!({"version": version, "data": data});
            (StatusCode::OK, Json(found))
        }
        None => (StatusCode::NOT_FOUND, Json(json!({}))),
    }
}

/// The query of a page.
#[derive(Debug, Serialize, Deserialize)]
struct PageQuery {
    /// The page begins after this name; empty for the first page.
    #[serde(default)]
    after: String,
    limit: usize,
}

async fn list(
    State(shelf): State<SharedShelf>,
    Path(resource): Path<String>,
    Query(query): Query<PageQuery>,
) -> Json<Value> {
    let shelf = lock(&shelf);
    let after = (resource.clone(), query.after);
    let rest = shelf
        .objects
        .range((Bound::Excluded(after), Bound::Unbounded))
        .take_while(|((of, _), _)| *of == resource);
    let count = rest.clone().count();
    let items = rest.take(query.limit).map(
        |((_, name), (version, data))| json!({"name": name, "version": version, "data": data}),
    );
    let items: Vec<Value> = items.collect();
    let remaining = count - items.len();
    Json(json!({"items": items, "remaining": remaining}))
}

async fn dump(State(shelf): State<SharedShelf>) -> Result<String, StatusCode> {
    let shelf = lock(&shelf);
    let lines = shelf
        .objects
        .iter()
        .map(|((resource, name), (version, data))| {
            serde_json::to_string(&StoredObject {
                resource: resource.clone(),
                name: name.clone(),
                version: *version,
                data: data.clone(),
            })
        });
    let lines: Result<Vec<String>, _> = lines.map(|line| Ok(line? + "\n")).collect();
    lines
        .map(|lines| lines.concat())
        .map_err(|_: serde_json::Error| StatusCode::INTERNAL_SERVER_ERROR)
}

async fn position(State(shelf): State<SharedShelf>) -> Json<Value> {
    Json(json!({"position": lock(&shelf).position}))
}

async fn definition(
    State(shelf): State<SharedShelf>,
    Path(resource): Path<String>,
) -> Json<Definition> {
    let definitions = &lock(&shelf).definitions;
    Json(definitions.get(&resource).cloned().unwrap_or_default())
}

async fn define(
    State(shelf): State<SharedShelf>,
    Path(resource): Path<String>,
    Json(definition): Json<Definition>,
) -> StatusCode {
    lock(&shelf).definitions.insert(resource, definition);
    StatusCode::NO_CONTENT
}

#[cfg(test)]
mod tests;
