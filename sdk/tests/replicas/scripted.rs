//! What the client itself decides, against a service that answers by a script: whom to ask next, how long, how often.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use prost::Message as _;
use synod_client::{AlarmKind, Client, ClusterStatus, ErrorKind, SettingsPatch, Verdict};
use synod_model::{Refusal, Settings};
use synod_proto::status::{key, to_status};
use synod_proto::v1;
use synod_proto::v1::cluster_server::{Cluster as ClusterService, ClusterServer};
use synod_proto::v1::sessions_server::{Sessions, SessionsServer};
use tokio::time::Instant;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use crate::cluster::{Cluster, endpoint, within};

/// Replicas that answer by one script: each call takes the next line, whichever replica it asks.
#[derive(Clone)]
struct Replica {
    number: u64,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    lines: VecDeque<Line>,
    asked: Vec<Asked>,
    /// The terms, and the leaders, that one answer after the other tells of. Then none.
    views: VecDeque<(u64, Option<u64>)>,
    /// Who was asked to hand the leadership over.
    handing: Vec<Option<u64>>,
}

/// How one call is answered.
enum Line {
    Answer,
    Refuse(Refusal),
    /// With a status as a replica of another release may send it.
    Say(Status),
    Hang,
}

/// A call that a replica received.
#[derive(Debug)]
struct Asked {
    replica: u64,
    /// The header `grpc-timeout`, in seconds.
    timeout: f64,
    request_id: Option<v1::RequestId>,
}

impl Replica {
    async fn play<M, T>(
        &self,
        request: &Request<M>,
        request_id: Option<v1::RequestId>,
        answer: T,
    ) -> Result<Response<T>, Status> {
        let line = {
            let mut script = self.script.lock().unwrap();
            script.asked.push(Asked {
                replica: self.number,
                timeout: timeout_of(request),
                request_id,
            });
            script
                .lines
                .pop_front()
                .expect("the client asks no more often than is scripted")
        };
        match line {
            Line::Answer => Ok(Response::new(answer)),
            Line::Refuse(refusal) => Err(to_status(refusal)),
            Line::Say(status) => Err(status),
            Line::Hang => std::future::pending().await,
        }
    }

    /// The header and the leader of an answer that tells of them.
    fn view(&self) -> (Option<v1::ResponseHeader>, Option<u64>) {
        let (raft_term, leader) = self
            .script
            .lock()
            .unwrap()
            .views
            .pop_front()
            .unwrap_or_default();
        let header = self.header().map(|header| v1::ResponseHeader {
            raft_term,
            ..header
        });
        (header, leader)
    }

    fn header(&self) -> Option<v1::ResponseHeader> {
        Some(v1::ResponseHeader {
            cluster_id: "216a7937-95db-887e-91c8-3ec270c5e7e5".to_owned(),
            replica_id: self.number,
            revision: 1,
            ..Default::default()
        })
    }
}

/// How long a client waits that looks which replicas there are. No call of these scripts is as short.
const LOOK_SECONDS: f64 = 2.0;

/// What the header `grpc-timeout` of a call says, in seconds.
fn timeout_of<M>(request: &Request<M>) -> f64 {
    let timeout = request.metadata().get("grpc-timeout").unwrap();
    seconds(timeout.to_str().unwrap())
}

/// The seconds of a `grpc-timeout`.
fn seconds(text: &str) -> f64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "S" => 1.0,
        "m" => 1e-3,
        "u" => 1e-6,
        "n" => 1e-9,
        other => panic!("no unit: {other}"),
    };
    number.parse::<f64>().unwrap() * unit
}

#[tonic::async_trait]
impl ClusterService for Replica {
    async fn status(
        &self,
        request: Request<v1::ClusterStatusRequest>,
    ) -> Result<Response<v1::ClusterStatusResponse>, Status> {
        // The client looks by itself which replicas there are, beside what is scripted.
        if timeout_of(&request) <= LOOK_SECONDS {
            return Ok(Response::new(v1::ClusterStatusResponse {
                header: self.header(),
                ..Default::default()
            }));
        }
        let (header, leader_id) = self.view();
        let answer = v1::ClusterStatusResponse {
            header,
            leader_id,
            ..Default::default()
        };
        self.play(&request, None, answer).await
    }

    async fn get_settings(
        &self,
        request: Request<v1::ClusterGetSettingsRequest>,
    ) -> Result<Response<v1::ClusterGetSettingsResponse>, Status> {
        let (header, _) = self.view();
        let answer = v1::ClusterGetSettingsResponse {
            header,
            settings: Some((&Settings::default()).into()),
        };
        self.play(&request, None, answer).await
    }

    async fn get_log_filter(
        &self,
        _: Request<v1::ClusterGetLogFilterRequest>,
    ) -> Result<Response<v1::ClusterGetLogFilterResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn revision_at(
        &self,
        _: Request<v1::ClusterRevisionAtRequest>,
    ) -> Result<Response<v1::ClusterRevisionAtResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn set_log_filter(
        &self,
        _: Request<v1::ClusterSetLogFilterRequest>,
    ) -> Result<Response<v1::ClusterSetLogFilterResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn get_diagnostics(
        &self,
        _: Request<v1::ClusterGetDiagnosticsRequest>,
    ) -> Result<Response<v1::ClusterGetDiagnosticsResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn update_settings(
        &self,
        request: Request<v1::ClusterUpdateSettingsRequest>,
    ) -> Result<Response<v1::ClusterUpdateSettingsResponse>, Status> {
        let header = self.header();
        let answer = v1::ClusterUpdateSettingsResponse {
            header,
            changed: true,
        };
        let request_id = request.get_ref().request_id.clone();
        self.play(&request, request_id, answer).await
    }

    async fn add_replica(
        &self,
        _: Request<v1::ClusterAddReplicaRequest>,
    ) -> Result<Response<v1::ClusterAddReplicaResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn promote_replica(
        &self,
        _: Request<v1::ClusterPromoteReplicaRequest>,
    ) -> Result<Response<v1::ClusterPromoteReplicaResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn remove_replica(
        &self,
        _: Request<v1::ClusterRemoveReplicaRequest>,
    ) -> Result<Response<v1::ClusterRemoveReplicaResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    async fn transfer_leader(
        &self,
        request: Request<v1::ClusterTransferLeaderRequest>,
    ) -> Result<Response<v1::ClusterTransferLeaderResponse>, Status> {
        let from = request.get_ref().from_replica_id;
        self.script.lock().unwrap().handing.push(from);
        let answer = v1::ClusterTransferLeaderResponse {
            header: self.header(),
            changed: true,
        };
        self.play(&request, None, answer).await
    }

    async fn checkpoint(
        &self,
        _: Request<v1::ClusterCheckpointRequest>,
    ) -> Result<Response<v1::ClusterCheckpointResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }

    type BackupStream = tokio_stream::Pending<Result<v1::ClusterBackupResponse, Status>>;

    async fn backup(
        &self,
        _: Request<v1::ClusterBackupRequest>,
    ) -> Result<Response<Self::BackupStream>, Status> {
        Err(Status::unimplemented("not in any script"))
    }
}

#[tonic::async_trait]
impl Sessions for Replica {
    async fn open(
        &self,
        _: Request<v1::SessionsOpenRequest>,
    ) -> Result<Response<v1::SessionsOpenResponse>, Status> {
        Ok(Response::new(v1::SessionsOpenResponse {
            header: self.header(),
            session: 7,
            ttl_ms: 300_000,
            outcomes_max: 1_024,
        }))
    }

    async fn close(
        &self,
        _: Request<v1::SessionsCloseRequest>,
    ) -> Result<Response<v1::SessionsCloseResponse>, Status> {
        let header = self.header();
        Ok(Response::new(v1::SessionsCloseResponse {
            header,
            changed: true,
        }))
    }

    async fn get_outcome(
        &self,
        _: Request<v1::SessionsGetOutcomeRequest>,
    ) -> Result<Response<v1::SessionsGetOutcomeResponse>, Status> {
        Err(Status::unimplemented("not in any script"))
    }
}

/// Three scripted replicas and a client that begins with the first. It knows their ids, and has its session.
async fn stage(lines: Vec<Line>) -> (Client, Arc<Mutex<Script>>) {
    let cluster = Cluster::without_replicas();
    let script = Arc::new(Mutex::new(Script::default()));
    for number in 1..=3 {
        let replica = Replica {
            number,
            script: Arc::clone(&script),
        };
        let incoming = cluster.network.listen(&endpoint(number));
        let server = Server::builder()
            .add_service(ClusterServer::new(replica.clone()))
            .add_service(SessionsServer::new(replica));
        tokio::spawn(server.serve_with_incoming(incoming));
    }
    let client = cluster.client_of(vec![1, 2, 3]).await;
    let unknown = || Line::Refuse(Refusal::new(ErrorKind::Unavailable, "not yet"));
    // Until the client is back at the first replica.
    let warm_up = [
        Line::Answer,
        unknown(),
        Line::Answer,
        unknown(),
        Line::Answer,
        unknown(),
        Line::Answer,
        Line::Answer,
    ];
    script.lock().unwrap().lines.extend(warm_up);
    for _ in 0..4 {
        within(client.status()).await.unwrap();
    }
    within(client.update_settings(patch(), None)).await.unwrap();
    let mut script_now = script.lock().unwrap();
    assert_eq!(script_now.asked.last().unwrap().replica, 1);
    script_now.asked.clear();
    script_now.lines = lines.into();
    drop(script_now);
    (client, script)
}

fn patch() -> SettingsPatch {
    SettingsPatch {
        sessions_max: Some(9),
        ..SettingsPatch::default()
    }
}

fn unavailable() -> Refusal {
    Refusal::new(ErrorKind::Unavailable, "no leader")
}

fn replicas(script: &Arc<Mutex<Script>>) -> Vec<u64> {
    script
        .lock()
        .unwrap()
        .asked
        .iter()
        .map(|asked| asked.replica)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_leader_that_a_replica_names_is_asked_next() {
    let by_id = unavailable().with(key::LEADER_ID, 3);
    let (client, script) = stage(vec![Line::Refuse(by_id), Line::Answer]).await;
    within(client.update_settings(patch(), None)).await.unwrap();
    assert_eq!(replicas(&script), [1, 3]);

    let by_address = unavailable().with(key::LEADER_ENDPOINT, endpoint(3));
    let (client, script) = stage(vec![Line::Refuse(by_address), Line::Answer]).await;
    within(client.update_settings(patch(), None)).await.unwrap();
    assert_eq!(replicas(&script), [1, 3]);
}

// Guarantee: S-05
#[tokio::test(start_paused = true)]
async fn the_leader_of_an_earlier_term_is_not_asked_to_hand_over() {
    let lines = (0..6).map(|_| Line::Answer).collect();
    let (client, script) = stage(lines).await;
    // A read, and then a status, by a replica that has not heard of the election before the read; and once more.
    let views = [(8, None), (7, Some(1)), (8, None), (8, Some(2))];
    script.lock().unwrap().views.extend(views);
    within(client.transfer_leader(None)).await.unwrap();
    assert_eq!(script.lock().unwrap().handing, [Some(2)]);
    // Who is named takes it from whoever leads.
    within(client.transfer_leader(Some(3))).await.unwrap();
    assert_eq!(script.lock().unwrap().handing, [Some(2), None]);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_the_client_was_not_told_of_is_not_dialed() {
    let elsewhere = unavailable()
        .with(key::LEADER_ID, 9)
        .with(key::LEADER_ENDPOINT, "10.0.0.9:4600");
    let (client, script) = stage(vec![Line::Refuse(elsewhere), Line::Answer]).await;
    within(client.update_settings(patch(), None)).await.unwrap();
    assert_eq!(replicas(&script), [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn every_try_carries_what_is_left_of_the_one_deadline() {
    let (client, script) = stage(vec![Line::Hang, Line::Hang, Line::Answer]).await;
    let client = client.with_timeout(Duration::from_secs(9));
    let began = Instant::now();
    within(client.status()).await.unwrap();
    assert_eq!(replicas(&script), [1, 2, 3]);
    let timeouts: Vec<f64> = script
        .lock()
        .unwrap()
        .asked
        .iter()
        .map(|asked| asked.timeout.round())
        .collect();
    assert_eq!(timeouts, [9.0, 6.0, 3.0]);
    assert!(began.elapsed() < Duration::from_millis(6_100));
}

#[tokio::test(start_paused = true)]
async fn a_retried_change_keeps_its_key_and_the_next_one_says_that_it_was_answered() {
    let unknown = Refusal::new(ErrorKind::UnknownOutcome, "it may have been");
    let (client, script) = stage(vec![Line::Refuse(unknown), Line::Answer, Line::Answer]).await;
    within(client.update_settings(patch(), None)).await.unwrap();
    within(client.update_settings(patch(), None)).await.unwrap();
    let script = script.lock().unwrap();
    let ids: Vec<(u64, u64)> = script
        .asked
        .iter()
        .map(|asked| asked.request_id.as_ref().unwrap())
        .map(|id| (id.sequence, id.lowest_unanswered))
        .collect();
    assert_eq!(ids, [(2, 2), (2, 2), (3, 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_at_the_edge_does_not_settle_what_an_earlier_try_has_done() {
    let unknown = Refusal::new(ErrorKind::UnknownOutcome, "it may have been");
    let denied = || Refusal::new(ErrorKind::PermissionDenied, "not you");
    let (client, _) = stage(vec![Line::Refuse(unknown.clone()), Line::Refuse(denied())]).await;
    let error = within(client.update_settings(patch(), None))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.execution()),
        (ErrorKind::PermissionDenied, Verdict::Unknown)
    );
    assert!(error.request_key().is_some());

    let (client, _) = stage(vec![Line::Refuse(denied())]).await;
    let error = within(client.update_settings(patch(), None))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.execution()),
        (ErrorKind::PermissionDenied, Verdict::Refused)
    );

    // A refusal of apply holds for the earlier try too, since the session remembers it. A request that is too large for
    // the edge was too large at the earlier try as well.
    for kind in [ErrorKind::Conflict, ErrorKind::TooLarge] {
        let refused = Refusal::new(kind, "by a rule");
        let (client, _) = stage(vec![Line::Refuse(unknown.clone()), Line::Refuse(refused)]).await;
        let error = within(client.update_settings(patch(), None))
            .await
            .unwrap_err();
        assert_eq!((error.kind(), error.execution()), (kind, Verdict::Refused));
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_asks_for_patience_gets_it() {
    let busy = || {
        let refusal = Refusal::new(ErrorKind::Overloaded, "too much to do");
        Line::Refuse(refusal.with(key::RETRY_AFTER_MS, 1_500))
    };
    let (client, script) = stage(vec![busy(), busy(), busy(), Line::Answer]).await;
    let began = Instant::now();
    within(client.update_settings(patch(), None)).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(1_500));
    assert_eq!(replicas(&script).len(), 4);
}

/// The status of a refusal by a reason that only a later release knows.
fn by_a_later_release() -> Status {
    let known = to_status(Refusal::new(ErrorKind::SwitchedOff, "leases are off"));
    // Of the same length, since lengths stand before texts.
    let details = String::from_utf8_lossy(known.details()).replace("SWITCHED_OFF", "LOCKED__DOWN");
    Status::with_details(known.code(), known.message(), details.into())
}

#[tokio::test(start_paused = true)]
async fn a_reason_of_a_later_release_is_named_and_the_request_is_known_to_be_refused() {
    let (client, script) = stage(vec![Line::Say(by_a_later_release())]).await;
    let error = within(client.update_settings(patch(), None))
        .await
        .unwrap_err();
    assert_eq!(error.execution(), Verdict::Refused);
    assert!(!error.retryable());
    assert!(error.message().contains("LOCKED__DOWN"), "{error}");
    assert!(error.message().contains("leases are off"), "{error}");
    assert_eq!(replicas(&script).len(), 1, "it is of no use to ask again");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_an_older_replica_does_not_have_says_so_and_what_to_do() {
    let unimplemented = Status::unimplemented("unknown method");
    let (client, _) = stage(vec![Line::Say(unimplemented)]).await;
    let error = within(client.update_settings(patch(), None))
        .await
        .unwrap_err();
    assert_eq!(error.execution(), Verdict::Refused);
    assert!(error.message().contains("runs an older release"), "{error}");
    assert!(error.message().contains("Upgrade the replicas"), "{error}");
}

#[test]
fn an_answer_of_a_later_release_is_read_without_what_is_not_known_here() {
    let replica = Replica {
        number: 1,
        script: Arc::default(),
    };
    let alarm = v1::Alarm {
        kind: 99,
        replica_id: 0,
        message: "look".to_owned(),
    };
    let answer = v1::ClusterStatusResponse {
        header: replica.header(),
        alarms: vec![alarm],
        ..Default::default()
    };
    let mut bytes = answer.encode_to_vec();
    // The field 500, which there is not, with the number 1.
    bytes.extend([0xa0, 0x1f, 0x01]);
    let answer = v1::ClusterStatusResponse::decode(&*bytes).unwrap();
    let status = ClusterStatus::try_from(answer).unwrap();
    assert_eq!(status.alarms[0].kind, AlarmKind::Other);
    assert_eq!(status.alarms[0].message, "look");
}
