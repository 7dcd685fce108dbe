//! Certificates of stand-in API servers, the kubeconfigs that lead to them, and how they take connections.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The name that certificates of the server are for.
pub(crate) const NAME: &str = "kubernetes.default.svc";

/// A folder with a CA, a certificate of a client, and kubeconfigs.
pub(crate) struct Folder {
    folder: TempDir,
    authority: Issuer<'static, KeyPair>,
}

/// Whom a server lets in, and until when its certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    Anybody,
    /// Only who shows a certificate of the CA.
    Known,
    /// Anybody, by a certificate that has expired.
    Expired,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("ca.crt"), certificate.pem()).unwrap();
        let made = Self {
            folder,
            authority: Issuer::new(parameters, key),
        };
        made.issue("own", "worker");
        made
    }

    /// Writes a certificate for this name, and its key; returns where they are.
    pub(crate) fn issue(&self, file: &str, name: &str) -> (PathBuf, PathBuf) {
        self.write(file, self.signed(name, false))
    }

    /// The same with a certificate that has expired.
    pub(crate) fn issue_expired(&self, file: &str, name: &str) -> (PathBuf, PathBuf) {
        self.write(file, self.signed(name, true))
    }

    fn write(&self, file: &str, (certificate, key): (String, String)) -> (PathBuf, PathBuf) {
        let [at, key_at] = ["crt", "key"].map(|kind| self.path(&format!("{file}.{kind}")));
        fs::write(&at, certificate).unwrap();
        fs::write(&key_at, key).unwrap();
        (at, key_at)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A certificate and its key.
    fn signed(&self, name: &str, has_expired: bool) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new([name.to_owned()]).unwrap();
        // By this name front proxies are known.
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, name);
        if has_expired {
            parameters.not_before = date_time_ymd(2001, 1, 1);
            parameters.not_after = date_time_ymd(2002, 1, 1);
        }
        let signed = parameters.signed_by(&key, &self.authority).unwrap();
        (signed.pem(), key.serialize_pem())
    }

    pub(crate) fn acceptor(&self, serves: Serves) -> TlsAcceptor {
        let (certificate, key) = self.signed(NAME, serves == Serves::Expired);
        let provider = Arc::new(default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match serves {
            Serves::Anybody | Serves::Expired => builder.with_no_client_auth(),
            Serves::Known => {
                let mut roots = RootCertStore::empty();
                let ca = CertificateDer::from_pem_file(self.path("ca.crt")).unwrap();
                roots.add(ca).unwrap();
                let known = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(known.build().unwrap())
            }
        };
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()))
    }

    /// A kubeconfig that leads to this port, with more lines for the cluster and for the user.
    pub(crate) fn kubeconfig(&self, port: u16, cluster: &str, user: &str) -> PathBuf {
        let text = format!(
            "current-context: here\n\
             contexts: [{{name: here, context: {{cluster: here, user: me}}}}]\n\
             clusters:\n- name: here\n  cluster:\n    server: https://127.0.0.1:{port}\n    \
             certificate-authority: ca.crt\n    tls-server-name: {NAME}\n{cluster}\n\
             users:\n- name: me\n  user:\n{user}\n"
        );
        let path = self.path("kubeconfig");
        fs::write(&path, text).unwrap();
        path
    }

    /// Replaces a file at once, as a secret in Kubernetes is replaced.
    pub(crate) fn replace(&self, name: &str, text: &str) {
        let beside = self.path("beside");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, self.path(name)).unwrap();
    }
}

/// A path as a text.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Takes connections and agrees on encryption; who does not agree is passed by.
pub(crate) struct Secured {
    pub(crate) tcp: TcpListener,
    pub(crate) acceptor: TlsAcceptor,
}

impl axum::serve::Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            if let Ok((stream, from)) = self.tcp.accept().await
                && let Ok(stream) = self.acceptor.accept(stream).await
            {
                return (stream, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}
