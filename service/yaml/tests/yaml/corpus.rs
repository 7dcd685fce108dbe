//! Texts that callers send, well meant and hostile, with what is read of each. `UPDATE_GOLDEN=1` writes the answers anew.
//!
//! The values are those of libyaml, but for what CHANGELOG.md names under 2026-11-29.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

const CORPUS: &str = "tests/yaml/corpus.jsonl";

/// The bytes of a case: its text, or its bytes in hexadecimal where they are no text.
fn bytes(case: &Value) -> Vec<u8> {
    if let Some(text) = case["text"].as_str() {
        return text.as_bytes().to_vec();
    }
    let digits = case["bytes"].as_str().expect("a case has bytes or a text");
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits are ASCII");
        u8::from_str_radix(pair, 16).expect("they are digits")
    };
    pairs.map(byte).collect()
}

/// Reads a text: its documents, or the fault.
fn answer(text: &[u8]) -> Value {
    let Ok(text) = std::str::from_utf8(text) else {
        return json!({ "fault": "it is no UTF-8" });
    };
    match synod_yaml::documents(text) {
        Ok(documents) => documents
            .into_iter()
            .map(|document| document.value)
            .collect(),
        Err(error) => json!({ "fault": error.to_string() }),
    }
}

#[test]
fn each_text_of_the_corpus_is_read_as_before() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CORPUS);
    let before = std::fs::read_to_string(&path).expect("the corpus can be read");
    let mut after = String::new();
    for line in before.lines() {
        let mut case: Value = serde_json::from_str(line).expect("a line is a case");
        case["read"] = answer(&bytes(&case));
        writeln!(after, "{case}").expect("writing to a text does not fail");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, after).expect("the corpus can be written");
        return;
    }
    for (before, after) in before.lines().zip(after.lines()) {
        assert_eq!(after, before);
    }
}
