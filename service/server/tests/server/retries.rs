//! Tests that every changing request, when it is sent again, gets the answer of the first time.

mod migrating;
mod scene;
mod table;

use std::collections::BTreeSet;

use prost_types::FileDescriptorSet;
use synod_proto::v1;
use tonic::codegen::Bytes;

use crate::answers::is_passing;
use crate::cluster::{Clients, Cluster, metrics, within};
use scene::Scene;
use table::{Row, Told, table};

/// A checkpoint is written after this many entries, and few of the entries that it covers are kept.
const CHECKPOINT_ENTRIES: u64 = 10;
const KEPT_ENTRIES: u64 = 1;

/// The requests of the table, made once, in one session.
struct Retries {
    rows: Vec<Row>,
    session: u64,
    first: Vec<Told>,
    /// The revision of the store after the first answers.
    revision: u64,
}

impl Retries {
    async fn make(cluster: &Cluster) -> Self {
        let follower = cluster.follower().await;
        let scene = Scene::set(cluster.connect(follower).await).await;
        let rows = table(&scene);
        let mut clients = cluster.clients(follower).await;
        let opened = clients.sessions.open(v1::SessionsOpenRequest {}).await;
        let session = opened.unwrap().into_inner().session;
        let mut retries = Self {
            rows,
            session,
            first: Vec::new(),
            revision: 0,
        };
        retries.first = retries.send_all(cluster, follower).await;
        for (row, told) in retries.rows.iter().zip(&retries.first) {
            assert!(told.is_ok(), "{}: {told:?}", row.name);
        }
        retries.revision = revision(&mut clients).await;
        retries
    }

    /// A replica's answers to all requests.
    async fn send_all(&self, cluster: &Cluster, replica: u64) -> Vec<Told> {
        let channel = cluster.connect(replica).await;
        let mut told = Vec::new();
        for (row, sequence) in self.rows.iter().zip(1..) {
            let id = v1::RequestId {
                session: self.session,
                sequence,
                // The session treats every answer as not yet received.
                lowest_unanswered: 1,
                cluster_id: String::new(),
            };
            // While a leader is being elected the outcome may be unknown, and the request is sent once more.
            let answered = async {
                loop {
                    match (row.send)(channel.clone(), id.clone()).await {
                        Err(reason) if is_passing(reason) => {}
                        answer => return answer,
                    }
                }
            };
            told.push(within(row.name, answered).await);
        }
        told
    }

    /// Checks that a replica gives the first answers again, and that nothing changes.
    async fn check(&self, cluster: &Cluster, replica: u64, when: &str) {
        let again = self.send_all(cluster, replica).await;
        for ((row, first), again) in self.rows.iter().zip(&self.first).zip(&again) {
            assert_eq!(again, first, "{}, {when}, replica {replica}", row.name);
        }
        let mut clients = cluster.clients(replica).await;
        assert_eq!(revision(&mut clients).await, self.revision, "{when}");
    }

    async fn check_all(&self, cluster: &Cluster, when: &str) {
        for replica in cluster.ids() {
            self.check(cluster, replica, when).await;
        }
    }
}

/// The revision of the store.
async fn revision(clients: &mut Clients) -> u64 {
    let request = v1::ClusterGetSettingsRequest { read: None };
    let settings = within("the settings", clients.cluster.get_settings(request)).await;
    settings.unwrap().into_inner().header.unwrap().revision
}

// Guarantee: W-06
#[tokio::test(flavor = "multi_thread")]
async fn every_retry_gets_the_first_answer_wherever_and_whenever_it_is_sent() {
    let mut cluster = Cluster::start_with(3, |config| {
        config.checkpoint_entries = CHECKPOINT_ENTRIES;
        config.kept_entries = KEPT_ENTRIES;
    })
    .await;
    let retries = Retries::make(&cluster).await;
    retries.check_all(&cluster, "on every replica").await;
    let leader = cluster.leader().await;
    cluster.kill(leader);
    for replica in cluster.ids() {
        cluster.serving(replica).await;
    }
    retries.check_all(&cluster, "after a fail-over").await;
    let others = cluster.ids();
    for replica in &others {
        cluster.kill(*replica);
    }
    for replica in [leader].iter().chain(&others) {
        cluster.restart(*replica).await;
    }
    for replica in cluster.ids() {
        cluster.serving(replica).await;
    }
    retries.check_all(&cluster, "after a restart of all").await;
    // What the others write meanwhile is purged from their logs.
    let lagging = cluster.follower().await;
    cluster.kill(lagging);
    for _ in 0..4 * CHECKPOINT_ENTRIES {
        churn(&cluster).await;
    }
    let now = revision(&mut cluster.clients(cluster.ids()[0]).await).await;
    cluster.restart(lagging).await;
    cluster.serving(lagging).await;
    assert_eq!(installed(&cluster, lagging).await, "1");
    let retries = Retries {
        revision: now,
        ..retries
    };
    retries
        .check(&cluster, lagging, "after a checkpoint was installed")
        .await;
}

/// The metric of how often a replica has installed a checkpoint.
async fn installed(cluster: &Cluster, replica: u64) -> String {
    let text = metrics(cluster.metrics_address(replica)).await;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("synod_checkpoint_install_seconds_count "));
    value.unwrap().to_owned()
}

/// Makes a change and undoes it, in separate entries.
async fn churn(cluster: &Cluster) {
    let mut clients = cluster.clients(cluster.ids()[0]).await;
    let joined = within("a member", clients.join("passing", 86_400_000)).await;
    let leave = v1::MembershipLeaveRequest {
        member: Some(joined),
        drained: true,
        ..v1::MembershipLeaveRequest::default()
    };
    let left = within("a leave", clients.membership.leave(leave)).await;
    left.unwrap();
}

// Guarantee: W-06
#[tokio::test(flavor = "multi_thread")]
async fn every_request_with_an_exactly_once_key_has_a_row() {
    let cluster = Cluster::start(1).await;
    let scene = Scene::set(cluster.connect(1).await).await;
    let rows: BTreeSet<String> = table(&scene)
        .iter()
        .map(|row| row.name.to_owned())
        .collect();
    assert_eq!(rows, requests_with_a_key());
}

/// `Service.Method` of each request that has an exactly-once key.
fn requests_with_a_key() -> BTreeSet<String> {
    let bytes = Bytes::from_static(synod_proto::FILE_DESCRIPTOR_SET);
    let set: FileDescriptorSet = prost::Message::decode(bytes).unwrap();
    let messages = set.file.iter().flat_map(|file| &file.message_type);
    let keyed: BTreeSet<&str> = messages
        .filter(|message| {
            message
                .field
                .iter()
                .any(|field| field.name() == "request_id")
        })
        .map(|message| message.name())
        .collect();
    let services = set.file.iter().flat_map(|file| &file.service);
    let methods = services.flat_map(|service| {
        let methods = service.method.iter();
        methods.map(move |method| (service.name(), method))
    });
    methods
        .filter(|(_, method)| {
            let request = method.input_type().rsplit('.').next().unwrap();
            keyed.contains(request)
        })
        .map(|(service, method)| format!("{service}.{}", method.name()))
        .collect()
}
