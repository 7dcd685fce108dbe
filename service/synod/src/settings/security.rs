//! The settings of transport security.

use std::path::PathBuf;

use http::HeaderName;
use synod_server::security::{PeerTls, Proxies, Security};
use synod_tls::{ClientTls, KeyPair, Pem, ServerTls, Versions};

use super::{Layers, flag};

/// The setting by which there are front proxies.
const PROXY_CA: &str = "requestheader_client_ca_file";

/// What a command shows the replicas, and what it asks of them. `None`: connections are not encrypted.
pub(super) fn of_client(layers: &mut Layers<'_>) -> Option<ClientTls> {
    let trusted_ca = layers.given("cacert", pem);
    let own = key_pair(layers, "cert", "key");
    let server_name = layers.given("tls_server_name", some_text);
    let Some(trusted_ca) = trusted_ca else {
        if own.is_some() {
            needs(layers, "cert", "cacert");
        }
        if server_name.is_some() {
            needs(layers, "tls_server_name", "cacert");
        }
        return None;
    };
    Some(ClientTls {
        trusted_ca,
        own,
        server_name,
    })
}

/// What the collector of traces is shown, and what is asked of it. `None`: nothing is said of it here.
pub(super) fn of_collector(layers: &mut Layers<'_>) -> Option<ClientTls> {
    let trusted_ca = layers.given("otlp_trusted_ca_file", pem);
    let own = key_pair(layers, "otlp_cert_file", "otlp_key_file");
    let Some(trusted_ca) = trusted_ca else {
        if own.is_some() {
            needs(layers, "otlp_cert_file", "otlp_trusted_ca_file");
        }
        return None;
    };
    Some(ClientTls {
        trusted_ca,
        own,
        server_name: None,
    })
}

/// What a replica shows, and what it asks of those who connect to it.
pub(super) fn of_replica(layers: &mut Layers<'_>) -> Security {
    Security {
        client: for_clients(layers),
        peer: for_peers(layers),
        proxies: proxies(layers),
        policy: layers.given("policy_file", path),
        audit: layers.given("audit_log", path),
    }
}

fn for_clients(layers: &mut Layers<'_>) -> Option<ServerTls> {
    let own = key_pair(layers, "cert_file", "key_file");
    let trusted_ca = layers.given("trusted_ca_file", pem);
    let versions = layers.given("tls_min_version", versions);
    let proxy_ca = layers.given(PROXY_CA, pem);
    if proxy_ca.is_some() && trusted_ca.is_none() {
        needs(layers, PROXY_CA, "trusted_ca_file");
    }
    let Some(own) = own else {
        if trusted_ca.is_some() {
            needs(layers, "trusted_ca_file", "cert_file");
        }
        if versions.is_some() {
            needs(layers, "tls_min_version", "cert_file");
        }
        return None;
    };
    Some(ServerTls {
        own,
        trusted_ca,
        proxy_ca,
        versions: versions.unwrap_or_default(),
    })
}

/// The front proxies that are believed, and by which headers. Without names of theirs none is.
fn proxies(layers: &mut Layers<'_>) -> Proxies {
    let usual = Proxies::default();
    let names = layers.given("requestheader_allowed_names", list_of(some_text));
    let is_any = layers.is_given(PROXY_CA);
    match &names {
        Some(_) if !is_any => needs(layers, "requestheader_allowed_names", PROXY_CA),
        None if is_any => needs(layers, PROXY_CA, "requestheader_allowed_names"),
        _ => {}
    }
    let mut headers = |key, usual| layers.given_or(key, list_of(header), usual);
    Proxies {
        allowed_names: names.unwrap_or_default(),
        user_headers: headers("requestheader_username_headers", usual.user_headers),
        group_headers: headers("requestheader_group_headers", usual.group_headers),
        extra_prefixes: headers("requestheader_extra_headers_prefix", usual.extra_prefixes),
    }
}

/// Reads a list with commas between its items.
fn list_of<T>(item: fn(&str) -> Result<T, String>) -> impl FnOnce(&str) -> Result<Vec<T>, String> {
    move |text| text.split(',').map(|text| item(text.trim())).collect()
}

fn header(text: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| "must be the name of a header".to_owned())
}

fn for_peers(layers: &mut Layers<'_>) -> Option<PeerTls> {
    let own = key_pair(layers, "peer_cert_file", "peer_key_file");
    let trusted_ca = layers.given("peer_trusted_ca_file", pem);
    match (own, trusted_ca) {
        (Some(own), Some(trusted_ca)) => Some(PeerTls { own, trusted_ca }),
        (Some(_), None) => {
            needs(layers, "peer_cert_file", "peer_trusted_ca_file");
            None
        }
        (None, Some(_)) => {
            needs(layers, "peer_trusted_ca_file", "peer_cert_file");
            None
        }
        (None, None) => None,
    }
}

/// A certificate and its key, of which neither goes without the other.
fn key_pair(
    layers: &mut Layers<'_>,
    certificate_name: &'static str,
    key_name: &'static str,
) -> Option<KeyPair> {
    let (certificate, key) = (
        layers.given(certificate_name, pem),
        layers.given(key_name, pem),
    );
    match (certificate, key) {
        (Some(certificate), Some(key)) => return Some(KeyPair { certificate, key }),
        (Some(_), None) => needs(layers, certificate_name, key_name),
        (None, Some(_)) => needs(layers, key_name, certificate_name),
        (None, None) => {}
    }
    None
}

/// Adds the fault of a setting that means nothing without another one.
fn needs(layers: &mut Layers<'_>, given: &str, missing: &str) {
    layers.fault(given, format_args!("needs {}, too", flag(missing)));
}

fn pem(text: &str) -> Result<Pem, String> {
    path(text).map(Pem::File)
}

pub(super) fn path(text: &str) -> Result<PathBuf, String> {
    some_text(text).map(PathBuf::from)
}

fn some_text(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("must not be empty".to_owned());
    }
    Ok(text.to_owned())
}

fn versions(text: &str) -> Result<Versions, String> {
    match text {
        "TLS1.2" => Ok(Versions::Tls12And13),
        "TLS1.3" => Ok(Versions::Tls13),
        _ => Err("must be TLS1.2 or TLS1.3".to_owned()),
    }
}
