//! Tests that every kind of read is as fresh and as exact as asked, or is refused.

use std::time::Duration;

use synod_proto::v1;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use tokio::task::JoinSet;
use tonic::transport::Channel;
use tonic::{Request, Status};

use crate::answers::{hurried, of_replica};
use crate::cluster::{Clients, Cluster, get_deployments, get_member, reason, within};

/// The kinds of reads, one name for each RPC that takes `ReadOptions`.
const READS: [&str; 15] = [
    "member",
    "members",
    "storage version",
    "storage versions",
    "settings",
    "collection",
    "collections",
    "object",
    "objects",
    "snapshot",
    "snapshots",
    "history",
    "lease",
    "leases",
    "candidates",
];

/// Those kinds of reads that are lists in pages.
const LISTS: [&str; 7] = [
    "members",
    "storage versions",
    "collections",
    "objects",
    "snapshots",
    "leases",
    "candidates",
];

/// Clients for all kinds of reads at one replica.
#[derive(Clone)]
struct Reader {
    clients: Clients,
    collections: CollectionsClient<Channel>,
    objects: ObjectsClient<Channel>,
    snapshots: ControllerRevisionsClient<Channel>,
}

/// The parts of an answer that all kinds of reads have.
struct Answer {
    header: v1::ResponseHeader,
    /// The number of items in it.
    items: usize,
    token: String,
}

/// Calls one RPC that answers one object.
macro_rules! one {
    ($client:expr, $method:ident, $request:expr) => {{
        let answer = $client.$method(timely($request)).await?.into_inner();
        Answer {
            header: answer.header.unwrap(),
            items: 1,
            token: String::new(),
        }
    }};
}

/// Calls one RPC that answers a page.
macro_rules! page {
    ($client:expr, $method:ident, $request:expr) => {{
        let answer = $client.$method(timely($request)).await?.into_inner();
        Answer {
            header: answer.header.unwrap(),
            items: answer.items.len(),
            token: answer.continue_token,
        }
    }};
}

fn timely<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(Duration::from_secs(30));
    request
}

fn widgets() -> v1::GroupResource {
    v1::GroupResource {
        group: "example.io".to_owned(),
        resource: "widgets".to_owned(),
    }
}

fn lease(name: &str) -> v1::LeaseKey {
    v1::LeaseKey {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

fn object(name: &str) -> v1::ObjectKey {
    v1::ObjectKey {
        resource: Some(widgets()),
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

fn history() -> v1::ControllerHistory {
    v1::ControllerHistory {
        namespace: "default".to_owned(),
        owner: Some(v1::OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "StatefulSet".to_owned(),
            name: "web".to_owned(),
            uid: "3c83e878-eeb1-8b29-b351-e7ab275f5371".to_owned(),
            ..v1::OwnerReference::default()
        }),
        selector: Default::default(),
    }
}

impl Reader {
    async fn of(cluster: &Cluster, id: u64) -> Self {
        let channel = cluster.connect(id).await;
        Self {
            clients: cluster.clients(id).await,
            collections: CollectionsClient::new(channel.clone()),
            objects: ObjectsClient::new(channel.clone()),
            snapshots: ControllerRevisionsClient::new(channel),
        }
    }

    /// Creates two objects of each kind, and one more resource. Returns the name of a snapshot.
    async fn fill(&mut self) -> String {
        for resource in ["gadgets", "widgets"] {
            let create = v1::CollectionsCreateRequest {
                resource: Some(v1::GroupResource {
                    resource: resource.to_owned(),
                    ..widgets()
                }),
                kind: resource.to_uppercase(),
                namespaced: true,
                ..Default::default()
            };
            self.collections.create(create).await.unwrap();
        }
        let mut snapshot = String::new();
        for (number, name) in ["one", "two"].into_iter().enumerate() {
            let member = self.clients.join(name, 3_600_000).await;
            self.clients.report(&member, "apps/v1").await;
            let create = v1::ObjectsCreateRequest {
                key: Some(object(name)),
                content: Some(v1::ObjectContent {
                    encoding_version: "example.io/v1".to_owned(),
                    media_type: "application/json".to_owned(),
                    data: b"{}".to_vec().into(),
                }),
                ..Default::default()
            };
            self.objects.create(create).await.unwrap();
            let create = v1::ControllerRevisionsCreateRequest {
                history: Some(history()),
                data: format!("{{\"size\":{number}}}").into(),
                collision_count: Some(0),
                ..Default::default()
            };
            let created = self.snapshots.create(create).await.unwrap();
            snapshot = created.into_inner().answer.unwrap().name;
            let acquire = v1::LeasesAcquireRequest {
                lease: Some(lease(name)),
                holder: "h".to_owned(),
                ttl_ms: Some(3_600_000),
                ..Default::default()
            };
            self.clients.leases.acquire(acquire).await.unwrap();
            self.stand(name).await;
        }
        snapshot
    }

    async fn stand(&mut self, name: &str) {
        let put = v1::LeasesPutCandidateRequest {
            candidate: Some(v1::LeaseContender {
                lease: Some(lease(name)),
                identity: "c".to_owned(),
            }),
            binary_version: "1.33.0".to_owned(),
            strategy: "example.com/Mine".to_owned(),
            ttl_ms: Some(3_600_000),
            ..Default::default()
        };
        self.clients.leases.put_candidate(put).await.unwrap();
    }

    /// Reads one object, or a whole history.
    async fn one(
        &mut self,
        what: &str,
        read: Option<v1::ReadOptions>,
        snapshot: &str,
    ) -> Result<Answer, Status> {
        let clients = &mut self.clients;
        Ok(match what {
            "member" => {
                let request = v1::MembershipGetRequest {
                    read,
                    ..get_member("one")
                };
                one!(clients.membership, get, request)
            }
            "storage version" => one!(clients.storage_versions, get, get_deployments(read)),
            "settings" => {
                let request = v1::ClusterGetSettingsRequest { read };
                one!(clients.cluster, get_settings, request)
            }
            "collection" => {
                let resource = Some(widgets());
                let request = v1::CollectionsGetRequest { resource, read };
                one!(self.collections, get, request)
            }
            "object" => {
                let key = Some(object("one"));
                let request = v1::ObjectsGetRequest { key, read };
                one!(self.objects, get, request)
            }
            "snapshot" => {
                let request = v1::ControllerRevisionsGetRequest {
                    namespace: "default".to_owned(),
                    name: snapshot.to_owned(),
                    read,
                };
                one!(self.snapshots, get, request)
            }
            "history" => {
                let request = v1::ControllerRevisionsHistoryRequest {
                    history: Some(history()),
                    read,
                    ..Default::default()
                };
                page!(self.snapshots, history, request)
            }
            "lease" => {
                let lease = Some(lease("one"));
                one!(clients.leases, get, v1::LeasesGetRequest { lease, read })
            }
            other => panic!("nothing reads {other}"),
        })
    }

    /// Reads a page of a list.
    async fn list(
        &mut self,
        what: &str,
        read: Option<v1::ReadOptions>,
        continue_token: &str,
    ) -> Result<Answer, Status> {
        let continue_token = continue_token.to_owned();
        let page_size = Some(1);
        macro_rules! list {
            ($client:expr, $method:ident, $request:ident, { $($more:tt)* }) => {
                page!($client, $method, v1::$request {
                    read,
                    page_size,
                    continue_token,
                    continue_at_present: false,
                    $($more)*
                })
            };
        }
        let clients = &mut self.clients;
        Ok(match what {
            "members" => list!(clients.membership, list, MembershipListRequest, {
                ..Default::default()
            }),
            "storage versions" => {
                list!(clients.storage_versions, list, StorageVersionsListRequest, {
                    include_unreported: true,
                })
            }
            "collections" => list!(self.collections, list, CollectionsListRequest, {}),
            "objects" => list!(self.objects, list, ObjectsListRequest, {
                resource: Some(widgets()),
                ..Default::default()
            }),
            "snapshots" => list!(self.snapshots, list, ControllerRevisionsListRequest, {
                ..Default::default()
            }),
            "leases" => list!(clients.leases, list, LeasesListRequest, {
                ..Default::default()
            }),
            "candidates" => {
                let request = v1::LeasesListCandidatesRequest {
                    lease: None,
                    read,
                    continue_token,
                    continue_at_present: false,
                };
                page!(clients.leases, list_candidates, request)
            }
            other => panic!("nothing lists {other}"),
        })
    }

    async fn ask(
        &mut self,
        what: &str,
        read: v1::ReadOptions,
        snapshot: &str,
    ) -> Result<Answer, Status> {
        if LISTS.contains(&what) {
            self.list(what, Some(read), "").await
        } else {
            self.one(what, Some(read), snapshot).await
        }
    }
}

fn at(revision: u64) -> v1::ReadOptions {
    v1::ReadOptions {
        at_revision: Some(revision),
        ..Default::default()
    }
}

fn from(revision: u64) -> v1::ReadOptions {
    v1::ReadOptions {
        min_revision: Some(revision),
        ..Default::default()
    }
}

fn stale(most: Duration) -> v1::ReadOptions {
    v1::ReadOptions {
        max_staleness_ms: Some(u64::try_from(most.as_millis()).unwrap()),
        ..Default::default()
    }
}

// Guarantee: R-08
#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_read_at_a_revision_from_one_on_and_no_staler_than_asked() {
    let cluster = Cluster::start(3).await;
    let mut writer = Reader::of(&cluster, 1).await;
    let begun = writer.one("settings", None, "").await.unwrap();
    let begun = begun.header.revision;
    let snapshot = writer.fill().await;
    let filled = writer.one("settings", None, "").await.unwrap();
    let filled = filled.header.revision;
    for id in cluster.ids() {
        let mut reader = Reader::of(&cluster, id).await;
        for what in READS {
            let then = reader.ask(what, at(filled), &snapshot).await.unwrap();
            assert_eq!(then.header.revision, filled, "{what} at {id}");
            assert!(then.items > 0, "{what} at {id}");
            let seen = reader.ask(what, from(filled), &snapshot).await.unwrap();
            assert!(seen.header.revision >= filled, "{what} at {id}");
            let most = Duration::from_secs(30);
            let seen = reader.ask(what, stale(most), &snapshot).await.unwrap();
            assert!(seen.header.age_ms.unwrap() <= 30_000, "{what} at {id}");
            let refused = reader.ask(what, at(filled + 1_000), &snapshot).await;
            let refused = refused.err().unwrap_or_else(|| panic!("{what} at {id}"));
            assert_eq!(reason(&refused), "FUTURE_REVISION", "{what} at {id}");
            // At the revision before they were created, none of the objects existed.
            match reader.ask(what, at(begun), &snapshot).await {
                Ok(answer) if what == "settings" => assert_eq!(answer.items, 1),
                Ok(answer) => assert_eq!(answer.items, 0, "{what} at {id}"),
                Err(refused) => assert_eq!(reason(&refused), "NOT_FOUND", "{what} at {id}"),
            }
        }
    }
}

// Guarantee: R-08
#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_one_replica_is_honoured_by_another_for_every_kind() {
    let cluster = Cluster::start(3).await;
    let mut first = Reader::of(&cluster, 1).await;
    first.fill().await;
    let mut pages = Vec::new();
    for what in LISTS {
        let page = first.list(what, None, "").await.unwrap();
        pages.push((what, page));
    }
    first.stand("three").await;
    let mut second = Reader::of(&cluster, 2).await;
    for (what, page) in pages {
        if what == "candidates" {
            // The replica chooses the size of these pages: here all items are on the first.
            assert_eq!((page.items, page.token.as_str()), (2, ""));
            continue;
        }
        assert_eq!(page.items, 1, "{what}");
        let next = second.list(what, None, &page.token).await.unwrap();
        assert_eq!(next.header.revision, page.header.revision, "{what}");
        assert_eq!(next.items, 1, "{what}");
        assert_ne!(next.header.replica_id, page.header.replica_id, "{what}");
    }
}

// Guarantee: R-08
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_cut_off_refuses_every_kind_beyond_the_bound_and_answers_within_it() {
    let mut cluster = Cluster::start_usual(3).await;
    let mut writer = Reader::of(&cluster, 1).await;
    let snapshot = writer.fill().await;
    let alone = cluster.follower().await;
    let mut reader = Reader::of(&cluster, alone).await;
    // It has applied what is asked for below, and the others have just answered it.
    reader.one("settings", None, "").await.unwrap();
    let others = cluster.ids().into_iter().filter(|id| *id != alone);
    for id in others.collect::<Vec<_>>() {
        cluster.kill(id);
    }
    let most = Duration::from_secs(1);
    within("a read to be too stale", async {
        while reader.ask("settings", stale(most), "").await.is_ok() {}
    })
    .await;
    // A refusal takes as long as the others may be hoped to come back.
    let mut asking = JoinSet::new();
    for what in READS {
        let (mut reader, snapshot) = (reader.clone(), snapshot.clone());
        asking.spawn(async move {
            let refused = reader.ask(what, stale(most), &snapshot).await;
            let refused = refused.err().unwrap_or_else(|| panic!("{what}"));
            assert_eq!(reason(&refused), "UNAVAILABLE", "{what}");
            let patient = stale(Duration::from_secs(600));
            let answer = reader.ask(what, patient, &snapshot).await;
            let answer = answer.unwrap_or_else(|refused| panic!("{what}: {refused}"));
            assert!(answer.header.age_ms.unwrap() > 0, "{what}");
            // Revisions that it has applied can still be read.
            let has = from(answer.header.revision);
            reader.ask(what, has, &snapshot).await.unwrap();
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked.unwrap();
    }
    // A revision that is not applied yet cannot arrive without the others.
    let refused = hurried("the refusal of a read", async |patience| {
        let mut request = Request::new(v1::LeasesGetRequest {
            lease: Some(lease("one")),
            read: Some(from(1_000_000)),
        });
        request.set_timeout(patience);
        of_replica(reader.clients.leases.get(request).await)
    });
    assert_eq!(reason(&refused.await.unwrap_err()), "DEADLINE_EXCEEDED");
}
