//! Kubernetes' own API server as a process: `tests/kube/apiserver`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use synod_tests::free_address;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::etcd::Etcd;
use super::http::{Request, answered};
use crate::certificates::{Folder, NAME, text};
use crate::program::LIMIT;

/// The variable with the path of the program, relative to the root of the checkout.
const VARIABLE: &str = "SYNOD_KUBE_APISERVER";

/// The token by which the tests do what an admin does.
pub(super) const ADMIN: &str = "admin-token";

/// A running server. Dropping it ends it.
pub(super) struct ApiServer {
    port: u16,
    words: Vec<String>,
    process: Option<Child>,
    client: TlsConnector,
}

impl ApiServer {
    /// A server with this etcd behind it, which takes the tokens of the folder for what its roles say, once it is ready.
    pub(super) async fn start(folder: &Folder, etcd: &Etcd, more: &[&str]) -> Self {
        let port = free_address().port();
        let (certificate, key) = folder.issue("server", NAME);
        let mut roots = RootCertStore::empty();
        let ca = CertificateDer::from_pem_file(folder.path("ca.crt")).unwrap();
        roots.add(ca).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let flag = |name: &str, path: &Path| format!("--{name}={}", text(path));
        let words = [
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--etcd-servers={}", etcd.url()),
            flag("tls-cert-file", &certificate),
            flag("tls-private-key-file", &key),
            flag("client-ca-file", &folder.path("ca.crt")),
            flag("token-auth-file", &folder.path("tokens.csv")),
        ];
        let more = more.iter().map(|word| (*word).to_owned());
        let mut server = Self {
            port,
            words: words.into_iter().chain(more).collect(),
            process: None,
            client: TlsConnector::from(Arc::new(config)),
        };
        server.restart(&[]).await;
        server
    }

    /// Starts it where it ran before, with more flags.
    pub(super) async fn restart(&mut self, more: &[&str]) {
        self.process = None;
        let path = env::var_os(VARIABLE)
            .unwrap_or_else(|| panic!("{VARIABLE} names no API server: `cargo xtask test kube`"));
        let program: PathBuf = synod_tests::checkout().join(path);
        let mut process = Command::new(&program)
            .args(&self.words)
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut said = Vec::new();
        let listens = async {
            while let Some(line) = log.next_line().await.unwrap() {
                said.push(line);
                if said
                    .last()
                    .is_some_and(|line| line.contains("Serving securely"))
                {
                    return true;
                }
            }
            false
        };
        let listens = timeout(LIMIT, listens).await;
        assert_eq!(listens, Ok(true), "{}", said.join("\n"));
        // What it logs from now on is read, so that it is never kept waiting for that.
        drop(tokio::spawn(async move {
            while let Ok(Some(_)) = log.next_line().await {}
        }));
        self.process = Some(process);
        let ready = async { while self.ask("GET", "/readyz", None).await.0 != 200 {} };
        timeout(LIMIT, ready).await.expect("it does not get ready");
    }

    /// Kills it. Its port stays its own.
    pub(super) async fn kill(&mut self) {
        let mut process = self.process.take().expect("it is dead");
        process.kill().await.unwrap();
    }

    pub(super) fn is_running(&self) -> bool {
        self.process.is_some()
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Asks as an admin; returns the status code, and the document if the answer is one.
    pub(super) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let (code, body) = self.raw(method, path, body).await;
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// The document at a path, which is there.
    pub(super) async fn get(&self, path: &str) -> Value {
        let (code, document) = self.ask("GET", path, None).await;
        assert_eq!(code, 200, "{path}: {document}");
        document
    }

    /// Creates or replaces what must be taken.
    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, document) = self.ask(method, path, Some(body)).await;
        assert!((200..300).contains(&code), "{method} {path}: {document}");
        document
    }

    /// How many requests it has answered with this status code.
    pub(super) async fn answered_with(&self, code: u16) -> u64 {
        let (_, text) = self.raw("GET", "/metrics", None).await;
        let text = String::from_utf8(text).unwrap();
        let samples = text.lines().filter(|line| {
            line.starts_with("apiserver_request_total{")
                && line.contains(&format!("code=\"{code}\""))
        });
        let values = samples.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap());
        values.sum()
    }

    async fn raw(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Vec<u8>) {
        let asking = async {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
            let stream = self
                .client
                .connect(NAME.try_into().unwrap(), stream)
                .await?;
            let request = Request {
                method,
                path,
                token: Some(ADMIN),
                body,
            };
            answered(stream, &request).await
        };
        let asked = timeout(LIMIT, asking).await.expect("it does not answer");
        asked.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }
}
