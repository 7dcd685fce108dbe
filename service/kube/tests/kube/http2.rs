//! HTTP/2 on the port that speaks HTTP/1.1, too: with prior knowledge, and agreed on over TLS.

use std::io;

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
const CONTINUATION: u8 = 9;

/// The codes of errors.
const FRAME_SIZE_ERROR: u32 = 6;
const ENHANCE_YOUR_CALM: u32 = 11;

/// The status 431 as HPACK writes it: of three bytes, by the code of Huffman.
const TOO_LARGE: [u8; 4] = [0x83, 0x69, 0x90, 0xff];

/// A frame as it is read.
struct Frame {
    kind: u8,
    stream: u32,
    bytes: Vec<u8>,
}

/// The next frame; `None` at the end of the connection.
async fn next_frame(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Frame>> {
    let mut head = [0; 9];
    match stream.read_exact(&mut head).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut bytes).await?;
    Ok(Some(Frame {
        kind: head[3],
        stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
        bytes,
    }))
}

/// A header that nothing knows, with a value of so many bytes.
fn header(name: u8, bytes: usize) -> Vec<u8> {
    // A literal without indexing, and a length that begins with seven bits.
    let mut header = vec![0, 1, name, 0x7f];
    let mut rest = bytes - 0x7f;
    while rest >= 0x80 {
        header.push(u8::try_from(rest % 0x80).unwrap() | 0x80);
        rest /= 0x80;
    }
    header.push(u8::try_from(rest).unwrap());
    header.resize(header.len() + bytes, b'x');
    header
}

/// `GET http:/`, by the static table of HPACK: ended, and with all its headers.
fn request(stream: u32) -> Vec<u8> {
    frame(HEADERS, 5, stream, &[0x82, 0x86, 0x84])
}

/// Sends these frames behind a preface.
async fn begun(address: &str, frames: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let begun = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &frame(SETTINGS, 0, 0, &[])[..],
    ]
    .concat();
    stream.write_all(&begun).await.unwrap();
    // It may be closed before it has read everything.
    let _ = stream.write_all(frames).await;
    stream
}

/// How the replica ends a connection with these frames: the code that it tells. `None` if what it tells is lost, since it has not
/// read all when it closes.
async fn ended_by(address: &str, frames: &[u8]) -> Option<u32> {
    let mut stream = begun(address, frames).await;
    let ended = async {
        let mut code = None;
        loop {
            match next_frame(&mut stream).await {
                Ok(Some(frame)) if frame.kind == GOAWAY => {
                    code = Some(u32::from_be_bytes(frame.bytes[4..8].try_into().unwrap()));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Some(code.expect("a connection does not end in silence")),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                    return code;
                }
            }
        }
    };
    timeout(PATIENCE, ended).await.unwrap()
}

/// The first frame about the stream 1 that answers these frames.
async fn answer_to(address: &str, frames: &[u8]) -> Frame {
    let mut stream = begun(address, frames).await;
    let answer = async {
        loop {
            let frame = next_frame(&mut stream).await.unwrap().unwrap();
            if frame.stream == 1 {
                return frame;
            }
        }
    };
    timeout(PATIENCE, answer).await.unwrap()
}

// Guarantee: TM-17
#[tokio::test]
async fn who_floods_a_connection_is_cut_and_nobody_else_notices() {
    let replicas = Replicas::with_widgets().await;
    let address = &replicas.kube[0];
    let client = Client::connect(address).await;
    // The door closes this one without a word, having read not all.
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(20_000);
    assert_eq!(ended_by(address, &pings).await, None);
    let resets: Vec<u8> = (0..5_000)
        .flat_map(|number| {
            let stream = 2 * number + 1;
            [request(stream), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat()
        })
        .collect();
    let code = ended_by(address, &resets).await;
    assert!(
        code.is_none_or(|code| code == ENHANCE_YOUR_CALM),
        "{code:?}"
    );
    assert_eq!(client.get("/version").await.0, StatusCode::OK);
}

// Guarantee: TM-17
#[tokio::test]
async fn headers_of_more_than_their_bound_are_refused_in_one_frame_or_several() {
    let replicas = Replicas::with_widgets().await;
    let address = &replicas.kube[0];
    let one = frame(HEADERS, 4, 1, &vec![0; 17 << 10]);
    let code = ended_by(address, &one).await;
    assert!(code.is_none_or(|code| code == FRAME_SIZE_ERROR), "{code:?}");
    let two = |bytes: usize| {
        let first = [vec![0x82, 0x86, 0x84], header(b'a', bytes)].concat();
        [
            frame(HEADERS, 1, 1, &first),
            frame(CONTINUATION, 4, 1, &header(b'b', bytes)),
        ]
        .concat()
    };
    let is_refused = |answer: &Frame| {
        let has_status = answer.bytes.windows(4).any(|part| part == TOO_LARGE);
        answer.kind == RST_STREAM || answer.kind == HEADERS && has_status
    };
    let refused = answer_to(address, &two(9 << 10)).await;
    assert!(is_refused(&refused), "{} {:?}", refused.kind, refused.bytes);
    let taken = answer_to(address, &two(7 << 10)).await;
    assert_eq!(taken.kind, HEADERS);
    assert!(!is_refused(&taken), "{:?}", taken.bytes);
}

// Guarantee: TM-17
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
