//! A request with a session is executed once, however often and to whichever replica it is sent.

use std::time::Duration;

use synod_client::{Client, ErrorKind, Outcome, ReadOptions, Revision, SettingsPatch};
use synod_proto::v1;
use tonic::{Response, Status};

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::door::Door;
use crate::requests::{Wire, key, kind, revision, timely};
use crate::waiting::{LIMIT, eventually, within};
use crate::watch_log::WatchLog;
use crate::watcher::Watcher;

/// A compare and set, which cannot succeed twice.
fn comparison(
    request: v1::RequestId,
    if_revision: Revision,
    members_max: u32,
) -> v1::ClusterUpdateSettingsRequest {
    let patch = v1::SettingsPatch {
        members_max: Some(members_max),
        ..v1::SettingsPatch::default()
    };
    v1::ClusterUpdateSettingsRequest {
        request_id: Some(request),
        patch: Some(patch),
        if_revision: Some(if_revision.get()),
        dry_run: false,
    }
}

type Updated = Result<Response<v1::ClusterUpdateSettingsResponse>, Status>;

async fn send(
    cluster: &Cluster,
    replica: u64,
    request: &v1::ClusterUpdateSettingsRequest,
) -> Updated {
    let mut service = Wire::to(&cluster.endpoint(replica)).cluster();
    service.update_settings(timely(request.clone())).await
}

/// The revision of the settings' last change.
async fn settings_revision(client: &Client) -> Revision {
    let view = client
        .settings(ReadOptions::linearizable())
        .await
        .expect("the cluster serves");
    view.settings.revision
}

/// The number of changes of the settings that a watch saw.
fn changes_of_settings(log: &WatchLog) -> usize {
    let events = log.groups().iter().flat_map(|group| &group.events);
    events
        .filter(|event| event.kind() == v1::ObjectKind::Settings)
        .count()
}

// Guarantee: W-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_gets_the_first_answer_from_every_replica_also_after_all_were_killed() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let watcher = Watcher::start(cluster.endpoints(), from);
    let session = Wire::to(&cluster.endpoint(1)).open_session().await.session;
    let before = settings_revision(&cluster.client().await).await;
    let mut won = comparison(key(session, 1), before, 10_001);
    let mut lost = comparison(key(session, 2), before, 10_002);
    // Keeps the first answer remembered: it is not acknowledged as received.
    for request in [&mut won, &mut lost] {
        request
            .request_id
            .as_mut()
            .expect("it has a key")
            .lowest_unanswered = 1;
    }
    let first = send(&cluster, 1, &won)
        .await
        .expect("the comparison holds")
        .into_inner();
    assert!(first.changed);
    assert_eq!(kind(send(&cluster, 1, &lost).await), ErrorKind::Conflict);
    for round in 0..2 {
        for id in IDS {
            let again = send(&cluster, id, &won)
                .await
                .expect("it was executed")
                .into_inner();
            let (now, then) = (
                revision(again.header.as_ref()),
                revision(first.header.as_ref()),
            );
            assert_eq!(
                (now, again.changed),
                (then, true),
                "round {round}, replica {id}"
            );
            assert_eq!(
                kind(send(&cluster, id, &lost).await),
                ErrorKind::Conflict,
                "round {round}, replica {id}"
            );
        }
        if round == 0 {
            cluster.kill_all().await;
            IDS.into_iter().for_each(|id| cluster.launch(id));
            cluster.serving(1).await;
        }
    }
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    assert_eq!(changes_of_settings(&watcher.log()), 1);
    cluster.finish().await;
}

// Guarantee: W-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_its_session_has_forgotten_is_never_executed() {
    let cluster = Cluster::start().await;
    let wire = Wire::to(&cluster.endpoint(2));
    let session = wire.open_session().await.session;
    let before = settings_revision(&cluster.client().await).await;
    let first = comparison(key(session, 1), before, 10_001);
    let now = revision(
        send(&cluster, 1, &first)
            .await
            .expect("it holds")
            .into_inner()
            .header
            .as_ref(),
    );
    // The second request acknowledges that the first answer was received.
    send(&cluster, 1, &comparison(key(session, 2), now, 10_002))
        .await
        .expect("it holds");
    for id in IDS {
        assert_eq!(
            kind(send(&cluster, id, &first).await),
            ErrorKind::RequestExpired,
            "replica {id}"
        );
        let stranger = comparison(key(session + 1_000, 1), now, 10_003);
        assert_eq!(
            kind(send(&cluster, id, &stranger).await),
            ErrorKind::RequestExpired,
            "replica {id}"
        );
    }
    let closing = v1::SessionsCloseRequest {
        session,
        cluster_id: String::new(),
    };
    wire.sessions()
        .close(timely(closing))
        .await
        .expect("a session can be closed");
    let third = comparison(key(session, 3), now, 10_004);
    assert_eq!(
        kind(send(&cluster, 3, &third).await),
        ErrorKind::RequestExpired
    );
    let settings = cluster
        .client()
        .await
        .settings(ReadOptions::linearizable())
        .await
        .expect("it serves")
        .settings;
    assert_eq!(settings.members_max, 10_002);
    agree(&cluster).await;
    cluster.finish().await;
}

// Guarantee: W-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_answer_was_lost_is_executed_once_and_answered_by_another_replica() {
    let cluster = Cluster::start().await;
    let direct = cluster.client_of(3).await;
    let mut doors = Vec::new();
    for id in [1, 2] {
        doors.push(Door::before(cluster.ports(id)[0]).await);
    }
    let endpoints = doors.iter().map(Door::endpoint).collect();
    let client = Client::builder()
        .endpoints(endpoints)
        .request_timeout(LIMIT)
        .connect()
        .await
        .expect("addresses");
    // Opens the session while answers still arrive.
    let patch = |members_max| SettingsPatch {
        members_max: Some(members_max),
        ..SettingsPatch::default()
    };
    let before = client
        .update_settings(patch(10_001), None)
        .await
        .expect("it is taken")
        .header
        .revision;
    let watcher = Watcher::start(vec![cluster.endpoint(3)], before.next());
    doors.iter().for_each(Door::hold_answers);
    let changing =
        tokio::spawn(async move { client.update_settings(patch(10_002), Some(before)).await });
    // The change is executed, but its answer is held.
    watcher.reached(before.next()).await;
    assert!(!changing.is_finished());
    doors.iter().for_each(Door::cut);
    doors.iter().for_each(Door::mend);
    let changed = within("the answer to a retry", changing)
        .await
        .expect("no panic")
        .expect("it was executed");
    assert!(changed.changed);
    let settings = direct
        .settings(ReadOptions::linearizable())
        .await
        .expect("it serves")
        .settings;
    assert_eq!(
        (settings.members_max, settings.revision),
        (10_002, changed.header.revision)
    );
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    assert_eq!(changes_of_settings(&watcher.log()), 1);
    cluster.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_became_of_a_change_can_be_asked_when_nobody_waited_for_its_answer() {
    let cluster = Cluster::start().await;
    let direct = cluster.client_of(3).await;
    let door = Door::before(cluster.ports(1)[0]).await;
    let client = Client::builder()
        .endpoints(vec![door.endpoint()])
        .connect()
        .await
        .expect("an address");
    let patch = |members_max| SettingsPatch {
        members_max: Some(members_max),
        ..SettingsPatch::default()
    };
    // Opens the session while answers still arrive.
    client
        .update_settings(patch(10_001), None)
        .await
        .expect("it is taken");
    door.hold_answers();
    let impatient = client.with_timeout(Duration::from_secs(2));
    let mut values = 10_002..;
    // On a busy machine it may not be executed yet when nobody waits any more. Then another one is asked for, whose comparison
    // fails if this one is executed after all.
    let revision = eventually("a change that was executed", async || {
        let before = settings_revision(&direct).await;
        let value = values.next().expect("there are enough");
        let changing = impatient.update_settings(patch(value), Some(before));
        let error = changing.await.expect_err("no answer arrives");
        // It may have been executed, and can be asked for.
        let request = error.request_key().ok_or_else(|| error.to_string())?;
        let outcome = direct.outcome(request).await.expect("the session is kept");
        match outcome {
            Outcome::Executed {
                revision,
                changed: true,
                ..
            } => Ok(revision),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    assert_eq!(revision, settings_revision(&direct).await);
    door.cut();
    cluster.finish().await;
}
