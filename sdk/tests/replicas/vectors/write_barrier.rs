//! `write_barrier.json`: each row through a real HTTP server.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::Value;
use synod_client::{Client, GateLayer, JoinOptions, Membership};

use super::suite::{self, Case};
use super::{expect, text};
use crate::cluster::{Cluster, fixed, id, within};
use crate::http::{Answer, Server};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";
const STORAGE_VERSIONS: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
const TOKEN_REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const NAMESPACES: &str = "/api/v1/namespaces";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
/// A path that begins like that of a resource and names none.
const UNREADABLE: &str = "/api/v1/watch";

#[test]
fn every_row_passes_or_waits_at_a_real_http_server() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let cluster = runtime.block_on(Cluster::start(1));
    suite::run("write_barrier.json", 17, &[], |section, case| {
        runtime.block_on(async {
            let stage = Stage::set(&cluster.client().await).await;
            let checked = match case.whole() {
                Value::String(rule) => stage.check_rule(rule).await,
                _ => stage.check_row(section, case).await,
            };
            within(stage.membership.leave(Duration::ZERO))
                .await
                .unwrap();
            checked
        })
    });
}

/// An API server that has joined and not reported.
struct Stage {
    membership: Membership,
    server: Server,
}

impl Stage {
    async fn set(client: &Client) -> Self {
        let membership = within(client.join(JoinOptions::new(id("server"))))
            .await
            .unwrap();
        let layer = GateLayer::new(membership.gate());
        let server = Server::start(layer, membership.gate()).await;
        Self { membership, server }
    }

    async fn report(&self) {
        let entries = [
            "configmaps",
            "customresourcedefinitions.apiextensions.k8s.io",
            "namespaces",
            "things.example.com",
        ];
        let entries = entries.map(|name| fixed(name, &["v1"], "v1"));
        within(self.membership.report(entries.to_vec()))
            .await
            .unwrap();
    }

    async fn post(&self, path: &str) -> Answer {
        self.server.send(Method::POST, path).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.server.send(Method::GET, path).await
    }

    /// Sends a write before and after the report.
    async fn check_row(&self, section: &str, row: &Case<'_>) -> Result<(), String> {
        let (method, path) = request_of(text(row, "request"));
        let before = self.server.send(method.clone(), path).await;
        expect(verdict(&before), text(row, "beforeReport"))?;
        self.report().await;
        let after = self.server.send(method, path).await;
        // A derived row only says that the write has to wait.
        let expected = match section {
            "derived" => "pass",
            _ => text(row, "afterReport"),
        };
        expect(verdict(&after), expected)
    }

    /// Sends the requests of a rule, before the report unless the rule says otherwise.
    async fn check_rule(&self, rule: &str) -> Result<(), String> {
        let (when, expected) = match rule.strip_prefix("else ") {
            Some(expected) => ("else", expected),
            None => rule.split_once(" -> ").ok_or("no rule and verdict")?,
        };
        let sent = match when {
            "manager absent" => {
                let layer = GateLayer::absent();
                let server = Server::start(layer, self.membership.gate()).await;
                vec![server.send(Method::POST, CONFIG_MAPS).await]
            }
            "manager completed" => {
                self.report().await;
                // The server itself then refuses a request that cannot be parsed.
                vec![self.post(CONFIG_MAPS).await, self.post(UNREADABLE).await]
            }
            "no RequestInfo" => vec![self.post(UNREADABLE).await],
            "non-resource request" => vec![self.post("/metrics").await, self.post("/api").await],
            "verb get/list/watch" => vec![
                self.get(&format!("{CONFIG_MAPS}/one")).await,
                self.get(&format!("{CONFIG_MAPS}?watch=true")).await,
                self.get(CONFIG_MAPS).await,
            ],
            "internal.apiserver.k8s.io/storageversions any verb" => {
                let one = format!("{STORAGE_VERSIONS}/core.pods");
                vec![
                    self.server.send(Method::PUT, &one).await,
                    self.server.send(Method::DELETE, STORAGE_VERSIONS).await,
                ]
            }
            "create core namespaces by user system:apiserver in group system:masters" => {
                vec![self.post(NAMESPACES).await]
            }
            "coordination.k8s.io/leases in kube-system" => vec![self.post(LEASES).await],
            "resource not pending" => {
                self.report().await;
                vec![self.post(THINGS).await]
            }
            "else" => vec![self.post(CONFIG_MAPS).await],
            other => return Err(format!("no request is known for {other:?}")),
        };
        sent.iter()
            .try_for_each(|answer| expect(verdict(answer), expected))
    }
}

fn request_of(row: &str) -> (Method, &'static str) {
    let path = match row {
        "create core configmap (built-in)" => CONFIG_MAPS,
        "create CustomResourceDefinition" => DEFINITIONS,
        "create custom resource" => THINGS,
        "create StorageVersion" => STORAGE_VERSIONS,
        "create TokenReview (not persisted)" => TOKEN_REVIEWS,
        "create namespace by an ordinary user" => NAMESPACES,
        "deletecollection configmaps" => return (Method::DELETE, CONFIG_MAPS),
        other => panic!("no request is known for {other:?}"),
    };
    (Method::POST, path)
}

/// The name of an answer in the file. A write that has to wait gets the file's message.
fn verdict(answer: &Answer) -> &'static str {
    match answer.status {
        StatusCode::OK => "pass",
        StatusCode::SERVICE_UNAVAILABLE => {
            let status: Value = serde_json::from_str(&answer.body).unwrap();
            assert_eq!(status["reason"], "ServiceUnavailable");
            let message = status["message"].as_str().unwrap();
            let words = "wait for storage version registration to complete for resource: ";
            let rest = message.strip_prefix(words).expect(message);
            assert!(rest.ends_with(", last seen error: <nil>"), "{message}");
            "503"
        }
        StatusCode::INTERNAL_SERVER_ERROR => "500",
        _ => "something else",
    }
}
