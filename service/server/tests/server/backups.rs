//! Tests of the stream of a backup: what it holds, how many there may be, and what ends one.

use synod_proto::v1;
use synod_proto::v1::cluster_backup_response::Part;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_server::limits::{BACKUP_ROWS_BYTES_MAX, BACKUPS_MAX};
use synod_store::checkpoint::Rows;
use tonic::{Status, Streaming};

use crate::cluster::{self, Cluster, reason, within};

/// More than a connection carries that nobody reads from.
const OBJECTS: usize = 12;
const OBJECT_BYTES: usize = 1 << 20;

/// Stores so much that a backup is not sent at once.
async fn fill(cluster: &Cluster) {
    let id = cluster.leader().await;
    let widgets = v1::GroupResource {
        group: "example.io".to_owned(),
        resource: "widgets".to_owned(),
    };
    let mut collections = CollectionsClient::new(cluster.connect(id).await);
    let declare = v1::CollectionsCreateRequest {
        resource: Some(widgets.clone()),
        kind: "Widget".to_owned(),
        ..Default::default()
    };
    collections.create(declare).await.unwrap();
    let mut objects = ObjectsClient::new(cluster.connect(id).await);
    for number in 0..OBJECTS {
        let create = v1::ObjectsCreateRequest {
            key: Some(v1::ObjectKey {
                resource: Some(widgets.clone()),
                namespace: String::new(),
                name: format!("w{number}"),
            }),
            content: Some(v1::ObjectContent {
                encoding_version: "example.io/v1".to_owned(),
                media_type: "application/octet-stream".to_owned(),
                data: vec![b'x'; OBJECT_BYTES].into(),
            }),
            ..Default::default()
        };
        objects.create(create).await.unwrap();
    }
}

async fn begin(
    cluster: &Cluster,
    id: u64,
) -> Result<(v1::ClusterBackupBegin, Streaming<v1::ClusterBackupResponse>), Status> {
    let mut clients = cluster.clients(id).await;
    let opening = clients.cluster.backup(v1::ClusterBackupRequest::default());
    let mut stream = within("a backup to begin", opening).await?.into_inner();
    match next(&mut stream).await? {
        Some(Part::Begin(begin)) => Ok((begin, stream)),
        other => panic!("it begins with {other:?}"),
    }
}

async fn next(stream: &mut Streaming<v1::ClusterBackupResponse>) -> Result<Option<Part>, Status> {
    let message = within("a part of a backup", stream.message()).await?;
    Ok(message.map(|message| message.part.expect("it has a part")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_sends_all_that_was_acknowledged_and_the_rows_make_its_state() {
    let cluster = Cluster::start(3).await;
    let follower = cluster.follower().await;
    let leader = cluster.leader().await;
    let mut clients = cluster.clients(leader).await;
    let epoch = clients.join("server-a", 60_000).await.epoch;
    let (begin, mut stream) = begin(&cluster, follower).await.unwrap();
    let header = begin.header.unwrap();
    assert_eq!(header.replica_id, follower);
    assert!(header.revision >= epoch);
    let (mut rows, mut bytes) = (Rows::default(), 0);
    let end = loop {
        match next(&mut stream).await.unwrap().unwrap() {
            Part::Begin(again) => panic!("it began already: {again:?}"),
            Part::Rows(some) => {
                assert!(some.len() <= BACKUP_ROWS_BYTES_MAX);
                bytes += some.len() as u64;
                rows.read(&some).unwrap();
            }
            Part::End(end) => break end,
        }
    };
    assert_eq!(next(&mut stream).await.unwrap(), None);
    assert_eq!((end.rows_bytes, end.sha256.len()), (bytes, 32));
    let state = rows.state().unwrap();
    assert_eq!(state.revision().get(), header.revision);
    assert_eq!(state.machine_version(), begin.machine_version);
    assert_eq!(state.member_count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_revision_is_refused_by_its_field() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let request = v1::ClusterBackupRequest {
        read: Some(v1::ReadOptions {
            at_revision: Some(1),
            ..v1::ReadOptions::default()
        }),
    };
    let status = clients.cluster.backup(request).await.unwrap_err();
    assert_eq!(reason(&status), "INVALID_ARGUMENT");
    assert!(status.message().contains("read.atRevision"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_few_are_sent_at_a_time_and_each_gives_its_place_back() {
    let cluster = Cluster::start(1).await;
    fill(&cluster).await;
    let mut open = Vec::new();
    for _ in 0..BACKUPS_MAX {
        open.push(begin(&cluster, 1).await.unwrap());
    }
    let status = begin(&cluster, 1).await.unwrap_err();
    assert_eq!(reason(&status), "OVERLOADED");
    // Other calls have their places.
    let mut clients = cluster.clients(1).await;
    clients.join("server-a", 60_000).await;
    open.pop();
    let again = async {
        loop {
            match begin(&cluster, 1).await {
                Ok(begun) => return begun,
                Err(status) => assert_eq!(reason(&status), "OVERLOADED"),
            }
        }
    };
    within("the place of a backup that was given up", again).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_ends_ends_its_backups_and_says_so() {
    let mut ending = Cluster::start(1).await;
    fill(&ending).await;
    let (_, mut stream) = begin(&ending, 1).await.unwrap();
    let mut watch = ending.clients(1).await.watch(None).await;
    let reading = async {
        // The end of a watch says that the replica was asked to end.
        while !matches!(
            cluster::next(&mut watch).await,
            v1::watch_response::Message::Ended(_)
        ) {}
        loop {
            match next(&mut stream).await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it was read in whole"),
                Err(status) => return status,
            }
        }
    };
    let ending = async { within("an orderly end", ending.shutdown(1)).await };
    let (status, ()) = tokio::join!(reading, ending);
    assert_eq!(reason(&status), "UNAVAILABLE", "{status}");
    assert!(status.message().contains("is stopping"), "{status}");
}
