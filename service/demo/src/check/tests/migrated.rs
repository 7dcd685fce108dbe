use super::super::sample::migrated::{MIGRATION, migration, roster, still_in_both};
use super::*;

const V1: &str = "example.io/v1";
const V2: &str = "example.io/v2";

/// What a check finds after a fault was planted in a run with a migration.
fn found(check: Check, plant: impl FnOnce(&mut Sample)) -> String {
    let mut sample = Sample::with_migration();
    plant(&mut sample);
    let findings = judge(&sample.evidence()).findings;
    let texts = findings
        .iter()
        .filter(|finding| finding.check == check)
        .map(ToString::to_string);
    texts.collect::<Vec<String>>().join("\n")
}

/// Adds an event to those of a revision, in all recordings.
fn add(sample: &mut Sample, revision: u64, event: &Value) {
    let wanted = revision.to_string();
    for watch in &mut sample.watches {
        let mut lines = watch.iter_mut();
        let line = lines.find(|line| line["events"]["revision"] == wanted);
        let events = line.unwrap()["events"]["events"].as_array_mut();
        events.unwrap().push(event.clone());
    }
}

#[test]
fn a_migration_after_which_all_is_new_is_green() {
    for check in [
        Check::Migrated,
        Check::Objects,
        Check::Watchers,
        Check::Assumed,
    ] {
        assert_eq!(found(check, |_| ()), "", "{check:?}");
    }
}

#[test]
fn an_old_object_behind_a_migration_that_has_succeeded_is_found() {
    let found = found(Check::Migrated, |sample| {
        sample.store[5].data = sample::data("lamp", 6, V1);
        sample.verdicts.clear();
    });
    let said = "gadgets.example.io-10 to example.io/v2 succeeded at revision 15, and lamp was stored in example.io/v1";
    assert!(found.starts_with(said), "{found}");
}

#[test]
fn persisted_that_holds_more_than_the_target_is_found() {
    let found = found(Check::Migrated, |sample| {
        add(sample, 15, &still_in_both());
    });
    assert!(
        found.contains(r#"persisted is [Some("example.io/v1"), Some("example.io/v2"), None]"#),
        "{found}"
    );
}

#[test]
fn a_migration_that_outlives_its_agreement_is_found() {
    let found = found(Check::Migrated, |sample| {
        sample.event(14, "migration", |migration| {
            migration["agreementRevision"] = "9".into();
        });
    });
    assert!(
        found.starts_with(
            "at revision 14 gadgets.example.io-10 is MIGRATION_PHASE_RUNNING, and there is no agreement of revision 9"
        ),
        "{found}"
    );
}

#[test]
fn two_migrations_of_a_resource_that_run_are_found() {
    let found = found(Check::Migrated, |sample| {
        add(
            sample,
            14,
            &migration("ADDED", "gadgets.example.io-14", "RUNNING"),
        );
    });
    let said = format!("at revision 14 gadgets.example.io-14 and {MIGRATION} both run");
    assert!(found.starts_with(&said), "{found}");
}

#[test]
fn a_version_that_is_called_safe_to_drop_too_early_is_found() {
    let found = found(Check::Migrated, |sample| {
        for verdict in sample.verdicts.values_mut() {
            verdict["header"]["revision"] = "8".into();
        }
    });
    assert_eq!(
        found,
        "at revision 8 example.io/v1 of gadgets.example.io was called safe to drop, and lamp was stored in example.io/v1"
    );
}

#[test]
fn what_is_called_safe_without_saying_what_it_assumes_is_found() {
    let found = found(Check::Assumed, |sample| {
        for verdict in sample.verdicts.values_mut() {
            verdict["assumptions"] = Vec::<Value>::new().into();
        }
        sample.event(15, "migration", |migration| {
            migration["assumption"] = "ASSUMPTION_REASON_UNSPECIFIED".into();
        });
    });
    for said in [
        "check-drop-gadgets.example.io-after.json, of revision 15: a roster asks for somebody of gadgets.example.io: false, and \
         something is assumed: false",
        "gadgets.example.io-10 succeeded at revision 15, and a roster asks for somebody: false, and it assumes",
    ] {
        assert!(found.contains(said), "{said} in {found}");
    }
}

#[test]
fn what_is_called_safe_or_done_while_a_server_is_missing_is_found() {
    let asks = |members: &'static [&'static str]| {
        move |sample: &mut Sample| add(sample, 15, &roster("ADDED", members))
    };
    let found_missing = found(Check::Assumed, asks(&["apiserver-a", "apiserver-d"]));
    for said in [
        "it is called safe, and {\"apiserver-d\"} is missing of gadgets.example.io",
        "gadgets.example.io-10 succeeded at revision 15, and {\"apiserver-d\"} was missing",
    ] {
        assert!(found_missing.contains(said), "{said} in {found_missing}");
    }
    let agreed = found(Check::Common, asks(&["apiserver-a", "apiserver-d"]));
    assert!(
        agreed.contains("at revision 15 gadgets.example.io is said"),
        "{agreed}"
    );
    let dated = found(Check::AgreementRevision, asks(&["apiserver-d"]));
    assert!(dated.contains("last changed at 15"), "{dated}");
    // All required members have reported: nothing is assumed any more, and no answer may name an assumption.
    let found_all = found(Check::Assumed, asks(&["apiserver-a", "apiserver-b"]));
    assert!(
        found_all.contains("something is assumed: true"),
        "{found_all}"
    );
}

#[test]
fn a_missing_server_that_is_not_named_is_found() {
    let plant = |named: &'static str| {
        move |sample: &mut Sample| {
            add(sample, 15, &roster("ADDED", &["apiserver-d"]));
            for verdict in sample.verdicts.values_mut() {
                verdict["safe"] = false.into();
                verdict["assumptions"] = Vec::<Value>::new().into();
                verdict["dangers"] = json!([{
                    "reason": "DANGER_REASON_ABSENT", "member": named,
                    "resource": {"group": "example.io", "resource": "gadgets"},
                }]);
            }
        }
    };
    let said = "it does not say that apiserver-d is missing of gadgets.example.io";
    assert!(found(Check::Assumed, plant("apiserver-c")).contains(said));
    assert!(!found(Check::Assumed, plant("apiserver-d")).contains(said));
}

#[test]
fn the_same_object_once_more_is_a_workers_and_an_older_one_is_a_lost_change() {
    let again = |number| {
        move |sample: &mut Sample| {
            let mut write = sample.store[5].clone();
            (write.position, write.version) = (7, 7);
            write.data = sample::data("lamp", number, V2);
            sample.objects[0].version = 7;
            sample.objects[0].data = write.data.clone();
            sample.store.push(write);
        }
    };
    assert_eq!(found(Check::Objects, again(6)), "");
    assert_eq!(found(Check::Objects, again(7)), "");
    let lost = found(Check::Objects, again(5));
    assert!(
        lost.contains("a change was lost: number 7 was to come"),
        "{lost}"
    );
}

#[test]
fn what_was_to_come_of_the_migrations_and_did_not_is_found() {
    let found = found(Check::Completed, |_| ());
    for missing in [
        "release 2.0 was to be refused before the migrations, and to be let in after them",
        "a worker was to be killed",
        "widgets.example.io was to be stored in example.io/v2 alone in the end; it is in {}, and persisted is []",
        "check-drop-gadgets.example.io-before.json was to say that it is safe: false; it says None",
        "check-binary-after.json was to say that it is safe: true; it says None",
        "a roster was to ask for apiserver-d, which takes part only then",
        "check-drop-gadgets.example.io-absent.json was to say that it is safe: false; it says None",
        "check-drop-gadgets.example.io-after.json was to say that it assumes that nobody else writes: false; it says Some(true)",
        "a migration at which somebody worked was to be aborted, and another one to succeed",
    ] {
        assert!(found.contains(missing), "{missing} in {found}");
    }
    // All gadgets are in v2.
    assert!(
        !found.contains("gadgets.example.io was to be stored"),
        "{found}"
    );
}
