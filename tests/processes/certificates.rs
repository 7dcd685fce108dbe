//! CAs, certificates and connections behind transport security.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
use rcgen::{
    CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair as Key, SanType, date_time_ymd,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use synod_client::{ClientTls, KeyPair, Pem};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::program::synod;
use crate::waiting::LIMIT;

/// The host that every certificate of a replica is for.
const HOST: &str = "127.0.0.1";

/// A folder of CAs and certificates, as `synod certs dev` makes it.
#[derive(Clone, Debug)]
pub(crate) struct Certificates(PathBuf);

/// A certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// From when until when a certificate is valid, in days from now on.
pub(crate) type Days = (i64, i64);

impl Certificates {
    /// Makes the folder with the program.
    pub(crate) fn make(folder: &Path) -> Self {
        let certificates = Self(folder.to_owned());
        certificates.run(&["--members", "apiserver-1,apiserver-2"]);
        certificates
    }

    /// Makes the certificates anew, by the CAs that are there.
    pub(crate) fn renew(&self) {
        self.run(&["--renew"]);
    }

    fn run(&self, more: &[&str]) {
        let out = self.0.to_str().expect("the path is a text");
        let made = Command::new(synod())
            .args(["certs", "dev", "--out", out, "--hosts", HOST])
            .args(more)
            .output()
            .expect("the program starts");
        assert!(made.status.success(), "{made:?}");
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).expect("the file is there")
    }

    /// Replaces a file as a whole.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let new = self.file(&format!("{name}.new"));
        fs::write(&new, text).expect("the folder can be written");
        fs::rename(new, self.file(name)).expect("a file can be renamed");
    }

    /// The flags of `synod serve`.
    pub(crate) fn flags(&self) -> Vec<String> {
        let files = [
            ("--cert-file", "server.pem"),
            ("--key-file", "server-key.pem"),
            ("--trusted-ca-file", "client-ca.pem"),
            ("--peer-cert-file", "peer.pem"),
            ("--peer-key-file", "peer-key.pem"),
            ("--peer-trusted-ca-file", "peer-ca.pem"),
        ];
        let flags = files
            .into_iter()
            .flat_map(|(flag, file)| [flag.to_owned(), self.file(file).display().to_string()]);
        flags.collect()
    }

    /// What an admin of the cluster shows and asks for, in files.
    pub(crate) fn admin(&self) -> ClientTls {
        self.client("admin")
    }

    /// What a client of the cluster with this certificate shows and asks for, in files.
    pub(crate) fn client(&self, name: &str) -> ClientTls {
        ClientTls {
            trusted_ca: Pem::File(self.file("server-ca.pem")),
            own: Some(KeyPair {
                certificate: Pem::File(self.file(&format!("{name}.pem"))),
                key: Pem::File(self.file(&format!("{name}-key.pem"))),
            }),
            server_name: None,
        }
    }

    /// A certificate of the folder.
    pub(crate) fn shown(&self, name: &str) -> Shown {
        Shown {
            certificate: self.read(&format!("{name}.pem")),
            key: self.read(&format!("{name}-key.pem")),
        }
    }

    /// A certificate for these uses that a CA of the folder has signed.
    pub(crate) fn sign(
        &self,
        authority: &str,
        days: Days,
        uses: &[ExtendedKeyUsagePurpose],
    ) -> Shown {
        self.sign_for(&[], authority, days, uses)
    }

    /// The same, with these URIs among its names.
    pub(crate) fn sign_for(
        &self,
        uris: &[&str],
        authority: &str,
        (from, until): Days,
        uses: &[ExtendedKeyUsagePurpose],
    ) -> Shown {
        self.sign_within(uris, authority, (since_1970(from), since_1970(until)), uses)
    }

    /// The same, valid between these times since 1970.
    pub(crate) fn sign_within(
        &self,
        uris: &[&str],
        authority: &str,
        (from, until): (Duration, Duration),
        uses: &[ExtendedKeyUsagePurpose],
    ) -> Shown {
        let Shown { certificate, key } = self.shown(authority);
        let key = Key::from_pem(&key).expect("a CA has a key");
        let issuer = Issuer::from_ca_cert_pem(&certificate, key).expect("it is a CA");
        let mut parameters =
            CertificateParams::new([HOST.to_owned()]).expect("it can be the name of a host");
        for uri in uris {
            let uri = (*uri).try_into().expect("it is ASCII");
            parameters.subject_alt_names.push(SanType::URI(uri));
        }
        let epoch = date_time_ymd(1970, 1, 1);
        parameters.not_before = epoch + from;
        parameters.not_after = epoch + until;
        parameters.extended_key_usages = uses.to_vec();
        let key = Key::generate().expect("there are keys");
        let signed = parameters.signed_by(&key, &issuer);
        Shown {
            certificate: signed.expect("a CA signs").pem(),
            key: key.serialize_pem(),
        }
    }

    /// Certificates that nobody may be let in by at a port whose callers have those of this CA, and what is wrong with each.
    pub(crate) fn bad(&self, of_callers: &str) -> [(&'static str, Shown); 5] {
        let other = match of_callers {
            "peer-ca" => "admin",
            _ => "peer",
        };
        let sign = |days, purpose| self.sign(of_callers, days, &[purpose]);
        [
            ("of another CA", self.shown(other)),
            ("of itself", self.shown("server-ca")),
            ("expired", sign((-9, -1), ClientAuth)),
            ("not yet valid", sign((1, 9), ClientAuth)),
            ("for serving", sign((-1, 9), ServerAuth)),
        ]
    }

    /// Connects to a port and waits for the first byte that it sends by itself: the settings of HTTP/2.
    ///
    /// # Errors
    ///
    /// The connection ended before, as text.
    pub(crate) async fn greeted(
        &self,
        to: SocketAddr,
        authority: &str,
        shown: Option<&Shown>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<(), String> {
        let greeting = async {
            let mut stream = self.connect(to, authority, shown, versions).await?;
            stream.read_u8().await.map_err(|error| error.to_string())
        };
        let greeted = tokio::time::timeout(LIMIT, greeting).await;
        greeted.expect("a connection is greeted or ended").map(drop)
    }

    /// Connects to a port whose certificate a CA of the folder has signed.
    ///
    /// # Errors
    ///
    /// The two ends did not agree, as text.
    pub(crate) async fn connect(
        &self,
        to: SocketAddr,
        authority: &str,
        shown: Option<&Shown>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<TlsStream<TcpStream>, String> {
        let connector = self.connector(authority, shown, versions);
        let stream = TcpStream::connect(to).await.expect("somebody listens");
        secured(&connector, stream).await
    }

    /// What secures connections, trusts this authority and shows a certificate.
    pub(crate) fn connector(
        &self,
        authority: &str,
        shown: Option<&Shown>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        let trusted = self.read(&format!("{authority}.pem"));
        for certificate in CertificateDer::pem_slice_iter(trusted.as_bytes()) {
            let certificate = certificate.expect("it is PEM");
            roots.add(certificate).expect("it is a CA");
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .expect("there are such versions")
            .with_root_certificates(roots);
        let config = match shown {
            Some(Shown { certificate, key }) => {
                let certificate = CertificateDer::from_pem_slice(certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
                let chain = vec![certificate.expect("it is PEM")];
                let config = config.with_client_auth_cert(chain, key.expect("it is PEM"));
                config.expect("the key is that of the certificate")
            }
            None => config.with_no_client_auth(),
        };
        TlsConnector::from(Arc::new(config))
    }

    /// The whole answer to `GET path` at the port for metrics and probes.
    pub(crate) async fn get(
        &self,
        port: SocketAddr,
        path: &str,
        shown: Option<&Shown>,
    ) -> Result<String, String> {
        let mut stream = self
            .connect(port, "server-ca", shown, rustls::ALL_VERSIONS)
            .await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: synod\r\nconnection: close\r\n\r\n");
        let written = stream.write_all(request.as_bytes()).await;
        written.map_err(|error| error.to_string())?;
        let mut answer = Vec::new();
        // The other end closes the connection when it has answered.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).map_err(|error| error.to_string())
    }
}

/// The time from 1970 until so many days from now on.
#[expect(
    clippy::disallowed_methods,
    reason = "certificates are valid by the clock of the system, which replicas read, too"
)]
pub(crate) fn since_1970(days: i64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("it is after 1970");
    let span = Duration::from_hours(24) * u32::try_from(days.abs()).expect("it is small");
    if days < 0 { now - span } else { now + span }
}

/// Secures a connection to a replica.
pub(crate) async fn secured(
    connector: &TlsConnector,
    stream: TcpStream,
) -> Result<TlsStream<TcpStream>, String> {
    let name = HOST.try_into().expect("it is an address");
    let connected = connector.connect(name, stream).await;
    connected.map_err(|error| error.to_string())
}
