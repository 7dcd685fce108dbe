//! The configuration of a replica as it is shown: of what may be secret, only where it is.

use std::collections::BTreeMap;

use http::HeaderName;
use synod_tls::{KeyPair, Versions};

use super::ReplicaConfig;
use crate::security::Proxies;

impl ReplicaConfig {
    /// What is set, by the names of the settings file. A certificate, a key, a policy and an audit log are shown as the path
    /// of their file.
    pub(crate) fn shown(&self) -> BTreeMap<String, String> {
        let mut shown = BTreeMap::new();
        let mut show = |name: &str, value: Option<String>| {
            shown.extend(value.map(|value| (name.to_owned(), value)));
        };
        let replicas = self
            .replicas
            .iter()
            .map(|(id, address)| format!("{id}={address}"));
        show("replica_id", Some(self.replica.to_string()));
        show("cluster_name", Some(self.cluster_name.clone()));
        show("data_dir", Some(self.data_dir.display().to_string()));
        show("listen_client", Some(self.listen.client.to_string()));
        show("listen_peer", Some(self.listen.peer.to_string()));
        show(
            "listen_metrics",
            self.listen.metrics.map(|it| it.to_string()),
        );
        show("listen_kube", self.listen.kube.map(|it| it.to_string()));
        show("advertise_client", self.advertise_client.clone());
        show("replicas", Some(replicas.collect::<Vec<_>>().join(",")));
        show("allow_insecure", Some(self.allow_insecure.to_string()));
        show("heartbeat_interval", Some(format!("{:?}", self.heartbeat)));
        show(
            "election_timeout",
            Some(format!("{:?}", self.election_timeout.0)),
        );
        let security = &self.security;
        let path = |path: &std::path::PathBuf| path.display().to_string();
        show("policy_file", security.policy.as_ref().map(path));
        show("audit_log", security.audit.as_ref().map(path));
        if let Some(client) = &security.client {
            let [certificate, key] = places(&client.own);
            show("cert_file", Some(certificate));
            show("key_file", Some(key));
            show(
                "trusted_ca_file",
                client.trusted_ca.as_ref().map(ToString::to_string),
            );
            let versions = match client.versions {
                Versions::Tls13 => "TLS1.3",
                Versions::Tls12And13 => "TLS1.2",
            };
            show("tls_min_version", Some(versions.to_owned()));
            if let Some(proxy_ca) = &client.proxy_ca {
                show("requestheader_client_ca_file", Some(proxy_ca.to_string()));
                for (name, value) in told(&security.proxies) {
                    show(name, Some(value));
                }
            }
        }
        if let Some(peer) = &security.peer {
            let [certificate, key] = places(&peer.own);
            show("peer_cert_file", Some(certificate));
            show("peer_key_file", Some(key));
            show("peer_trusted_ca_file", Some(peer.trusted_ca.to_string()));
        }
        shown
    }
}

/// By which headers front proxies tell who calls, and who may.
fn told(proxies: &Proxies) -> [(&'static str, String); 4] {
    let headers = |names: &[HeaderName]| {
        let names: Vec<&str> = names.iter().map(HeaderName::as_str).collect();
        names.join(",")
    };
    [
        (
            "requestheader_allowed_names",
            proxies.allowed_names.join(","),
        ),
        (
            "requestheader_username_headers",
            headers(&proxies.user_headers),
        ),
        (
            "requestheader_group_headers",
            headers(&proxies.group_headers),
        ),
        (
            "requestheader_extra_headers_prefix",
            headers(&proxies.extra_prefixes),
        ),
    ]
}

/// Where a certificate and its key are.
fn places(pair: &KeyPair) -> [String; 2] {
    [pair.certificate.to_string(), pair.key.to_string()]
}
