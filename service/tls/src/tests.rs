//! Both ends of a connection in memory, with certificates in real files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    Acceptor, Certificate, ClientTls, Connector, KeyPair, Part, Pem, Protocol, Refreshed,
    ServerTls, Signer, Versions, have_common_ca, look,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair as Key};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_rustls::TlsConnector;

/// A folder with a CA and certificates of the host `replica`.
struct Folder {
    folder: TempDir,
    authority: Issuer<'static, Key>,
}

impl Folder {
    /// A folder with the CA `ca.pem` and the certificate `own.pem` with `own-key.pem`.
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = Key::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        let made = Self {
            folder,
            authority: Issuer::new(parameters, key),
        };
        made.sign();
        made
    }

    /// Writes another certificate.
    fn sign(&self) {
        let key = Key::generate().unwrap();
        let parameters = CertificateParams::new(["replica".to_owned()]).unwrap();
        let signed = parameters.signed_by(&key, &self.authority).unwrap();
        fs::write(self.path("own.pem"), signed.pem()).unwrap();
        fs::write(self.path("own-key.pem"), key.serialize_pem()).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn pem(&self, name: &str) -> Pem {
        Pem::File(self.path(name))
    }

    fn own(&self) -> KeyPair {
        KeyPair {
            certificate: self.pem("own.pem"),
            key: self.pem("own-key.pem"),
        }
    }

    fn serving(&self) -> ServerTls {
        ServerTls {
            own: self.own(),
            trusted_ca: Some(self.pem("ca.pem")),
            proxy_ca: None,
            versions: Versions::default(),
        }
    }

    fn calling(&self) -> ClientTls {
        ClientTls {
            trusted_ca: self.pem("ca.pem"),
            own: Some(self.own()),
            server_name: Some("replica".to_owned()),
        }
    }
}

/// Connects both ends and sends a byte each way, since a server's refusal shows only then.
async fn agree(acceptor: &Acceptor, connector: &Connector) -> io::Result<()> {
    agree_by(acceptor, connector, Certificate::Required).await
}

/// The same, where the caller must show a certificate or may.
async fn agree_by(
    acceptor: &Acceptor,
    connector: &Connector,
    certificate: Certificate,
) -> io::Result<()> {
    let (here, there) = duplex(64 << 10);
    let serving = async {
        let mut stream = acceptor.accept(there, Protocol::Http2, certificate).await?;
        stream.write_u8(1).await?;
        stream.flush().await?;
        stream.read_u8().await
    };
    let calling = async {
        let mut stream = connector.connect(here, "elsewhere").await?;
        stream.write_u8(2).await?;
        stream.flush().await?;
        stream.read_u8().await
    };
    let (served, called) = tokio::join!(serving, calling);
    served.and(called).map(drop)
}

#[tokio::test]
async fn who_need_not_show_a_certificate_shows_none_or_a_good_one() {
    let (folder, other) = (Folder::new(), Folder::new());
    let acceptor = Acceptor::load(folder.serving()).unwrap();
    let connector = |own| {
        let calling = ClientTls {
            own,
            ..folder.calling()
        };
        Connector::load(calling).unwrap()
    };
    let none = connector(None);
    assert!(agree(&acceptor, &none).await.is_err());
    for (own, is_let_in) in [
        (None, true),
        (Some(folder.own()), true),
        (Some(other.own()), false),
    ] {
        let connector = connector(own);
        let agreed = agree_by(&acceptor, &connector, Certificate::Optional).await;
        assert_eq!(agreed.is_ok(), is_let_in, "{agreed:?}");
    }
}

// Guarantee: N-03
#[tokio::test]
async fn new_files_are_used_from_the_next_connection_on() {
    let (old, new) = (Folder::new(), Folder::new());
    let acceptor = Acceptor::load(old.serving()).unwrap();
    let connector = Connector::load(old.calling()).unwrap();
    agree(&acceptor, &connector).await.unwrap();
    assert_eq!(acceptor.refresh(), Ok(Refreshed::Same));
    old.sign();
    assert_eq!(acceptor.refresh(), Ok(Refreshed::Anew));
    agree(&acceptor, &connector).await.unwrap();
    for file in ["ca.pem", "own.pem", "own-key.pem"] {
        fs::copy(new.path(file), old.path(file)).unwrap();
    }
    assert_eq!(acceptor.refresh(), Ok(Refreshed::Anew));
    let refused = agree(&acceptor, &connector).await;
    assert!(refused.is_err(), "the old CA is still trusted");
    assert_eq!(connector.refresh(), Ok(Refreshed::Anew));
    agree(&acceptor, &connector).await.unwrap();
}

// Guarantee: N-04
#[tokio::test]
async fn a_file_that_cannot_be_used_changes_nothing() {
    let (folder, other) = (Folder::new(), Folder::new());
    let acceptor = Acceptor::load(folder.serving()).unwrap();
    let connector = Connector::load(folder.calling()).unwrap();
    let faulty = |name: &str, text: &[u8], part: Part, rule: &str| {
        let path = folder.path(name);
        let good = fs::read(&path).unwrap();
        fs::write(&path, text).unwrap();
        let fault = acceptor.refresh().unwrap_err();
        let text = fault.to_string();
        assert_eq!(fault.part, part, "{text}");
        assert!(text.contains(name) && text.contains(rule), "{text}");
        fs::write(&path, good).unwrap();
    };
    let key = fs::read(folder.path("own-key.pem")).unwrap();
    let others = fs::read(other.path("own.pem")).unwrap();
    faulty(
        "own.pem",
        &others,
        Part::Certificate,
        "with its private key",
    );
    faulty("own.pem", &key, Part::Certificate, "has no certificate");
    faulty("own-key.pem", b"", Part::Key, "has no private key");
    faulty("ca.pem", b"\xff", Part::TrustedCa, "has no certificate");
    faulty(
        "ca.pem",
        &vec![b'\n'; 2 << 20],
        Part::TrustedCa,
        "longer than",
    );
    fs::remove_file(folder.path("ca.pem")).unwrap();
    let fault = acceptor.refresh().unwrap_err();
    assert!(fault.to_string().contains("cannot be read"), "{fault}");
    agree(&acceptor, &connector).await.unwrap();
}

// Guarantee: N-01, TM-02
#[tokio::test]
async fn an_older_version_is_spoken_only_if_asked() {
    let folder = Folder::new();
    let allowing = Acceptor::load(ServerTls {
        versions: Versions::Tls12And13,
        ..folder.serving()
    });
    let acceptors = [Acceptor::load(folder.serving()).unwrap(), allowing.unwrap()];
    for (acceptor, is_spoken) in acceptors.into_iter().zip([false, true]) {
        let (here, there) = duplex(64 << 10);
        let serving = acceptor.accept(there, Protocol::Http2, Certificate::Required);
        let connector = TlsConnector::from(of_version(&folder.path("ca.pem"), &TLS12));
        let calling = connector.connect("replica".try_into().unwrap(), here);
        let (served, called) = tokio::join!(serving, calling);
        // Who shows no certificate is refused by either version; that it is asked for one says that it is spoken.
        let fault = served.err().unwrap().to_string();
        assert_eq!(fault.contains("no certificates"), is_spoken, "{fault}");
        assert!(called.is_err());
    }
}

#[tokio::test]
async fn a_look_tells_what_is_shown_even_if_it_is_refused_and_agrees_as_any_connection_does() {
    let (folder, other) = (Folder::new(), Folder::new());
    let acceptor = Acceptor::load(folder.serving()).unwrap();
    let looked = async |tls: ClientTls| {
        let (here, there) = duplex(64 << 10);
        let serving = async {
            let accepted = acceptor.accept(there, Protocol::Http2, Certificate::Required);
            let mut stream = accepted.await?;
            stream.write_u8(1).await?;
            stream.flush().await
        };
        let (_, looked) = tokio::join!(serving, look(&tls, here, "elsewhere"));
        looked.unwrap()
    };
    let good = looked(folder.calling()).await;
    good.agreed.unwrap();
    let shown = good.certificate.unwrap();
    assert_eq!(shown.names, ["replica"]);
    assert!(shown.validity.from < shown.validity.until);
    let of_another_ca = ClientTls {
        trusted_ca: other.pem("ca.pem"),
        ..folder.calling()
    };
    let of_another_name = ClientTls {
        server_name: None,
        ..folder.calling()
    };
    for (tls, expected) in [
        // The two CAs have one name.
        (of_another_ca, "BadSignature"),
        (of_another_name, "not valid for name"),
    ] {
        let looked = looked(tls).await;
        let fault = looked.agreed.unwrap_err().to_string();
        assert!(fault.contains(expected), "{fault}");
        assert_eq!(looked.certificate.as_ref(), Some(&shown));
    }
    let of_nobody = ClientTls {
        own: None,
        ..folder.calling()
    };
    looked(of_nobody).await.agreed.unwrap_err();
}

/// A client that knows one version of TLS.
fn of_version(authority: &Path, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(&fs::read(authority).unwrap());
    roots.add(certificate.unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

// Guarantee: N-05, TM-39
#[test]
fn a_fault_of_a_key_repeats_nothing_of_it() {
    let folder = Folder::new();
    let key = fs::read_to_string(folder.path("own-key.pem")).unwrap();
    let secret = key.lines().nth(1).unwrap();
    let bytes = format!("{:?}", secret.as_bytes());
    let inner = bytes.trim_matches(['[', ']']);
    let lost_lines = [
        key.replace('\n', " "),
        key.replace('\n', "\\n"),
        key.replace("-----END", "----END"),
        key.replace(secret, &format!("{secret}*")),
    ];
    for text in lost_lines {
        let tls = ServerTls {
            own: KeyPair {
                key: Pem::Bytes(text.as_bytes().into()),
                ..folder.own()
            },
            ..folder.serving()
        };
        let fault = Acceptor::load(tls).unwrap_err();
        let told = format!("{fault} {fault:?}");
        assert_eq!(fault.part, Part::Key, "{told}");
        assert!(!told.contains(secret) && !told.contains(inner), "{told}");
    }
}

// Guarantee: N-06
#[test]
fn a_ca_of_both_sides_is_found() {
    let (one, other) = (Folder::new(), Folder::new());
    let both = [&one, &other].map(|folder| fs::read(folder.path("ca.pem")).unwrap());
    let both = Pem::Bytes(both.concat().into());
    assert_eq!(have_common_ca(&one.pem("ca.pem"), &both), Ok(true));
    assert_eq!(
        have_common_ca(&one.pem("ca.pem"), &other.pem("ca.pem")),
        Ok(false)
    );
}

// Guarantee: TM-16
#[test]
fn a_ca_of_both_sides_is_found_by_its_key_and_by_who_has_signed_it() {
    let (one, other) = (Folder::new(), Folder::new());
    let shown = |pem: String| Pem::Bytes(pem.as_bytes().into());
    let mut of_ca = CertificateParams::default();
    of_ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    of_ca.serial_number = Some(7.into());
    let anew = of_ca.self_signed(one.authority.key()).unwrap();
    let common = |it: &Pem| {
        let found = have_common_ca(&one.pem("ca.pem"), it).unwrap();
        assert_eq!(have_common_ca(it, &one.pem("ca.pem")), Ok(found));
        found
    };
    assert!(common(&shown(anew.pem())), "the same key, signed anew");
    let below = of_ca.signed_by(&Key::generate().unwrap(), &one.authority);
    assert!(common(&shown(below.unwrap().pem())), "signed by the other");
    let elsewhere = of_ca.signed_by(&Key::generate().unwrap(), &other.authority);
    assert!(!common(&shown(elsewhere.unwrap().pem())));
}

// Guarantee: TM-16
#[test]
fn who_is_a_client_and_a_front_proxy_is_neither() {
    let (clients, proxies) = (Folder::new(), Folder::new());
    let of = |folder: &Folder| {
        let read = fs::read(folder.path("own.pem")).unwrap();
        [CertificateDer::from_pem_slice(&read).unwrap()]
    };
    let load = |proxy_ca| {
        Acceptor::load(ServerTls {
            proxy_ca: Some(proxy_ca),
            ..clients.serving()
        })
    };
    let acceptor = load(proxies.pem("ca.pem")).unwrap();
    assert_eq!(acceptor.signer(&of(&clients)), Some(Signer::Client));
    assert_eq!(acceptor.signer(&of(&proxies)), Some(Signer::Proxy));
    assert_eq!(acceptor.signer(&of(&Folder::new())), None);
    let both = [&clients, &proxies].map(|folder| fs::read(folder.path("ca.pem")).unwrap());
    let acceptor = load(Pem::Bytes(both.concat().into())).unwrap();
    assert_eq!(acceptor.signer(&of(&clients)), None);
    assert_eq!(acceptor.signer(&of(&proxies)), Some(Signer::Proxy));
}

#[test]
fn a_name_that_is_none_is_refused_and_no_key_is_shown() {
    let folder = Folder::new();
    let calling = ClientTls {
        server_name: Some("no name".to_owned()),
        ..folder.calling()
    };
    let fault = Connector::load(calling).unwrap_err();
    assert_eq!(fault.part, Part::ServerName);
    let bytes = Pem::Bytes(fs::read(folder.path("own-key.pem")).unwrap().into());
    assert_eq!(
        format!("{bytes:?} {bytes}"),
        "Pem(given as bytes) given as bytes"
    );
}

#[tokio::test]
async fn who_may_speak_either_protocol_gets_the_one_that_it_asks_for() {
    let folder = Folder::new();
    let serving = ServerTls {
        trusted_ca: None,
        ..folder.serving()
    };
    let acceptor = Acceptor::load(serving).unwrap();
    for (offered, agreed) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&["http/1.1", "h2"], Some("h2")),
        (&[], None),
    ] {
        let mut config = ClientConfig::clone(&of_version(&folder.path("ca.pem"), &TLS13));
        config.alpn_protocols = offered
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect();
        let connector = TlsConnector::from(Arc::new(config));
        let (here, there) = duplex(64 << 10);
        let serving = acceptor.accept(there, Protocol::Either, Certificate::Optional);
        let calling = connector.connect("replica".try_into().unwrap(), here);
        let (served, called) = tokio::join!(serving, calling);
        let (served, called) = (served.unwrap(), called.unwrap());
        let agreed = agreed.map(str::as_bytes);
        assert_eq!(served.get_ref().1.alpn_protocol(), agreed, "{offered:?}");
        assert_eq!(called.get_ref().1.alpn_protocol(), agreed, "{offered:?}");
    }
}
