//! Tests of the histories of ControllerRevisions, over the wire.

use std::collections::BTreeMap;

use synod_proto::v1;
use synod_proto::v1::ControllerRevisionOutcome as Outcome;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;
use tonic::transport::Channel;

use crate::cluster::{Cluster, reason, within};

type Histories = ControllerRevisionsClient<Channel>;

fn history(kind: &str, uid: &str) -> v1::ControllerHistory {
    v1::ControllerHistory {
        namespace: "default".to_owned(),
        owner: Some(v1::OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: kind.to_owned(),
            name: "web".to_owned(),
            uid: uid.to_owned(),
            ..v1::OwnerReference::default()
        }),
        selector: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
    }
}

fn stateful_set() -> v1::ControllerHistory {
    history("StatefulSet", "3c83e878-eeb1-8b29-b351-e7ab275f5371")
}

fn wanting(data: &str) -> v1::ControllerRevisionsCreateRequest {
    v1::ControllerRevisionsCreateRequest {
        history: Some(stateful_set()),
        data: data.to_owned().into(),
        collision_count: Some(0),
        ..v1::ControllerRevisionsCreateRequest::default()
    }
}

async fn create(
    histories: &mut Histories,
    request: v1::ControllerRevisionsCreateRequest,
) -> v1::ControllerRevisionsCreateResponse {
    histories.create(request).await.unwrap().into_inner()
}

async fn read(histories: &mut Histories) -> Vec<(u64, String)> {
    let request = v1::ControllerRevisionsHistoryRequest {
        history: Some(stateful_set()),
        ..v1::ControllerRevisionsHistoryRequest::default()
    };
    let answer = histories.history(request).await.unwrap().into_inner();
    let text = |data: &[u8]| String::from_utf8(data.to_vec()).unwrap();
    let items = answer.items.iter();
    items
        .map(|item| (item.revision, text(&item.data)))
        .collect()
}

fn name(answer: &v1::ControllerRevisionsCreateResponse) -> String {
    answer.answer.as_ref().unwrap().name.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_is_one_on_all_replicas_and_says_what_is_new() {
    let cluster = Cluster::start(3).await;
    let mut one = Histories::new(cluster.connect(1).await);
    let mut other = Histories::new(cluster.connect(2).await);
    let first = create(&mut one, wanting(r#"{"image":"a"}"#)).await;
    let answer = first.answer.clone().unwrap();
    assert_eq!((answer.outcome(), answer.revision), (Outcome::Created, 1));
    let revision = first.controller_revision.clone().unwrap();
    let metadata = revision.metadata.unwrap();
    assert_eq!(metadata.namespace, "default");
    assert_eq!(metadata.labels["app"], "web");
    assert!(
        metadata
            .labels
            .contains_key("controller.kubernetes.io/hash")
    );
    assert!(metadata.owner_references[0].controller);

    let again = create(&mut other, wanting(r#"{ "image" : "a" }"#)).await;
    assert_eq!(again.answer.unwrap().outcome(), Outcome::Unchanged);
    assert!(!again.changed);
    let second = create(&mut other, wanting(r#"{"image":"b"}"#)).await;
    let back = create(&mut one, wanting(r#"{"image":"a"}"#)).await;
    let back = back.answer.unwrap();
    assert_eq!((back.outcome(), back.revision), (Outcome::RolledBack, 3));

    let expected = [
        (2, r#"{"image":"b"}"#.to_owned()),
        (3, r#"{"image":"a"}"#.to_owned()),
    ];
    assert_eq!(read(&mut other).await, expected);
    let diff = v1::ControllerRevisionsDiffRequest {
        namespace: "default".to_owned(),
        from: name(&second),
        to: name(&first),
        read: None,
    };
    let diff = other.diff(diff).await.unwrap().into_inner();
    assert!(!diff.equal);
    assert_eq!(
        diff.json_patch.as_deref(),
        Some(r#"[{"op":"replace","path":"/image","value":"a"}]"#)
    );
    let unified = diff.unified.unwrap();
    assert!(
        unified.contains("-  \"image\": \"b\"\n+  \"image\": \"a\"\n"),
        "{unified}"
    );
}

// Guarantee: H-06
#[tokio::test(flavor = "multi_thread")]
async fn a_retry_on_another_replica_gets_the_answer_of_the_first_try() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let opened = clients.sessions.open(v1::SessionsOpenRequest {}).await;
    let session = opened.unwrap().into_inner().session;
    let request = v1::ControllerRevisionsCreateRequest {
        request_id: Some(v1::RequestId {
            session,
            sequence: 1,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        ..wanting(r#"{"image":"a"}"#)
    };
    let mut answers = Vec::new();
    for id in cluster.ids() {
        let mut histories = Histories::new(cluster.connect(id).await);
        answers.push(create(&mut histories, request.clone()).await);
    }
    let first = answers.remove(0);
    assert!(first.changed);
    for answer in answers {
        assert_eq!(answer.answer, first.answer);
        assert_eq!(answer.controller_revision, first.controller_revision);
    }
    let outcome = clients.sessions.get_outcome(v1::SessionsGetOutcomeRequest {
        session,
        sequence: 1,
        cluster_id: String::new(),
    });
    let outcome = outcome.await.unwrap().into_inner().outcome.unwrap();
    let kept = v1::recorded_outcome::Answer::ControllerRevision(first.answer.unwrap());
    assert_eq!(outcome.answer, Some(kept));
}

// Guarantee: H-07
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_would_be_and_changes_nothing() {
    let cluster = Cluster::start(1).await;
    let mut histories = Histories::new(cluster.connect(1).await);
    create(&mut histories, wanting(r#"{"image":"a"}"#)).await;
    create(&mut histories, wanting(r#"{"image":"b"}"#)).await;
    let before = read(&mut histories).await;
    let dry = v1::ControllerRevisionsCreateRequest {
        dry_run: true,
        ..wanting(r#"{"image":"c"}"#)
    };
    let created = create(&mut histories, dry).await;
    assert!(created.changed && created.controller_revision.is_some());
    let rollback = v1::ControllerRevisionsRollbackRequest {
        history: Some(stateful_set()),
        dry_run: true,
        ..v1::ControllerRevisionsRollbackRequest::default()
    };
    let back = histories.rollback(rollback).await.unwrap().into_inner();
    assert_eq!(back.answer.unwrap().revision, 3);
    let truncate = v1::ControllerRevisionsTruncateRequest {
        history: Some(stateful_set()),
        limit: Some(0),
        dry_run: true,
        ..v1::ControllerRevisionsTruncateRequest::default()
    };
    let truncated = histories.truncate(truncate).await.unwrap().into_inner();
    assert_eq!(truncated.answer.unwrap().deleted, 1);
    assert_eq!(read(&mut histories).await, before);
}

fn is_marked_for_a_day(created: &v1::ControllerRevisionsCreateResponse) {
    let [mark] = &created.controller_revision.as_ref().unwrap().marks[..] else {
        panic!("it was marked by the create: {created:?}");
    };
    let day = v1::mark_tie::To::TtlMs(86_400_000);
    assert_eq!(mark.kind(), v1::LiveMarkKind::Update);
    assert_eq!(mark.tie.as_ref().unwrap().to.as_ref(), Some(&day));
}

#[tokio::test(flavor = "multi_thread")]
async fn live_snapshots_stay_and_what_is_deleted_is_gone() {
    let cluster = Cluster::start(1).await;
    let mut histories = Histories::new(cluster.connect(1).await);
    let kept = create(&mut histories, wanting(r#"{"image":"a"}"#)).await;
    let other = create(&mut histories, wanting(r#"{"image":"b"}"#)).await;
    let newest = v1::ControllerRevisionsCreateRequest {
        mark_update: Some(v1::MarkTie { to: None }),
        ..wanting(r#"{"image":"c"}"#)
    };
    is_marked_for_a_day(&create(&mut histories, newest).await);
    let mark = v1::ControllerRevisionsMarkLiveRequest {
        history: Some(stateful_set()),
        current: Some(name(&kept)),
        update: Some(String::new()),
        ..v1::ControllerRevisionsMarkLiveRequest::default()
    };
    assert!(
        histories
            .mark_live(mark)
            .await
            .unwrap()
            .into_inner()
            .changed
    );
    let truncate = v1::ControllerRevisionsTruncateRequest {
        history: Some(stateful_set()),
        limit: Some(0),
        ..v1::ControllerRevisionsTruncateRequest::default()
    };
    let truncated = histories.truncate(truncate).await.unwrap().into_inner();
    assert_eq!(truncated.answer.unwrap().deleted, 1);
    let get = |name: String| v1::ControllerRevisionsGetRequest {
        namespace: "default".to_owned(),
        name,
        read: None,
    };
    let gone = histories.get(get(name(&other))).await.unwrap_err();
    assert_eq!(reason(&gone), "NOT_FOUND");
    let update = v1::ControllerRevisionsUpdateRequest {
        namespace: "default".to_owned(),
        name: name(&kept),
        data: r#"{"image":"z"}"#.into(),
        ..v1::ControllerRevisionsUpdateRequest::default()
    };
    let refused = histories.update(update.clone()).await.unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    let words = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert!(refused.message().contains(words), "{refused}");
    let kept = histories.get(get(name(&kept))).await.unwrap().into_inner();
    let metadata = kept.controller_revision.unwrap().metadata.unwrap();
    let update = v1::ControllerRevisionsUpdateRequest {
        if_resource_version: Some(metadata.resource_version),
        ..update
    };
    let refused = histories.update(update).await.unwrap_err();
    assert_eq!(reason(&refused), "IMMUTABLE");
    let all = v1::ControllerRevisionsDeleteHistoryRequest {
        namespace: "default".to_owned(),
        owner_uid: stateful_set().owner.unwrap().uid,
        ..v1::ControllerRevisionsDeleteHistoryRequest::default()
    };
    let deleted = histories.delete_history(all).await.unwrap().into_inner();
    assert_eq!(deleted.answer.unwrap().deleted, 2);
    assert!(read(&mut histories).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_lists_and_histories_hold_each_snapshot_once() {
    let cluster = Cluster::start(1).await;
    let mut histories = Histories::new(cluster.connect(1).await);
    for number in 0..5 {
        create(&mut histories, wanting(&format!("{{\"n\":{number}}}"))).await;
        let elsewhere = v1::ControllerRevisionsCreateRequest {
            history: Some(history("DaemonSet", "4c83e878-eeb1-8b29-b351-e7ab275f5371")),
            ..wanting(&format!("{{\"n\":{number}}}"))
        };
        create(&mut histories, elsewhere).await;
    }
    assert_eq!(numbers_by_pages(&mut histories).await, [1, 2, 3, 4, 5]);
    let request = v1::ControllerRevisionsHistoryRequest {
        history: Some(stateful_set()),
        page_size: Some(2),
        ..v1::ControllerRevisionsHistoryRequest::default()
    };
    let page = histories.history(request).await.unwrap().into_inner();
    let of_another = v1::ControllerRevisionsHistoryRequest {
        history: Some(history("DaemonSet", "4c83e878-eeb1-8b29-b351-e7ab275f5371")),
        continue_token: page.continue_token,
        ..v1::ControllerRevisionsHistoryRequest::default()
    };
    let refused = histories.history(of_another).await.unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    let (mut listed, mut token) = (0, String::new());
    loop {
        let request = v1::ControllerRevisionsListRequest {
            namespace: "default".to_owned(),
            owner_kind: "DaemonSet".to_owned(),
            page_size: Some(2),
            continue_token: token,
            ..v1::ControllerRevisionsListRequest::default()
        };
        let page = histories.list(request).await.unwrap().into_inner();
        listed += page.items.len();
        token = page.continue_token;
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(listed, 5);
    let other = v1::ControllerRevisionsListRequest {
        namespace: "elsewhere".to_owned(),
        ..v1::ControllerRevisionsListRequest::default()
    };
    assert!(
        histories
            .list(other)
            .await
            .unwrap()
            .into_inner()
            .items
            .is_empty()
    );
}

/// The revision numbers of the history, read page by page.
async fn numbers_by_pages(histories: &mut Histories) -> Vec<u64> {
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let request = v1::ControllerRevisionsHistoryRequest {
            history: Some(stateful_set()),
            page_size: Some(2),
            continue_token: token,
            ..v1::ControllerRevisionsHistoryRequest::default()
        };
        let page = histories.history(request).await.unwrap().into_inner();
        seen.extend(page.items.iter().map(|item| item.revision));
        token = page.continue_token;
        if token.is_empty() {
            return seen;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_request_names_every_fault_and_stores_nothing() {
    let cluster = Cluster::start(1).await;
    let mut histories = Histories::new(cluster.connect(1).await);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for data in ["", "[]", "{\"a\":1,\"a\":2}", "nonsense", &deep] {
        let request = wanting(data);
        let refused = histories.create(request).await.unwrap_err();
        assert_eq!(reason(&refused), "INVALID_ARGUMENT", "{data}");
    }
    let request = v1::ControllerRevisionsCreateRequest {
        media_type: "a/b\r\nX: 1".to_owned(),
        collision_count: None,
        history_limit: Some(10_001),
        prefix: "Not A Name".to_owned(),
        history: None,
        ..wanting("{}")
    };
    let refused = histories.create(request).await.unwrap_err();
    let refusal = synod_proto::status::from_status(&refused);
    let fields: Vec<&str> = refusal
        .violations
        .iter()
        .map(|v| v.field.as_str())
        .collect();
    assert_eq!(fields, ["history", "data", "prefix", "collisionCount"]);
    assert!(read(&mut histories).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_tells_of_snapshots_by_kind_and_label() {
    let cluster = Cluster::start(1).await;
    let mut histories = Histories::new(cluster.connect(1).await);
    let filter = v1::WatchFilter {
        kinds: vec![v1::ObjectKind::ControllerRevision.into()],
        labels: BTreeMap::from([("app".to_owned(), "web".to_owned())]),
        ..v1::WatchFilter::default()
    };
    let request = v1::WatchRequest {
        filter: Some(filter),
        ..v1::WatchRequest::default()
    };
    let mut watch = v1::watch_client::WatchClient::new(cluster.connect(1).await);
    let mut stream = watch.watch(request).await.unwrap().into_inner();
    within("the bookmark", stream.message()).await.unwrap();
    let created = create(&mut histories, wanting("{}")).await;
    let message = within("the event", stream.message())
        .await
        .unwrap()
        .unwrap();
    let Some(v1::watch_response::Message::Events(events)) = message.message else {
        panic!("events, not {message:?}");
    };
    let event = &events.events[0];
    assert_eq!(
        (event.name.as_str(), event.namespace.as_str()),
        (name(&created).as_str(), "default")
    );
    let Some(v1::event::Object::ControllerRevision(revision)) = &event.object else {
        panic!("a snapshot, not {event:?}");
    };
    assert_eq!(Some(revision), created.controller_revision.as_ref());
}
