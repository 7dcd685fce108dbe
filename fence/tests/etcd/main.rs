//! etcd as a store of keys: a real one, and ones that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::TcpListener;
use std::time::Duration;

use synod_fence::{Condition, Etcd, Fault, KeyStore as _};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(30);

/// One etcd process. Dropping it ends it.
struct Running {
    etcd: Etcd,
    _process: Child,
    _folder: TempDir,
}

impl Running {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (command, url) = synod_tests::etcd(folder.path());
        let process = Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .expect("etcd is installed (in Debian: etcd-server)");
        let etcd = Etcd::new(&url);
        let serves = async { while etcd.get("ready").await.is_err() {} };
        timeout(LIMIT, serves).await.expect("etcd does not serve");
        Self {
            etcd,
            _process: process,
            _folder: folder,
        }
    }
}

fn absent(key: &str) -> Condition {
    written_at(key, 0)
}

fn written_at(key: &str, revision: u64) -> Condition {
    Condition::WrittenAt {
        key: key.to_owned(),
        revision,
    }
}

fn holds(key: &str, value: &[u8]) -> Condition {
    Condition::Holds {
        key: key.to_owned(),
        value: value.to_vec(),
    }
}

#[tokio::test]
async fn a_key_is_written_if_every_condition_holds_and_not_otherwise() {
    let running = Running::start().await;
    let etcd = &running.etcd;
    let put = |conditions: Vec<Condition>, value: &'static [u8]| async move {
        etcd.put_if(&conditions, "object", value).await.unwrap()
    };
    assert_eq!(etcd.get("object").await, Ok(None));
    assert!(put(vec![absent("object"), absent("fence")], b"one").await);
    assert!(!put(vec![absent("object")], b"two").await);
    let first = etcd.get("object").await.unwrap().unwrap();
    assert_eq!((&*first.key, &*first.value), ("object", &b"one"[..]));
    assert!(etcd.put_if(&[], "fence", b"\x00\xff").await.unwrap());
    let unchanged = written_at("object", first.revision);
    assert!(!put(vec![unchanged.clone(), absent("fence")], b"two").await);
    assert!(!put(vec![unchanged.clone(), holds("fence", b"\x00")], b"two").await);
    assert!(put(vec![unchanged.clone(), holds("fence", b"\x00\xff")], b"two").await);
    assert!(!put(vec![unchanged], b"three").await);
    let second = etcd.get("object").await.unwrap().unwrap();
    assert_eq!(second.value, b"two");
    assert!(second.revision > first.revision);
}

#[tokio::test]
async fn a_list_has_the_keys_of_its_prefix_page_by_page_and_no_other() {
    let running = Running::start().await;
    let etcd = &running.etcd;
    for key in ["a/1", "a/2", "a/2/x", "a/3", "a0", "a", "b/1"] {
        assert!(etcd.put_if(&[], key, b"").await.unwrap());
    }
    let keys = |page: synod_fence::Page| {
        let keys: Vec<String> = page.pairs.into_iter().map(|pair| pair.key).collect();
        (keys.join(" "), page.more)
    };
    let first = etcd.list("a/", None, 3).await.unwrap();
    assert_eq!(keys(first), ("a/1 a/2 a/2/x".to_owned(), true));
    let second = etcd.list("a/", Some("a/2/x"), 3).await.unwrap();
    assert_eq!(keys(second), ("a/3".to_owned(), false));
    let all = etcd.list("", None, 100).await.unwrap();
    assert_eq!(all.pairs.len(), 7);
}

/// A server that reads a request and answers these bytes; without bytes it says nothing and closes.
async fn answering(answer: &'static str) -> Etcd {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    Etcd::new(&url)
}

// Guarantee: MG-28
#[tokio::test]
async fn what_is_not_answered_well_is_not_executed_or_refused_or_unknown() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let put = |etcd: Etcd| async move { etcd.put_if(&[], "key", b"").await.unwrap_err() };
    let fault = put(Etcd::new(&url)).await;
    assert!(matches!(fault, Fault::NotExecuted { .. }), "{fault}");

    let busy = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n";
    let fault = put(answering(busy).await).await;
    let three = Some(Duration::from_secs(3));
    assert!(
        matches!(fault, Fault::NotExecuted { retry_after, .. } if retry_after == three),
        "{fault}"
    );
    let forbidden = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
    let fault = put(answering(forbidden).await).await;
    assert!(matches!(fault, Fault::Refused(_)), "{fault}");

    let timed_out = "HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n";
    let cut_off = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
    for answer in [timed_out, cut_off, ""] {
        let etcd = answering(answer).await;
        let fault = put(etcd.clone()).await;
        assert!(matches!(fault, Fault::Unknown(_)), "{answer:?}: {fault}");
        // A read changes nothing, so its outcome does not matter.
        let fault = etcd.get("key").await.unwrap_err();
        assert!(
            matches!(fault, Fault::NotExecuted { .. }),
            "{answer:?}: {fault}"
        );
    }
}

// Guarantee: MG-28
#[tokio::test]
async fn a_write_that_is_not_answered_in_time_is_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let etcd = Etcd::new(&url).timeout(Duration::from_millis(50));
    let fault = etcd.put_if(&[], "key", b"").await.unwrap_err();
    assert!(matches!(fault, Fault::Unknown(_)), "{fault}");
}
