//! A replica with one migration, its workers, and the Kubernetes API in front of it.

use serde_json::{Value, json};
use synod_client::Client;
use synod_model::ErrorKind;
use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::migrations_client::MigrationsClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;
use tonic::Code;
use tonic::transport::Channel;

use super::texts;
use crate::api::{Answer, Api};
use crate::own::MIGRATIONS;
use crate::replicas::Replicas;

/// A replica at which one member reports one resource, so that a migration of it waits.
pub(super) struct Stage {
    replicas: Replicas,
    pub(super) api: Api,
    pub(super) workers: MigrationsClient<Channel>,
    resource: v1::GroupResource,
}

/// The claim of a worker.
pub(super) type Claim = v1::ClaimKey;

/// Whether something may still land that was written before anybody spoke.
fn is_draining(status: &tonic::Status) -> bool {
    synod_proto::status::from_status(status).kind == ErrorKind::Draining
}

impl Stage {
    pub(super) async fn encoding(group: &str, plural: &str, version: &str) -> Self {
        let replicas = Replicas::one().await;
        replicas.raised().await;
        let channel = replicas.channel().await;
        // What was written before anybody spoke lands soon, so that no case waits long for it.
        let patch = v1::ClusterUpdateSettingsRequest {
            patch: Some(v1::SettingsPatch {
                write_grace_ms: Some(1_000),
                ..v1::SettingsPatch::default()
            }),
            ..v1::ClusterUpdateSettingsRequest::default()
        };
        let mut cluster = ClusterClient::new(channel.clone());
        cluster.update_settings(patch).await.unwrap();
        let resource = v1::GroupResource {
            group: group.to_owned(),
            resource: plural.to_owned(),
        };
        let mut members = MembershipClient::new(channel.clone());
        let join = v1::MembershipJoinRequest {
            id: "server".to_owned(),
            instance: "server".to_owned(),
            ..v1::MembershipJoinRequest::default()
        };
        let joined = members.join(join).await.unwrap().into_inner();
        let report = v1::StorageVersionsReportRequest {
            member: Some(v1::MemberEpoch {
                member: "server".to_owned(),
                epoch: joined.epoch,
                cluster_id: String::new(),
            }),
            entries: vec![v1::ReportEntry {
                resource: Some(resource.clone()),
                kind: "Kind".to_owned(),
                decodable_versions: vec![version.to_owned()],
                served_versions: vec![version.to_owned()],
                stance: Some(v1::report_entry::Stance::EncodingVersion(
                    version.to_owned(),
                )),
                serve_until_ms: None,
                stored: v1::StoredIn::Outside.into(),
                equivalents: Vec::new(),
            }],
            number: 1,
            ..v1::StorageVersionsReportRequest::default()
        };
        let mut versions = StorageVersionsClient::new(channel.clone());
        versions.report(report).await.unwrap();
        Self {
            api: Api::of(&replicas),
            replicas,
            workers: MigrationsClient::new(channel),
            resource,
        }
    }

    /// A client of the replica by gRPC.
    pub(super) async fn client(&self) -> Client {
        let endpoints = self.replicas.grpc.clone();
        Client::builder()
            .endpoints(endpoints)
            .connect()
            .await
            .unwrap()
    }

    /// The document of a migration of the resource under this name.
    pub(super) fn document(&self, name: &str) -> Value {
        json!({
            "apiVersion": "storagemigration.k8s.io/v1beta1",
            "kind": "StorageVersionMigration",
            "metadata": { "name": name },
            "spec": { "resource": {
                "group": self.resource.group,
                "resource": self.resource.resource,
            }},
        })
    }

    /// The migrations, as the Kubernetes API lists them.
    pub(super) async fn list(&self) -> Vec<Value> {
        let list = self.api.get(MIGRATIONS).await.body;
        list["items"].as_array().unwrap().clone()
    }

    /// The name of the only migration.
    pub(super) async fn only(&self) -> String {
        let list = self.list().await;
        assert_eq!(list.len(), 1, "{list:?}");
        list[0]["metadata"]["name"].as_str().unwrap().to_owned()
    }

    /// A migration, as the Kubernetes API shows it.
    pub(super) async fn shown(&self, name: &str) -> Value {
        let answer = self.api.get(&path(name)).await;
        assert_eq!(answer.code, 200, "{answer:?}");
        answer.body
    }

    /// Claims a migration; `None` if it cannot be claimed now.
    pub(super) async fn claim(&self, migration: &str, worker: &str) -> Option<Claim> {
        let request = v1::MigrationsClaimRequest {
            name: migration.to_owned(),
            worker: worker.to_owned(),
            ..v1::MigrationsClaimRequest::default()
        };
        loop {
            match self.workers.clone().claim(request.clone()).await {
                Ok(claimed) => {
                    return Some(Claim {
                        migration: migration.to_owned(),
                        token: claimed.into_inner().token,
                        cluster_id: String::new(),
                    });
                }
                Err(status) if is_draining(&status) => tokio::task::yield_now().await,
                Err(status) => {
                    assert_ne!(status.code(), Code::InvalidArgument, "{status}");
                    return None;
                }
            }
        }
    }

    pub(super) async fn complete(&self, claim: &Claim) -> bool {
        let request = v1::MigrationsCompleteRequest {
            request_id: None,
            claim: Some(claim.clone()),
        };
        self.workers.clone().complete(request).await.is_ok()
    }

    pub(super) async fn fail(&self, claim: &Claim, class: v1::FailureClass) -> bool {
        let request = v1::MigrationsFailRequest {
            stop: v1::WorkerStop::AllAnswered.into(),
            request_id: None,
            claim: Some(claim.clone()),
            class: class.into(),
            reason: "objects cannot be updated".to_owned(),
        };
        self.workers.clone().fail(request).await.is_ok()
    }

    pub(super) async fn progress(&self, claim: &Claim) -> bool {
        let request = v1::MigrationsProgressRequest {
            request_id: None,
            claim: Some(claim.clone()),
            progress: None,
        };
        self.workers.clone().progress(request).await.is_ok()
    }

    pub(super) async fn retry(&self, migration: &str) -> bool {
        let request = v1::MigrationsRetryRequest {
            name: migration.to_owned(),
            ..v1::MigrationsRetryRequest::default()
        };
        self.workers.clone().retry(request).await.is_ok()
    }
}

/// The document of a ControllerRevision with this controller: its version, kind and name.
pub(super) fn controller_revision(name: &str, controller: [&str; 3]) -> Value {
    let [version, kind, owner] = controller;
    json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "ownerReferences": [{
                "apiVersion": version,
                "kind": kind,
                "name": owner,
                "uid": "8a9bd7e4-5b1f-4f3a-9a53-3f7f9a6a2c11",
                "controller": true,
            }],
        },
        "data": {},
        "revision": 1,
    })
}

/// The path of a migration.
pub(super) fn path(name: &str) -> String {
    format!("{MIGRATIONS}/{name}")
}

/// The message of a refusal; `None` if the request was carried out.
pub(super) fn error(answer: &Answer) -> Option<&str> {
    match answer.code {
        200 | 201 => None,
        _ => answer.body["message"].as_str(),
    }
}

/// The conditions of a migration: type, status and reason of each.
pub(super) fn conditions(shown: &Value) -> Vec<[String; 3]> {
    let all = shown["status"]["conditions"].as_array();
    let of = |condition: &Value| {
        ["type", "status", "reason"].map(|field| condition[field].as_str().unwrap().to_owned())
    };
    all.into_iter().flatten().map(of).collect()
}

/// The condition of this type; `null` if the migration has none.
pub(super) fn condition(shown: &Value, kind: &str) -> Value {
    let found = conditions(shown).into_iter().find(|[own, ..]| own == kind);
    json!(found)
}

/// Whether each expected condition is among those of a migration, as far as it is expected.
pub(super) fn are_among(shown: &Value, expected: &Value) -> bool {
    let found = conditions(shown);
    let is_met = |one: &Value| {
        let wanted = texts(one);
        let starts = |own: &[String; 3]| own.iter().zip(&wanted).all(|(own, one)| own == one);
        found.iter().any(starts)
    };
    expected.as_array().unwrap().iter().all(is_met)
}
