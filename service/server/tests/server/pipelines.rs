//! Tests of pipelines: what a call in one is answered, and how watches share one.

use std::collections::{BTreeMap, VecDeque};

use prost::Message as _;
use synod_proto::status::from_bytes;
use synod_proto::v1;
use synod_proto::v1::pipeline_answer::Answer;
use synod_proto::v1::pipeline_client::PipelineClient;
use synod_proto::v1::watch_response::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use crate::answers::hurried;
use crate::cluster::{Cluster, get_member, join, reason, within};

/// A pipeline as a client holds it.
struct Pipeline {
    requests: Option<mpsc::Sender<v1::PipelineOpenRequest>>,
    responses: Streaming<v1::PipelineOpenResponse>,
    read: VecDeque<v1::PipelineAnswer>,
}

impl Pipeline {
    async fn open(cluster: &Cluster, id: u64) -> Self {
        let (requests, receiver) = mpsc::channel(1_000);
        let mut client = PipelineClient::new(cluster.connect(id).await);
        let opened = client.open(ReceiverStream::new(receiver)).await;
        Self {
            requests: Some(requests),
            responses: opened.unwrap().into_inner(),
            read: VecDeque::new(),
        }
    }

    fn send(&self, request: v1::PipelineOpenRequest) {
        self.requests.as_ref().unwrap().try_send(request).unwrap();
    }

    fn call(&self, number: u64, method: &str, message: &impl prost::Message) {
        self.send(v1::PipelineOpenRequest {
            calls: vec![call(number, method, message)],
            cancel: Vec::new(),
        });
    }

    fn watch(&self, number: u64, from: Option<u64>, kinds: &[v1::ObjectKind]) {
        let request = v1::WatchRequest {
            from_revision: from,
            filter: Some(v1::WatchFilter {
                kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
                ..v1::WatchFilter::default()
            }),
            ..v1::WatchRequest::default()
        };
        self.call(number, "synod.v1.Watch/Watch", &request);
    }

    fn cancel(&self, number: u64) {
        self.send(v1::PipelineOpenRequest {
            calls: Vec::new(),
            cancel: vec![number],
        });
    }

    async fn next(&mut self) -> Result<v1::PipelineAnswer, Status> {
        loop {
            if let Some(answer) = self.read.pop_front() {
                return Ok(answer);
            }
            let response = within("an answer of the pipeline", self.responses.message());
            match response.await? {
                Some(response) => self.read.extend(response.answers),
                None => return Err(Status::ok("the pipeline has ended")),
            }
        }
    }

    /// The answer to the one call that is unanswered.
    async fn answer<A: prost::Message + Default>(&mut self, number: u64) -> Result<A, Status> {
        let answer = self.next().await.unwrap();
        assert_eq!(answer.numbers, [number]);
        match answer.answer.unwrap() {
            Answer::Message(message) => Ok(A::decode(message).unwrap()),
            Answer::Status(status) => Err(from_bytes(status)),
        }
    }

    /// The next events, with the numbers of the watches that they are for.
    async fn events(&mut self) -> (Vec<u64>, v1::WatchEvents) {
        loop {
            let answer = self.next().await.unwrap();
            let Some(Answer::Message(message)) = answer.answer else {
                panic!("a failure: {answer:?}");
            };
            let response = v1::WatchResponse::decode(message).unwrap();
            if let Message::Events(events) = response.message.unwrap() {
                return (answer.numbers, events);
            }
        }
    }

    /// Reads the bookmarks that these watches begin with, in any order.
    async fn begun(&mut self, mut numbers: Vec<u64>) {
        while !numbers.is_empty() {
            let answer = self.next().await.unwrap();
            numbers.retain(|number| !answer.numbers.contains(number));
        }
    }
}

fn call(number: u64, method: &str, message: &impl prost::Message) -> v1::PipelineCall {
    v1::PipelineCall {
        number,
        method: method.to_owned(),
        message: message.encode_to_vec().into(),
        ..v1::PipelineCall::default()
    }
}

fn acquire(holder: &str, wait_ms: Option<u64>) -> v1::LeasesAcquireRequest {
    v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "default".to_owned(),
            name: "one".to_owned(),
        }),
        holder: holder.to_owned(),
        ttl_ms: Some(60_000),
        wait_ms,
        ..v1::LeasesAcquireRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_is_overtaken_and_answered_later() {
    let cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    pipeline.call(1, "synod.v1.Leases/Acquire", &acquire("a", None));
    let first: v1::LeasesAcquireResponse = pipeline.answer(1).await.unwrap();
    let Some(v1::leases_acquire_response::Result::Held(held)) = first.result else {
        panic!("{first:?}");
    };
    pipeline.call(2, "synod.v1.Leases/Acquire", &acquire("b", Some(60_000)));
    pipeline.call(3, "synod.v1.Membership/Join", &join("server-a", 60_000));
    let joined: v1::MembershipJoinResponse = pipeline.answer(3).await.unwrap();
    assert!(joined.changed);
    let release = v1::LeasesReleaseRequest {
        lease: acquire("a", None).lease,
        holder: "a".to_owned(),
        token: Some(held.token),
        ..v1::LeasesReleaseRequest::default()
    };
    pipeline.call(4, "synod.v1.Leases/Release", &release);
    let mut answered = Vec::new();
    for _ in 0..2 {
        answered.extend(pipeline.next().await.unwrap().numbers);
    }
    answered.sort_unstable();
    assert_eq!(answered, [2, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_the_same_as_outside_of_a_pipeline() {
    let cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    let mut clients = cluster.clients(1).await;
    let malformed = join("Not a name", 1);
    pipeline.call(7, "synod.v1.Membership/Get", &get_member("nobody"));
    let inside = pipeline.answer::<v1::MembershipGetResponse>(7).await;
    let outside = clients.membership.get(get_member("nobody")).await;
    let (inside, outside) = (inside.unwrap_err(), outside.unwrap_err());
    assert_eq!(inside.code(), outside.code());
    assert_eq!(inside.message(), outside.message());
    assert_eq!(inside.details(), outside.details());
    pipeline.call(7, "synod.v1.Membership/Join", &malformed);
    let inside = pipeline.answer::<v1::MembershipJoinResponse>(7).await;
    let outside = clients.membership.join(malformed).await;
    assert_eq!(
        inside.unwrap_err().details(),
        outside.unwrap_err().details()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_replica_executes_the_calls_of_a_pipeline_once() {
    let cluster = Cluster::start(3).await;
    let mut pipeline = Pipeline::open(&cluster, cluster.follower().await).await;
    let open = v1::SessionsOpenRequest::default();
    pipeline.call(1, "synod.v1.Sessions/Open", &open);
    let session: v1::SessionsOpenResponse = pipeline.answer(1).await.unwrap();
    let request = v1::MembershipJoinRequest {
        request_id: Some(v1::RequestId {
            session: session.session,
            sequence: 1,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        ..join("server-a", 60_000)
    };
    let method = "synod.v1.Membership/Join";
    pipeline.send(v1::PipelineOpenRequest {
        calls: (10..20)
            .map(|number| call(number, method, &request))
            .collect(),
        cancel: Vec::new(),
    });
    let mut epochs = BTreeMap::new();
    for _ in 10..20 {
        let answer = pipeline.next().await.unwrap();
        let Some(Answer::Message(message)) = answer.answer else {
            panic!("{answer:?}");
        };
        let joined = v1::MembershipJoinResponse::decode(message).unwrap();
        *epochs.entry(joined.epoch).or_insert(0) += answer.numbers.len();
    }
    assert_eq!(epochs.into_values().collect::<Vec<_>>(), [10]);
    let renew = v1::MembershipRenewRequest {
        correlation: 5,
        member: Some(v1::MemberEpoch {
            member: "server-a".to_owned(),
            epoch: 1,
            cluster_id: String::new(),
        }),
    };
    pipeline.call(20, "synod.v1.Membership/Renew", &renew);
    let renewed: v1::MembershipRenewResponse = pipeline.answer(20).await.unwrap();
    assert_eq!(renewed.correlation, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_has_a_deadline_of_its_own_and_can_be_given_up() {
    let cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    pipeline.call(1, "synod.v1.Leases/Acquire", &acquire("a", None));
    pipeline
        .answer::<v1::LeasesAcquireResponse>(1)
        .await
        .unwrap();
    let waiting = hurried("a place in the queue", async |patience| {
        let call = v1::PipelineCall {
            timeout_ms: Some(u32::try_from(patience.as_millis()).unwrap()),
            ..call(2, "synod.v1.Leases/Acquire", &acquire("b", Some(60_000)))
        };
        pipeline.send(v1::PipelineOpenRequest {
            calls: vec![call],
            cancel: Vec::new(),
        });
        match pipeline.answer::<v1::LeasesAcquireResponse>(2).await {
            Ok(waiting) => Some(waiting),
            // The place is kept, if it was given at all.
            Err(late) if [Code::DeadlineExceeded, Code::Unknown].contains(&late.code()) => None,
            Err(refused) => panic!("{refused}"),
        }
    });
    let waiting = waiting.await;
    assert!(matches!(
        waiting.result,
        Some(v1::leases_acquire_response::Result::Queued(_))
    ));
    pipeline.call(3, "synod.v1.Leases/Acquire", &acquire("c", Some(60_000)));
    pipeline.cancel(3);
    let given_up = pipeline.answer::<v1::LeasesAcquireResponse>(3).await;
    assert_eq!(given_up.unwrap_err().code(), Code::Cancelled);
    // Its number is free again, and a number that nobody has is cancelled in silence.
    pipeline.cancel(99);
    pipeline.call(3, "synod.v1.Cluster/Status", &v1::ClusterStatusRequest {});
    pipeline
        .answer::<v1::ClusterStatusResponse>(3)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_call_is_answered_and_what_cannot_be_told_apart_ends_the_pipeline() {
    let cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    let nothing = v1::ClusterStatusRequest {};
    for method in [
        "",
        "synod.v1.Pipeline/Open",
        "synod.v1.Nothing/At-all",
        "grpc.health.v1.Health/Watch",
    ] {
        pipeline.call(1, method, &nothing);
        let refused = pipeline.answer::<v1::ClusterStatusResponse>(1).await;
        assert_eq!(refused.unwrap_err().code(), Code::Unimplemented, "{method}");
    }
    let long = v1::PipelineCall {
        message: vec![0; 2 << 20].into(),
        ..call(1, "synod.v1.Objects/Create", &nothing)
    };
    pipeline.send(v1::PipelineOpenRequest {
        calls: vec![long],
        cancel: Vec::new(),
    });
    let refused = pipeline.answer::<v1::ObjectsCreateResponse>(1).await;
    assert_eq!(reason(&refused.unwrap_err()), "TOO_LARGE");
    pipeline.watch(1, None, &[]);
    pipeline.begun(vec![1]).await;
    pipeline.call(1, "synod.v1.Cluster/Status", &nothing);
    let ended = pipeline.next().await.unwrap_err();
    assert_eq!(reason(&ended), "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_that_want_the_same_get_an_event_once() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-a", 60_000).await.epoch;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    for number in 1..=50 {
        pipeline.watch(number, None, &[v1::ObjectKind::Member]);
    }
    pipeline.watch(51, None, &[v1::ObjectKind::Settings]);
    pipeline.begun((1..=51).collect()).await;
    clients.join("server-b", 60_000).await;
    let (mut numbers, events) = pipeline.events().await;
    assert_eq!(events.revision, first + 1);
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
    pipeline.cancel(7);
    let cancelled = pipeline.answer::<v1::WatchResponse>(7).await;
    assert_eq!(cancelled.unwrap_err().code(), Code::Cancelled);
    clients.join("server-c", 60_000).await;
    let (numbers, events) = pipeline.events().await;
    assert_eq!((numbers.len(), events.revision), (49, first + 2));
    assert!(!numbers.contains(&7));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_watch_gets_every_event_once_wherever_it_begins() {
    const WRITES: u64 = 200;
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-0", 60_000).await.epoch;
    let mut writer = cluster.clients(1).await;
    let writing = tokio::spawn(async move {
        for number in 1..=WRITES {
            writer.join(&format!("server-{number}"), 60_000).await;
        }
    });
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    let mut number = 0;
    while !next.values().all(|next| *next == first + WRITES + 1) || number < 40 {
        // Each begins at the revision that an older one waits for, or at the first of all.
        if number < 40 {
            let from = next.get(&(number / 2)).copied().unwrap_or(first);
            pipeline.watch(number, Some(from), &[v1::ObjectKind::Member]);
            next.insert(number, from);
            number += 1;
        }
        let (numbers, events) = pipeline.events().await;
        for number in numbers {
            let expected = next.get_mut(&number).unwrap();
            assert_eq!(events.revision, *expected, "watch {number}");
            *expected += 1;
        }
    }
    writing.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_ends_its_side_gets_the_answers_that_are_missing() {
    let cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    for number in 0..100 {
        let join = join(&format!("server-{number}"), 60_000);
        pipeline.call(number, "synod.v1.Membership/Join", &join);
    }
    pipeline.requests = None;
    let mut answered = 0;
    let ended = loop {
        match pipeline.next().await {
            Ok(answer) => answered += answer.numbers.len(),
            Err(ended) => break ended,
        }
    };
    assert_eq!((answered, ended.code()), (100, Code::Ok));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_shuts_down_answers_what_it_has_read_and_ends_the_watches() {
    let mut cluster = Cluster::start(1).await;
    let mut pipeline = Pipeline::open(&cluster, 1).await;
    pipeline.watch(1, None, &[]);
    pipeline.begun(vec![1]).await;
    cluster.shutdown(1).await;
    let answer = pipeline.next().await.unwrap();
    let Some(Answer::Message(message)) = answer.answer else {
        panic!("{answer:?}");
    };
    let response = v1::WatchResponse::decode(message).unwrap();
    assert!(matches!(response.message, Some(Message::Ended(_))));
    assert_eq!(pipeline.next().await.unwrap_err().code(), Code::Ok);
}
