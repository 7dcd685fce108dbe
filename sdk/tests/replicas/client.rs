//! Calls of the client: failover, deadlines, and each change executed once.

use std::time::Duration;

use synod_client::{
    Client, Current, ErrorKind, InstanceId, Join, ListMembers, Outcome, OutcomeAnswer, ReadOptions,
    Revision, Settings, SettingsPatch, Ttl, Verdict,
};
use tokio::time::Instant;

use crate::cluster::{Cluster, endpoint, id, legal, pass, within};
use crate::network::Weather;

/// The join of a process called `instance`.
fn join(member: &str, instance: &str) -> Join {
    Join {
        id: id(member),
        instance: legal(InstanceId::parse(instance)),
        ttl: Ttl::DEFAULT,
        labels: Default::default(),
        version: Default::default(),
        endpoint: Default::default(),
        lost_epoch: None,
        gated: true,
    }
}

fn patch(sessions_max: u32) -> SettingsPatch {
    SettingsPatch {
        sessions_max: Some(sessions_max),
        ..SettingsPatch::default()
    }
}

/// A client that has its session, and begins with the first of these replicas.
async fn client_of(cluster: &Cluster, numbers: Vec<u64>) -> Client {
    let client = cluster.client_of(numbers).await;
    within(client.update_settings(patch(1_000), None))
        .await
        .unwrap();
    client
}

#[tokio::test(start_paused = true)]
async fn a_client_reads_what_it_has_written() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let joined = within(client.send_join(join("a", "one"))).await.unwrap();
    assert!(joined.changed);
    assert_eq!(joined.write_grace, Settings::default().write_grace);
    let view = within(client.member(&id("a"), ReadOptions::default()))
        .await
        .unwrap();
    assert_eq!(view.member.epoch, joined.epoch);
    assert_eq!(view.member.ttl, Ttl::DEFAULT);
    let missing = within(client.member(&id("b"), ReadOptions::default()))
        .await
        .unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_show_one_revision() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    for member in ["a", "b", "c", "d", "e"] {
        within(client.send_join(join(member, "one"))).await.unwrap();
    }
    let mut pages = client.members(ListMembers::new().with_page_size(2));
    let first = within(pages.next()).await.unwrap().unwrap();
    within(client.send_join(join("bb", "one"))).await.unwrap();
    let mut names: Vec<String> = Vec::new();
    let rest = within(pages.all()).await.unwrap();
    assert_eq!(rest.header.revision, first.header.revision);
    for item in first.items.iter().chain(&rest.items) {
        names.push(item.member.id.to_string());
    }
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
}

#[tokio::test(start_paused = true)]
async fn a_killed_leader_delays_calls_and_loses_none() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    within(client.send_join(join("before", "one")))
        .await
        .unwrap();
    let leader = cluster.leader(&client).await;
    cluster.kill(leader);
    let killed_at = Instant::now();
    within(client.send_join(join("after", "one")))
        .await
        .unwrap();
    assert!(
        killed_at.elapsed() < Duration::from_secs(5),
        "{:?}",
        killed_at.elapsed()
    );
    let members = within(client.members(ListMembers::new()).all())
        .await
        .unwrap();
    assert_eq!(members.items.len(), 2);
}

/// By the name of the method, as other languages ask: whoever is to hand over is left to the replica.
// Guarantee: S-05
#[tokio::test(start_paused = true)]
async fn a_replica_that_has_not_heard_of_an_election_has_the_new_leader_hand_over() {
    let cluster = Cluster::start(3).await;
    let all = cluster.client().await;
    let old = cluster.leader(&all).await;
    let (new, deaf) = (old % 3 + 1, (old + 1) % 3 + 1);
    let asked = client_of(&cluster, vec![deaf]).await;
    cluster.hears(deaf, Weather::Silent);
    let first = client_of(&cluster, vec![old]).await;
    assert!(
        within(first.transfer_leader(Some(new)))
            .await
            .unwrap()
            .changed
    );
    let known = within(asked.status()).await.unwrap();
    assert_eq!(known.leader_id, Some(old), "it has not heard of it");

    let request = serde_json::json!({});
    let handing = asked.call_json("synod.v1.Cluster/TransferLeader", &request);
    let healed = async {
        pass(Duration::from_millis(20)).await;
        cluster.hears(deaf, Weather::Fair);
    };
    let handing = async { tokio::join!(handing, healed).0 };
    let handed = within(Box::pin(handing)).await.unwrap();
    assert_eq!(handed["changed"], true, "{handed}");
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_sent_again_and_executed_once() {
    let cluster = Cluster::start(3).await;
    let client = client_of(&cluster, vec![1, 2]).await;
    let other = client_of(&cluster, vec![3]).await;
    let before = within(client.settings(ReadOptions::default()))
        .await
        .unwrap()
        .header;
    cluster
        .network
        .set(&endpoint(before.replica_id), Weather::Mute);
    let changing = client.update_settings(patch(2_000), None);
    let meanwhile = async {
        // The first try was executed long ago, and the second is not sent yet.
        pass(Duration::from_secs(1)).await;
        other.update_settings(patch(3_000), None).await
    };
    let (changed, meanwhile) = within(Box::pin(async { tokio::join!(changing, meanwhile) })).await;
    let (changed, meanwhile) = (changed.unwrap(), meanwhile.unwrap());
    assert_ne!(changed.header.replica_id, before.replica_id);
    assert!(changed.changed);
    assert_eq!(changed.header.revision, before.revision.next());
    // The change made in between still holds: the second try has changed nothing.
    assert_eq!(meanwhile.header.revision, before.revision.next().next());
    let settings = within(other.settings(ReadOptions::default()))
        .await
        .unwrap();
    assert_eq!(settings.settings.sessions_max, 3_000);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_can_be_asked_for() {
    let cluster = Cluster::start(1).await;
    let client = client_of(&cluster, vec![1])
        .await
        .with_timeout(Duration::from_secs(2));
    cluster.network.set(&endpoint(1), Weather::Mute);
    let error = within(client.update_settings(patch(2_000), None))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
    assert_eq!(error.execution(), Verdict::Unknown);
    assert!(!error.retryable());
    let key = error.request_key().expect("the request had a key").clone();

    cluster.network.set(&endpoint(1), Weather::Cut);
    cluster.network.set(&endpoint(1), Weather::Fair);
    let outcome = within(client.outcome(&key)).await.unwrap();
    let Outcome::Executed {
        changed, answer, ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert!(changed);
    assert_eq!(answer, OutcomeAnswer::Done);
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_session_never_sends_a_change_twice() {
    let cluster = Cluster::start(1).await;
    let builder = Client::builder()
        .endpoints(vec![endpoint(1)])
        .seams(cluster.seams());
    let client = builder.sessions(false).connect().await.unwrap();
    within(client.send_join(lasting("a"))).await.unwrap();
    cluster.network.set(&endpoint(1), Weather::Mute);
    let error = within(client.send_join(lasting("b"))).await.unwrap_err();
    assert_eq!(error.execution(), Verdict::Unknown);
    assert_eq!(error.request_key(), None);
    cluster.network.set(&endpoint(1), Weather::Cut);
    within(client.status()).await.unwrap_err();
    let error = within(client.send_join(lasting("c"))).await.unwrap_err();
    // A replica to which no connection is possible has executed nothing.
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(error.execution(), Verdict::NotExecuted);
    assert!(error.retryable());
    cluster.network.set(&endpoint(1), Weather::Fair);
    let members = within(client.members(ListMembers::new()).all())
        .await
        .unwrap();
    let names: Vec<&str> = members
        .items
        .iter()
        .map(|item| item.member.id.as_str())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

/// A join with a TTL longer than any wait of a test.
fn lasting(id: &str) -> Join {
    Join {
        ttl: Ttl::MAX,
        ..join(id, "one")
    }
}

#[tokio::test(start_paused = true)]
async fn one_deadline_holds_over_all_tries() {
    let cluster = Cluster::start(3).await;
    let client = client_of(&cluster, vec![1, 2, 3])
        .await
        .with_timeout(Duration::from_secs(4));
    for number in 1..=3 {
        cluster.network.set(&endpoint(number), Weather::Silent);
    }
    let asked_at = Instant::now();
    let error = within(client.status()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
    assert_eq!(error.execution(), Verdict::NotExecuted);
    assert!(
        asked_at.elapsed() <= Duration::from_millis(4_010),
        "{:?}",
        asked_at.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_is_kept_when_the_time_is_over_in_the_midst_of_a_try() {
    let cluster = Cluster::start(1).await;
    let client = client_of(&cluster, vec![1]).await;
    let client = client.with_timeout(Duration::from_secs(4));
    cluster.network.set(&endpoint(1), Weather::Cut);
    let later = async {
        pass(Duration::from_secs(2)).await;
        cluster.network.set(&endpoint(1), Weather::Silent);
    };
    let (told, ()) = Box::pin(within(async { tokio::join!(client.status(), later) })).await;
    let error = told.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(error.execution(), Verdict::NotExecuted);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_hangs_does_not_use_up_the_time_of_the_others() {
    let cluster = Cluster::start(3).await;
    let client = client_of(&cluster, vec![1, 2, 3])
        .await
        .with_timeout(Duration::from_secs(6));
    let asked = within(client.status()).await.unwrap().header.replica_id;
    cluster.network.set(&endpoint(asked), Weather::Silent);
    let asked_at = Instant::now();
    let answered = within(client.status()).await.unwrap().header.replica_id;
    assert_ne!(answered, asked);
    assert!(
        asked_at.elapsed() <= Duration::from_millis(2_010),
        "{:?}",
        asked_at.elapsed()
    );
    let asked_at = Instant::now();
    within(client.status()).await.unwrap();
    // The next call begins with the replica that answered last.
    assert!(
        asked_at.elapsed() < Duration::from_millis(100),
        "{:?}",
        asked_at.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn an_expired_session_is_replaced_when_nothing_was_sent_in_it() {
    let settings = Settings {
        session_ttl: Duration::from_secs(2),
        ..Settings::default()
    };
    let cluster = Cluster::start_with(3, settings).await;
    let client = cluster.client().await;
    let before = within(client.send_join(join("a", "one")))
        .await
        .unwrap()
        .header
        .revision;
    pass(Duration::from_secs(20)).await;
    let joined = within(client.send_join(join("b", "one"))).await.unwrap();
    assert!(joined.changed);
    // The expiry of one session and the opening of the other came in between.
    assert!(joined.header.revision > before.next().next(), "{joined:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_expired_between_two_tries_leaves_the_outcome_unknown() {
    let settings = Settings {
        session_ttl: Duration::from_secs(1),
        ..Settings::default()
    };
    let cluster = Cluster::start_with(3, settings).await;
    let client = cluster.client_of(vec![1, 2]).await;
    let answered = within(client.send_join(join("a", "one")))
        .await
        .unwrap()
        .header
        .replica_id;
    cluster.network.set(&endpoint(answered), Weather::Mute);
    let error = within(client.send_join(join("b", "one")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownOutcome);
    assert_eq!(error.execution(), Verdict::Unknown);
    // It had been executed. The next request goes under a new session.
    let members = within(client.members(ListMembers::new()).all())
        .await
        .unwrap();
    assert_eq!(members.items.len(), 2);
    within(client.send_join(join("c", "one"))).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_closed_session_is_gone_and_another_one_opens_when_needed() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    within(client.close()).await.unwrap();
    within(client.send_join(join("a", "one"))).await.unwrap();
    within(client.close()).await.unwrap();
    within(client.send_join(join("b", "one"))).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn many_calls_at_once_share_a_session_and_are_all_answered() {
    let settings = Settings {
        session_outcomes: 4,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(1, settings).await;
    let client = cluster.client().await;
    let joins = (0..64).map(|number| {
        let client = client.clone();
        async move { client.send_join(join(&format!("m{number}"), "one")).await }
    });
    let joined = within(futures::future::join_all(joins)).await;
    for joined in joined {
        assert!(joined.unwrap().changed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_comparison_answers_what_stands() {
    let cluster = Cluster::start(1).await;
    let client = client_of(&cluster, vec![1]).await;
    let settings = within(client.settings(ReadOptions::default()))
        .await
        .unwrap()
        .settings;
    let changed = within(client.update_settings(patch(2_000), Some(settings.revision))).await;
    assert!(changed.unwrap().changed);
    let lost = client.update_settings(patch(3_000), Some(settings.revision));
    let error = within(lost).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(error.execution(), Verdict::Refused);
    let Some(Current::Settings(current)) = error.current() else {
        panic!("{error:?}");
    };
    assert_eq!(current.sessions_max, 2_000);
}

#[tokio::test(start_paused = true)]
async fn all_faults_of_a_request_are_named() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let patch = SettingsPatch {
        sessions_max: Some(0),
        history_revisions: Some(0),
        ..SettingsPatch::default()
    };
    let error = within(client.update_settings(patch, None))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let fields: Vec<&str> = error
        .violations()
        .iter()
        .map(|fault| fault.field.as_str())
        .collect();
    assert_eq!(fields, ["patch.historyRevisions", "patch.sessionsMax"]);
}

#[tokio::test(start_paused = true)]
async fn each_replica_can_be_asked_how_it_does() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await.with_timeout(Duration::from_secs(2));
    for number in 1..=3 {
        let status = within(client.status_of(&endpoint(number))).await.unwrap();
        assert_eq!(status.header.replica_id, number);
        assert_eq!(status.replicas.len(), 3);
    }
    cluster.kill(2);
    let error = within(client.status_of(&endpoint(2))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let error = within(client.status_of("127.0.0.1:1")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

// Guarantee: R-06
#[tokio::test(start_paused = true)]
async fn a_past_revision_can_be_read_and_a_compacted_one_says_how_far_back() {
    let settings = Settings {
        history_revisions: 2,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(1, settings).await;
    let client = cluster.client().await;
    let before = within(client.send_join(join("a", "one")))
        .await
        .unwrap()
        .header
        .revision;
    within(client.send_join(join("b", "one"))).await.unwrap();
    let list = ListMembers::new().with_read(ReadOptions::at_revision(before));
    let members = within(client.members(list).all()).await.unwrap();
    assert_eq!(members.items.len(), 1);
    for member in ["c", "d", "e"] {
        within(client.send_join(join(member, "one"))).await.unwrap();
    }
    let gone = client.settings(ReadOptions::at_revision(before));
    let error = within(gone).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Compacted);
    assert!(error.metadata().contains_key("oldest_revision"));
    let newest = Revision::new(u64::MAX - 1);
    let error = within(client.settings(ReadOptions::at_revision(newest)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FutureRevision);
}
