use super::super::sample::kept::{TRINKETS, object};
use super::*;
use crate::records::Step;

const V1: &str = "example.io/v1";
const V2: &str = "example.io/v2";

/// What a check finds after a fault was planted in the run with objects that Synod keeps.
fn found(check: Check, plant: impl FnOnce(&mut Sample)) -> String {
    let mut sample = Sample::with_kept();
    plant(&mut sample);
    let findings = judge(&sample.evidence()).findings;
    let texts = findings
        .iter()
        .filter(|finding| finding.check == check)
        .map(ToString::to_string);
    texts.collect::<Vec<String>>().join("\n")
}

/// Replaces the event of the object at a revision, in all recordings.
fn stored(sample: &mut Sample, revision: u64, event: &Value) {
    sample.event(revision, "storedObject", |object| {
        *object = event["storedObject"].clone()
    });
}

#[test]
fn what_was_kept_in_the_selected_versions_is_green() {
    for check in [
        Check::Watchers,
        Check::Objects,
        Check::Persisted,
        Check::Strict,
        Check::Early,
        Check::Listed,
    ] {
        assert_eq!(found(check, |_| ()), "", "{check:?}");
    }
}

#[test]
fn an_object_in_a_version_that_is_not_selected_yet_is_found_with_its_line() {
    let found = found(Check::Strict, |sample| {
        stored(sample, 24, &object("MODIFIED", 2, V2));
    });
    let said = "trinkets.example.io/lamp was stored in example.io/v2 at revision 24: example.io/v1 is selected there\n      \
                watch-1.jsonl, line 17: {";
    assert!(found.starts_with(said), "{found}");
}

#[test]
fn an_object_in_a_version_that_is_selected_no_more_is_found() {
    let found = found(Check::Strict, |sample| {
        stored(sample, 26, &object("MODIFIED", 3, V1));
    });
    assert!(
        found.contains("stored in example.io/v1 at revision 26: example.io/v2 is selected there"),
        "{found}"
    );
}

#[test]
fn the_bytes_of_an_object_count_and_not_what_is_said_of_them() {
    let found = found(Check::Strict, |sample| {
        let mut event = object("MODIFIED", 2, V2);
        event["storedObject"]["content"]["encodingVersion"] = V1.into();
        stored(sample, 24, &event);
    });
    assert!(found.contains("its bytes are in example.io/v2"), "{found}");
}

#[test]
fn an_object_that_had_been_refused_and_is_stored_is_found() {
    let found = found(Check::Early, |sample| {
        // It was refused for good, and no other server has encoded it.
        sample.keeper.remove(3);
        sample.keeper[3].step = Step::NotSelected(V1.to_owned());
        stored(sample, 24, &object("MODIFIED", 2, V2));
    });
    let said = "trinkets.example.io/lamp is stored in example.io/v2 at revision 24, and no server made it so";
    assert!(found.starts_with(said), "{found}");
}

#[test]
fn an_object_that_was_encoded_and_refused_before_it_was_encoded_anew_is_found_if_it_is_stored() {
    let found = found(Check::Early, |sample| {
        stored(sample, 24, &object("MODIFIED", 2, V2));
    });
    assert!(
        found.contains("number 2 was to be stored in example.io/v1 at revision 24"),
        "{found}"
    );
    assert!(found.contains("no server made it so"), "{found}");
}

#[test]
fn a_refusal_of_what_is_selected_is_found() {
    let found = found(Check::Early, |sample| {
        sample.keeper[1].step = Step::NotSelected(V1.to_owned());
    });
    assert!(
        found.contains("number 1 was refused in example.io/v1, although that is selected"),
        "{found}"
    );
}

#[test]
fn a_write_without_an_answer_may_be_stored_or_not() {
    for step in [Step::Unknown, Step::NotStored("it is down".to_owned())] {
        let is_fault = step != Step::Unknown;
        let found = found(Check::Early, |sample| sample.keeper[7].step = step);
        assert_eq!(!found.is_empty(), is_fault, "{found}");
    }
}

#[test]
fn a_version_that_persisted_does_not_hold_is_found() {
    let found = found(Check::Persisted, |sample| {
        sample.event(25, "storageState", |state| state["persisted"] = json!([]));
    });
    assert!(
        found.contains("lamp is stored in example.io/v2 at revision 26, and persisted"),
        "{found}"
    );
}

#[test]
fn a_change_of_an_object_that_was_overwritten_is_found() {
    let found = found(Check::Objects, |sample| {
        stored(sample, 26, &object("MODIFIED", 1, V2));
    });
    assert!(found.contains("a change was lost: number 3"), "{found}");
    assert!(
        found.contains("acknowledged at revision 26 with number 3, which no watcher saw there"),
        "{found}"
    );
}

#[test]
fn a_list_that_has_another_number_of_objects_than_the_watch_is_found() {
    let found = found(Check::Listed, |sample| {
        sample.listed.get_mut(TRINKETS).unwrap()["items"] = json!([]);
    });
    assert_eq!(
        found,
        "trinkets.example.io: 0 objects are listed, and the watch adds up to 1"
    );
}

#[test]
fn a_list_that_has_an_object_otherwise_than_the_watch_is_found() {
    let found = found(Check::Listed, |sample| {
        let list = sample.listed.get_mut(TRINKETS).unwrap();
        list["items"][0]["spec"]["history"]["changes"] = 4.into();
    });
    assert!(
        found.starts_with("trinkets.example.io: lamp is listed as"),
        "{found}"
    );
}

#[test]
fn a_count_that_is_not_that_of_the_watch_is_found() {
    let found = found(Check::Listed, |sample| {
        sample.collections["items"][0]["counts"][0]["version"] = V1.into();
    });
    assert!(
        found.starts_with("trinkets.example.io: Synod counts"),
        "{found}"
    );
}

#[test]
fn what_was_kept_and_refused_is_told() {
    let summary = judge(&Sample::with_kept().evidence()).summary.to_string();
    let lines = "in Synod     trinkets.example.io: 2 in v1, 1 in v2\n               \
                 refused and encoded anew: 1 before their version was selected, 1 after another one was\n";
    assert!(summary.contains(lines), "{lines} is missing in\n{summary}");
}
