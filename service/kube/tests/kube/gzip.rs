//! Long answers, compressed.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

async fn zipped(api: &Api, path: &str) -> Answer {
    let headers = [("accept-encoding", "gzip"), ("accept", "application/json")];
    api.send("GET", path, &headers, b"").await
}

/// The document of an answer that is compressed.
fn unzipped(answer: &Answer) -> Value {
    assert!(
        answer.headers.contains("content-encoding: gzip"),
        "{}",
        answer.headers
    );
    assert!(answer.headers.contains("vary: accept-encoding"));
    let mut text = String::new();
    GzDecoder::new(&answer.bytes[..])
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_long_answer_is_compressed_for_who_takes_that() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for number in 0..3 {
        let mut widget = widget(&format!("w{number}"), number);
        widget["spec"]["text"] = json!("0123456789".repeat(5_000));
        assert_eq!(api.post(WIDGETS, &widget).await.code, 201);
    }
    let plain = api.get(WIDGETS).await;
    assert!(plain.bytes.len() > 128 << 10 && !plain.headers.contains("gzip"));
    let list = zipped(&api, WIDGETS).await;
    assert_eq!(unzipped(&list), plain.body);
    assert!(list.bytes.len() < plain.bytes.len() / 10);
    // A shorter one is not worth it.
    let one = zipped(&api, &format!("{WIDGETS}/w0")).await;
    assert_eq!(one.code, 200);
    assert!(!one.headers.contains("gzip") && one.body["spec"]["size"] == 0);
    // Who watches waits for each event.
    let path = format!("{WIDGETS}?watch=1&resourceVersion=0&timeoutSeconds=1");
    let watched = zipped(&api, &path).await;
    assert!(watched.bytes.len() > 128 << 10 && !watched.headers.contains("gzip"));
}

#[tokio::test]
async fn a_list_of_many_pages_is_compressed_as_it_is_sent() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for number in 0..510 {
        api.post(WIDGETS, &widget(&format!("w{number:03}"), 0))
            .await;
    }
    let list = unzipped(&zipped(&api, WIDGETS).await);
    assert_eq!(list["items"].as_array().unwrap().len(), 510);
    assert_eq!(list, api.get(WIDGETS).await.body);
}
