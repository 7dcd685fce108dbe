//! A real HTTP server behind the write gate.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use synod_client::{Gate, GateLayer, Permit, Readiness, RequestInfo};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A server on a port of its own; it is stopped on drop.
pub(crate) struct Server {
    url: String,
    serving: JoinHandle<()>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: String,
}

impl Server {
    /// Serves behind this layer; its readiness depends on the gate.
    pub(crate) async fn start(layer: GateLayer, gate: Gate) -> Self {
        Self::start_with(layer, gate, Router::new().fallback(write)).await
    }

    /// As [`Self::start`], with other handlers.
    pub(crate) async fn start_with(layer: GateLayer, gate: Gate, objects: Router) -> Self {
        let readiness: Readiness<Body> = Readiness::new(gate);
        let objects = objects.layer(layer);
        let router = Router::new()
            .route_service("/readyz", readiness)
            .fallback_service(objects);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, serving }
    }

    pub(crate) async fn send(&self, method: Method, path: &str) -> Answer {
        let client: Client<_, Body> = Client::builder(TokioExecutor::new()).build_http();
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        let response = client
            .request(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Answer {
            status,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Stores nothing, and answers how it would have stored the object.
async fn write(request: Request<Body>) -> String {
    let info = request.extensions().get::<RequestInfo>();
    let verb = info.map_or("", |info| info.verb.as_str()).to_owned();
    match request.extensions().get::<Permit>() {
        Some(permit) => {
            permit.check().unwrap();
            permit.done();
            format!("{verb} {} in {}", permit.resource(), permit.encoding())
        }
        None => format!("{verb} without a permit"),
    }
}
