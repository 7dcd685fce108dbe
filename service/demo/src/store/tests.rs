use std::fs;

use tempfile::TempDir;

use super::*;

/// A store that serves until the runtime of the test ends, and the directory of its journal.
async fn store() -> (StoreClient, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let shelf: SharedShelf = Arc::new(Mutex::new(Shelf {
        objects: BTreeMap::new(),
        definitions: BTreeMap::new(),
        position: 0,
        journal: Journal::open(&directory.path().join("store.jsonl")).unwrap(),
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(listener, router(shelf)).await });
    (StoreClient::new(&address), directory)
}

fn writer() -> Writer {
    Writer {
        member: "apiserver-a".to_owned(),
        epoch: 7,
        encoding: "example.io/v1".to_owned(),
        permit_revision: 8,
    }
}

#[tokio::test]
async fn a_write_needs_the_version_that_is_stored() {
    let (store, _directory) = store().await;
    let put = |expected, color: &str| {
        store.put(
            "widgets.example.io",
            "lamp",
            expected,
            writer(),
            json!({"color": color}),
        )
    };
    let landed = |version, position| Put::Landed { version, position };

    assert_eq!(put(0, "red").await, landed(1, 1));
    assert_eq!(put(0, "blue").await, Put::Conflict);
    assert_eq!(put(2, "blue").await, Put::Conflict);
    assert_eq!(put(1, "green").await, landed(2, 2));

    let stored = store
        .get("widgets.example.io", "lamp")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (stored.version, stored.data),
        (2, json!({"color": "green"}))
    );
    assert_eq!(store.get("widgets.example.io", "sofa").await, Ok(None));
    assert_eq!(store.position().await, Ok(2));
}

#[tokio::test]
async fn what_is_answered_stands_in_the_journal() {
    let (store, directory) = store().await;
    for expected in [0, 0, 1] {
        store
            .put(
                "widgets.example.io",
                "lamp",
                expected,
                writer(),
                json!({"number": expected}),
            )
            .await;
    }
    let journal = fs::read_to_string(directory.path().join("store.jsonl")).unwrap();
    let lines = journal
        .lines()
        .map(|line| serde_json::from_str::<StoredWrite>(line).unwrap());
    let lines: Vec<_> = lines
        .map(|line| (line.position, line.version, line.writer, line.data))
        .collect();
    assert_eq!(
        lines,
        [
            (1, 1, writer(), json!({"number": 0})),
            (2, 2, writer(), json!({"number": 1}))
        ]
    );
    let dump = String::from_utf8(store.dump().await.unwrap()).unwrap();
    assert_eq!(dump.lines().count(), 1);
    assert!(dump.contains("\"version\":2"), "{dump}");
}

#[tokio::test]
async fn a_definition_is_kept_until_there_is_another() {
    let (store, _directory) = store().await;
    assert_eq!(store.definition("gizmos.example.io").await, Ok(None));
    for version in ["example.io/v1", "example.io/v2"] {
        store.define("gizmos.example.io", version).await.unwrap();
        assert_eq!(
            store.definition("gizmos.example.io").await,
            Ok(Some(version.to_owned()))
        );
    }
}

#[tokio::test]
async fn a_store_that_is_down_has_certainly_written_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let store = StoreClient::new(&address);
    let put = store.put("widgets.example.io", "lamp", 0, writer(), json!({}));
    assert!(matches!(put.await, Put::NotSent(_)));
}
