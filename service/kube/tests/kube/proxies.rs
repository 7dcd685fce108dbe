//! Front proxies: who is believed what its headers tell, and what comes of it.

use std::fs;

use http::StatusCode;
use serde_json::{Value, json};
use synod_server::config::ReplicaConfig;
use tempfile::TempDir;
use tokio_rustls::rustls::AlertDescription;

use crate::certificates::{Authority, connect, connect_to, file, refused, secured};
use crate::http2::Client;
use crate::replicas::Replicas;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
const REVIEW: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// What remote users may do, and groups of theirs.
const POLICY: &str = r#"
[certificates]
common_names = true

[[grant]]
who = "spiffe://synod/admin"
role = "admin"

[[grant]]
who = "cn:front-proxy-client"
role = "admin"

[[grant]]
who = "remote:alice"
role = "reader"

[[grant]]
who = "remote-group:ops"
role = "operator"
names = ["*"]

[[grant]]
who = "remote:carol"
role = "operator"
names = ["*"]
namespaces = ["n"]
"#;

pub(crate) fn proxied(folder: &TempDir, config: &mut ReplicaConfig) {
    secured(folder, config);
    let proxies = Authority::new(folder.path(), "proxy-ca");
    proxies.common_name("front-proxy-client");
    proxies.common_name("another-proxy");
    proxies.client("admin-of-proxies");
    Authority::new(folder.path(), "strange-ca").common_name("stranger");
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, POLICY).unwrap();
    let security = &mut config.security;
    security.policy = Some(policy);
    security.proxies.allowed_names = vec!["front-proxy-client".to_owned()];
    security.client.as_mut().unwrap().proxy_ca = Some(file(folder, "proxy-ca.pem"));
}

pub(crate) async fn client(replicas: &Replicas, name: &str) -> Client {
    Client::over(connect(replicas, name).await.unwrap()).await
}

fn lease(name: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": name },
        "spec": { "holderIdentity": "x", "leaseDurationSeconds": 15 },
    })
}

#[tokio::test]
async fn a_front_proxy_speaks_for_its_callers_and_each_has_its_own_rights() {
    let replicas = Replicas::start(1, proxied).await;
    let proxy = client(&replicas, "front-proxy-client").await;
    let alice = [
        ("x-remote-user", "alice"),
        ("x-remote-group", "dev"),
        ("x-remote-extra-scopes", "x"),
        ("x-remote-uid", "7"),
    ];
    let (code, review) = proxy.told("POST", REVIEW, &alice, &json!({})).await;
    assert_eq!(code, StatusCode::CREATED);
    let named = &review["status"]["userInfo"];
    let expected = json!({ "username": "remote:alice", "groups": ["remote-group:dev"] });
    assert_eq!(named, &expected);
    assert_eq!(proxy.told("GET", LEASES, &alice, &Value::Null).await.0, 200);
    let (code, refused) = proxy.told("POST", LEASES, &alice, &lease("a")).await;
    assert_eq!(code, StatusCode::FORBIDDEN);
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.contains("User \"remote:alice\" cannot create"),
        "{message}"
    );
    // The same connection, another caller, who may do more by its group.
    let bob = [
        ("x-remote-user", "bob"),
        ("x-remote-group", "dev"),
        ("x-remote-group", "ops"),
    ];
    assert_eq!(proxy.told("POST", LEASES, &bob, &lease("a")).await.0, 201);
    // Nothing is granted to who is in no such group.
    let eve = [("x-remote-user", "eve")];
    assert_eq!(proxy.told("GET", LEASES, &eve, &Value::Null).await.0, 403);
}

// Guarantee: TM-16
#[tokio::test]
async fn nobody_but_an_allowed_front_proxy_is_believed() {
    let replicas = Replicas::start(1, proxied).await;
    let alice = [("x-remote-user", "alice")];
    let nothing: [(&str, &str); 0] = [];
    let two = [("x-remote-user", "alice"), ("x-remote-user", "bob")];
    let anonymous = [
        ("x-remote-user", "system:anonymous"),
        ("x-remote-group", "ops"),
    ];
    let as_admin = [("x-remote-user", "alice"), ("impersonate-user", "bob")];
    let with_token = [
        ("x-remote-user", "alice"),
        ("authorization", "Bearer a.b.c"),
    ];
    for (name, headers, expected) in [
        // Not even an admin speaks for others.
        ("admin", &alice[..], StatusCode::FORBIDDEN),
        ("admin", &nothing, StatusCode::OK),
        // The CA of front proxies names nobody: its certificates are no proof of who calls, whatever they say.
        ("front-proxy-client", &nothing, StatusCode::UNAUTHORIZED),
        ("admin-of-proxies", &nothing, StatusCode::UNAUTHORIZED),
        ("admin-of-proxies", &alice, StatusCode::UNAUTHORIZED),
        ("another-proxy", &alice, StatusCode::UNAUTHORIZED),
        ("front-proxy-client", &two, StatusCode::UNAUTHORIZED),
        ("front-proxy-client", &anonymous, StatusCode::UNAUTHORIZED),
        ("front-proxy-client", &with_token, StatusCode::UNAUTHORIZED),
        ("front-proxy-client", &as_admin, StatusCode::FORBIDDEN),
        ("front-proxy-client", &alice, StatusCode::OK),
    ] {
        let client = client(&replicas, name).await;
        let (code, told) = client.told("GET", LEASES, headers, &Value::Null).await;
        assert_eq!(code, expected, "{name} {headers:?}: {told}");
    }
    // A CA that nobody knows ends the connection: TLS 1.3 tells that with the first answer.
    let refused = refused(&replicas, &replicas.kube[0], "stranger").await;
    assert_eq!(refused, AlertDescription::UnknownCA);
}

/// What kube-aggregator asks of a server whose group it hands on: that it is there, as itself, and what it serves.
#[tokio::test]
async fn what_an_aggregating_api_server_asks_is_answered() {
    let replicas = Replicas::start(1, proxied).await;
    let proxy = client(&replicas, "front-proxy-client").await;
    let probe = [
        ("x-remote-user", "system:kube-aggregator"),
        ("x-remote-group", "system:masters"),
        ("accept", "application/json"),
    ];
    let (code, resources) = proxy
        .told("GET", "/apis/synod.io/v1", &probe, &Value::Null)
        .await;
    assert_eq!(
        (code, &resources["kind"]),
        (StatusCode::OK, &json!("APIResourceList"))
    );
    let discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let discovery = [
        ("x-remote-user", "system:kube-aggregator"),
        ("accept", discovery),
    ];
    let (_, groups) = proxy.told("GET", "/apis", &discovery, &Value::Null).await;
    assert_eq!(groups["kind"], "APIGroupDiscoveryList");
    let names = groups["items"].as_array().unwrap().iter();
    let mut names = names.map(|group| &group["metadata"]["name"]);
    assert!(names.any(|name| name == "synod.io"));
    let aggregator = [
        ("x-remote-user", "system:aggregator"),
        ("accept", "application/json"),
    ];
    let (_, swagger) = proxy
        .told("GET", "/openapi/v2", &aggregator, &Value::Null)
        .await;
    assert_eq!(swagger["swagger"], "2.0");
    let (_, index) = proxy
        .told("GET", "/openapi/v3", &aggregator, &Value::Null)
        .await;
    assert!(index["paths"]["apis/synod.io/v1"].is_object());
    // The callers of the API server come over the same connection, each by its own name.
    let members = "/apis/synod.io/v1/members";
    let alice = [
        ("x-remote-user", "alice"),
        ("x-remote-group", "system:authenticated"),
    ];
    let (code, list) = proxy.told("GET", members, &alice, &Value::Null).await;
    assert_eq!(
        (code, &list["kind"]),
        (StatusCode::OK, &json!("MemberList"))
    );
    let (code, _) = proxy.told("GET", members, &probe, &Value::Null).await;
    assert_eq!(code, StatusCode::FORBIDDEN);
}

// Guarantee: TM-16
#[tokio::test]
async fn the_port_for_grpc_believes_no_front_proxy() {
    let replicas = Replicas::start(1, proxied).await;
    let port = &replicas.grpc[0];
    let stream = connect_to(&replicas, port, "reader").await.unwrap();
    assert!(Client::begin(stream).await.is_some());
    let refused = refused(&replicas, port, "front-proxy-client").await;
    assert_eq!(refused, AlertDescription::UnknownCA);
}

// Guarantee: TM-16
#[tokio::test]
async fn a_ca_of_front_proxies_is_none_of_clients() {
    let directory = TempDir::new().unwrap();
    let listen = |config: &mut ReplicaConfig| {
        secured(&directory, config);
        let client = config.security.client.as_mut().unwrap();
        client.proxy_ca.clone_from(&client.trusted_ca);
    };
    let refused = Replicas::refused(listen).await;
    assert!(
        refused.contains("every client could pass for a front proxy"),
        "{refused}"
    );
}
