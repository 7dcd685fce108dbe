//! Protobuf, as typed clients of Kubernetes send and take it. The messages here are written down apart from those of the replica.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use prost::Message;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::own::{MIGRATIONS, report};
use crate::replicas::{PATIENCE, Replicas};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/n/leases";

#[derive(Clone, PartialEq, Message)]
struct TypeMeta {
    #[prost(string, tag = "1")]
    api_version: String,
    #[prost(string, tag = "2")]
    kind: String,
}

#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ObjectMeta {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    resource_version: String,
    #[prost(message, optional, tag = "8")]
    creation_timestamp: Option<Time>,
}

#[derive(Clone, PartialEq, Message)]
struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseSpec {
    #[prost(string, optional, tag = "1")]
    holder: Option<String>,
    #[prost(int32, optional, tag = "2")]
    seconds: Option<i32>,
    #[prost(message, optional, tag = "3")]
    acquired: Option<Time>,
    #[prost(message, optional, tag = "4")]
    renewed: Option<Time>,
    #[prost(int32, optional, tag = "5")]
    transitions: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct Lease {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    spec: Option<LeaseSpec>,
}

#[derive(Clone, PartialEq, Message)]
struct ListMeta {
    #[prost(string, tag = "2")]
    resource_version: String,
    #[prost(string, tag = "3")]
    next: String,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseList {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(message, repeated, tag = "2")]
    items: Vec<Lease>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "2")]
    status: String,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(int32, tag = "6")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct RawExtension {
    #[prost(bytes = "vec", tag = "1")]
    raw: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct WatchEvent {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Message)]
struct PartialList {
    #[prost(message, repeated, tag = "2")]
    items: Vec<Partial>,
}

#[derive(Clone, PartialEq, Message)]
struct Partial {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
}

#[derive(Clone, PartialEq, Message)]
struct GroupResource {
    #[prost(string, tag = "1")]
    group: String,
    #[prost(string, tag = "2")]
    resource: String,
}

#[derive(Clone, PartialEq, Message)]
struct MigrationSpec {
    #[prost(message, optional, tag = "1")]
    resource: Option<GroupResource>,
}

#[derive(Clone, PartialEq, Message)]
struct Migration {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    spec: Option<MigrationSpec>,
}

/// A message in its envelope.
fn enveloped(message: &impl Message) -> Vec<u8> {
    let unknown = Unknown {
        type_meta: None,
        raw: message.encode_to_vec(),
    };
    [b"k8s\0", &unknown.encode_to_vec()[..]].concat()
}

/// The message in an envelope, of which this kind is expected.
fn opened<T: Message + Default>(bytes: &[u8], kind: &str) -> T {
    let unknown = bytes.strip_prefix(b"k8s\0").unwrap();
    let unknown = Unknown::decode(unknown).unwrap();
    assert_eq!(unknown.type_meta.unwrap().kind, kind);
    T::decode(&unknown.raw[..]).unwrap()
}

fn told<T: Message + Default>(answer: &Answer, kind: &str) -> T {
    let media = format!("content-type: {PROTOBUF}\r\n");
    let headers = format!("{}\r\n", answer.headers);
    assert!(headers.contains(&media), "{headers}");
    opened(&answer.bytes, kind)
}

fn lease(name: &str, holder: &str) -> Lease {
    Lease {
        metadata: Some(ObjectMeta {
            name: name.to_owned(),
            ..ObjectMeta::default()
        }),
        spec: Some(LeaseSpec {
            holder: Some(holder.to_owned()),
            seconds: Some(3_600),
            ..LeaseSpec::default()
        }),
    }
}

async fn send(api: &Api, method: &str, path: &str, accept: &str, body: &[u8]) -> Answer {
    let headers = [("content-type", PROTOBUF), ("accept", accept)];
    api.send(method, path, &headers, body).await
}

fn name(lease: &Lease) -> &str {
    &lease.metadata.as_ref().unwrap().name
}

#[tokio::test]
async fn a_typed_client_writes_reads_and_lists_leases() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let created = send(&api, "POST", LEASES, BOTH, &enveloped(&lease("a", "x"))).await;
    assert_eq!(created.code, 201);
    let mut created: Lease = told(&created, "Lease");
    let spec = created.spec.clone().unwrap();
    assert_eq!(
        (spec.holder.as_deref(), spec.seconds),
        (Some("x"), Some(3_600))
    );
    assert!(spec.acquired.unwrap().seconds > 1_700_000_000);
    let metadata = created.metadata.clone().unwrap();
    assert!(!metadata.uid.is_empty() && metadata.creation_timestamp.unwrap().seconds > 0);
    // What was told can be sent back: released, and refused to who comes too late.
    created.spec = Some(LeaseSpec::default());
    let path = format!("{LEASES}/a");
    let released = send(&api, "PUT", &path, BOTH, &enveloped(&created)).await;
    let released: Lease = told(&released, "Lease");
    assert_eq!(released.spec.unwrap().holder.as_deref(), Some(""));
    let late = send(&api, "PUT", &path, BOTH, &enveloped(&created)).await;
    let late: Status = told(&late, "Status");
    assert_eq!((late.code, late.reason.as_str()), (409, "Conflict"));
    send(&api, "POST", LEASES, BOTH, &enveloped(&lease("b", "y"))).await;
    let list = api.get_as(&format!("{LEASES}?limit=1"), PROTOBUF).await;
    let list: LeaseList = told(&list, "LeaseList");
    assert_eq!(list.items.iter().map(name).collect::<Vec<_>>(), ["a"]);
    let next = list.metadata.unwrap().next;
    let rest = api
        .get_as(&format!("{LEASES}?limit=1&continue={next}"), PROTOBUF)
        .await;
    let rest: LeaseList = told(&rest, "LeaseList");
    assert_eq!(rest.items.iter().map(name).collect::<Vec<_>>(), ["b"]);
    // It is the same lease in JSON.
    let read = api.get(&format!("{LEASES}/b")).await;
    assert_eq!(read.body["spec"]["holderIdentity"], "y");
    let missing = api.get_as(&format!("{LEASES}/c"), BOTH).await;
    let missing: Status = told(&missing, "Status");
    assert_eq!((missing.code, missing.status.as_str()), (404, "Failure"));
}

#[tokio::test]
async fn a_watch_is_one_message_after_the_other() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    send(&api, "POST", LEASES, BOTH, &enveloped(&lease("a", "x"))).await;
    let accept = "application/vnd.kubernetes.protobuf;stream=watch,application/json";
    let path = format!("{LEASES}?watch=1&timeoutSeconds=2&allowWatchBookmarks=1");
    let stream = api.begin("GET", &path, &[("accept", accept)], b"").await;
    let mut events = Events::of(stream).await;
    let (event, object) = events.next().await.unwrap();
    assert_eq!(event, "ADDED");
    assert_eq!(name(&opened(&object, "Lease")), "a");
    send(&api, "POST", LEASES, BOTH, &enveloped(&lease("b", "y"))).await;
    // Bookmarks come whenever there is something to tell by them, and at the end.
    let mut rest = Vec::new();
    while let Some((event, object)) = events.next().await {
        let lease: Lease = opened(&object, "Lease");
        let metadata = lease.metadata.unwrap();
        assert!(metadata.resource_version.parse::<u64>().is_ok());
        rest.push(format!("{event} {}", metadata.name));
    }
    assert_eq!(rest.last().unwrap(), "BOOKMARK ");
    rest.retain(|event| event != "BOOKMARK ");
    assert_eq!(rest, ["ADDED b"]);
}

/// The events of a watch over HTTP/1.1.
struct Events {
    stream: BufReader<TcpStream>,
    bytes: Vec<u8>,
}

impl Events {
    async fn of(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            timeout(PATIENCE, stream.read_line(&mut head))
                .await
                .unwrap()
                .unwrap();
        }
        let media = "content-type: application/vnd.kubernetes.protobuf;stream=watch\r\n";
        assert!(head.to_lowercase().contains(media), "{head}");
        Self {
            stream,
            bytes: Vec::new(),
        }
    }

    /// The next event and its object; `None` at the clean end.
    async fn next(&mut self) -> Option<(String, Vec<u8>)> {
        loop {
            if let Some((length, rest)) = self.bytes.split_first_chunk() {
                let length = u32::from_be_bytes(*length) as usize;
                if let Some((event, rest)) = rest.split_at_checked(length) {
                    let event = WatchEvent::decode(event).unwrap();
                    self.bytes = rest.to_vec();
                    return Some((event.name, event.object.unwrap().raw));
                }
            }
            let chunk = timeout(PATIENCE, self.chunk()).await.unwrap();
            if chunk.is_empty() {
                assert_eq!(self.bytes, b"");
                return None;
            }
            self.bytes.extend(chunk);
        }
    }

    async fn chunk(&mut self) -> Vec<u8> {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.unwrap();
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut chunk = vec![0; length + 2];
        self.stream.read_exact(&mut chunk).await.unwrap();
        chunk.truncate(length);
        chunk
    }
}

#[tokio::test]
async fn a_typed_client_creates_and_deletes_a_migration_under_its_name() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let mine = Migration {
        metadata: Some(ObjectMeta {
            name: "mine".to_owned(),
            ..ObjectMeta::default()
        }),
        spec: Some(MigrationSpec {
            resource: Some(GroupResource {
                group: "apps".to_owned(),
                resource: "deployments".to_owned(),
            }),
        }),
    };
    let created = send(&api, "POST", MIGRATIONS, PROTOBUF, &enveloped(&mine)).await;
    assert_eq!(created.code, 201, "{created:?}");
    let created: Migration = told(&created, "StorageVersionMigration");
    assert_eq!(created.spec, mine.spec);
    let metadata = created.metadata.unwrap();
    assert_eq!(metadata.name, "mine");
    let path = format!("{MIGRATIONS}/mine");
    let deleted = send(&api, "DELETE", &path, PROTOBUF, b"").await;
    let deleted: Status = told(&deleted, "Status");
    assert_eq!(deleted.status, "Success");
    assert_eq!(api.get(&path).await.code, 404);
}

#[tokio::test]
async fn an_object_of_a_collection_has_no_message() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    assert_eq!(api.post(WIDGETS, &widget("a", 1)).await.code, 201);
    let refused = send(&api, "POST", WIDGETS, BOTH, &enveloped(&lease("b", "x"))).await;
    let status: Status = told(&refused, "Status");
    assert_eq!((refused.code, status.code), (415, 415));
    let alone = api.get_as(&format!("{WIDGETS}/a"), PROTOBUF).await;
    assert_eq!(alone.code, 406);
    let either = api.get_as(&format!("{WIDGETS}/a"), BOTH).await;
    assert_eq!(
        (either.code, &either.body["spec"]["size"]),
        (200, &json!(1))
    );
    // Its metadata has one.
    let metadata = format!("{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    let list = api.get_as(WIDGETS, &metadata).await;
    let list: PartialList = told(&list, "PartialObjectMetadataList");
    assert_eq!(list.items[0].metadata.as_ref().unwrap().name, "a");
    for number in 0..510 {
        api.post(WIDGETS, &widget(&format!("w{number:03}"), 0))
            .await;
    }
    // A message begins with its length, so nobody gets one of more than a page.
    let long = api.get_as(WIDGETS, &metadata).await;
    assert_eq!((long.code, &long.body["code"]), (406, &json!(406)));
    let json = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let long = api.get_as(WIDGETS, &format!("{metadata},{json}")).await;
    assert_eq!(long.body["items"].as_array().unwrap().len(), 511);
}

// Guarantee: TM-17
#[tokio::test(flavor = "multi_thread")]
async fn whatever_bytes_come_are_answered() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let good = enveloped(&lease("a", "x"));
    let bodies = || {
        let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
        let end = any::<prop::sample::Index>();
        (damage, end)
    };
    let mut runner = TestRunner::deterministic();
    for _ in 0..200 {
        let (damage, end) = bodies().new_tree(&mut runner).unwrap().current();
        let mut bytes = good.clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        bytes.truncate(end.index(bytes.len()) + 1);
        for (method, path) in [
            ("POST", LEASES.to_owned()),
            ("PUT", format!("{LEASES}/a")),
            (
                "DELETE",
                "/apis/apps/v1/namespaces/n/controllerrevisions/a".to_owned(),
            ),
        ] {
            let answer = send(&api, method, &path, BOTH, &bytes).await;
            assert!(answer.code < 500, "{method} {bytes:?}: {answer:?}");
        }
    }
    let short = send(&api, "POST", LEASES, BOTH, b"k8s\0\xff").await;
    assert_eq!(short.code, 400);
}
