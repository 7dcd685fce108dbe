//! The certificates of a replica and of its clients.

use std::fs;
use std::future::ready;
use std::io;
use std::path::Path;

use http::Uri;
use hyper_util::rt::TokioIo;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType,
};
use synod_server::config::ReplicaConfig;
use synod_tls::{ClientTls, Connector, Pem, ServerTls, Versions};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::{self, AlertDescription};
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::replicas::{PATIENCE, Replicas};

/// A connection behind transport security.
pub(crate) type Secured = BufReader<TlsStream<TcpStream>>;

/// A CA whose certificates are written into a folder.
pub(crate) struct Authority<'a> {
    folder: &'a Path,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl<'a> Authority<'a> {
    /// Writes its own certificate to `<name>.pem`.
    pub(crate) fn new(folder: &'a Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(folder.join(format!("{name}.pem")), issuer.pem()).unwrap();
        Self { folder, issuer }
    }

    /// The certificate of a replica on this machine.
    pub(crate) fn replica(&self, name: &str) {
        let host = SanType::IpAddress([127, 0, 0, 1].into());
        self.make(name, vec![host], ExtendedKeyUsagePurpose::ServerAuth);
    }

    /// The certificate of the client `spiffe://synod/<path>`, in files that have the last part of the path as name.
    pub(crate) fn client(&self, path: &str) {
        let uri = format!("spiffe://synod/{path}");
        let uri = SanType::URI(uri.as_str().try_into().unwrap());
        let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.make(name, vec![uri], ExtendedKeyUsagePurpose::ClientAuth);
    }

    /// The certificate of a client of which nothing is known but its common name.
    pub(crate) fn common_name(&self, name: &str) {
        self.make(name, Vec::new(), ExtendedKeyUsagePurpose::ClientAuth);
    }

    fn make(&self, name: &str, alternatives: Vec<SanType>, usage: ExtendedKeyUsagePurpose) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = alternatives;
        params.extended_key_usages = vec![usage];
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let write = |ending: &str, text: String| {
            fs::write(self.folder.join(format!("{name}.{ending}")), text).unwrap();
        };
        write("pem", certificate.pem());
        write("key", key.serialize_pem());
    }
}

/// A connection to the Kubernetes API of a replica, by a certificate that it trusts or not.
pub(crate) async fn connect(replicas: &Replicas, name: &str) -> io::Result<Secured> {
    connect_to(replicas, &replicas.kube[0], name).await
}

/// The same to another port.
pub(crate) async fn connect_to(
    replicas: &Replicas,
    address: &str,
    name: &str,
) -> io::Result<Secured> {
    let own = |ending: &str| file(&replicas.directory, &format!("{name}.{ending}"));
    let connector = Connector::load(ClientTls {
        trusted_ca: file(&replicas.directory, "ca.pem"),
        own: Some(synod_tls::KeyPair {
            certificate: own("pem"),
            key: own("key"),
        }),
        server_name: None,
    });
    let stream = TcpStream::connect(address).await?;
    connector.unwrap().connect(stream, "127.0.0.1").await
}

/// A connection to the port for gRPC, as an admin.
pub(crate) async fn channel(replicas: &Replicas) -> Channel {
    let stream = connect_to(replicas, &replicas.grpc[0], "admin").await;
    let mut stream = Some(TokioIo::new(stream.unwrap()));
    let connector = service_fn(move |_: Uri| {
        let lost = || io::Error::from(io::ErrorKind::NotConnected);
        ready(stream.take().ok_or_else(lost))
    });
    let endpoint = Endpoint::from_shared(format!("https://{}", replicas.grpc[0])).unwrap();
    endpoint.connect_with_connector(connector).await.unwrap()
}

/// By which alert a port refuses the certificate of this name.
pub(crate) async fn refused(replicas: &Replicas, address: &str, name: &str) -> AlertDescription {
    let refused = async {
        // By TLS 1.3, the calling end is done before the other one has looked at its certificate.
        connect_to(replicas, address, name).await?.read_u8().await
    };
    let refused = timeout(PATIENCE, refused).await.unwrap().unwrap_err();
    let fault = refused.get_ref().and_then(|fault| fault.downcast_ref());
    match fault {
        Some(rustls::Error::AlertReceived(alert)) => *alert,
        _ => panic!("{refused}"),
    }
}

pub(crate) fn file(folder: &TempDir, name: &str) -> Pem {
    Pem::File(folder.path().join(name))
}

/// Secures a replica, and makes certificates for an admin and a reader.
pub(crate) fn secured(folder: &TempDir, config: &mut ReplicaConfig) {
    let authority = Authority::new(folder.path(), "ca");
    authority.replica("replica");
    authority.client("admin");
    authority.client("reader");
    authority.client("nobody");
    authority.client("member/server-1");
    config.security.client = Some(ServerTls {
        own: synod_tls::KeyPair {
            certificate: file(folder, "replica.pem"),
            key: file(folder, "replica.key"),
        },
        trusted_ca: Some(file(folder, "ca.pem")),
        proxy_ca: None,
        versions: Versions::default(),
    });
}
