use super::sample::{self, GADGETS, Sample};
use super::*;
use serde_json::{Value, json};

use crate::records::{Asked, ClientAnswer, Deed};

mod kept;
mod migrated;

/// The findings of all checks except 12 and 14, for which the sample is too short.
fn findings(sample: &Sample) -> Vec<Finding> {
    let mut findings = judge(&sample.evidence()).findings;
    findings.retain(|finding| !matches!(finding.check, Check::Completed | Check::Path));
    findings
}

/// What a check finds after a fault was planted, as one text; empty if it finds nothing.
fn found(check: Check, plant: impl FnOnce(&mut Sample)) -> String {
    let mut sample = Sample::good();
    plant(&mut sample);
    let findings = findings(&sample);
    let texts = findings
        .iter()
        .filter(|finding| finding.check == check)
        .map(ToString::to_string);
    texts.collect::<Vec<String>>().join("\n")
}

#[test]
fn a_run_without_a_fault_is_green() {
    assert_eq!(findings(&Sample::good()), []);
}

mod encodings {
    use super::*;

    #[test]
    fn a_version_that_is_not_selected_yet_is_found_with_its_line() {
        let found = found(Check::Encodings, |sample| {
            sample.store[2].writer.encoding = "example.io/v2".to_owned();
            sample.store[2].data = sample::data("lamp", 3, "example.io/v2");
        });
        let said = "gadgets.example.io/lamp was written in example.io/v2 by apiserver-a, epoch 7, with a permit of revision 8, \
                    and landed between revisions 8 and 9: at revision 8 its entry allowed only example.io/v1; it was selected at revision 9\n      \
                    store.jsonl, line 3: {";
        assert!(found.starts_with(said), "{found}");
    }

    #[test]
    fn the_bytes_count_and_not_what_the_writer_says() {
        let found = found(Check::Encodings, |sample| {
            sample.store[2].data = sample::data("lamp", 3, "example.io/v2");
        });
        assert!(
            found.contains("its writer says that it encoded example.io/v1"),
            "{found}"
        );
    }

    #[test]
    fn a_permit_that_is_given_after_the_write_is_found() {
        let found = found(Check::Encodings, |sample| {
            sample.store[2].writer.encoding = "example.io/v2".to_owned();
            sample.store[2].writer.permit_revision = 10;
            sample.store[2].data = sample::data("lamp", 3, "example.io/v2");
        });
        assert!(
            found.contains("it had landed before its permit can have been given"),
            "{found}"
        );
    }

    #[test]
    fn an_epoch_that_has_not_reported_writes_nothing() {
        let found = found(Check::Encodings, |sample| {
            sample.store[2].writer.permit_revision = 7;
        });
        assert!(
            found.contains("at revision 7 the epoch could not write"),
            "{found}"
        );
    }

    #[test]
    fn an_older_epoch_writes_nothing_with_a_later_permit() {
        let found = found(Check::Encodings, |sample| {
            sample.store[2].writer.epoch = 2;
        });
        assert!(
            found.contains("at revision 8 the epoch could not write"),
            "{found}"
        );
    }

    #[test]
    fn a_write_that_lands_after_its_version_was_drained_is_found() {
        let found = found(Check::Encodings, |sample| {
            // The permit is older than the adoption, and the write lands after it.
            sample.store[5].writer = sample.store[2].writer.clone();
            sample.store[5].data = sample::data("lamp", 6, "example.io/v1");
        });
        assert!(
            found.contains("at revision 10 its entry allowed only example.io/v2"),
            "{found}"
        );
    }

    #[test]
    fn a_write_of_a_member_that_left_drained_is_found() {
        let found = found(Check::Encodings, |sample| {
            sample.store[3].writer = sample.store[0].writer.clone();
        });
        let said = "the epoch had ended at revision 6, where gadgets.example.io has no drain for the version";
        assert!(found.contains(said), "{found}");
    }

    #[test]
    fn a_write_after_the_grace_is_found() {
        let found = found(Check::Encodings, |sample| {
            sample.store[3].at_ms += 6_001;
        });
        assert!(
            found.contains("had ended at revision 9, 6002 ms before, and 6000 ms are its grace"),
            "{found}"
        );
    }

    #[test]
    fn a_linearizable_read_that_goes_back_is_found() {
        let found = found(Check::Encodings, |sample| sample.marks[3].revision = 7);
        let said = "a linearizable read answered revision 7 after one had answered 8\n      marks.jsonl, line 4";
        assert!(found.starts_with(said), "{found}");
    }

    #[test]
    fn a_resource_without_an_entry_takes_no_write() {
        let found = found(Check::Encodings, |sample| {
            sample.store[0].resource = "widgets.example.io".to_owned();
        });
        assert!(
            found.contains("its member had no entry that encodes anything"),
            "{found}"
        );
    }
}

mod selection {
    use super::*;

    #[test]
    fn a_selection_before_all_voters_prefer_it_is_found() {
        let found = found(Check::Selected, |sample| {
            sample.event(8, "storageVersion", |object| {
                object["status"]["selectedVersion"] = "example.io/v2".into();
                object["status"]["selectedRevision"] = "8".into();
            });
        });
        let said = "at revision 8 gadgets.example.io has selected example.io/v1 of revision 3";
        assert!(found.starts_with(said), "{found}");
    }

    #[test]
    fn a_selection_that_is_due_and_missing_is_found() {
        let found = found(Check::Selected, |sample| {
            for kind in ["storageVersion", "storageState"] {
                sample.event(9, kind, |object| {
                    let status = if kind == "storageVersion" {
                        &mut object["status"]
                    } else {
                        object
                    };
                    status["selectedVersion"] = "example.io/v1".into();
                    status["selectedRevision"] = "3".into();
                });
            }
        });
        assert!(
            found.contains("the entries demand example.io/v2 of revision 9"),
            "{found}"
        );
    }

    #[test]
    fn a_resource_whose_selection_never_moves_is_found() {
        let found = found(Check::Selected, |sample| {
            for watch in &mut sample.watches {
                watch.truncate(9);
            }
        });
        assert!(
            found.contains("changed its selected version at revisions [3]"),
            "{found}"
        );
    }

    #[test]
    fn a_version_that_an_entry_cannot_decode_is_not_selected() {
        let found = found(Check::Selected, |sample| {
            sample.event(8, "storageVersion", |object| {
                object["changedEntries"][0]["decodableVersions"] = json!(["example.io/v1"]);
            });
        });
        let said = "at revision 9 gadgets.example.io has selected example.io/v2 of revision 9, and the entries demand \
                    example.io/v1 of revision 3";
        assert!(found.starts_with(said), "{found}");
    }
}

mod agreement {
    use super::*;

    #[test]
    fn an_agreement_that_outlives_the_selection_is_found() {
        let found = found(Check::Common, |sample| {
            sample.event(9, "storageVersion", |object| {
                object["status"]["agreedVersion"] = "example.io/v1".into();
            });
        });
        assert!(
            found.starts_with(
                "at revision 9 gadgets.example.io is said to have example.io/v1 in common"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_common_version_that_an_entry_does_not_encode_is_found() {
        let found = found(Check::Common, |sample| {
            sample.event(12, "storageVersion", |object| {
                object["changedEntries"][0]["encodingVersion"] = "example.io/v1".into();
            });
        });
        assert!(
            found.contains("its entries imply nothing and nothing"),
            "{found}"
        );
    }

    #[test]
    fn a_state_that_says_something_else_is_found() {
        let found = found(Check::Common, |sample| {
            sample.event(10, "storageState", |object| {
                object["currentVersion"] = json!(null)
            });
        });
        assert!(found.contains("to be agreed on nothing"), "{found}");
    }

    #[test]
    fn an_intersection_that_is_too_large_is_found() {
        let found = found(Check::Common, |sample| {
            sample.event(8, "storageVersion", |object| {
                object["status"]["decodableByAll"] = json!(["example.io/v1", "example.io/v2"]);
            });
        });
        assert!(
            found.contains("decodable by all {\"example.io/v1\"}"),
            "{found}"
        );
    }

    #[test]
    fn an_agreement_revision_that_stands_still_is_found() {
        let found = found(Check::AgreementRevision, |sample| {
            sample.event(10, "storageState", |object| {
                object["agreementRevision"] = "9".into()
            });
        });
        let said = "at revision 10 the agreement revision of gadgets.example.io is 9, in its storage version 10; common, \
                    selected or who is missing last changed at 10";
        assert!(found.starts_with(said), "{found}");
    }

    #[test]
    fn an_agreement_revision_that_moves_for_nothing_is_found() {
        let found = found(Check::AgreementRevision, |sample| {
            sample.event(8, "storageVersion", |object| {
                object["status"]["agreementRevision"] = "8".into()
            });
        });
        assert!(found.starts_with("at revision 8 "), "{found}");
    }
}

mod watching {
    use super::*;

    #[test]
    fn an_event_that_one_watcher_missed_is_found() {
        let found = found(Check::Watchers, |sample| {
            sample.watches[1].remove(5);
        });
        assert!(
            found.starts_with("watch-1.jsonl and watch-2.jsonl differ in event 5\n"),
            "{found}"
        );
    }

    #[test]
    fn an_event_that_comes_twice_is_found() {
        let found = found(Check::Watchers, |sample| {
            let again = sample.watches[2][1].clone();
            sample.watches[2].insert(2, again);
        });
        assert!(
            found.contains("revision 2 comes after 2\n      watch-3.jsonl, line 3: "),
            "{found}"
        );
    }

    #[test]
    fn an_event_that_a_bookmark_had_passed_is_found() {
        let found = found(Check::Watchers, |sample| {
            sample.watches[0][3]["bookmark"]["revision"] = "4".into();
        });
        assert!(found.contains("revision 4 comes after 4"), "{found}");
    }

    #[test]
    fn a_watch_that_lost_its_place_is_found() {
        let found = found(Check::Watchers, |sample| {
            sample.watches[0][3] = json!({"resync": {"revision": "3", "events": []}});
        });
        assert!(found.contains("the recording has a gap"), "{found}");
    }

    #[test]
    fn an_event_that_all_watchers_missed_shows_in_what_follows_it() {
        let found = found(Check::Watchers, |sample| {
            for watch in &mut sample.watches {
                watch.remove(1);
            }
        });
        assert!(
            found.contains("\"apiserver-a\" is changed or removed, and was not there"),
            "{found}"
        );
    }

    #[test]
    fn an_event_that_all_watchers_missed_shows_in_the_end() {
        let found = found(Check::Watchers, |sample| {
            for watch in &mut sample.watches {
                watch.pop();
            }
        });
        assert!(
            found.contains("the members in the end are not what the events add up to"),
            "{found}"
        );
        assert!(
            found.contains("the storage versions in the end are not"),
            "{found}"
        );
    }

    #[test]
    fn a_recording_of_nothing_is_found() {
        let found = found(Check::Watchers, |sample| {
            sample.watches.iter_mut().for_each(Vec::clear);
        });
        assert!(found.contains("hold no event"), "{found}");
    }
}

mod objects {
    use super::*;

    #[test]
    fn an_acknowledged_write_that_the_store_does_not_have_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.store.pop();
            sample.objects[0].version = 5;
            sample.objects[0].data = sample::data("lamp", 5, "example.io/v2");
        });
        let said = "gadgets.example.io/lamp was acknowledged as version 6 with number 6, which the store has not written";
        assert!(found.starts_with(said), "{found}");
    }

    #[test]
    fn an_object_that_is_gone_in_the_end_is_found() {
        let found = found(Check::Objects, |sample| sample.objects.clear());
        assert!(
            found.starts_with("gadgets.example.io/lamp is not stored as it was written last"),
            "{found}"
        );
    }

    #[test]
    fn an_object_that_nobody_wrote_is_found() {
        let found = found(Check::Objects, |sample| {
            let mut stray = sample.objects[0].clone();
            stray.name = "ghost".to_owned();
            sample.objects.push(stray);
        });
        assert!(
            found.contains("gadgets.example.io/ghost is stored, and was never written"),
            "{found}"
        );
    }

    #[test]
    fn a_change_that_was_overwritten_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.store[3].data = sample::data("lamp", 3, "example.io/v1");
        });
        assert!(
            found.contains("gadgets.example.io/lamp: a change was lost: number 4 was to come"),
            "{found}"
        );
    }

    #[test]
    fn a_field_that_was_lost_in_a_conversion_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.store[4].data["spec"]["appearance"]["paint"] = "".into();
        });
        assert!(found.contains("its colour \"blue\" was lost"), "{found}");
    }

    #[test]
    fn an_object_that_no_version_explains_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.store[4].data["spec"] = json!({});
        });
        assert!(
            found.contains("it cannot be read: example.io/v2 has /spec/history/changes"),
            "{found}"
        );
    }

    #[test]
    fn a_read_of_the_past_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.clients[5].answer = ClientAnswer::Read(2);
        });
        assert!(
            found.contains(
                "number 2 was read after 3 had been acknowledged\n      clients.jsonl, line 6"
            ),
            "{found}"
        );
    }

    #[test]
    fn a_server_that_could_not_read_an_object_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.clients[5].answer =
                ClientAnswer::Undecodable("it is encoded in \"example.io/v2\"".to_owned());
        });
        assert!(
            found.contains("apiserver-a could not read it: it is encoded in"),
            "{found}"
        );
    }

    #[test]
    fn a_refused_write_is_no_fault() {
        let found = found(Check::Objects, |sample| {
            let mut refused = sample.clients[0].clone();
            refused.asked = Asked::Create;
            refused.answer = ClientAnswer::Refused;
            sample.clients.insert(0, refused);
        });
        assert_eq!(found, "");
    }

    #[test]
    fn a_write_that_a_server_was_told_of_and_the_store_does_not_have_is_found() {
        let found = found(Check::Objects, |sample| {
            sample.server[0].writer.epoch = 3;
        });
        assert!(
            found.starts_with("apiserver-a.jsonl sent what the store does not have at position 1"),
            "{found}"
        );
    }
}

mod versions_kept {
    use super::*;

    #[test]
    fn a_stored_version_that_is_not_in_persisted_is_found() {
        let found = found(Check::Persisted, |sample| {
            for revision in [9, 10] {
                sample.event(revision, "storageState", |object| {
                    object["persisted"] =
                        json!([{"unknown": false, "hash": "x", "version": "example.io/v1"}]);
                });
            }
        });
        let said = "gadgets.example.io/lamp is stored in example.io/v2, and at revision 12 persisted of gadgets.example.io does \
                    not hold it";
        assert!(found.starts_with(said), "{found}");
    }
}

mod what_took_place {
    use super::*;

    /// A run that did all that the demo is to show. It fails the other checks.
    fn full() -> Sample {
        let mut sample = Sample::good();
        let mut events = Vec::new();
        sample.store.clear();
        for (place, release) in (0..).zip(["1.0", "1.1", "1.2", "metrics-0.3"]) {
            for (number, id) in (1..).zip(["apiserver-a", "apiserver-b", "apiserver-c"]) {
                let epoch = 10 * place + number;
                events.push(json!({"events": {
                    "revision": epoch.to_string(),
                    "events": [sample::member("ADDED", &format!("{id}-{epoch}"), epoch, release, true)],
                }}));
                let mut write = sample::write(GADGETS, "lamp", epoch);
                write.writer.member = format!("{id}-{epoch}");
                write.writer.epoch = epoch;
                let version = if release == "1.2" {
                    "example.io/v2"
                } else {
                    "example.io/v1"
                };
                write.data = sample::data("lamp", epoch, version);
                sample.store.push(write);
            }
        }
        // What Synod kept comes at later revisions.
        let base = 100;
        let mut kept = Sample::with_kept();
        for line in &mut kept.watches[0].split_off(sample.watches[0].len()) {
            let revision: u64 = line["events"]["revision"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            line["events"]["revision"] = (base + revision).to_string().into();
            events.push(line.clone());
        }
        sample.keeper = kept.keeper;
        sample.watches = [events.clone(), events.clone(), events];
        sample.acts = sample::acts();
        sample
    }

    fn missing(sample: &Sample) -> String {
        let findings = judge(&sample.evidence()).findings;
        let findings = findings
            .iter()
            .filter(|finding| finding.check == Check::Path);
        findings
            .map(|finding| finding.message.clone())
            .collect::<Vec<String>>()
            .join("; ")
    }

    #[test]
    fn a_run_that_went_the_whole_path_is_green() {
        assert_eq!(missing(&full()), "");
    }

    #[test]
    fn a_server_that_wrote_nothing_under_a_release_is_found() {
        let mut sample = full();
        sample.store.remove(4);
        assert_eq!(
            missing(&sample),
            "2 of 3 API servers wrote something under release 1.1"
        );
        sample.store.truncate(8);
        assert!(missing(&sample).contains("the server of another kind wrote nothing"));
    }

    #[test]
    fn a_run_in_which_nothing_was_encoded_too_early_is_found() {
        let mut sample = full();
        // The encoding of b in v2 while v1 was selected.
        sample.keeper.remove(2);
        assert_eq!(
            missing(&sample),
            "no server encoded anything for Synod too early, to be refused"
        );
    }

    #[test]
    fn a_resource_that_never_changed_its_version_is_found() {
        let mut sample = full();
        for write in &mut sample.store {
            write.data = sample::data("lamp", write.version, "example.io/v1");
        }
        assert!(missing(&sample).contains("gadgets.example.io was stored in one version only"));
    }

    #[test]
    fn a_leader_that_was_not_killed_or_never_came_back_is_found() {
        let mut sample = full();
        sample.acts.pop();
        assert_eq!(
            missing(&sample),
            "the leader was to be killed and started again"
        );
        sample.acts.pop();
        assert_eq!(
            missing(&sample),
            "the leader was to be killed and started again"
        );
    }

    #[test]
    fn an_upgrade_without_a_kill_or_without_a_clean_stop_is_found() {
        for deed in [Deed::Stopped, Deed::Killed] {
            let mut sample = full();
            let place = sample.acts.iter().position(|act| act.deed == deed).unwrap();
            sample.acts.remove(place);
            assert!(
                missing(&sample).starts_with("an API server was to be"),
                "{deed:?}"
            );
        }
    }
}

#[test]
fn what_happened_is_told_from_the_recordings() {
    let summary = judge(&Sample::good().evidence()).summary.to_string();
    for line in [
        "stored       6 writes\n               gadgets.example.io: 4 in v1, 2 in v2\n",
        "clients      6 writes tried: 6 acknowledged, 0 refused by a closed gate\n",
        "             6 objects read back; 0 times a server was down, 0 outcomes were unknown\n",
        "watched      12 revisions with events, on each of 3 replicas: 2 members in 4 epochs\n",
        "selected     gadgets.example.io: v1 at 3, v2 at 9\n",
        "agreed on    gadgets.example.io: v1 at 3, nothing at 9, v2 at 10\n",
    ] {
        assert!(summary.contains(line), "{line} is missing in\n{summary}");
    }
}

#[test]
fn how_long_a_server_refused_is_from_the_first_refusal_to_the_next_write() {
    let mut sample = Sample::good();
    let mut refused = sample.clients[2].clone();
    refused.answer = ClientAnswer::Refused;
    for (place, at_ms) in [(2, 9_000), (3, 9_500)] {
        refused.at_ms = at_ms;
        sample.clients.insert(place, refused.clone());
    }
    let summary = judge(&sample.evidence()).summary.to_string();
    let line =
        "refused      apiserver-b: 1 times for a resource, 1002 ms in all, 1002 ms at most\n";
    assert!(summary.contains(line), "{line} is missing in\n{summary}");
}
