//! Revisions that arrive in fragments, when the stream breaks between two of them: against a service that streams by a
//! script.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures::stream::{Stream, StreamExt as _, iter, pending};
use synod_client::{WatchFrom, WatchMessage, WatchOptions};
use synod_model::{Epoch, Member, Metadata, Phase, Refusal, Revision, Uid, WallTime};
use synod_proto::status::to_status;
use synod_proto::v1;
use synod_proto::v1::watch_response::Message;
use synod_proto::v1::watch_server::{Watch as WatchService, WatchServer};
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::cluster::{Cluster, endpoint, id, legal, within};
use crate::network::Weather;
use crate::watch::lines;

/// The revision that comes in fragments.
const REVISION: u64 = 5;

/// How a stream ends after its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It stays open.
    Open,
    /// It is closed in order, without a reason.
    Closed,
    /// The replica sends the message that ends a watch.
    Told,
    /// It fails.
    Failed,
    /// It stays open, and the network cuts the connection.
    Cut,
}

/// The messages of a stream, and how it ends.
type Scripted = (Vec<Message>, End);

/// A replica that answers each watch with the next stream of its script.
#[derive(Clone)]
struct Replica {
    streams: Arc<Mutex<VecDeque<Scripted>>>,
    /// The revision from which each watch was requested.
    asked: Arc<Mutex<Vec<Option<u64>>>>,
}

#[tonic::async_trait]
impl WatchService for Replica {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<v1::WatchResponse, Status>> + Send>>;

    async fn watch(
        &self,
        request: Request<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        self.asked
            .lock()
            .unwrap()
            .push(request.get_ref().from_revision);
        let (mut messages, end) = {
            let mut streams = self.streams.lock().unwrap();
            streams
                .pop_front()
                .expect("the client asks no more often than is scripted")
        };
        if end == End::Told {
            messages.push(Message::Ended(v1::WatchEnded {
                resume_revision: REVISION,
                reason: v1::WatchEndReason::Shutdown.into(),
            }));
        }
        let said = iter(messages).map(|message| {
            Ok(v1::WatchResponse {
                message: Some(message),
            })
        });
        Ok(Response::new(match end {
            End::Open | End::Cut => Box::pin(said.chain(pending())),
            End::Closed | End::Told => Box::pin(said),
            End::Failed => {
                let refusal = Refusal::new(synod_model::ErrorKind::Unavailable, "it fails");
                Box::pin(said.chain(iter([Err(to_status(refusal))])))
            }
        }))
    }
}

fn bookmark() -> Message {
    Message::Bookmark(v1::WatchBookmark {
        revision: REVISION - 1,
        cluster_id: "216a7937-95db-887e-91c8-3ec270c5e7e5".to_owned(),
        replica_id: 1,
    })
}

/// A fragment of the revision: the members that join in it.
fn fragment(members: &[&str], more_fragments: bool) -> Message {
    Message::Events(v1::WatchEvents {
        revision: REVISION,
        events: members.iter().map(|name| joined(name)).collect(),
        more_fragments,
        ..v1::WatchEvents::default()
    })
}

fn joined(name: &str) -> v1::Event {
    let revision = Revision::new(REVISION);
    let member = Member {
        id: id(name),
        instance: legal(synod_model::InstanceId::parse("one")),
        epoch: Epoch::new(revision),
        ttl: synod_model::Ttl::MAX,
        labels: Default::default(),
        version: Default::default(),
        endpoint: Default::default(),
        phase: Phase::Joining,
        metadata: Metadata {
            uid: Uid::from_bytes([7; 16]),
            resource_version: revision,
            create_revision: revision,
            generation: 1,
            created: WallTime::from_millis(0),
        },
        reported: false,
        gated: false,
    };
    v1::Event {
        r#type: v1::EventType::Added.into(),
        kind: v1::ObjectKind::Member.into(),
        name: name.to_owned(),
        object: Some(v1::event::Object::Member(v1::Member::from(&member))),
        ..v1::Event::default()
    }
}

/// The events that the client delivers of a revision whose first fragment was followed by `end`, and its requests.
async fn delivered(end: End) -> (Vec<String>, Vec<Option<u64>>) {
    let cluster = Cluster::without_replicas();
    let whole = vec![
        bookmark(),
        fragment(&["a", "b"], true),
        fragment(&["c"], false),
    ];
    let replica = Replica {
        streams: Arc::new(Mutex::new(VecDeque::from([
            (vec![bookmark(), fragment(&["a", "b"], true)], end),
            (whole, End::Open),
        ]))),
        asked: Arc::default(),
    };
    let incoming = cluster.network.listen(&endpoint(1));
    let asked = Arc::clone(&replica.asked);
    let server = Server::builder().add_service(WatchServer::new(replica));
    tokio::spawn(server.serve_with_incoming(incoming));
    let client = cluster.client_of(vec![1]).await;
    let from = WatchFrom::Revision(Revision::new(REVISION));
    let mut watch = within(client.watch(WatchOptions::new().from(from)))
        .await
        .unwrap();
    let first = within(watch.next()).await.unwrap().unwrap();
    assert_eq!(first, WatchMessage::Bookmark(Revision::new(REVISION - 1)));
    if end == End::Cut {
        // The client has time to read the fragment, and nothing to deliver.
        let silent = tokio::time::timeout(std::time::Duration::from_secs(1), watch.next()).await;
        assert!(silent.is_err(), "{silent:?}");
        cluster.network.set(&endpoint(1), Weather::Cut);
        let network = cluster.network.clone();
        tokio::spawn(async move {
            crate::cluster::pass(std::time::Duration::from_millis(200)).await;
            network.set(&endpoint(1), Weather::Fair);
        });
    }
    let events = crate::watch::events(&mut watch).await;
    assert_eq!(events.revision, Revision::new(REVISION));
    (lines(&events.events), asked.lock().unwrap().clone())
}

#[tokio::test(start_paused = true)]
async fn what_came_of_a_revision_before_its_stream_broke_is_not_delivered_twice() {
    for end in [End::Closed, End::Told, End::Failed, End::Cut] {
        let (events, asked) = delivered(end).await;
        assert_eq!(
            events,
            ["ADDED Member a", "ADDED Member b", "ADDED Member c"],
            "{end:?}"
        );
        assert_eq!(asked, [Some(REVISION), Some(REVISION)], "{end:?}");
    }
}
