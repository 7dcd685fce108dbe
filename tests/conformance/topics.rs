//! The texts of topics, which the clients of all languages read alike: `topics.json`.

use serde_json::Value;
use synod_client::{GroupResource, Topic, TopicKind};

/// What is to be read, and what is to be refused.
fn texts() -> (Vec<Value>, Vec<Value>) {
    let path = synod_tests::checkout().join("tests/conformance/topics.json");
    let text = std::fs::read_to_string(path).expect("the texts can be read");
    let mut texts: Value = serde_json::from_str(&text).expect("they are JSON");
    let mut of = |name: &str| match texts[name].take() {
        Value::Array(rows) if !rows.is_empty() => rows,
        _ => panic!("there are no {name}"),
    };
    (of("topics"), of("refused"))
}

#[test]
fn a_topic_is_known_by_its_text_by_its_name_and_by_its_resource() {
    for row in texts().0 {
        let of = |name: &str| row[name].as_str().expect("it is a text");
        let resource = GroupResource::new(of("group"), of("resource")).expect("it is a resource");
        let topic = Topic::parse(of("text")).expect("it is a topic");
        assert_eq!(topic.to_string(), of("text"));
        assert_eq!(topic.kind().as_str(), of("kind"));
        assert_eq!(topic.name(), of("name"));
        assert_eq!(*topic.resource(), resource);
        assert_eq!(Topic::of(&resource), topic);
        assert_eq!(Topic::new(topic.kind(), of("name")), Ok(topic));
    }
}

#[test]
fn there_is_a_topic_of_each_kind() {
    let rows = texts().0;
    for kind in TopicKind::ALL {
        assert!(
            rows.iter().any(|row| row["kind"] == kind.as_str()),
            "{kind}"
        );
    }
}

#[test]
fn what_is_no_topic_is_refused_with_the_rule() {
    for text in texts().1 {
        let refused = Topic::parse(text.as_str().expect("it is a text")).expect_err("no topic");
        assert_eq!(refused.iter().count(), 1, "{text}");
    }
}
