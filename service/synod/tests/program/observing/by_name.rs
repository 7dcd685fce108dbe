//! Observers with names: each keeps what its servers showed, server by server.

use super::*;

/// What a named observer says that it saw of the resource.
async fn sees(cluster: &Cluster, observer: &str, more: &[&str]) -> (i32, String) {
    let words = [&["--observer", observer], more].concat();
    let (code, document) = look_by(cluster, &words).await;
    (code, outcome(&document).to_owned())
}

// Guarantee: V-12
#[tokio::test]
async fn two_observers_with_different_servers_do_not_undo_what_the_other_has_seen() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let (a, b) = (ApiServer::start("v1").await, ApiServer::start("v2").await);
    let changed = (0, "CHANGED".to_owned());
    assert_eq!(sees(&cluster, "east", &[a.url()]).await, changed);
    assert_eq!(sees(&cluster, "west", &[b.url()]).await, changed);
    assert_eq!(state(&client).await.observed.len(), 2);
    let unchanged = (0, "UNCHANGED".to_owned());
    assert_eq!(sees(&cluster, "east", &[a.url()]).await, unchanged);

    // A server that cannot be reached keeps what it showed, beside one that can.
    b.becomes(Mood::Fails);
    let withheld = (1, "WITHHELD".to_owned());
    assert_eq!(sees(&cluster, "west", &[b.url()]).await, withheld);
    let both = [a.url(), b.url()];
    let kept = (1, "KEPT".to_owned());
    assert_eq!(sees(&cluster, "west", &both).await, kept);
    assert_eq!(state(&client).await.observed.len(), 2);

    let dismiss = ["observe", "--dismiss", WIDGETS, "--observer", "west"];
    let at_b = [&dismiss[..], &["--server", b.url()]].concat();
    let done = cluster.ask(&at_b).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out
            .starts_with("widgets.example.io  dismissed at revision "),
        "{}",
        done.out
    );
    let now = state(&client).await;
    assert_eq!(now.observed, [hash("v1")]);
    assert_eq!(now.looks.len(), 2);
    let again = cluster.ask(&at_b).await;
    assert_ne!(again.code, 0);
    assert!(again.err.contains("there is no look"), "{}", again.err);
}

#[tokio::test]
async fn the_report_of_a_member_ends_what_its_server_showed() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let member = Server::join(&client, "api-a").await;
    member.encodes(WIDGETS, "example.io/v1").await;
    let a = ApiServer::start("v1").await;
    let named = format!("api-a={}", a.url());
    let seen = sees(&cluster, "east", &["--member", &named]).await;
    assert_eq!(seen, (0, "CHANGED".to_owned()));
    assert_eq!(state(&client).await.observed, [hash("v1")]);
    member.encodes(WIDGETS, "example.io/v2").await;
    let now = state(&client).await;
    assert!(!now.contradicted && now.observed.is_empty(), "{now:?}");
}
