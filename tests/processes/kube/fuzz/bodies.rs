//! Bodies that are nearly in order.

use serde_json::{Value, json};

use super::corpus::{PROTOBUF, Place};
use super::dice::Dice;
use super::learned::Learned;
use super::requests::{Draft, VALUES};
use super::{damage, wire};

/// Tokens of JSON that break a text, or that few writers know.
const OF_JSON: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"null",
    b"1e400",
    b"-0",
    b"1E+2",
    b"00",
    b"NaN",
    b"18446744073709551616",
    b"0.1234567890123456789",
    b"\"\\ud800\"",
    b"\\u0000",
    b"\\",
    b"/**/",
    b"\xef\xbb\xbf",
    b"\"metadata\":1,",
    b"\"spec\":{\"a\":1,\"a\":2},",
    b"\0",
];

/// Tokens of YAML.
const OF_YAML: &[&[u8]] = &[
    b"&a ",
    b"*a",
    b"*nothing",
    b"!!binary AAAA",
    b"!!float .inf",
    b"!own ",
    b"\n---\n",
    b"\n...\n",
    b"<<: *a\n",
    b"? ",
    b"- ",
    b"\t",
    b"%YAML 9.9\n",
    b".nan",
    b"0x1f",
    b"0o17",
    b"1_000",
    b"2001-01-01",
    b"|\n ",
    b">-\n ",
    b"~",
    b"{a: [&b 1, *b]}",
    b"\xc2\x85",
    b"99999999999999999999999",
    b"'",
    b"#",
];

/// A document of a place, somewhat wrong. Of what there is, an update may name the revision; a creation must not.
fn changed(dice: &mut Dice, place: &Place, name: Option<&str>, learned: &Learned) -> Value {
    let mut document = place.document.clone();
    if let Some(metadata) = document["metadata"].as_object_mut() {
        let right = name.filter(|_| !dice.one_in(8));
        if right.is_some() || dice.one_in(2) {
            let name = right.unwrap_or_else(|| *dice.pick(place.names));
            metadata.insert("name".to_owned(), json!(name));
        }
        if dice.one_in(if name.is_some() { 3 } else { 12 }) {
            let revision = Learned::of(dice, &learned.revisions);
            metadata.insert("resourceVersion".to_owned(), json!(revision));
        }
        if dice.one_in(8) {
            metadata.insert("uid".to_owned(), json!(Learned::of(dice, &learned.uids)));
        }
        // What holds an object back keeps others of its name out.
        if !dice.one_in(8) {
            metadata.remove("finalizers");
        }
        if dice.one_in(2) {
            metadata.remove("ownerReferences");
        }
    }
    damage::document(dice, &mut document);
    if dice.one_in(500) {
        // So many bytes, or so many levels.
        let large = match dice.below(3) {
            0 => damage::nested(100 + dice.below(60)),
            1 => json!("x".repeat((1 << 20) + dice.below(1 << 20))),
            _ => json!(vec![0; 199_900 + dice.below(200)]),
        };
        // By now it may be anything.
        match &mut document {
            Value::Object(members) => _ = members.insert("spec".to_owned(), large),
            other => *other = large,
        }
    }
    document
}

/// The body of a creation or an update.
pub(super) fn document(dice: &mut Dice, draft: &mut Draft, place: &Place, learned: &Learned) {
    if dice.one_in(10) {
        draft.query.push(("dryRun".to_owned(), "All".to_owned()));
    }
    if dice.one_in(3) && !place.messages.is_empty() {
        let message = dice.pick(&place.messages);
        draft.body = wire::message(dice, message);
        draft.headers.push(("content-type", PROTOBUF.to_owned()));
        return;
    }
    let document = changed(dice, place, draft.name.as_deref(), learned);
    if dice.one_in(4) {
        draft.body = text_of_yaml(dice, &document);
        draft
            .headers
            .push(("content-type", "application/yaml".to_owned()));
    } else {
        draft.body = text_of_json(dice, &document);
        draft
            .headers
            .push(("content-type", "application/json".to_owned()));
    }
}

/// A text of JSON that is somewhat wrong.
pub(super) fn text_of_json(dice: &mut Dice, document: &Value) -> Vec<u8> {
    let mut text = document.to_string().into_bytes();
    if dice.one_in(10) {
        damage::bytes(dice, &mut text, OF_JSON);
    }
    if dice.one_in(300) {
        let depth = 100 + dice.below(100_000);
        text = dice.pick(&["[", "{\"a\":"]).repeat(depth).into_bytes();
    }
    text
}

fn text_of_yaml(dice: &mut Dice, document: &Value) -> Vec<u8> {
    if dice.one_in(20) {
        return bomb(dice);
    }
    let mut text = synod_yaml::to_string(document).into_bytes();
    if dice.one_in(4) {
        damage::bytes(dice, &mut text, OF_YAML);
    }
    text
}

/// A short text of YAML that stands for a long one, or is nested deep.
fn bomb(dice: &mut Dice) -> Vec<u8> {
    if dice.one_in(2) {
        let open = dice.pick(&["[", "{a: ", "[a, ", "- ", "? ", "{a: #}\n", "!a b: "]);
        return open.repeat(64 << dice.below(13)).into_bytes();
    }
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..=1 + dice.below(12) {
        let below = vec![format!("*a{}", level - 1); 8].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    text.into_bytes()
}

/// The options of a deletion.
pub(super) fn options(dice: &mut Dice, draft: &mut Draft, learned: &Learned) {
    if dice.one_in(4) {
        return;
    }
    if dice.one_in(4) {
        draft.body = wire::message(dice, &wire::delete_options());
        draft.headers.push(("content-type", PROTOBUF.to_owned()));
        return;
    }
    let mut document = json!({
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "propagationPolicy": dice.pick(&["Background", "Foreground", "Orphan"]),
    });
    if dice.one_in(3) {
        document["preconditions"] = json!({
            "uid": Learned::of(dice, &learned.uids), "resourceVersion": Learned::of(dice, &learned.revisions),
        });
    }
    damage::document(dice, &mut document);
    draft.body = text_of_json(dice, &document);
}

/// A patch of one of the forms.
pub(super) fn patch(dice: &mut Dice, draft: &mut Draft, place: &Place, learned: &Learned) {
    let form = match dice.below(9) {
        0 | 1 => {
            let operations = damage::operations(dice, &place.document);
            draft.body = text_of_json(dice, &operations);
            "application/json-patch+json"
        }
        2 | 3 => {
            let document = changed(dice, place, draft.name.as_deref(), learned);
            draft.body = text_of_json(dice, &document);
            "application/merge-patch+json"
        }
        4 | 5 => {
            let mut document = changed(dice, place, draft.name.as_deref(), learned);
            damage::directed(dice, &mut document);
            draft.body = text_of_json(dice, &document);
            "application/strategic-merge-patch+json"
        }
        _ => {
            draft
                .query
                .push(("fieldManager".to_owned(), (*dice.pick(VALUES)).to_owned()));
            if dice.one_in(2) {
                draft.query.push(("force".to_owned(), "true".to_owned()));
            }
            let document = changed(dice, place, draft.name.as_deref(), learned);
            draft.body = match dice.one_in(2) {
                true => text_of_yaml(dice, &document),
                false => text_of_json(dice, &document),
            };
            "application/apply-patch+yaml"
        }
    };
    if dice.one_in(10) {
        draft.query.push(("dryRun".to_owned(), "All".to_owned()));
    }
    draft.headers.push(("content-type", form.to_owned()));
}
