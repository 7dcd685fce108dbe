//! Histories of controllers on the command line.

use synod_client::{
    ApiVersion, ControllerHistory, Kind, Labels, MediaType, Namespace, ObjectName, OwnerReference,
    RevisionData, Uid, Wanted,
};

use crate::cluster::Cluster;

/// A controller whose snapshots have the sizes 1, 2 and 3.
async fn wants(cluster: &Cluster, uid: u8) {
    let client = cluster.client().await;
    let history = client.history(ControllerHistory {
        namespace: Namespace::parse("team-a").unwrap(),
        owner: OwnerReference {
            api_version: ApiVersion::parse("apps/v1").unwrap(),
            kind: Kind::parse("StatefulSet").unwrap(),
            name: ObjectName::parse("web").unwrap(),
            uid: Uid::from_bytes([uid; 16]),
            controller: true,
            block_owner_deletion: false,
        },
        selector: Labels::parse([("app", "web")]).unwrap(),
    });
    for size in 1..=3 {
        let data = format!("{{\"size\":{size}}}").into_bytes();
        let data = RevisionData::new(MediaType::JSON, data.into()).unwrap();
        history.create(Wanted::new(data)).await.unwrap();
    }
}

async fn well(cluster: &Cluster, words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let printed = cluster.ask(&words).await;
    assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{words:?}");
    printed.out
}

async fn code(cluster: &Cluster, words: &str) -> i32 {
    let words: Vec<&str> = words.split(' ').collect();
    cluster.ask(&words).await.code
}

#[tokio::test]
async fn a_history_is_shown_compared_rolled_back_and_truncated() {
    let cluster = Cluster::start().await;
    wants(&cluster, 1).await;
    let names = well(&cluster, "history list StatefulSet/web -n team-a -o name").await;
    let names: Vec<&str> = names
        .lines()
        .map(|name| name.strip_prefix("team-a/").unwrap())
        .collect();
    let [first, second, third] = names[..] else {
        panic!("{names:?}")
    };
    let labelled = well(&cluster, "history list -l app=web -o name").await;
    assert_eq!(labelled.lines().count(), 3);
    assert_eq!(well(&cluster, "history list -l app=db -o name").await, "");
    let shown = well(&cluster, &format!("history show {third} -n team-a")).await;
    assert!(shown.contains("\"size\": 3"), "{shown}");
    let words = format!("history diff {first} {third} -n team-a -o json");
    let diff: serde_json::Value = serde_json::from_str(&well(&cluster, &words).await).unwrap();
    assert_eq!(
        diff["jsonPatch"],
        r#"[{"op":"replace","path":"/size","value":3}]"#
    );

    let rollback = "history rollback StatefulSet/web -n team-a -o name";
    assert_eq!(
        code(&cluster, &format!("{rollback} --if-revision 1")).await,
        4,
        "the newest was changed later"
    );
    let tried = well(&cluster, &format!("{rollback} --to 1 --dry-run")).await;
    assert_eq!(tried.trim(), first);
    assert_eq!(well(&cluster, rollback).await.trim(), second);
    let words = format!("{rollback} --to-name {first}");
    assert_eq!(well(&cluster, &words).await.trim(), first);
    assert_eq!(code(&cluster, &format!("{rollback} --to 77")).await, 3);

    let truncate = "history truncate StatefulSet/web -n team-a --limit 0 -o json";
    let kept = "history list StatefulSet/web -n team-a -o name";
    for (words, left) in [
        (format!("{truncate} --dry-run"), 3),
        (truncate.to_owned(), 1),
    ] {
        let done: serde_json::Value = serde_json::from_str(&well(&cluster, &words).await).unwrap();
        assert_eq!(done["answer"]["deleted"], 2);
        assert_eq!(well(&cluster, kept).await.lines().count(), left);
    }
}

#[tokio::test]
async fn an_owner_that_is_not_one_is_refused_and_says_which_there_are() {
    let cluster = Cluster::start().await;
    let truncate = "history truncate StatefulSet/web -n team-a";
    assert_eq!(code(&cluster, truncate).await, 3, "there is none");
    assert_eq!(code(&cluster, "history truncate web").await, 2);
    assert_eq!(code(&cluster, "history show nobody").await, 3);
    assert_eq!(code(&cluster, "history diff a b").await, 3);
    wants(&cluster, 1).await;
    wants(&cluster, 2).await;
    let words: Vec<&str> = truncate.split(' ').collect();
    let printed = cluster.ask(&words).await;
    assert_eq!(printed.code, 2);
    let uid = Uid::from_bytes([2; 16]).to_string();
    assert!(printed.err.contains(&uid), "{}", printed.err);
    let words = format!("{truncate} --limit 0 --uid {uid}");
    well(&cluster, &words).await;
    let left = well(&cluster, "history list -n team-a -o name").await;
    assert!(left.lines().count() < 6, "{left}");
}
