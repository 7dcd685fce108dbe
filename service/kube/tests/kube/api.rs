//! Requests as they are sent.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::replicas::{PATIENCE, Replicas};

/// The paths of widgets in the namespace `n`.
pub(crate) const WIDGETS: &str = "/apis/example.io/v1/namespaces/n/widgets";

/// A client of one replica.
pub(crate) struct Api(pub(crate) String);

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: String,
    pub(crate) body: Value,
    /// The body as it was sent.
    pub(crate) bytes: Vec<u8>,
}

/// A watch, line by line.
pub(crate) struct Lines(BufReader<TcpStream>);

impl Api {
    pub(crate) fn of(replicas: &Replicas) -> Self {
        Self(replicas.kube[0].clone())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"").await
    }

    pub(crate) async fn get_as(&self, path: &str, accept: &str) -> Answer {
        self.send("GET", path, &[("accept", accept)], b"").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send("PUT", path, &[], body.to_string().as_bytes())
            .await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Answer {
        self.send("DELETE", path, &[], options.to_string().as_bytes())
            .await
    }

    /// Sends a patch of the form `merge`, `json` or `strategic-merge`.
    pub(crate) async fn patch(&self, path: &str, form: &str, body: &Value) -> Answer {
        let media = format!("application/{form}-patch+json");
        let headers = [("content-type", media.as_str())];
        self.send("PATCH", path, &headers, body.to_string().as_bytes())
            .await
    }

    /// Applies a configuration as a manager.
    pub(crate) async fn apply(&self, path: &str, manager: &str, body: &Value) -> Answer {
        let path = format!("{path}?fieldManager={manager}");
        let headers = [("content-type", "application/apply-patch+yaml")];
        let body = body.to_string();
        self.send("PATCH", &path, &headers, body.as_bytes()).await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = self.begin(method, path, headers, body).await;
        let mut bytes = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut bytes))
            .await
            .unwrap()
            .unwrap();
        answer(&bytes)
    }

    pub(crate) async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.0).await.unwrap();
        let request = request(method, path, headers, body);
        stream.write_all(&request).await.unwrap();
        stream
    }

    /// Opens a watch.
    pub(crate) async fn watch(&self, path: &str) -> Lines {
        self.watch_as(path, "application/json").await
    }

    pub(crate) async fn watch_as(&self, path: &str, accept: &str) -> Lines {
        let stream = self.begin("GET", path, &[("accept", accept)], b"").await;
        let mut lines = Lines(BufReader::new(stream));
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            timeout(PATIENCE, lines.0.read_line(&mut line))
                .await
                .unwrap()
                .unwrap();
            if line.starts_with("HTTP/1.1") && !line.starts_with("HTTP/1.1 200") {
                let mut rest = Vec::new();
                let read = timeout(PATIENCE, lines.0.read_to_end(&mut rest)).await;
                read.unwrap().unwrap();
                panic!("{line}{}", String::from_utf8_lossy(&rest));
            }
        }
        lines
    }
}

impl Lines {
    /// The next event; `None` at the clean end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            timeout(PATIENCE, self.0.read_line(&mut line))
                .await
                .unwrap()
                .unwrap();
            match line.trim() {
                // The last chunk, as a clean end has it.
                "0" => return None,
                text if text.starts_with('{') => return Some(serde_json::from_str(text).unwrap()),
                // The length of a chunk, or the end of one.
                _ => assert!(!line.is_empty(), "the connection broke off"),
            }
        }
    }

    /// The next events as `TYPE name@revision`.
    pub(crate) async fn told(&mut self, count: usize) -> Vec<String> {
        let mut told = Vec::new();
        while told.len() < count {
            let event = self.next().await.unwrap();
            let metadata = &event["object"]["metadata"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if event["type"] != "BOOKMARK" {
                told.push(format!(
                    "{} {}",
                    text(&event["type"]),
                    text(&metadata["name"])
                ));
            }
        }
        told
    }
}

/// A request as it is sent.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// An answer as it was sent.
pub(crate) fn answer(bytes: &[u8]) -> Answer {
    let end = bytes
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .unwrap();
    let headers = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let code = headers.split(' ').nth(1).unwrap().parse().unwrap();
    let mut rest = &bytes[end + 4..];
    let mut body = Vec::new();
    if headers
        .to_lowercase()
        .contains("transfer-encoding: chunked")
    {
        loop {
            let end = rest.windows(2).position(|part| part == b"\r\n").unwrap();
            let length =
                usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
            if length == 0 {
                break;
            }
            body.extend_from_slice(&rest[end + 2..end + 2 + length]);
            rest = &rest[end + 4 + length..];
        }
    } else {
        body.extend_from_slice(rest);
    }
    Answer {
        code,
        headers: headers.to_lowercase(),
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        bytes: body,
    }
}

/// A widget of this name and size.
pub(crate) fn widget(name: &str, size: u64) -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": { "name": name, "labels": { "size": size.to_string() } },
        "spec": { "size": size },
    })
}
