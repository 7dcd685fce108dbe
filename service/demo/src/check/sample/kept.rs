//! The small run, continued with objects that Synod keeps: one trinket, changed under v1 and under v2.
//!
//! | revision | what happened |
//! |---|---|
//! | 21 | trinkets are declared strict |
//! | 22 | v1 is selected |
//! | 23 | a creates the lamp in v1, number 1 |
//! | 24 | b prefers v2 and is refused; it encodes number 2 in v1 |
//! | 25 | v2 is selected |
//! | 26 | a still encodes v1 and is refused; it encodes number 3 in v2 |

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Sample, V1, V2, data, revision};
use crate::records::{Answered, Asked, ClientAnswer, KeptStep, Step};

pub(in super::super) const TRINKETS: &str = "trinkets.example.io";

impl Sample {
    /// The run without a fault, continued with objects that Synod keeps.
    pub(in super::super) fn with_kept() -> Self {
        let mut sample = Self::good();
        for watch in &mut sample.watches {
            watch.extend(watched());
        }
        sample.keeper = steps();
        sample.clients.extend((1..=3).map(acknowledged));
        sample.collections = json!({
            "header": {"revision": "26"},
            "items": [{
                "collection": {"metadata": {"name": TRINKETS}},
                "counts": [{"version": V2, "objects": "1"}],
            }],
        });
        let mut lamp = data("lamp", 3, V2);
        lamp["metadata"]["resourceVersion"] = "26".into();
        let list = json!({"header": {"revision": "26"}, "items": [lamp]});
        sample.listed = BTreeMap::from([(TRINKETS.to_owned(), list)]);
        sample
    }
}

/// The events of that part, as the watch reports them.
pub(in super::super) fn watched() -> Vec<Value> {
    vec![
        revision(21, [collection(), state("ADDED", None, &[])]),
        revision(22, [state("MODIFIED", Some(V1), &[V1])]),
        revision(23, [object("ADDED", 1, V1)]),
        revision(24, [object("MODIFIED", 2, V1)]),
        revision(25, [state("MODIFIED", Some(V2), &[V1, V2])]),
        revision(26, [object("MODIFIED", 3, V2)]),
    ]
}

/// The steps of the servers in that part.
pub(in super::super) fn steps() -> Vec<KeptStep> {
    let encoded = |version: &str| Step::Encoded(version.to_owned());
    vec![
        step(1, encoded(V1)),
        step(1, Step::Landed(23)),
        step(2, encoded(V2)),
        step(2, encoded(V1)),
        step(2, Step::Landed(24)),
        step(3, encoded(V1)),
        step(3, encoded(V2)),
        step(3, Step::Landed(26)),
    ]
}

/// The event of the lamp.
pub(in super::super) fn object(change: &str, number: u64, version: &str) -> Value {
    let bytes = serde_json::to_vec(&data("lamp", number, version)).unwrap();
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_OBJECT", "name": "lamp", "namespace": "",
        "storedObject": {
            "metadata": {"name": "lamp"},
            "resource": {"group": "example.io", "resource": "trinkets"},
            "content": {
                "encodingVersion": version, "mediaType": "application/json", "data": BASE64.encode(&bytes),
            },
        },
    })
}

fn step(number: u64, step: Step) -> KeptStep {
    KeptStep {
        at_ms: 20_000 + number,
        resource: TRINKETS.to_owned(),
        name: "lamp".to_owned(),
        number,
        author: "client-1".to_owned(),
        step,
    }
}

fn acknowledged(number: u64) -> Answered {
    let revision = [23, 24, 26][usize::try_from(number).unwrap() - 1];
    Answered {
        at_ms: 20_000 + number,
        client: "client-1".to_owned(),
        server: "apiserver-a".to_owned(),
        asked: Asked::Update,
        resource: TRINKETS.to_owned(),
        name: "lamp".to_owned(),
        number,
        answer: ClientAnswer::Acknowledged(revision),
    }
}

fn collection() -> Value {
    json!({
        "type": "EVENT_TYPE_ADDED", "kind": "OBJECT_KIND_COLLECTION", "name": TRINKETS,
        "collection": {
            "metadata": {"name": TRINKETS},
            "resource": {"group": "example.io", "resource": "trinkets"},
            "kind": "Trinket", "namespaced": false,
            "rules": {"strictStorageVersion": true, "createOnUpdate": false, "unconditionalUpdate": false},
        },
    })
}

fn state(change: &str, selected: Option<&str>, persisted: &[&str]) -> Value {
    let persisted = persisted
        .iter()
        .map(|version| json!({"unknown": false, "hash": "x", "version": version}));
    json!({
        "type": format!("EVENT_TYPE_{change}"), "kind": "OBJECT_KIND_STORAGE_STATE", "name": TRINKETS,
        "storageState": {
            "metadata": {"name": TRINKETS},
            "resource": {"group": "example.io", "resource": "trinkets"},
            "selectedVersion": selected, "selectedRevision": "0", "agreementRevision": "0",
            "persisted": persisted.collect::<Vec<Value>>(), "drains": [],
        },
    })
}
