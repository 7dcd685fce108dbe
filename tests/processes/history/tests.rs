use std::time::Duration;

use super::*;
use crate::watch_log::WatchLog;

const FIRST: Setting = Setting {
    since: Revision::new(2),
    value: 10,
};

const READ: Asked = Asked::Read(Register::Settings);

/// A call that began and ended at these moments.
fn call(span: (u64, u64), asked: Asked, told: Told) -> Call {
    let zero = Instant::now();
    call_since(zero, span, asked, told)
}

fn call_since(zero: Instant, (began, ended): (u64, u64), asked: Asked, told: Told) -> Call {
    let at = |millis| zero + Duration::from_millis(millis);
    Call {
        began: at(began),
        ended: at(ended),
        asked,
        told,
    }
}

fn compare(if_revision: u64, value: u32) -> Asked {
    Asked::Compare {
        register: Register::Settings,
        if_revision: Revision::new(if_revision),
        value,
    }
}

fn done(revision: u64) -> Told {
    Told::Done(Revision::new(revision))
}

fn seen(at: u64, since: u64, value: u32) -> Told {
    Told::Seen {
        at: Revision::new(at),
        setting: Setting {
            since: Revision::new(since),
            value,
        },
    }
}

/// The log of a watch that saw these values being set.
fn log(changes: &[(u64, u32)]) -> WatchLog {
    let mut log = WatchLog::new(3);
    for &(revision, members_max) in changes {
        let settings = v1::Settings {
            resource_version: revision,
            members_max,
            ..v1::Settings::default()
        };
        let event = v1::Event {
            r#type: v1::EventType::Modified.into(),
            kind: v1::ObjectKind::Settings.into(),
            name: "settings".to_owned(),
            namespace: String::new(),
            object: Some(v1::event::Object::Settings(settings)),
            ..v1::Event::default()
        };
        let events = v1::WatchEvents {
            revision,
            events: vec![event],
            ..v1::WatchEvents::default()
        };
        log.take(v1::watch_response::Message::Events(events))
            .unwrap();
    }
    log
}

#[test]
fn an_answer_may_be_older_than_one_that_came_meanwhile_and_not_than_one_before() {
    let zero = Instant::now();
    let of = |span, told| call_since(zero, span, READ, told);
    let beside = [of((0, 9), done(7)), of((5, 6), seen(6, 2, 10))];
    assert_eq!(check_real_time(&beside), Ok(()));
    let behind = [of((0, 4), done(7)), of((5, 6), seen(6, 2, 10))];
    assert!(check_real_time(&behind).is_err());
    let same_revision_twice = [of((0, 4), done(7)), of((5, 6), done(7))];
    assert!(check_real_time(&same_revision_twice).is_err());
}

#[test]
fn comparisons_that_follow_each_other_pass() {
    let calls = [
        call((0, 1), compare(2, 11), done(4)),
        call(
            (2, 3),
            compare(2, 12),
            Told::Lost(Some(Setting {
                since: Revision::new(4),
                value: 11,
            })),
        ),
        call((4, 5), compare(4, 13), Told::Unknown(None)),
        call(
            (4, 5),
            compare(4, 14),
            Told::NotExecuted(ErrorKind::Unavailable),
        ),
        call((6, 7), READ, seen(9, 6, 13)),
    ];
    assert_eq!(
        check_settings(&calls, FIRST, &log(&[(4, 11), (6, 13)])),
        Ok(())
    );
}

#[test]
fn each_way_to_be_wrong_about_settings_is_found() {
    let wrong = [
        (
            "an acknowledged change that is lost",
            vec![call((0, 1), compare(2, 11), done(4))],
            log(&[]),
        ),
        (
            "one at another revision",
            vec![call((0, 1), compare(2, 11), done(4))],
            log(&[(5, 11)]),
        ),
        (
            "a comparison that held with something else",
            vec![
                call((0, 1), compare(2, 11), Told::Unknown(None)),
                call((0, 1), compare(2, 12), done(5)),
            ],
            log(&[(4, 11), (5, 12)]),
        ),
        (
            "one that was executed after all",
            vec![call(
                (0, 1),
                compare(2, 11),
                Told::NotExecuted(ErrorKind::Unavailable),
            )],
            log(&[(4, 11)]),
        ),
        ("a value that nobody set", vec![], log(&[(4, 99)])),
        (
            "a read that sees what was before",
            vec![
                call((0, 1), compare(2, 11), done(4)),
                call((0, 1), READ, seen(5, 2, 10)),
            ],
            log(&[(4, 11)]),
        ),
    ];
    for (what, calls, log) in wrong {
        assert!(
            check_settings(&calls, FIRST, &log).is_err(),
            "{what} was not found"
        );
    }
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("example.com", name).unwrap()
}

#[test]
fn what_is_asked_of_one_register_says_nothing_of_the_other() {
    let calls = [call((0, 1), compare(2, 11), done(4))];
    let unchanged = BTreeMap::from([(FIRST.since, FIRST)]);
    let check = |register| check_register(&calls, register, FIRST, &unchanged);
    assert!(check(Register::Settings).is_err());
    assert_eq!(check(Register::Object), Ok(()));
}

#[test]
fn objects_that_were_to_be_created_at_once_and_were_not_are_found() {
    let names = || vec!["one".to_owned(), "two".to_owned()];
    let calls = |told| [call((0, 1), Asked::Create(names()), told)];
    let there = |revisions: &[(&str, u64)]| -> BTreeMap<String, Revision> {
        let revisions = revisions.iter();
        revisions
            .map(|(name, revision)| ((*name).to_owned(), Revision::new(*revision)))
            .collect()
    };
    let both = there(&[("one", 4), ("two", 4)]);
    assert_eq!(check_created(&calls(done(4)), both.clone()), Ok(()));
    assert!(check_created(&calls(done(4)), there(&[("one", 4)])).is_err());
    let unavailable = Told::NotExecuted(ErrorKind::Unavailable);
    assert!(check_created(&calls(unavailable), both).is_err());
}

#[test]
fn each_way_to_lose_a_report_is_found() {
    let report = || Asked::Report(vec![resource("one"), resource("two")]);
    let there = |revisions: &[(&str, u64)]| -> BTreeMap<GroupResource, Revision> {
        revisions
            .iter()
            .map(|(name, revision)| (resource(name), Revision::new(*revision)))
            .collect()
    };
    let both = || there(&[("one", 4), ("two", 4)]);
    let unavailable = || Told::NotExecuted(ErrorKind::Unavailable);
    for (told, created) in [
        (done(4), both()),
        (Told::Unknown(None), both()),
        (Told::Unknown(None), there(&[])),
        (unavailable(), there(&[])),
    ] {
        assert_eq!(
            check_reports(&[call((0, 1), report(), told)], created),
            Ok(())
        );
    }
    for (what, told, created) in [
        ("lost", done(4), there(&[])),
        ("at another revision", done(5), both()),
        ("torn", done(4), there(&[("one", 4)])),
        ("in two pieces", done(4), there(&[("one", 4), ("two", 5)])),
        ("executed after all", unavailable(), both()),
        (
            "reported by nobody",
            done(4),
            [both(), there(&[("three", 5)])]
                .into_iter()
                .flatten()
                .collect(),
        ),
    ] {
        assert!(
            check_reports(&[call((0, 1), report(), told)], created).is_err(),
            "{what} was not found"
        );
    }
}
