//! A simulated API server that serves discovery, correctly or with a fault.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use synod_client::StorageVersionHash;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::certificates::Secured;

/// How the server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// It shows that it encodes widgets in this version.
    Encodes(&'static str),
    /// It shows widgets in v1, but without a hash.
    Hides,
    /// It passes the group of the widgets on to another server.
    PassesOn,
    /// Each answer is an error.
    Fails,
    /// It has too much to do, and says so.
    Busy,
    /// Only the group of the widgets cannot be read.
    FailsInGroup,
    /// It accepts requests and never answers.
    Hangs,
    /// Each answer is no discovery document.
    Babbles,
    /// Each answer never ends.
    Endless,
}

/// What a server knows.
struct Shared {
    mood: Mutex<Mood>,
    /// The ports of all servers of its cluster.
    ports: Mutex<Vec<u16>>,
    /// How many servers of its cluster hold leases of their identities.
    leases: Mutex<usize>,
    /// The token that counts; `None`: anybody may call.
    token: Mutex<Option<String>>,
}

/// A running server. Dropping it ends it.
pub(super) struct ApiServer {
    url: String,
    shared: Arc<Shared>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl ApiServer {
    /// A server that encodes widgets in this version.
    pub(super) async fn start(version: &'static str) -> Self {
        Self::started(version, None).await
    }

    /// The same over TLS.
    pub(super) async fn start_secured(version: &'static str, acceptor: TlsAcceptor) -> Self {
        Self::started(version, Some(acceptor)).await
    }

    async fn started(version: &'static str, acceptor: Option<TlsAcceptor>) -> Self {
        let shared = Arc::new(Shared {
            mood: Mutex::new(Mood::Encodes(version)),
            ports: Mutex::new(Vec::new()),
            leases: Mutex::new(0),
            token: Mutex::new(None),
        });
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared));
        let (scheme, serving) = match acceptor {
            None => ("http", tokio::spawn(axum::serve(tcp, app).into_future())),
            Some(acceptor) => {
                let secured = Secured { tcp, acceptor };
                (
                    "https",
                    tokio::spawn(axum::serve(secured, app).into_future()),
                )
            }
        };
        Self {
            url: format!("{scheme}://{address}"),
            shared,
            serving,
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn port(&self) -> u16 {
        self.url.rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(super) fn becomes(&self, mood: Mood) {
        *self.shared.mood.lock().unwrap() = mood;
    }

    /// It tells whoever asks that these are all servers of its cluster.
    pub(super) fn tells_of(&self, servers: &[&Self]) {
        *self.shared.ports.lock().unwrap() = servers.iter().map(|server| server.port()).collect();
    }

    /// From now on only this token counts.
    pub(super) fn knows(&self, token: &str) {
        *self.shared.token.lock().unwrap() = Some(token.to_owned());
    }

    /// It tells whoever asks that so many servers of its cluster hold leases.
    pub(super) fn knows_of(&self, servers: usize) {
        *self.shared.leases.lock().unwrap() = servers;
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION);
    let token = shared.token.lock().unwrap().clone();
    if token.is_some_and(|token| shown.is_none_or(|shown| *shown != format!("Bearer {token}"))) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mood = *shared.mood.lock().unwrap();
    let path = request.uri().path();
    match mood {
        Mood::Encodes(_) if path.ends_with("/namespaces/default/endpointslices") => {
            let ports = shared.ports.lock().unwrap().clone();
            let slices = ports.iter().map(|port| {
                json!({"endpoints": [{"addresses": ["127.0.0.1"]}], "ports": [{"name": "https", "port": port}]})
            });
            axum::Json(json!({"kind": "EndpointSliceList", "items": slices.collect::<Vec<_>>()}))
                .into_response()
        }
        Mood::Encodes(_) if path.ends_with("/namespaces/kube-system/leases") => {
            let lease = json!({"spec": {"renewTime": "2026-11-24T12:00:00.000000Z", "leaseDurationSeconds": 3600}});
            let leases = vec![lease; *shared.leases.lock().unwrap()];
            axum::Json(json!({"kind": "LeaseList", "items": leases})).into_response()
        }
        Mood::Hangs => pending().await,
        Mood::Fails => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Mood::Busy => {
            let later = [(header::RETRY_AFTER, "1")];
            (StatusCode::TOO_MANY_REQUESTS, later).into_response()
        }
        Mood::FailsInGroup if path == "/apis/example.io/v1" => {
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        Mood::Babbles => "<html>ok</html>".into_response(),
        Mood::Endless => {
            let blanks = stream::repeat_with(|| " ".repeat(1 << 20)).then(ready);
            Body::from_stream(blanks.map(Ok::<_, std::io::Error>)).into_response()
        }
        mood => match document(path, mood) {
            Some(document) => axum::Json(document).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        },
    }
}

fn document(path: &str, mood: Mood) -> Option<Value> {
    let version = match mood {
        Mood::Encodes(version) => version,
        _ => "v1",
    };
    let hash = match mood {
        Mood::Hides => String::new(),
        _ => StorageVersionHash::of("example.io", version, "Widget").to_string(),
    };
    let group = |name: &str| {
        let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
        json!({"name": name, "versions": [version], "preferredVersion": version})
    };
    let registration = "apiregistration.k8s.io";
    let service =
        (mood == Mood::PassesOn).then(|| json!({"name": "widgets", "namespace": "default"}));
    let document = match path {
        "/api" => json!({"kind": "APIVersions", "versions": ["v1"]}),
        "/api/v1" => json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
            {"name": "bindings", "kind": "Binding", "namespaced": true, "verbs": ["create"]},
        ]}),
        "/apis" => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            group("example.io"), group(registration),
        ]}),
        "/apis/apiregistration.k8s.io/v1" => {
            json!({"kind": "APIResourceList", "groupVersion": "apiregistration.k8s.io/v1", "resources": null})
        }
        "/apis/apiregistration.k8s.io/v1/apiservices" => {
            json!({"kind": "APIServiceList", "items": [
                {"spec": {"group": "example.io", "version": "v1", "service": service}},
            ]})
        }
        "/apis/example.io/v1" => json!({
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.io/v1",
            "resources": [
                {"name": "widgets", "kind": "Widget", "namespaced": true,
                    "verbs": ["create", "get", "list", "update"], "storageVersionHash": hash},
                {"name": "widgets/status", "kind": "Widget", "namespaced": true, "verbs": ["get", "update"]},
            ],
        }),
        _ => return None,
    };
    Some(document)
}
