//! The server: its store, its routes, and the gate in front of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use synod_client::{Gate, GateLayer, Permit};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

type Store = Arc<Mutex<BTreeMap<String, String>>>;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Server {
    /// A server behind this gate, on a free port.
    pub(crate) async fn start(gate: Gate) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let widgets = "/apis/gated.example.io/v2/namespaces/default/widgets";
        let router = Router::new()
            .route(widgets, post(store))
            .route(&format!("{widgets}/{{name}}"), get(load))
            .layer(GateLayer::new(gate))
            .with_state(Store::default());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self {
            address: listener.local_addr()?,
            serving: tokio::spawn(async move {
                if let Err(error) = axum::serve(listener, router).await {
                    tracing::error!(%error, "the server has ended");
                }
            }),
        })
    }

    /// The server's answer to a request.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: &'static str,
    ) -> Result<(StatusCode, String), Box<dyn Error + Send + Sync>> {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .body(Full::new(Bytes::from_static(body.as_bytes())))?;
        let answer = client.request(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Stores an object in the version that its permit names.
async fn store(
    State(store): State<Store>,
    Extension(permit): Extension<Permit>,
    body: String,
) -> Response {
    let widget: Value = match serde_json::from_str(&body) {
        Ok(widget) => widget,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let Some(name) = widget["name"].as_str() else {
        return (StatusCode::BAD_REQUEST, "a widget has a name").into_response();
    };
    let encoded = json!({"apiVersion": permit.encoding().as_str(), "value": widget});
    // Right before the store: the permit may have become void since it was given.
    if let Err(error) = permit.check() {
        return (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response();
    }
    let mut objects = store.lock().unwrap_or_else(PoisonError::into_inner);
    objects.insert(name.to_owned(), encoded.to_string());
    // If the store might not have answered, this would be `unknown_outcome`.
    permit.done();
    StatusCode::CREATED.into_response()
}

/// Reads an object as it is stored. Reads need no permit.
async fn load(State(store): State<Store>, Path(name): Path<String>) -> Response {
    let objects = store.lock().unwrap_or_else(PoisonError::into_inner);
    match objects.get(&name) {
        Some(stored) => stored.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
