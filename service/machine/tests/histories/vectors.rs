//! The cases of Kubernetes' own tests of changes to a history, each brought about by commands.

#[path = "../../../../tests/vectors/suite.rs"]
mod suite;

use std::collections::BTreeMap;

use serde_json::Value;
use suite::{Case, Fields};
use synod_machine::{Answer, Command, RevisionAnswer, RevisionOutcome};
use synod_model::{
    AdoptControllerRevisions, CreateControllerRevision, Equality, InUse, Mark,
    MarkControllerRevisions, Marker, MediaType, ObjectName, Preconditions,
    ReleaseControllerRevision, RevisionData, RevisionHash, RevisionNumber,
    TruncateControllerRevisions, UpdateControllerRevision,
};

use crate::replica::{Replica, history, json, key, object_name, uid, wanting};

fn text<'a>(case: &'a impl Fields, field: &str) -> &'a str {
    let text = case.field(field).and_then(Value::as_str);
    text.unwrap_or_default()
}

fn expect_eq<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("expected {expected:?}, found {found:?}"))
    }
}

fn created(
    replica: &mut Replica,
    create: CreateControllerRevision,
) -> Result<RevisionAnswer, String> {
    let outcome = replica.send(Command::CreateControllerRevision(create));
    match outcome.result.map_err(|refusal| refusal.to_string())? {
        Answer::ControllerRevision(answer) => Ok(answer),
        other => Err(format!("not the answer of a create: {other:?}")),
    }
}

/// Two target states with the same hash.
fn colliding() -> (RevisionData, RevisionData) {
    let mut seen = BTreeMap::new();
    let texts = (0_u32..).map(|number| format!("{{\"n\":{number}}}"));
    for text in texts {
        let hash = RevisionHash::of_bytes(text.as_bytes()).get();
        if let Some(other) = seen.insert(hash, text.clone()) {
            return (json(&other), json(&text));
        }
    }
    unreachable!("there are more texts than hashes")
}

#[test]
fn controller_revision_create() {
    let colliding = colliding();
    suite::run("controller_revision_create.json", 3, &[], |_, case| {
        let mut replica = Replica::formed();
        let (data, other) = colliding.clone();
        match case["existing"][0].as_str() {
            None => {}
            Some("other parent's revision") => {
                let mut elsewhere = wanting(1, data.clone(), false);
                elsewhere.prefix = synod_model::NamePrefix::parse("other").map_err(|v| v.rule)?;
                created(&mut replica, elsewhere)?;
            }
            Some("same name, different data") => {
                drop(created(&mut replica, wanting(0, other, false))?);
            }
            Some(existing) => return Err(format!("what is {existing}?")),
        }
        let answer = created(&mut replica, wanting(0, data.clone(), false))?;
        let named = format!("web-{}", RevisionHash::of(&data).with_collisions(0));
        expect_eq(answer.name.as_str() != named, case["renamed"] == true)?;
        let count = case["collisionCountAfter"].as_u64();
        expect_eq(Some(u64::from(answer.collision_count)), count)?;
        let then = &case["thenCreateSameAgain"];
        if then.is_object() {
            let again = CreateControllerRevision {
                collision_count: answer.collision_count,
                ..wanting(0, data, false)
            };
            let again = created(&mut replica, again)?;
            let is_existing =
                again.outcome == RevisionOutcome::Unchanged && again.name == answer.name;
            let returned = if is_existing { "existing" } else { "another" };
            expect_eq(Some(returned), then["returns"].as_str())?;
            let count = then["collisionCountAfter"].as_u64();
            expect_eq(Some(u64::from(again.collision_count)), count)?;
        }
        Ok(())
    });
}

#[test]
fn controller_revision_next_and_truncate() {
    let file = "controller_revision_next_and_truncate.json";
    suite::run(file, 6, &[], |section, case| match section {
        "next" => {
            let mut replica = Replica::formed();
            let numbers = case["revisions"].as_array().into_iter().flatten();
            for number in numbers.filter_map(Value::as_u64) {
                let given = RevisionNumber::new(number).map_err(|v| v.rule)?;
                let create = CreateControllerRevision {
                    number: Some(given),
                    ..wanting(0, json(&format!("{{\"n\":{number}}}")), false)
                };
                created(&mut replica, create)?;
            }
            let next = created(&mut replica, wanting(0, json("{}"), false))?;
            expect_eq(Some(next.number.get()), case["next"].as_u64())
        }
        "pick_update_revision" => {
            let mut replica = Replica::formed();
            let of = |state: &str| wanting(0, json(&format!("{{\"state\":\"{state}\"}}")), false);
            let mut names = Vec::new();
            for item in case["history"].as_array().into_iter().flatten() {
                names.push(created(&mut replica, of(item[0].as_str().unwrap_or_default()))?.name);
            }
            let before = replica.state.revision();
            let answer = created(&mut replica, of(text(case, "current")))?;
            let wrote = replica.state.revision() != before;
            let found = match answer.outcome {
                RevisionOutcome::Unchanged if !wrote => "reuse B@2, no write",
                RevisionOutcome::RolledBack
                    if answer.name == names[0] && answer.number.get() == 3 =>
                {
                    "A@3"
                }
                RevisionOutcome::Created if answer.number.get() == 3 => "create C@3",
                _ => "something else",
            };
            expect_eq(found, text(case, "result"))
        }
        "truncate" => truncated(case),
        other => Err(format!("unknown section {other}")),
    });
}

fn truncated(case: &Case<'_>) -> Result<(), String> {
    let mut replica = Replica::formed();
    let mut names: BTreeMap<&str, ObjectName> = BTreeMap::new();
    for state in case["history"].as_array().into_iter().flatten() {
        let state = state.as_str().ok_or("no name")?;
        let data = json(&format!("{{\"state\":\"{state}\"}}"));
        names.insert(state, created(&mut replica, wanting(0, data, false))?.name);
    }
    let pods = case["podRevisions"].as_array().into_iter().flatten();
    let pods = pods
        .filter_map(Value::as_str)
        .map(|state| names[state].clone());
    replica.done(Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history(0, false),
        current: Some(Mark::On(names[text(case, "current")].clone())),
        update: Some(Mark::On(names[text(case, "update")].clone())),
        in_use: Some(InUse {
            marker: Marker::parse("0").map_err(|v| v.rule)?,
            names: pods.collect(),
        }),
        tie: synod_model::MarkTie::DEFAULT,
    }));
    let limit = case["limit"].as_u64().ok_or("no limit")?;
    replica.done(Command::TruncateControllerRevisions(
        TruncateControllerRevisions {
            history: history(0, false),
            limit: limit as u32,
            if_newest: None,
        },
    ));
    let kept: Vec<String> = replica.history(0).into_iter().map(|seen| seen.0).collect();
    let gone: Vec<&str> = names
        .iter()
        .filter(|(_, name)| !kept.iter().any(|kept| kept == name.as_str()))
        .map(|(state, _)| *state)
        .collect();
    let deleted = case["deleted"].as_array().into_iter().flatten();
    expect_eq(gone, deleted.filter_map(Value::as_str).collect())
}

#[test]
fn controller_revision_update_delete_adopt_release() {
    let file = "controller_revision_update_delete_adopt_release.json";
    suite::run(file, 8, &[], |_, case| {
        let mut replica = Replica::formed();
        let made = created(&mut replica, wanting(0, json("{}"), false))?;
        let name = made.name;
        let release = |owner: usize| {
            Command::ReleaseControllerRevision(ReleaseControllerRevision {
                key: key(&name),
                owner: uid(owner),
                preconditions: Preconditions::default(),
            })
        };
        let adopt = |name: ObjectName| {
            Command::AdoptControllerRevisions(AdoptControllerRevisions {
                history: history(1, false),
                name: Some(name),
            })
        };
        let command = match (text(case, "op"), text(case, "name")) {
            ("update revision number", _) => {
                let number = made.number.get() + case["delta"].as_u64().ok_or("no delta")?;
                Command::UpdateControllerRevision(UpdateControllerRevision {
                    key: key(&name),
                    preconditions: Preconditions::default(),
                    number: Some(RevisionNumber::new(number).map_err(|v| v.rule)?),
                    labels: None,
                    annotations: None,
                    data: None,
                })
            }
            ("adopt", "orphan") => {
                replica.done(release(0));
                adopt(name.clone())
            }
            ("adopt", "owned by another") => adopt(name.clone()),
            ("adopt", "non-existent") => adopt(object_name("nobody")),
            ("release", "orphan") => {
                replica.done(release(0));
                release(0)
            }
            ("release", "owned by another controller") => release(1),
            other => return Err(format!("unknown case {other:?}")),
        };
        let outcome = replica.send(command);
        expect_eq(outcome.result.is_err(), case["error"] == true)?;
        if let Some(writes) = case["writes"].as_u64() {
            expect_eq(u64::from(outcome.changed), writes)?;
        }
        if let Some(result) = case["result"].as_str() {
            let is_ignored = outcome.result.is_ok() && !outcome.changed;
            let found = if is_ignored {
                "ignored (Invalid)"
            } else {
                "done"
            };
            expect_eq(found, result)?;
        }
        if let (Err(refusal), Some(message)) = (&outcome.result, case["message"].as_str()) {
            let begins = message.trim_end_matches("...");
            expect_eq(refusal.message.contains(begins), true)?;
        }
        Ok(())
    });
}

#[test]
fn validate_controller_revision_update() {
    suite::run(
        "validate_controller_revision_update.json",
        1,
        &[],
        |_, case| {
            let mut replica = Replica::formed();
            let made = created(&mut replica, wanting(0, json("{\"a\":1}"), false))?;
            let row = replica
                .state
                .present()
                .controller_revision(&key(&made.name));
            let row = row.ok_or("it was just made")?;
            let same = UpdateControllerRevision {
                key: row.key.clone(),
                preconditions: Preconditions::default(),
                number: Some(row.number),
                labels: Some(row.labels.clone()),
                annotations: Some(row.annotations.clone()),
                data: Some(row.data.clone()),
            };
            let outcome = replica.send(Command::UpdateControllerRevision(same));
            expect_eq(outcome.changed, false)?;
            expect_eq(outcome.result.is_ok(), case["valid"] == true)
        },
    );
}

#[test]
fn controller_revision_find_equal() {
    let file = "controller_revision_find_equal.json";
    suite::run(file, 8, &[], |section, case| {
        if section == "derived_equality" {
            let lhs = raw(&case["lhs"]).ok_or("a ControllerRevision without data")?;
            let rhs = raw(&case["rhs"]).ok_or("a ControllerRevision without data")?;
            return expect_eq(is_found(lhs, rhs)?, case["equal"] == true);
        }
        let needle = known(text(case, "needle"))?;
        let mut found = Vec::new();
        for name in case["revisions"].as_array().into_iter().flatten() {
            let name = name.as_str().ok_or("no name")?;
            if is_found(known(name)?, needle.clone())? {
                found.push(name);
            }
        }
        let want = case["want"].as_array().into_iter().flatten();
        expect_eq(found, want.filter_map(Value::as_str).collect())
    });
}

/// Whether a history that holds `there` already has the wanted data, so that nothing is created.
fn is_found(there: RevisionData, wanted: RevisionData) -> Result<bool, String> {
    let mut replica = Replica::formed();
    let bytewise = |data| CreateControllerRevision {
        equality: Equality::Bytes,
        ..wanting(0, data, false)
    };
    let first = created(&mut replica, bytewise(there))?;
    let second = created(&mut replica, bytewise(wanted))?;
    let is_unchanged = second.outcome == RevisionOutcome::Unchanged;
    assert_eq!(is_unchanged, first.name == second.name);
    Ok(is_unchanged)
}

/// The wanted data of a side of a case. Its hash label is set by the store, and a client cannot give it.
fn raw(side: &Value) -> Option<RevisionData> {
    let raw = side.get("raw")?.as_str()?;
    RevisionData::new(MediaType::JSON, raw.as_bytes().to_vec().into()).ok()
}

/// The data of the revisions of the two parents in Kubernetes' test, by name.
fn known(name: &str) -> Result<RevisionData, String> {
    let (parent, number) = match name {
        "ss1Rev1" => (1, 1),
        "ss2Rev1" => (2, 1),
        "ss2Rev2" => (2, 2),
        other => return Err(format!("unknown revision {other}")),
    };
    let data = format!("{{\"parent\":{parent},\"number\":{number}}}");
    Ok(json(&data))
}
