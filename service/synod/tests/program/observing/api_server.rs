//! A simulated API server that serves discovery, correctly or with a fault.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use synod_client::StorageVersionHash;
use tokio::net::TcpListener;

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
    /// Only the group of the widgets cannot be read.
    FailsInGroup,
    /// It accepts requests and never answers.
    Hangs,
    /// Each answer is no discovery document.
    Babbles,
    /// Each answer never ends.
    Endless,
}

/// A running server. Dropping it ends it.
pub(super) struct ApiServer {
    url: String,
    mood: Arc<Mutex<Mood>>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl ApiServer {
    /// A server that encodes widgets in this version.
    pub(super) async fn start(version: &'static str) -> Self {
        let mood = Arc::new(Mutex::new(Mood::Encodes(version)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(Arc::clone(&mood));
        let serving = tokio::spawn(axum::serve(listener, app).into_future());
        Self { url, mood, serving }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State(mood): State<Arc<Mutex<Mood>>>, request: Request) -> Response {
    let mood = *mood.lock().unwrap();
    let path = request.uri().path();
    match mood {
        Mood::Hangs => pending().await,
        Mood::Fails => StatusCode::SERVICE_UNAVAILABLE.into_response(),
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
