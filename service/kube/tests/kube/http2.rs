//! HTTP/2 on the port that speaks HTTP/1.1, too: with prior knowledge, and agreed on over TLS.

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use synod_server::limits::KUBE_STREAMS_PER_CONNECTION_MAX;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::api::{Api, WIDGETS, widget};
use crate::certificates;
use crate::replicas::{PATIENCE, Replicas};

/// A connection of HTTP/2.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    /// Resolves when the connection has ended: true if in order.
    ended: JoinHandle<bool>,
}

impl Client {
    async fn connect(address: &str) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap()).await
    }

    pub(crate) async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        Self::begin(stream).await.unwrap()
    }

    /// The same; `None` if the other end lets nobody in.
    pub(crate) async fn begin(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Option<Self> {
        let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.ok()?;
        let ended = tokio::spawn(async move { connection.await.is_ok() });
        sender
            .send_request(
                Request::get("http://replica/livez")
                    .body(Full::default())
                    .unwrap(),
            )
            .await
            .ok()?;
        Some(Self { sender, ended })
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> http::Response<Incoming> {
        self.send_with(method, path, &[], body).await
    }

    async fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> http::Response<Incoming> {
        let body = match body {
            Value::Null => Bytes::new(),
            body => body.to_string().into(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://replica{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).unwrap();
        let answer = self.sender.clone().send_request(request);
        timeout(PATIENCE, answer).await.unwrap().unwrap()
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.told("GET", path, &[], &Value::Null).await
    }

    /// Sends a request, and waits for the whole answer.
    pub(crate) async fn told(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (StatusCode, Value) {
        let answer = self.send_with(method, path, headers, body).await;
        let code = answer.status();
        let body = timeout(PATIENCE, answer.into_body().collect()).await;
        let body = body.unwrap().unwrap().to_bytes();
        (code, serde_json::from_slice(&body).unwrap())
    }
}

/// The next line of a watch; `None` at its end.
async fn line(body: &mut Incoming) -> Option<Value> {
    loop {
        let frame = timeout(PATIENCE, body.frame()).await.unwrap()?;
        let data = frame.unwrap().into_data().unwrap();
        // The end of a stream may be a frame of its own, without data.
        if !data.is_empty() {
            return Some(serde_json::from_slice(&data).unwrap());
        }
    }
}

#[tokio::test]
async fn many_requests_and_watches_share_a_connection() {
    let replicas = Replicas::with_widgets().await;
    let client = Client::connect(&replicas.kube[0]).await;
    let (code, version) = client.get("/version").await;
    assert_eq!((code, &version["major"]), (StatusCode::OK, &json!("1")));
    let watch = format!("{WIDGETS}?watch=1");
    let mut watches = Vec::new();
    for _ in 0..20 {
        watches.push(client.send("GET", &watch, &Value::Null).await.into_body());
    }
    let created = (0..20).map(|number| {
        let client = &client;
        async move {
            let widget = widget(&format!("w{number}"), number);
            client.send("POST", WIDGETS, &widget).await.status()
        }
    });
    let created = join_all(created).await;
    assert_eq!(created, [StatusCode::CREATED; 20]);
    for watch in &mut watches {
        for _ in 0..20 {
            assert_eq!(line(watch).await.unwrap()["type"], "ADDED");
        }
    }
    // One that is refused harms no other.
    let (code, fault) = client.get("/apis/example.io/v1/nothing").await;
    assert_eq!((code, &fault["code"]), (StatusCode::NOT_FOUND, &json!(404)));
    // HTTP/1.1 is spoken at the same port.
    assert_eq!(Api::of(&replicas).get(WIDGETS).await.code, 200);
}

#[tokio::test]
async fn watches_end_in_order_when_the_replica_shuts_down() {
    let mut replicas = Replicas::with_widgets().await;
    let client = Client::connect(&replicas.kube[0]).await;
    let watch = format!("{WIDGETS}?watch=1&allowWatchBookmarks=true");
    let watch = client.send("GET", &watch, &Value::Null).await;
    assert_eq!(watch.status(), StatusCode::OK);
    let mut watch = watch.into_body();
    let replica = replicas.running.pop().unwrap();
    let ending = tokio::spawn(replica.shutdown());
    let mut told = Vec::new();
    while let Some(event) = line(&mut watch).await {
        told.push(event["type"].clone());
    }
    assert_eq!(told.last(), Some(&json!("BOOKMARK")), "{told:?}");
    assert!(timeout(PATIENCE, client.ended).await.unwrap().unwrap());
    timeout(PATIENCE, ending).await.unwrap().unwrap();
}

#[tokio::test]
async fn both_protocols_are_agreed_on_over_tls() {
    let replicas = Replicas::start(1, certificates::secured).await;
    let stream = certificates::connect(&replicas, "reader").await.unwrap();
    assert_eq!(
        stream.get_ref().get_ref().1.alpn_protocol(),
        Some(&b"h2"[..])
    );
    let client = Client::over(stream).await;
    let (code, leases) = client.get("/apis/coordination.k8s.io/v1/leases").await;
    assert_eq!(
        (code, &leases["kind"]),
        (StatusCode::OK, &json!("LeaseList"))
    );
}

/// A frame as it is sent.
fn frame(kind: u8, flags: u8, stream: u32, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(bytes);
    frame
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

/// `GET http:/`, by the static table of HPACK: ended, and with all its headers.
fn request(stream: u32) -> Vec<u8> {
    frame(HEADERS, 5, stream, &[0x82, 0x86, 0x84])
}

/// Sends these frames behind a preface, and reads all that comes until the connection is closed.
async fn closed_by(address: &str, frames: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let begun = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &frame(SETTINGS, 0, 0, &[])[..],
    ]
    .concat();
    stream.write_all(&begun).await.unwrap();
    // It may be closed before it has read everything.
    let _ = stream.write_all(frames).await;
    let mut read = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut read))
        .await
        .unwrap();
    read
}

#[tokio::test]
async fn who_floods_a_connection_is_cut_and_nobody_else_notices() {
    let replicas = Replicas::with_widgets().await;
    let address = &replicas.kube[0];
    let client = Client::connect(address).await;
    closed_by(address, &frame(PING, 0, 0, &[0; 8]).repeat(20_000)).await;
    let resets: Vec<u8> = (0..5_000)
        .flat_map(|number| {
            let stream = 2 * number + 1;
            [request(stream), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
        })
        .collect();
    let told = closed_by(address, &resets).await;
    let goaway = |told: &[u8]| told.windows(4).any(|part| part[3] == GOAWAY);
    assert!(told.is_empty() || goaway(&told), "{told:?}");
    let large = vec![0; 17 << 10];
    // A header of 16 KiB and more is refused, in one frame or several.
    closed_by(address, &frame(HEADERS, 4, 1, &large)).await;
    assert_eq!(client.get("/version").await.0, StatusCode::OK);
}

#[tokio::test]
async fn no_more_requests_are_under_way_on_a_connection_than_its_bound() {
    let replicas = Replicas::with_widgets().await;
    let client = Client::connect(&replicas.kube[0]).await;
    let watch = format!("{WIDGETS}?watch=1");
    let most = usize::try_from(KUBE_STREAMS_PER_CONNECTION_MAX).unwrap();
    let watches = (0..most).map(|_| client.send("GET", &watch, &Value::Null));
    let watches = join_all(watches).await;
    let mut another = client.sender.clone();
    let another = tokio::spawn(async move {
        let request = Request::get("http://replica/version").body(Full::default());
        another.send_request(request.unwrap()).await
    });
    // Another connection has places of its own, and while it is answered the one more is not.
    let other = Client::connect(&replicas.kube[0]).await;
    assert_eq!(other.get("/version").await.0, StatusCode::OK);
    assert!(!another.is_finished());
    drop(watches);
    let answer = timeout(PATIENCE, another).await.unwrap().unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}
