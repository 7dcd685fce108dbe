//! Documents and texts of which a part is wrong.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// The members that documents have, and some that none has.
const KEYS: &[&str] = &[
    "$deleteFromPrimitiveList/finalizers",
    "$patch",
    "$retainKeys",
    "$setElementOrder/ownerReferences",
    "",
    "a.b",
    "a/b~c",
    "annotations",
    "apiServerID",
    "apiVersion",
    "app.kubernetes.io/name",
    "apiserver.kubernetes.io/identity",
    "binaryVersion",
    "blockOwnerDeletion",
    "commonEncodingVersion",
    "conditions",
    "controller",
    "creationTimestamp",
    "data",
    "dataMetadata",
    "decodableVersions",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "dryRun",
    "emulationVersion",
    "encodingVersion",
    "f:spec",
    "fieldsV1",
    "finalizers",
    "generateName",
    "generation",
    "gracePeriodSeconds",
    "holderIdentity",
    "k:{\"uid\":\"1\"}",
    "kind",
    "kubectl.kubernetes.io/last-applied-configuration",
    "labels",
    "leaseDurationSeconds",
    "leaseName",
    "managedFields",
    "metadata",
    "name",
    "namespace",
    "operation",
    "orphanDependents",
    "ownerReferences",
    "preconditions",
    "preferredHolder",
    "propagationPolicy",
    "rawData",
    "renewTime",
    "resource",
    "resourceAttributes",
    "resourceVersion",
    "revision",
    "selfLink",
    "servedVersions",
    "spec",
    "status",
    "storageVersions",
    "strategy",
    "synod.io/epoch",
    "synod.io/fencing-token",
    "synod.io/managed-fields",
    "time",
    "type",
    "uid",
    "verb",
    "é\u{0}",
];

/// Texts that mean something somewhere.
const TEXTS: &[&str] = &[
    "",
    " ",
    "-1",
    "..",
    "../a",
    "0",
    "0000-00-00T00:00:00Z",
    "1",
    "1.33.0",
    "18446744073709551616",
    "1970-01-01T00:00:00Z",
    "2026-11-26T00:00:00.123456Z",
    "9223372036854775807",
    "9999-12-31T23:59:60.999999999+14:00",
    "A",
    "Apply",
    "Background",
    "Foreground",
    "Item",
    "OldestEmulationVersion",
    "Orphan",
    "Update",
    "a",
    "a b",
    "a/b",
    "apps/v1",
    "b",
    "before-first-apply",
    "bytes:AAAA",
    "coordination.k8s.io/v1",
    "core",
    "delete",
    "example.io/v1",
    "example.io/v2",
    "foregroundDeletion",
    "kube-apiserver",
    "kube-system",
    "merge",
    "n",
    "orphan",
    "replace",
    "synod.v1",
    "true",
    "v1",
    "x\u{202e}y",
    "{}",
    "{\"f:spec\":{\"f:size\":{}}}",
    "é",
    "\u{0}",
    "\u{fffd}\u{10ffff}",
    "\u{1b}[2J",
];

/// A value that stands where it should not.
pub(super) fn odd(dice: &mut Dice) -> Value {
    match dice.below(24) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(i64::MAX),
        5 => json!(i64::MIN),
        6 => json!(u64::MAX),
        7 => json!(1.5),
        8 => json!(1e308),
        9 => json!(-0.0),
        10 => json!([]),
        11 => json!({}),
        12 => json!([null]),
        13 => json!([{}, {}]),
        14 => json!({ *dice.pick(KEYS): text(dice) }),
        15 => json!({ *dice.pick(KEYS): { *dice.pick(KEYS): 1 } }),
        16 => json!([text(dice), text(dice)]),
        17 if dice.one_in(4) => nested(dice.below(300)),
        18 if dice.one_in(4) => json!(vec![0; 1 << dice.below(13)]),
        19 if dice.one_in(4) => json!("x".repeat(1 << dice.below(17))),
        _ => text(dice),
    }
}

fn text(dice: &mut Dice) -> Value {
    json!(*dice.pick(TEXTS))
}

/// A name that is one, mostly.
pub(super) fn word(dice: &mut Dice) -> &'static str {
    let word: &&str = dice.pick(TEXTS);
    word
}

/// Members of members, so many levels deep.
pub(super) fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, level| match level % 3 {
        0 => json!([inner]),
        _ => json!({ "a": inner }),
    })
}

/// The places of a document's values, as JSON pointers.
pub(super) fn places(document: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, into: &mut Vec<String>) {
        into.push(at.to_owned());
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    walk(member, &format!("{at}/{name}"), into);
                }
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate().take(8) {
                    walk(item, &format!("{at}/{place}"), into);
                }
            }
            _ => {}
        }
    }
    let mut into = Vec::new();
    walk(document, "", &mut into);
    into
}

/// Changes a document at a few places; at none now and then.
pub(super) fn document(dice: &mut Dice, document: &mut Value) {
    for _ in 0..dice.below(4) {
        changed(dice, document);
    }
}

fn changed(dice: &mut Dice, document: &mut Value) {
    let places = places(document);
    let place = dice.pick(&places).clone();
    let other = dice.pick(&places).as_str();
    let other = document.pointer(other).cloned();
    let Some(target) = document.pointer_mut(&place) else {
        return;
    };
    match (dice.below(6), target) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            members.remove(dice.pick(&names).as_str());
        }
        (1, Value::Object(members)) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let value = members.remove(dice.pick(&names).as_str());
            members.insert((*dice.pick(KEYS)).to_owned(), value.unwrap_or_default());
        }
        (0..4, Value::Object(members)) => {
            members.insert((*dice.pick(KEYS)).to_owned(), odd(dice));
        }
        (0..3, Value::Array(items)) if !items.is_empty() => {
            let item = dice.pick(items).clone();
            items.push(item);
        }
        (3, Value::Array(items)) => items.push(odd(dice)),
        (4, target) => *target = other.unwrap_or_default(),
        (_, target) => *target = odd(dice),
    }
}

/// A configuration with directives of strategic merge patches.
pub(super) fn directed(dice: &mut Dice, document: &mut Value) {
    let places = places(document);
    let place = dice.pick(&places).clone();
    let Some(Value::Object(members)) = document.pointer_mut(&place) else {
        return;
    };
    let more: Map<String, Value> = match dice.below(5) {
        0 => [("$patch".to_owned(), text(dice))].into_iter().collect(),
        1 => [("$retainKeys".to_owned(), odd(dice))]
            .into_iter()
            .collect(),
        2 => {
            let name = format!("$deleteFromPrimitiveList/{}", dice.pick(KEYS));
            [(name, odd(dice))].into_iter().collect()
        }
        3 => {
            let name = format!("$setElementOrder/{}", dice.pick(KEYS));
            [(name, odd(dice))].into_iter().collect()
        }
        _ => {
            let owner = json!([{ "uid": text(dice), "$patch": text(dice) }, odd(dice)]);
            [("ownerReferences".to_owned(), owner)]
                .into_iter()
                .collect()
        }
    };
    members.extend(more);
}

/// Operations of a JSON patch on a document.
pub(super) fn operations(dice: &mut Dice, document: &Value) -> Value {
    let places = places(document);
    let place = |dice: &mut Dice| {
        let mut place = dice.pick(&places).clone();
        match dice.below(8) {
            0 => place.push_str("/-"),
            1 => place.push_str("/0"),
            2 => place.push_str("/01"),
            3 => place = format!("{place}/{}", dice.pick(KEYS)),
            4 => place.push_str("/~2"),
            5 => place.push('/'),
            _ => {}
        }
        place
    };
    let count = match dice.below(12) {
        0 => 0,
        1 => 200,
        _ => 1 + dice.below(5),
    };
    let operations = (0..count).map(|_| {
        let mut operation = match dice.below(6) {
            0 => json!({"op": "add", "path": place(dice), "value": odd(dice)}),
            1 => json!({"op": "remove", "path": place(dice)}),
            2 => json!({"op": "replace", "path": place(dice), "value": odd(dice)}),
            3 => json!({"op": "move", "from": place(dice), "path": place(dice)}),
            4 => json!({"op": "copy", "from": place(dice), "path": place(dice)}),
            _ => {
                let path = place(dice);
                let value = document.pointer(&path).cloned().unwrap_or_default();
                json!({"op": "test", "path": path, "value": value})
            }
        };
        if dice.one_in(12) {
            self::document(dice, &mut operation);
        }
        operation
    });
    Value::Array(operations.collect())
}

/// Changes bytes: some are others, gone, or there twice, or one of these tokens stands between them.
pub(super) fn bytes(dice: &mut Dice, bytes: &mut Vec<u8>, tokens: &[&[u8]]) {
    for _ in 0..=dice.below(3) {
        let place = dice.below(bytes.len() + 1);
        let end = (place + dice.below(16)).min(bytes.len());
        match dice.below(8) {
            0 => bytes.truncate(place),
            1 => drop(bytes.drain(place..end)),
            2 => {
                let twice = bytes[place..end].to_vec();
                bytes.splice(place..place, twice);
            }
            3 | 4 if place < bytes.len() => bytes[place] = dice.byte(),
            5 if place < bytes.len() => bytes[place] ^= 1 << dice.below(8),
            _ if !tokens.is_empty() => {
                let token = dice.pick(tokens).to_vec();
                bytes.splice(place..place, token);
            }
            _ => {}
        }
    }
}
