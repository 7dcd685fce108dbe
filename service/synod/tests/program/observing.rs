//! Runs `synod observe` against API servers over HTTP, some of which fail.

mod api_server;
mod by_name;
mod plugins;

use std::time::Duration;

use serde_json::Value;
use synod_client::{
    Client, ListMigrations, Migration, MigrationPhase, ObjectKind, Persisted, StorageState,
    StorageVersionHash, WorkerName,
};
use synod_tests::free_address;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::certificates::{Folder, Serves, text};
use crate::cluster::{Cluster, Server, claimed, named};
use crate::program::{LIMIT, Printed, run};
use api_server::{ApiServer, Mood};

const WIDGETS: &str = "widgets.example.io";

/// How long a server may take for a document where one hangs: long enough for the others, and for encryption, on a busy machine.
const HANGING: [&str; 2] = ["--server-timeout", "3s"];

/// The setting `discovery_period` while what is observed is to stay fresh, longer than a busy machine keeps an observer waiting.
const PERIOD: Duration = Duration::from_secs(5);

fn hash(version: &str) -> StorageVersionHash {
    StorageVersionHash::of("example.io", version, "Widget")
}

/// Looks once, and returns the exit code and the printed document.
async fn look(cluster: &Cluster, servers: &[&ApiServer]) -> (i32, Value) {
    let urls: Vec<&str> = servers.iter().map(|server| server.url()).collect();
    look_by(cluster, &urls).await
}

/// The same with these words.
async fn look_by(cluster: &Cluster, more: &[&str]) -> (i32, Value) {
    let mut words = vec!["observe", "--once", "-o", "json"];
    words.extend(more);
    let Printed { code, out, err } = cluster.ask(&words).await;
    // The command looks again if a member may just have changed its encoding.
    let last = out.lines().last().unwrap_or_default();
    let document = serde_json::from_str(last).unwrap_or_else(|_| panic!("{out}{err}"));
    (code, document)
}

/// How a server may be that does not show what it encodes.
const UNREADABLE: [Mood; 7] = [
    Mood::Fails,
    Mood::Busy,
    Mood::Hangs,
    Mood::Babbles,
    Mood::FailsInGroup,
    Mood::Endless,
    Mood::Hides,
];

/// The outcome for the only resource that was seen.
fn outcome(document: &Value) -> &str {
    let resources = document["look"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 1, "{document}");
    assert_eq!(resources[0]["resource"]["resource"], "widgets");
    resources[0]["outcome"].as_str().unwrap()
}

async fn state(client: &Client) -> StorageState {
    let reflector = client
        .reflect(vec![ObjectKind::StorageState])
        .await
        .unwrap();
    let state = reflector.storage_state(&named(WIDGETS));
    (*state.expect("nothing is known of the resource")).clone()
}

async fn migrations(client: &Client) -> Vec<Migration> {
    client
        .migrations(ListMigrations::new())
        .all()
        .await
        .unwrap()
        .items
}

/// Does what a worker does, without rewriting objects.
async fn complete(client: &Client, migration: &Migration) {
    let worker = WorkerName::parse("worker-a").unwrap();
    let claim = claimed(client, &migration.id, &worker).await;
    client.complete_migration(&claim).await.unwrap();
}

#[tokio::test]
async fn what_all_servers_show_stands_for_the_agreement_and_is_migrated_to() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let (a, b) = (ApiServer::start("v1").await, ApiServer::start("v1").await);
    let servers = [&a, &b];
    let (code, first) = look(&cluster, &servers).await;
    assert_eq!((code, outcome(&first)), (0, "CHANGED"), "{first}");
    assert_eq!(state(&client).await.persisted, [Persisted::Unknown]);
    let pending = migrations(&client).await;
    assert_eq!(pending.len(), 1);
    complete(&client, &pending[0]).await;
    let (code, again) = look(&cluster, &servers).await;
    assert_eq!((code, outcome(&again)), (0, "UNCHANGED"));
    assert_eq!(
        state(&client).await.persisted,
        [Persisted::observed(hash("v1"))]
    );

    // After half of the upgrade there is no agreement, after all of it there is a new one.
    b.becomes(Mood::Encodes("v2"));
    assert_eq!(outcome(&look(&cluster, &servers).await.1), "CHANGED");
    let between = state(&client).await;
    assert_eq!(between.observed.len(), 2);
    assert_eq!(
        migrations(&client).await.len(),
        1,
        "nothing is migrated while they differ"
    );
    a.becomes(Mood::Encodes("v2"));
    assert_eq!(outcome(&look(&cluster, &servers).await.1), "CHANGED");
    let all = migrations(&client).await;
    let last = all
        .iter()
        .find(|one| one.phase == MigrationPhase::Pending)
        .unwrap();
    assert_eq!(last.target.hash, hash("v2"));
}

// Guarantee: MG-29
#[tokio::test]
async fn a_server_that_cannot_be_read_makes_no_agreement_and_what_is_new_ends_one() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let (a, b) = (ApiServer::start("v1").await, ApiServer::start("v1").await);
    let urls = [a.url(), b.url()];
    let hanging = [&HANGING[..], &urls[..]].concat();
    for mood in UNREADABLE {
        b.becomes(mood);
        let words = match mood {
            Mood::Hangs => &hanging[..],
            _ => &urls[..],
        };
        let (code, document) = look_by(&cluster, words).await;
        assert_eq!(
            (code, outcome(&document)),
            (1, "WITHHELD"),
            "{mood:?}: {document}"
        );
        assert_eq!(migrations(&client).await.len(), 0, "{mood:?}");
    }
    b.becomes(Mood::Encodes("v1"));
    assert_eq!(look_by(&cluster, &urls).await.0, 0);
    let running = migrations(&client).await;
    assert_eq!(running[0].phase, MigrationPhase::Pending);

    // The upgraded server shows the new hash while the other one cannot be read.
    a.becomes(Mood::Encodes("v2"));
    b.becomes(Mood::Hangs);
    let (code, widened) = look_by(&cluster, &hanging).await;
    assert_eq!((code, outcome(&widened)), (1, "WIDENED"), "{widened}");
    assert_eq!(migrations(&client).await[0].phase, MigrationPhase::Aborted);
    let now = state(&client).await;
    assert!(now.persisted.contains(&Persisted::observed(hash("v2"))));
    assert_eq!(now.observed.len(), 2);
    let once = ["observe", "--once"];
    let text = cluster.ask(&[&once[..], &hanging[..]].concat()).await;
    assert_eq!(text.code, 1);
    assert!(
        text.out
            .contains("cannot be read: /api: not answered: no answer within 3s"),
        "{}",
        text.out
    );
    assert!(
        text.out.ends_with("1 resources of 2 servers: 1 withheld\n"),
        "{}",
        text.out
    );
}

// Guarantee: MG-29
#[tokio::test]
async fn an_observer_keeps_what_is_observed_fresh_and_what_nobody_looked_at_is_unknown() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let a = ApiServer::start("v1").await;
    let period = format!("discovery_period={}s", PERIOD.as_secs());
    let set = cluster.ask(&["settings", "set", &period]).await;
    assert_eq!(set.code, 0, "{}", set.err);
    assert_eq!(look(&cluster, &[&a]).await.0, 0);
    complete(&client, &migrations(&client).await[0]).await;
    // By the end of this, what was observed before it would be stale.
    let since = Instant::now();
    let mut observer = cluster.begin(&["observe", "--period", "500ms", a.url()]);
    while since.elapsed() < 2 * PERIOD + Duration::from_secs(1) {
        let line = observer.line().await.unwrap();
        assert_eq!(line, "1 resources of 1 servers: 1 as before");
    }
    assert_eq!(
        state(&client).await.persisted,
        [Persisted::observed(hash("v1"))]
    );
    let set = ["settings", "set", "discovery_period=1s"];
    assert_eq!(cluster.ask(&set).await.code, 0);
    a.becomes(Mood::Fails);
    let failing = async |observer: &mut crate::program::Running| {
        let line = observer.line().await.unwrap();
        line.contains("answered 503")
    };
    while !failing(&mut observer).await {}
    let forgotten = async {
        while !state(&client).await.persisted.contains(&Persisted::Unknown) {
            observer.line().await.unwrap();
        }
    };
    let forgotten = timeout(LIMIT, forgotten).await;
    forgotten.expect("what nobody looks at is still known");
    a.becomes(Mood::Encodes("v1"));
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    assert!(state(&client).await.persisted.contains(&Persisted::Unknown));
    observer.signal(rustix::process::Signal::TERM);
    assert_eq!(observer.ended().await.code(), Some(0));
}

#[tokio::test]
async fn what_is_shown_is_held_against_what_members_report() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let member = Server::join(&client, "server-a").await;
    member.encodes(WIDGETS, "example.io/v1").await;
    let against = |document: &Value| {
        let one = &document["look"]["resources"][0];
        assert_eq!(one["reported"], true, "{document}");
        one["contradicting"].clone()
    };
    let a = ApiServer::start("v1").await;
    let (code, same) = look(&cluster, &[&a]).await;
    assert_eq!((code, outcome(&same)), (0, "CHANGED"), "{same}");
    assert_eq!(against(&same), serde_json::json!([]));
    let beside = state(&client).await;
    assert_eq!(beside.observed_kind.unwrap().as_str(), "Widget");
    let check = ["storage-versions", "check", WIDGETS, "--assume-complete"];
    assert_eq!(cluster.ask(&check).await.code, 0);

    // A server that is no member, or a member that does not encode what it reports.
    a.becomes(Mood::Encodes("v2"));
    let looked = cluster.ask(&["observe", "--once", a.url()]).await;
    assert_eq!(looked.code, 0, "{}{}", looked.out, looked.err);
    let told = format!(
        "{}  no member reports that it encodes this hash",
        hash("v2")
    );
    let times = looked.out.matches(&told).count();
    assert_eq!(times, 4, "it looks again a few times: {}", looked.out);
    let (_, other) = look(&cluster, &[&a]).await;
    assert_eq!(against(&other), serde_json::json!([hash("v2").to_string()]));
    let disagreed = cluster.ask(&check).await;
    assert_eq!(disagreed.code, 8);
    let shows = format!("discovery shows {}", hash("v2"));
    assert!(disagreed.out.contains(&shows), "{}", disagreed.out);
    let history = ["storage-versions", "history", WIDGETS];
    assert!(cluster.ask(&history).await.out.contains("(observed)"));

    a.becomes(Mood::Encodes("v1"));
    let (code, again) = look(&cluster, &[&a]).await;
    assert_eq!((code, outcome(&again)), (0, "CHANGED"), "{again}");
    assert_eq!(against(&again), serde_json::json!([]));
    assert_eq!(cluster.ask(&check).await.code, 0);
}

#[tokio::test]
async fn a_look_that_is_not_whole_ends_what_members_agree_on_and_nothing_else() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let member = Server::join(&client, "server-a").await;
    member.encodes(WIDGETS, "example.io/v1").await;
    let (a, b) = (ApiServer::start("v1").await, ApiServer::start("v1").await);
    b.becomes(Mood::Fails);
    let (code, same) = look(&cluster, &[&a, &b]).await;
    assert_eq!((code, outcome(&same)), (1, "WITHHELD"), "{same}");
    a.becomes(Mood::Encodes("v2"));
    let (code, other) = look(&cluster, &[&a, &b]).await;
    assert_eq!(
        (code, outcome(&other)),
        (1, "WITHHELD"),
        "it is known by now"
    );
    let now = state(&client).await;
    assert!(now.contradicted, "{now:?}");
    assert_eq!(now.observed.len(), 2, "what members say is joined to it");
}

#[tokio::test]
async fn what_a_server_passes_on_is_anothers() {
    let cluster = Cluster::start().await;
    let a = ApiServer::start("v1").await;
    a.becomes(Mood::PassesOn);
    let (code, document) = look(&cluster, &[&a]).await;
    assert_eq!(code, 0, "{document}");
    assert_eq!(document["look"]["resources"], serde_json::json!([]));
}

#[tokio::test]
async fn servers_that_cannot_be_looked_at_are_refused_by_name() {
    let printed = run(&["observe", "ftp://a", "http://b:1", "http://b:1/"]).await;
    assert_eq!(printed.code, 2, "{}", printed.err);
    for part in ["must begin with https://", "must not be given twice"] {
        assert!(printed.err.contains(part), "{}", printed.err);
    }
    let nobody = run(&["observe"]).await;
    assert_eq!(nobody.code, 2, "{}", nobody.err);
    assert!(nobody.err.contains("--kubeconfig"), "{}", nobody.err);
}

/// Two API servers over TLS that show v1, of which the first tells of both.
async fn secured(folder: &Folder) -> (ApiServer, ApiServer) {
    let acceptor = folder.acceptor(Serves::Known);
    let a = ApiServer::start_secured("v1", acceptor.clone()).await;
    let b = ApiServer::start_secured("v1", acceptor).await;
    a.tells_of(&[&a, &b]);
    (a, b)
}

/// The user whose certificate the servers know.
const KNOWN: &str = "    client-certificate: own.crt\n    client-key: own.key";

// Guarantee: MG-19
#[tokio::test]
async fn each_server_behind_the_service_is_found_and_called_over_tls() {
    let cluster = Cluster::start().await;
    let folder = Folder::new();
    let (a, b) = secured(&folder).await;
    let config = folder.kubeconfig(a.port(), "", KNOWN);
    let observe = [
        "observe",
        "--once",
        "-o",
        "json",
        "--kubeconfig",
        text(&config),
    ];
    let observed = async |more: &[&str]| {
        let printed = cluster.ask(&[&observe[..], more].concat()).await;
        let last = printed.out.lines().last().unwrap_or_default().to_owned();
        let document: Value = serde_json::from_str(&last)
            .unwrap_or_else(|_| panic!("{}{}", printed.out, printed.err));
        (printed.code, document)
    };
    let (code, both) = observed(&[]).await;
    assert_eq!((code, outcome(&both)), (0, "CHANGED"), "{both}");
    assert_eq!(both["look"]["servers"].as_array().unwrap().len(), 2);

    // One that is found and cannot be read may encode anything, and so may those that nobody tells of.
    b.becomes(Mood::Fails);
    assert_eq!(outcome(&observed(&[]).await.1), "WITHHELD");
    b.becomes(Mood::Encodes("v1"));
    // One that advertises no address of its own is not seen, and counts by its lease.
    a.knows_of(2);
    assert_eq!(observed(&[]).await.0, 0);
    a.knows_of(3);
    let (code, hidden) = observed(&[]).await;
    assert_eq!(code, 1, "{hidden}");
    assert!(hidden.to_string().contains("hold leases"), "{hidden}");
    a.tells_of(&[]);
    let (code, none) = observed(&[]).await;
    assert_eq!(code, 1, "{none}");
    assert_eq!(none["look"]["resources"], serde_json::json!([]));
    let why = none["look"]["servers"][0]["faults"][0]["why"]
        .as_str()
        .unwrap();
    assert!(why.contains("which API servers there are"), "{why}");

    // The same servers by their URLs, as the same caller.
    let (code, named) = observed(&[a.url(), b.url()]).await;
    assert_eq!((code, outcome(&named)), (0, "UNCHANGED"), "{named}");
    // As nobody, they are not reached.
    let printed = cluster.ask(&["observe", "--once", a.url()]).await;
    assert_eq!(printed.code, 1, "{}", printed.out);
    assert!(printed.out.contains("cannot be read"), "{}", printed.out);
}

#[tokio::test]
async fn a_server_that_cannot_be_read_over_tls_makes_no_agreement() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let folder = Folder::new();
    let (a, b) = secured(&folder).await;
    let config = folder.kubeconfig(a.port(), "", KNOWN);
    let servers = ["--kubeconfig", text(&config), a.url(), b.url()];
    let words = [&HANGING[..], &servers[..]].concat();
    for mood in UNREADABLE {
        b.becomes(mood);
        let (code, document) = look_by(&cluster, &words).await;
        assert_eq!(
            (code, outcome(&document)),
            (1, "WITHHELD"),
            "{mood:?}: {document}"
        );
        assert_eq!(migrations(&client).await.len(), 0, "{mood:?}");
    }
    b.becomes(Mood::Encodes("v1"));
    // Nor does one whose certificate has expired.
    let late = ApiServer::start_secured("v1", folder.acceptor(Serves::Expired)).await;
    let (code, document) = look_by(&cluster, &[&words[..], &[late.url()]].concat()).await;
    assert_eq!((code, outcome(&document)), (1, "WITHHELD"), "{document}");
    assert!(document.to_string().contains("expired"), "{document}");
    assert_eq!(migrations(&client).await.len(), 0);
    assert_eq!(look_by(&cluster, &words).await.0, 0);
    assert_eq!(migrations(&client).await.len(), 1);
}

#[tokio::test]
async fn an_observer_whose_certificate_has_expired_reads_nobody() {
    let cluster = Cluster::start().await;
    let folder = Folder::new();
    let (a, _b) = secured(&folder).await;
    folder.issue_expired("late", "observer");
    let user = KNOWN.replace("own", "late");
    let config = folder.kubeconfig(a.port(), "", &user);
    let words = ["--server-timeout", "10s", "--kubeconfig", text(&config)];
    let (code, document) = look_by(&cluster, &words).await;
    assert_eq!(code, 1, "{document}");
    let told = document.to_string().to_lowercase();
    assert!(told.contains("expired"), "{document}");
    folder.issue("late", "observer");
    assert_eq!(look_by(&cluster, &words).await.0, 0);
}

#[tokio::test]
async fn a_token_that_is_replaced_while_an_observer_looks_is_read_again() {
    let cluster = Cluster::start().await;
    let folder = Folder::new();
    let a = ApiServer::start_secured("v1", folder.acceptor(Serves::Anybody)).await;
    folder.replace("token", "first\n");
    a.knows("first");
    let config = folder.kubeconfig(a.port(), "", "    tokenFile: token");
    let mut observer = cluster.begin(&[
        "observe",
        "--period",
        "500ms",
        "--kubeconfig",
        text(&config),
        a.url(),
    ]);
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    // Refused until the file has the new one.
    a.knows("second");
    while !observer.line().await.unwrap().contains("401") {}
    folder.replace("token", "second\n");
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    observer.signal(rustix::process::Signal::TERM);
    assert_eq!(observer.ended().await.code(), Some(0));
}

/// Who holds the lease of the observers.
async fn holder(cluster: &Cluster) -> String {
    let shown = ["lease", "get", "observer", "-o", "json"];
    let shown: Value = serde_json::from_str(&cluster.ask(&shown).await.out).unwrap();
    let holder = shown["lease"]["hold"]["holder"].as_str();
    holder.unwrap_or_else(|| panic!("{shown}")).to_owned()
}

// Guarantee: MG-19
#[tokio::test]
async fn of_two_observers_one_looks_until_it_is_killed() {
    let cluster = Cluster::start().await;
    let a = ApiServer::start("v1").await;
    let port = free_address().to_string();
    let words = [
        "observe",
        "--period",
        "500ms",
        "--elect",
        "observer",
        a.url(),
    ];
    let mut first = cluster.begin(&words);
    assert!(first.line().await.unwrap().contains("changed at revision"));
    let more = ["--holder", "second", "--listen-metrics", &port];
    let mut second = cluster.begin(&[&words[..], &more].concat());
    let asked = async |path: &str| {
        let mut text = String::new();
        let mut asked = loop {
            if let Ok(asked) = TcpStream::connect(&port).await {
                break asked;
            }
            tokio::task::yield_now().await;
        };
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        asked.write_all(request.as_bytes()).await.unwrap();
        asked.read_to_string(&mut text).await.unwrap();
        text
    };
    // The first one goes on to look, several times.
    for _ in 0..5 {
        first.line().await.unwrap();
    }
    let waits = asked("/metrics").await;
    assert!(waits.contains("\nsynod_observer_leading 0\n"), "{waits}");
    let lives = asked("/livez").await;
    assert!(
        lives.contains(" 200 OK") && lives.ends_with("ok\n"),
        "{lives}"
    );
    // A policy can grant it that name, and no random one.
    let name = holder(&cluster).await;
    assert!(name.starts_with("synod-observe-"), "{name}");
    first.signal(rustix::process::Signal::KILL);
    let line = second.line().await.unwrap();
    assert_eq!(line, "1 resources of 1 servers: 1 as before");
    second.line().await.unwrap();
    assert_eq!(holder(&cluster).await, "second");
    let text = asked("/metrics").await;
    for part in [
        "synod_observer_leading 1",
        "synod_observer_servers 1",
        "_resources{outcome=\"UNCHANGED\"} 1",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    second.signal(rustix::process::Signal::TERM);
    assert_eq!(second.ended().await.code(), Some(0));
    let taken = cluster
        .ask(&["lease", "acquire", "observer", "--holder", "other"])
        .await;
    assert_eq!(taken.code, 0, "it was given up: {}", taken.err);
}

#[tokio::test]
async fn the_api_servers_of_the_demo_show_what_they_encode_now() {
    let cluster = Cluster::start().await;
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let [store, listen] = [(); 2].map(|()| free_address().to_string());
    let endpoints = cluster.endpoints();
    let _store = cluster.begin(&[
        "demo-store",
        "--listen",
        &store,
        "--journal",
        &file("store"),
    ]);
    let mut words = vec!["demo-apiserver", "--id", "server-a", "--release", "1.1"];
    let (journal, kept) = (file("journal"), file("kept"));
    words.extend([
        "--listen",
        &listen,
        "--store",
        &store,
        "--endpoints",
        &endpoints,
    ]);
    words.extend([
        "--journal",
        &journal,
        "--kept-journal",
        &kept,
        "--ttl-ms",
        "15000",
    ]);
    let _server = cluster.begin(&words);
    let url = format!("http://{listen}");
    let observe = ["observe", "--once", "-o", "json", &url];
    // The server shows no hash before its gate is open.
    let shown = loop {
        let printed = cluster.ask(&observe).await;
        // A look that the opening gate has overtaken is printed, and made again.
        let last = printed.out.lines().last().expect("each look is a line");
        let document: Value = serde_json::from_str(last).unwrap();
        let resources = document["look"]["resources"].as_array().unwrap().clone();
        if resources.len() == 4 {
            assert_eq!(printed.code, 0, "{document}");
            break resources;
        }
    };
    for (one, version) in shown.iter().zip(["v1", "v1", "v1", "v2"]) {
        assert_eq!(one["reported"], true, "{one}");
        assert_eq!(one["contradicting"], serde_json::json!([]), "{one}");
        let plural = one["resource"]["resource"].as_str().unwrap();
        let kind = match plural {
            "gadgets" => "Gadget",
            "gizmos" => "Gizmo",
            "trinkets" => "Trinket",
            _ => "Widget",
        };
        let hash = StorageVersionHash::of("example.io", version, kind).to_string();
        assert_eq!(one["hashes"], serde_json::json!([hash]), "{plural}");
    }
}
