//! Two releases of different machine versions in one replica set, and the command line of each with replicas of the other.

use std::process::Output;

use synod_client::{ErrorKind, ReadOptions};
use synod_machine::MACHINE_VERSION;
use synod_model::Refusal;
use synod_proto::v1;

use crate::agreement::agree;
use crate::bad_requests::{legal_entry, report_of, speaker};
use crate::cluster::{Cluster, IDS};
use crate::commands::run_of;
use crate::release::Release;
use crate::requests::{Wire, key, refusal, timely};
use crate::waiting::{eventually, within};
use crate::watcher::Watcher;
use crate::writers::Writers;

/// The replicas are upgraded one by one under load. What the newer release brings is refused until the last one runs it. A
/// replica that goes back afterwards stops with words, and goes on where it was once it runs the newer release.
// Guarantee: U-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_upgrade_raises_the_machine_version_with_the_last_replica_and_no_way_leads_back()
{
    let mut cluster = Cluster::start_of(Release::Older).await;
    let from = agree(&cluster).await.next();
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(20).await;
    let watcher = Watcher::start(cluster.endpoints(), from);

    let leader = cluster.leader().await;
    let mut order: Vec<u64> = IDS.into_iter().filter(|id| *id != leader).collect();
    order.push(leader);
    for (place, id) in order.iter().enumerate() {
        assert!(cluster.terminate(*id).await.success());
        cluster.is_to_run(*id, Release::Present);
        cluster.restart(*id).await;
        writers.acknowledge(20).await;
        if place + 1 < order.len() {
            assert_eq!(machine_version(&cluster, *id).await, 1);
            let last = format!("replica {leader}");
            let words = ["run the newer release on", &last];
            is_refused(&cluster, &["settings", "set", "leases=off"], &words).await;
            needs_the_newer(&cluster, *id).await;
        }
    }
    for id in IDS {
        eventually(
            "the raise of the machine version",
            async || match machine_version(&cluster, id).await {
                MACHINE_VERSION => Ok(()),
                other => Err(format!("{other} is in force at replica {id}")),
            },
        )
        .await;
    }
    writers.acknowledge(20).await;
    has_the_newer(&cluster, leader).await;

    let back = *order.first().expect("there are three");
    goes_back(&mut cluster, back).await;
    // With a checkpoint of the newer version it does not even begin.
    let at = cluster.endpoint(back);
    done(command_at(&at, Release::Present, &["cluster", "checkpoint"]).await);
    goes_back(&mut cluster, back).await;
    writers.acknowledge(20).await;
    does_not_join(&mut cluster).await;

    let written = writers.stop().await;
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    let log = watcher.log().clone();
    written.check(&cluster, &log).await;

    // The writers' check knows of no other changes of the settings, so this one comes after it.
    done(set(&cluster, Release::Present, "leases=off").await);
    goes_back(&mut cluster, back).await;
    let client = cluster.client_of(back).await;
    let settings = client.settings(ReadOptions::linearizable()).await;
    let settings = settings.expect("the replica serves again").settings;
    assert_eq!(settings.leases.as_str(), "off");
    agree(&cluster).await;
    cluster.finish().await;
}

/// What comes with the newer machine version is refused while it is not in force.
async fn needs_the_newer(cluster: &Cluster, id: u64) {
    let told = "releases of claims come with machine version 2";
    gives_nothing_back(cluster, id, ErrorKind::Unavailable, told).await;
    deletes_nothing(cluster, id, ErrorKind::Unavailable).await;
    let named = names_one(cluster, id).await;
    assert_eq!(named.kind, ErrorKind::Unavailable, "{named:?}");
    let told = "alias \"mine\": aliases of migrations come with machine version 2";
    assert!(named.message.starts_with(told), "{named:?}");
}

/// The same is taken once it is in force: it finds nothing.
async fn has_the_newer(cluster: &Cluster, id: u64) {
    gives_nothing_back(cluster, id, ErrorKind::NotFound, "").await;
    deletes_nothing(cluster, id, ErrorKind::NotFound).await;
    let named = names_one(cluster, id).await;
    assert_eq!(
        named.kind,
        ErrorKind::NotFound,
        "there is nothing to migrate"
    );
}

/// Under machine version 1 every replica takes a key for a version of a resource, whichever build it runs: they hold the same
/// state, in which a server is let in that lacks a key. The newer build takes no such report itself, and with version 2 in
/// force the rules of keys hold.
// Guarantee: T-09
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_a_version_like_any_other_to_replicas_of_both_builds_until_the_last_is_upgraded() {
    let mut cluster = Cluster::start_of(Release::Older).await;
    let leader = cluster.leader().await;
    let mut others = IDS.into_iter().filter(|id| *id != leader);
    let (first, last) = (others.next().expect("two"), others.next().expect("two"));
    let a = speaker(&cluster, "a").await;
    let b = speaker(&cluster, "b").await;
    taken(says(&cluster, leader, &a, &["k1", "k2"], "k1").await);
    taken(says(&cluster, leader, &a, &["k1", "k2"], "k2").await);
    // Objects may be encrypted with k1, which it does not hold.
    taken(says(&cluster, leader, &b, &["k2"], "k2").await);
    agree(&cluster).await;

    upgrade(&mut cluster, first).await;
    let mut once = what_it_says(&b, &["k2", "k3"], "k2");
    let session = Wire::to(&cluster.endpoint(leader)).open_session().await;
    once.request_id = Some(key(session.session, 1));
    // The other replica takes no such report any more, but it answers a retry of one that was executed.
    for replica in [last, first] {
        taken(sent(&cluster, replica, once.clone()).await);
    }
    agree(&cluster).await;
    let refused = refusal(says(&cluster, first, &b, &["k2"], "k2").await);
    assert_eq!(refused.kind, ErrorKind::Unavailable, "{refused:?}");
    let told = "topic \"keys/secrets\": topics come with machine version 2";
    assert!(refused.message.starts_with(told), "{refused:?}");

    upgrade(&mut cluster, last).await;
    upgrade(&mut cluster, leader).await;
    let refused: Refusal = eventually("the rules of keys", async || {
        let answer = says(&cluster, first, &a, &["k2", "k4"], "k2").await;
        match answer.map_err(|status| refusal(Err::<(), _>(status))) {
            Err(refused) if refused.kind != ErrorKind::Unavailable => Ok(refused),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    assert_eq!(refused.kind, ErrorKind::NotDecodable, "{refused:?}");
    assert!(refused.message.contains("a persisted key"), "{refused:?}");
    // What it was let in with does not count: it says no less than before, and is refused.
    let refused = refusal(says(&cluster, first, &b, &["k2", "k3"], "k2").await);
    assert_eq!(refused.kind, ErrorKind::NotDecodable, "{refused:?}");
    let told = "not k1, a persisted key";
    assert!(refused.message.contains(told), "{refused:?}");
    taken(says(&cluster, first, &b, &["k1", "k2", "k3"], "k2").await);
    agree(&cluster).await;
    cluster.finish().await;
}

/// Checks what a replica says to a worker that gives back a claim of a migration that was never there.
async fn gives_nothing_back(cluster: &Cluster, replica: u64, kind: ErrorKind, says: &str) {
    let claim = v1::ClaimKey {
        migration: "pods-1".to_owned(),
        token: 1,
        cluster_id: String::new(),
    };
    let release = v1::MigrationsReleaseRequest {
        request_id: None,
        claim: Some(claim),
        ..v1::MigrationsReleaseRequest::default()
    };
    let wire = Wire::to(&cluster.endpoint(replica));
    let refused = refusal(wire.migrations().release(timely(release)).await);
    assert_eq!(refused.kind, kind, "{refused:?}");
    assert!(refused.message.contains(says), "{refused:?}");
}

/// Checks what a replica says to who deletes a migration that was never there.
async fn deletes_nothing(cluster: &Cluster, replica: u64, kind: ErrorKind) {
    let delete = v1::MigrationsDeleteRequest {
        name: "pods-1".to_owned(),
        ..v1::MigrationsDeleteRequest::default()
    };
    let wire = Wire::to(&cluster.endpoint(replica));
    let refused = refusal(wire.migrations().delete(timely(delete)).await);
    assert_eq!(refused.kind, kind, "{refused:?}");
}

/// What a replica says to who starts a migration of nothing under a name.
async fn names_one(cluster: &Cluster, replica: u64) -> Refusal {
    let start = v1::MigrationsStartRequest {
        resource: Some(v1::GroupResource {
            group: String::new(),
            resource: "unheard".to_owned(),
        }),
        reason: v1::MigrationReason::Manual.into(),
        alias: Some("mine".to_owned()),
        ..v1::MigrationsStartRequest::default()
    };
    let wire = Wire::to(&cluster.endpoint(replica));
    refusal(wire.migrations().start(timely(start)).await)
}

async fn upgrade(cluster: &mut Cluster, id: u64) {
    assert!(cluster.terminate(id).await.success());
    cluster.is_to_run(id, Release::Present);
    cluster.restart(id).await;
}

/// A member says to one replica which keys it holds, and with which it would write.
async fn says(
    cluster: &Cluster,
    replica: u64,
    member: &v1::MemberEpoch,
    holds: &[&str],
    prefers: &str,
) -> Result<(), tonic::Status> {
    sent(cluster, replica, what_it_says(member, holds, prefers)).await
}

async fn sent(
    cluster: &Cluster,
    replica: u64,
    report: v1::StorageVersionsReportRequest,
) -> Result<(), tonic::Status> {
    let wire = Wire::to(&cluster.endpoint(replica));
    wire.storage_versions()
        .report(timely(report))
        .await
        .map(drop)
}

fn what_it_says(
    member: &v1::MemberEpoch,
    holds: &[&str],
    prefers: &str,
) -> v1::StorageVersionsReportRequest {
    let entry = v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: "keys.synod".to_owned(),
            resource: "secrets".to_owned(),
        }),
        decodable_versions: holds.iter().map(|key| (*key).to_owned()).collect(),
        served_versions: Vec::new(),
        stance: Some(v1::report_entry::Stance::PreferredVersion(
            prefers.to_owned(),
        )),
        ..legal_entry("secrets")
    };
    report_of(member, vec![entry])
}

fn taken(answer: Result<(), tonic::Status>) {
    answer.expect("it is taken for a version");
}

/// A replica is started from the older build: it ends, says what to run, and damages nothing.
async fn goes_back(cluster: &mut Cluster, id: u64) {
    assert!(cluster.terminate(id).await.success());
    cluster.is_to_run(id, Release::Older);
    cluster.launch(id);
    let (status, log) = within("the end of an older replica", cluster.ended(id)).await;
    assert!(!status.success(), "{log}");
    let newest = format!("machine version {MACHINE_VERSION}");
    assert!(log.contains(&newest), "{log}");
    let says = log.contains("run the newer release") || log.contains("run that on this replica");
    assert!(says, "{log}");
    cluster.is_to_run(id, Release::Present);
    cluster.restart(id).await;
}

/// A replica of the older build is not taken into the set.
async fn does_not_join(cluster: &mut Cluster) {
    let peer = cluster.newcomer(4);
    cluster.is_to_run(4, Release::Older);
    cluster.launch(4);
    let words = format!("does not know machine version {MACHINE_VERSION}");
    is_refused(cluster, &["cluster", "add", "4", &peer], &[&words]).await;
    assert!(cluster.terminate(4).await.success());
}

/// The command line of each release, with the client library in it, works with replicas of the other: it reads and writes
/// what both know, and says what only one of them knows.
// Guarantee: U-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_of_each_release_works_with_replicas_of_the_other() {
    let old = Cluster::start_of(Release::Older).await;
    works(&old, Release::Present).await;
    let words = ["run the newer release on replica 1"];
    is_refused(&old, &["settings", "set", "leases=off"], &words).await;
    old.finish().await;

    let new = Cluster::start().await;
    works(&new, Release::Older).await;
    done(set(&new, Release::Present, "leases=off").await);
    // It has never heard of the reason, and says so with the words of the replica, and that nothing was done.
    let said = refused(acquire(&new, Release::Older).await);
    assert!(
        said.contains("SWITCHED_OFF, a reason that this client is too old to know"),
        "{said}"
    );
    assert!(said.contains("synod settings set leases=on"), "{said}");
    let said = refused(acquire(&new, Release::Present).await);
    assert!(
        said.starts_with("error: SWITCHED_OFF: leases are switched off"),
        "{said}"
    );
    // A patch of what it knows leaves alone what it does not know.
    done(set(&new, Release::Older, "members_max=4321").await);
    let client = new.client().await;
    let settings = client.settings(ReadOptions::linearizable()).await;
    let settings = settings.expect("the cluster serves").settings;
    assert_eq!(
        (settings.members_max, settings.leases.as_str()),
        (4321, "off")
    );
    new.finish().await;
}

/// The main verbs, each of which must succeed.
async fn works(cluster: &Cluster, release: Release) {
    let lines: [&[&str]; 12] = [
        &["status"],
        &["settings", "get"],
        &["settings", "set", "members_max=1234"],
        &["members", "list"],
        &["storage-versions", "list"],
        &[
            "collections",
            "create",
            "widgets.example.io",
            "--kind",
            "Widget",
        ],
        &["collections", "list"],
        &["lease", "acquire", "skew", "--holder", "a"],
        &["lease", "list"],
        &["lease", "release", "skew", "--holder", "a"],
        &["migrations", "list"],
        &["cluster", "status"],
    ];
    for line in lines {
        done(command(cluster, release, line).await);
    }
}

async fn acquire(cluster: &Cluster, release: Release) -> Output {
    command(
        cluster,
        release,
        &["lease", "acquire", "skew", "--holder", "a"],
    )
    .await
}

async fn set(cluster: &Cluster, release: Release, assignment: &str) -> Output {
    command(cluster, release, &["settings", "set", assignment]).await
}

/// Checks that a command fails for as long as it tries, and says this at its end. With the time of those that succeed each would
/// take as long; with less, on a busy machine, no try may be answered within it.
async fn is_refused(cluster: &Cluster, arguments: &[&str], words: &[&str]) {
    let endpoints = endpoints(cluster);
    eventually("a refusal with its reason", async || {
        let ended = command_within("5s", &endpoints, Release::Present, arguments).await;
        let said = refused(ended);
        let is_told = words.iter().all(|word| said.contains(*word));
        is_told.then_some(()).ok_or(said)
    })
    .await;
}

async fn command(cluster: &Cluster, release: Release, arguments: &[&str]) -> Output {
    command_at(&endpoints(cluster), release, arguments).await
}

fn endpoints(cluster: &Cluster) -> String {
    let awake = cluster.awake().into_iter();
    let endpoints: Vec<String> = awake.map(|id| cluster.endpoint(id)).collect();
    endpoints.join(",")
}

async fn command_at(endpoints: &str, release: Release, arguments: &[&str]) -> Output {
    command_within("30s", endpoints, release, arguments).await
}

async fn command_within(
    time: &str,
    endpoints: &str,
    release: Release,
    arguments: &[&str],
) -> Output {
    let global = ["--endpoints", endpoints, "--timeout", time];
    run_of(release, &[arguments, &global].concat()).await
}

async fn machine_version(cluster: &Cluster, id: u64) -> u32 {
    let status = cluster.status(id).await;
    status.expect("the replica answers").machine_version
}

fn done(output: Output) {
    let said = said(&output);
    assert!(output.status.success(), "{said}");
}

fn refused(output: Output) -> String {
    let said = said(&output);
    assert!(!output.status.success(), "{said}");
    said
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{err}{out}")
}
