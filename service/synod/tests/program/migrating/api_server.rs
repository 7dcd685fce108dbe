//! A simulated API server over TLS: it stores widgets as an API server does, and fails as it is told.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::certificates::Secured;

/// The group of the widgets, with its path.
const GROUP: &str = "/apis/example.io";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";

/// What an answer is instead of the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// It is busy, and says after how many seconds to ask again.
    Busy(u64),
    /// It fails with this status code, and no word.
    Fails(u16),
    /// It answers with success, and with this in place of what was asked for.
    Says(&'static str),
    /// It never answers.
    Hangs,
    /// The list is too old; with a token to go on with, or without.
    Expired { has_token: bool },
    /// It executes the write, and ends the connection before it answers.
    Executes,
    /// Somebody else writes the object first.
    Overtaken,
    /// Somebody deletes the object first.
    Deleted,
    /// A hook refuses the write by the status code of a conflict.
    Hooked,
}

/// An object as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// The text of the object, but for its resource version.
    pub(super) content: String,
    pub(super) resource_version: u64,
    /// The version in which it is encoded.
    pub(super) encoded: &'static str,
    /// How often it was written back by a worker.
    pub(super) writes: u64,
}

/// All that the server knows.
#[derive(Debug)]
pub(super) struct World {
    pub(super) objects: BTreeMap<String, Stored>,
    revision: u64,
    /// What the next lists and writes meet with.
    pub(super) lists: VecDeque<Option<Mood>>,
    /// Told when a list or a write begins to hang.
    pub(super) hangs: Arc<Notify>,
    pub(super) writes: VecDeque<Option<Mood>>,
    /// The token that counts; `None`: anybody may call.
    pub(super) token: Option<String>,
    pub(super) refused: u64,
    pub(super) definition: Value,
    /// The hashes by which it shows how it encodes widgets, one after the other; the last one stays. It may say none.
    pub(super) shown: VecDeque<String>,
    /// What the next writes of a definition meet with.
    pub(super) definitions: VecDeque<u16>,
    pub(super) pages: u64,
    pub(super) all_writes: u64,
}

/// A running server. Dropping it ends it.
pub(super) struct ApiServer {
    address: SocketAddr,
    world: Arc<Mutex<World>>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl ApiServer {
    /// A server with so many widgets in two namespaces, which are encoded in v1; new ones are encoded in v2.
    pub(super) async fn start(acceptor: TlsAcceptor, widgets: u64) -> Self {
        let mut objects = BTreeMap::new();
        for number in 1..=widgets {
            let namespace = ["one", "two"][usize::from(number % 2 == 0)];
            let name = format!("widget-{number:04}");
            // Numbers that a parser would change stand in each object.
            let content = format!(
                r#"{{"apiVersion":"example.io/v2","kind":"Widget","metadata":{{"name":"{name}","namespace":"{namespace}","resourceVersion":"RV"}},"size":1.{number}0,"id":12345678901234567890{number}}}"#
            );
            let stored = Stored {
                content,
                resource_version: number,
                encoded: "v1",
                writes: 0,
            };
            objects.insert(format!("{namespace}/{name}"), stored);
        }
        let world = Arc::new(Mutex::new(World {
            objects,
            revision: 1_000,
            lists: VecDeque::new(),
            hangs: Arc::default(),
            writes: VecDeque::new(),
            token: None,
            refused: 0,
            definition: definition(),
            shown: VecDeque::new(),
            definitions: VecDeque::new(),
            pages: 0,
            all_writes: 0,
        }));
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&world));
        let serving = axum::serve(Secured { tcp, acceptor }, app).into_future();
        Self {
            address,
            world,
            serving: tokio::spawn(serving),
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.io", "uid": "one", "generation": 3, "resourceVersion": "5"},
        "spec": {"group": "example.io", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
            {"name": "v1", "served": true, "storage": false}, {"name": "v2", "served": true, "storage": true},
        ]},
        "status": {"storedVersions": ["v1", "v2"]},
    })
}

async fn answer(State(world): State<Arc<Mutex<World>>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let path = head.uri.path().to_owned();
    if !is_known(&world, &head.headers) {
        return status(StatusCode::UNAUTHORIZED, "Unauthorized", "", json!({}));
    }
    let is_collection = path == format!("{GROUP}/v2/widgets");
    let object = path.strip_prefix(&format!("{GROUP}/v2/namespaces/"));
    let object = object.and_then(|rest| rest.split_once("/widgets/"));
    match (head.method, object) {
        (Method::GET, _) if is_collection => {
            list(&world, head.uri.query().unwrap_or_default()).await
        }
        (Method::PUT, Some((namespace, name))) => {
            put(&world, &format!("{namespace}/{name}"), name, &body).await
        }
        (Method::GET, Some((namespace, name))) => {
            let world = world.lock().unwrap();
            match world.objects.get(&format!("{namespace}/{name}")) {
                Some(stored) => stored.document().into_response(),
                None => not_found(name),
            }
        }
        (Method::PUT, None) => define(&world, &body),
        _ => discovery(&path, &world),
    }
}

fn is_known(world: &Mutex<World>, headers: &HeaderMap) -> bool {
    let mut world = world.lock().unwrap();
    let Some(token) = &world.token else {
        return true;
    };
    let shown = headers
        .get(header::AUTHORIZATION)
        .and_then(|one| one.to_str().ok());
    let is_known = shown == Some(&format!("Bearer {token}"));
    world.refused += u64::from(!is_known);
    is_known
}

/// Lists objects behind the one that the token names, which is a key.
async fn list(world: &Mutex<World>, query: &str) -> Response {
    let mood = world.lock().unwrap().lists.pop_front().flatten();
    let asked = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.replace("%2F", "/"))
    };
    let behind = asked("continue").unwrap_or_default();
    match mood {
        Some(Mood::Expired { has_token }) => {
            let metadata = if has_token {
                json!({"continue": behind})
            } else {
                json!({})
            };
            return status(StatusCode::GONE, "Expired", "", metadata);
        }
        Some(mood) => return failed(world, mood).await,
        None => {}
    }
    let limit: usize = asked("limit").unwrap().parse().unwrap();
    let mut world = world.lock().unwrap();
    world.pages += 1;
    let rest: Vec<_> = world
        .objects
        .iter()
        .filter(|(key, _)| **key > behind)
        .collect();
    let items: Vec<String> = rest
        .iter()
        .take(limit)
        .map(|(_, stored)| stored.document())
        .collect();
    let left = rest.len() - items.len();
    let next = rest.get(limit.saturating_sub(1)).filter(|_| left > 0);
    let next = next.map_or(String::new(), |(key, _)| {
        format!(r#","continue":"{key}","remainingItemCount":{left}"#)
    });
    format!(
        r#"{{"kind":"WidgetList","apiVersion":"example.io/v2","metadata":{{"resourceVersion":"{}"{next}}},"items":[{}]}}"#,
        world.revision,
        items.join(",")
    )
    .into_response()
}

async fn put(world: &Mutex<World>, key: &str, name: &str, body: &Bytes) -> Response {
    let mood = world.lock().unwrap().writes.pop_front().flatten();
    match mood {
        Some(Mood::Overtaken) => world.lock().unwrap().written(key, None),
        Some(Mood::Deleted) => drop(world.lock().unwrap().objects.remove(key)),
        Some(Mood::Executes) => {
            let body = std::str::from_utf8(body).unwrap();
            world.lock().unwrap().written(key, Some(body));
            // A body that ends too early ends the connection.
            let broken = futures::stream::iter([Err::<Bytes, _>(std::io::Error::other("gone"))]);
            return axum::body::Body::from_stream(broken).into_response();
        }
        Some(Mood::Hooked) => {
            return status(StatusCode::CONFLICT, "Conflict", name, json!({}));
        }
        Some(mood) => return failed(world, mood).await,
        None => {}
    }
    let mut world = world.lock().unwrap();
    let Some(stored) = world.objects.get(key) else {
        return not_found(name);
    };
    let body = std::str::from_utf8(body).unwrap();
    if body != stored.document() {
        let sent: Value = serde_json::from_str(body).unwrap();
        let version = stored.resource_version.to_string();
        let is_old = sent["metadata"]["resourceVersion"] != version;
        assert!(
            is_old,
            "an object was changed: {body} is not {}",
            stored.document()
        );
        return status(StatusCode::CONFLICT, "Conflict", name, json!({}));
    }
    world.written(key, Some(body));
    world.objects[key].document().into_response()
}

impl World {
    /// Stores an object in v2: as a worker sent it, or as somebody else changed it.
    fn written(&mut self, key: &str, sent: Option<&str>) {
        self.revision += 1;
        let revision = self.revision;
        let stored = self.objects.get_mut(key).unwrap();
        match sent {
            Some(sent) => {
                assert_eq!(sent, stored.document(), "an object was changed");
                stored.writes += 1;
                self.all_writes += 1;
            }
            None => {
                stored.content = stored
                    .content
                    .replace("\"size\"", "\"changed\":true,\"size\"")
            }
        }
        stored.resource_version = revision;
        stored.encoded = "v2";
    }

    /// What is not encoded in v2.
    pub(super) fn old(&self) -> Vec<&String> {
        let old = self
            .objects
            .iter()
            .filter(|(_, stored)| stored.encoded != "v2");
        old.map(|(key, _)| key).collect()
    }
}

impl Stored {
    fn document(&self) -> String {
        self.content
            .replace("\"RV\"", &format!("\"{}\"", self.resource_version))
    }
}

/// The status of a definition, and nothing else of it.
fn define(world: &Mutex<World>, body: &Bytes) -> Response {
    let sent: Value = serde_json::from_slice(body).unwrap();
    let mut world = world.lock().unwrap();
    if let Some(code) = world.definitions.pop_front() {
        return StatusCode::from_u16(code).unwrap().into_response();
    }
    if sent["metadata"]["resourceVersion"] != world.definition["metadata"]["resourceVersion"] {
        return status(
            StatusCode::CONFLICT,
            "Conflict",
            "widgets.example.io",
            json!({}),
        );
    }
    world.definition["status"] = sent["status"].clone();
    world.definition["metadata"]["resourceVersion"] = json!("6");
    axum::Json(world.definition.clone()).into_response()
}

fn discovery(path: &str, world: &Mutex<World>) -> Response {
    let version =
        |name: &str| json!({"groupVersion": format!("example.io/{name}"), "version": name});
    let verbs = ["create", "get", "list", "update"];
    let document = match path {
        "/apis/example.io" => json!({"kind": "APIGroup", "name": "example.io",
            "versions": [version("v1"), version("v2")], "preferredVersion": version("v1")}),
        "/apis/example.io/v1" | "/apis/example.io/v2" => {
            let mut world = world.lock().unwrap();
            let shown = match world.shown.len() {
                0 | 1 => world.shown.front().cloned(),
                _ => world.shown.pop_front(),
            };
            json!({"kind": "APIResourceList", "resources": [
                {"name": "widgets", "kind": "Widget", "namespaced": true, "verbs": verbs, "storageVersionHash": shown},
                {"name": "widgets/status", "kind": "Widget", "namespaced": true, "verbs": ["get", "update"]},
            ]})
        }
        DEFINITION => world.lock().unwrap().definition.clone(),
        _ => return not_found(""),
    };
    axum::Json(document).into_response()
}

async fn failed(world: &Mutex<World>, mood: Mood) -> Response {
    match mood {
        Mood::Busy(seconds) => {
            let busy = status(
                StatusCode::TOO_MANY_REQUESTS,
                "TooManyRequests",
                "",
                json!({}),
            );
            ([(header::RETRY_AFTER, seconds.to_string())], busy).into_response()
        }
        Mood::Fails(code) => StatusCode::from_u16(code).unwrap().into_response(),
        Mood::Says(what) => what.into_response(),
        Mood::Hangs => {
            world.lock().unwrap().hangs.notify_one();
            pending().await
        }
        Mood::Expired { .. } | Mood::Executes | Mood::Overtaken | Mood::Deleted | Mood::Hooked => {
            panic!("{mood:?} cannot come here")
        }
    }
}

fn not_found(name: &str) -> Response {
    match name {
        // What is not served is answered by no Status.
        "" => (StatusCode::NOT_FOUND, "404 page not found").into_response(),
        name => status(StatusCode::NOT_FOUND, "NotFound", name, json!({})),
    }
}

fn status(code: StatusCode, reason: &str, name: &str, metadata: Value) -> Response {
    let document = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
        "message": format!("{reason}: {name}"), "reason": reason, "details": {"name": name},
        "code": code.as_u16(),
    });
    (code, axum::Json(document)).into_response()
}
