use std::collections::BTreeMap;

use synod_model::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Labels, Member, MemberId, Metadata, ObjectKind,
    Phase, Settings, Ttl, Uid, WallTime,
};

use super::*;
use crate::metrics::Metrics;

fn history() -> EncodedHistory {
    EncodedHistory::new(Metrics::new(|| 0).watch)
}

fn member(id: &str, labels: &[(&str, &str)]) -> Arc<Member> {
    let labels: BTreeMap<String, String> = labels
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Arc::new(Member {
        id: MemberId::parse(id).unwrap(),
        instance: InstanceId::parse("process").unwrap(),
        epoch: Epoch::new(Revision::new(7)),
        ttl: Ttl::DEFAULT,
        labels: Labels::parse(&labels).unwrap(),
        version: BinaryVersion::parse("1.0").unwrap(),
        endpoint: Endpoint::parse("").unwrap(),
        phase: Phase::Ready,
        metadata: Metadata {
            uid: Uid::from_bytes([1; 16]),
            resource_version: Revision::new(7),
            create_revision: Revision::new(7),
            generation: 1,
            created: WallTime::from_millis(0),
        },
        reported: false,
        gated: false,
    })
}

fn changed(id: &str, before: Option<Arc<Member>>, after: Option<Arc<Member>>) -> Change {
    Change::new::<Member>(MemberId::parse(id).unwrap(), before, after)
}

fn settings_changed() -> Change {
    let settings = || Some(Arc::new(Settings::default()));
    Change::new::<Settings>((), settings(), settings())
}

fn revision(number: u64, changes: Vec<Change>) -> Arc<RevisionEvents> {
    Arc::new(RevisionEvents {
        revision: Revision::new(number),
        changes,
        time: None,
        latest_time: None,
        caller: None,
    })
}

/// Decodes the messages as a reader does.
fn read(messages: &[WatchMessage]) -> Vec<v1::WatchEvents> {
    let read = messages.iter().map(|message| {
        let bytes = message.pieces().concat();
        assert_eq!(bytes.len(), message.len());
        match v1::WatchResponse::decode(&bytes[..])
            .unwrap()
            .message
            .unwrap()
        {
            v1::watch_response::Message::Events(events) => events,
            other => panic!("events, not {other:?}"),
        }
    });
    read.collect()
}

fn filter(change: impl FnOnce(&mut WatchFilter)) -> WatchFilter {
    let mut filter = WatchFilter::default();
    change(&mut filter);
    filter
}

#[test]
fn the_pieces_are_the_message_that_the_protocol_has() {
    let changes = vec![
        changed("a", None, Some(member("a", &[]))),
        settings_changed(),
    ];
    let events: Vec<v1::Event> = changes.iter().map(objects::event).collect();
    let encoded = read(&history().messages(&revision(300, changes), &WatchFilter::default(), None));
    assert_eq!(
        encoded,
        [v1::WatchEvents {
            revision: 300,
            events,
            more_fragments: false,
            time_ms: None,
            caller: None,
        }]
    );
}

#[test]
fn the_caller_is_in_the_messages_of_those_who_may_see_it_alone() {
    let history = history();
    let caller = Identity::parse("spiffe://synod/operator").unwrap();
    let events = Arc::new(RevisionEvents {
        time: Some(WallTime::from_millis(2_000)),
        caller: Some(caller.clone()),
        ..(*revision(300, vec![settings_changed()])).clone()
    });
    let settings = filter(|filter| filter.kinds = [ObjectKind::Settings].into());
    for filter in [WatchFilter::default(), settings] {
        let plain = history.messages(&events, &filter, None);
        let named = history.messages(&events, &filter, Some(&caller));
        assert_eq!(plain[0].pieces()[1].as_ptr(), named[0].pieces()[1].as_ptr());
        let (plain, named) = (read(&plain), read(&named));
        assert_eq!(plain[0].time_ms, Some(2_000));
        assert_eq!(plain[0].caller, None);
        let expected = v1::WatchEvents {
            caller: Some(caller.to_string()),
            ..plain[0].clone()
        };
        assert_eq!(named, [expected]);
    }
}

#[test]
fn a_revision_that_changed_nothing_to_watch_has_no_message() {
    assert!(
        history()
            .messages(&revision(1, Vec::new()), &WatchFilter::default(), None)
            .is_empty()
    );
}

#[test]
fn a_filter_lets_pass_what_passes_every_part_of_it() {
    let (history, events) = (
        history(),
        revision(
            2,
            vec![
                changed("a", None, Some(member("a", &[]))),
                changed("b", None, Some(member("b", &[]))),
                settings_changed(),
            ],
        ),
    );
    let names = |filter: WatchFilter| -> Vec<String> {
        let read = read(&history.messages(&events, &filter, None));
        read.into_iter()
            .flat_map(|events| events.events)
            .map(|event| event.name)
            .collect()
    };
    let of_kind = |kind| filter(|filter| filter.kinds = [kind].into());
    let of_name = |name: &str| filter(|filter| filter.names = [name.to_owned()].into());
    assert_eq!(names(of_kind(ObjectKind::Member)), ["a", "b"]);
    assert_eq!(names(of_name("b")), ["b"]);
    assert_eq!(names(of_kind(ObjectKind::Settings)), ["settings"]);
    let none = WatchFilter {
        names: of_name("b").names,
        ..of_kind(ObjectKind::Settings)
    };
    assert!(history.messages(&events, &none, None).is_empty());
}

#[test]
fn an_object_appears_and_disappears_with_its_labels() {
    let wanted = filter(|filter| {
        filter.labels =
            Labels::parse(&BTreeMap::from([("zone".to_owned(), "a".to_owned())])).unwrap();
    });
    let (there, gone) = (
        member("m", &[("zone", "a"), ("x", "y")]),
        member("m", &[("zone", "b")]),
    );
    let history = history();
    let seen = |number, before: Option<&Arc<Member>>, after: Option<&Arc<Member>>| {
        let events = revision(
            number,
            vec![
                changed("m", before.cloned(), after.cloned()),
                settings_changed(),
            ],
        );
        let events = read(&history.messages(&events, &wanted, None))
            .into_iter()
            .flat_map(|events| events.events);
        let summary = |event: v1::Event| match &event.object {
            Some(v1::event::Object::Member(member)) => (
                event.r#type(),
                member.metadata.clone().unwrap().labels["zone"].clone(),
            ),
            other => panic!("a member, not {other:?}"),
        };
        events.map(summary).collect::<Vec<_>>()
    };
    use v1::EventType::{Added, Modified, Removed};
    assert_eq!(seen(1, None, Some(&there)), [(Added, "a".to_owned())]);
    assert_eq!(
        seen(2, Some(&there), Some(&there)),
        [(Modified, "a".to_owned())]
    );
    assert_eq!(
        seen(3, Some(&there), Some(&gone)),
        [(Removed, "a".to_owned())]
    );
    assert_eq!(seen(4, Some(&gone), Some(&gone)), []);
    assert_eq!(
        seen(5, Some(&gone), Some(&there)),
        [(Added, "a".to_owned())]
    );
    assert_eq!(seen(6, Some(&there), None), [(Removed, "a".to_owned())]);
    assert_eq!(seen(7, Some(&gone), None), []);
}

#[test]
fn events_that_do_not_fit_a_message_go_into_marked_fragments() {
    let label = "v".repeat(60);
    let labels: Vec<(String, &str)> = (0..64)
        .map(|i| (format!("{}-{i}", "k".repeat(50)), &*label))
        .collect();
    let labels: Vec<(&str, &str)> = labels.iter().map(|(key, value)| (&**key, *value)).collect();
    let count = 300;
    let changes: Vec<Change> = (0..count)
        .map(|i| {
            let id = format!("member-{i}");
            changed(&id, None, Some(member(&id, &labels)))
        })
        .collect();
    let messages = history().messages(&revision(9, changes), &WatchFilter::default(), None);
    assert!(messages.len() > 1);
    assert!(
        messages
            .iter()
            .all(|message| message.len() <= WATCH_MESSAGE_BYTES_MAX + 64)
    );
    let read = read(&messages);
    let (last, others) = read.split_last().unwrap();
    assert!(!last.more_fragments && others.iter().all(|events| events.more_fragments));
    assert!(read.iter().all(|events| events.revision == 9));
    let names: Vec<&str> = read
        .iter()
        .flat_map(|events| &events.events)
        .map(|event| &*event.name)
        .collect();
    let expected: Vec<String> = (0..count).map(|i| format!("member-{i}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn an_event_is_encoded_once_for_all() {
    let (history, events) = (history(), revision(5, vec![settings_changed()]));
    let pointers = |messages: &[WatchMessage]| -> Vec<*const u8> {
        messages
            .iter()
            .flat_map(|message| message.pieces())
            .map(|piece| piece.as_ptr())
            .collect()
    };
    let first = history.messages(&events, &WatchFilter::default(), None);
    let second = history.messages(&events, &WatchFilter::default(), None);
    assert_eq!(pointers(&first), pointers(&second));
    let filtered = history.messages(
        &events,
        &filter(|filter| filter.kinds = [ObjectKind::Settings].into()),
        None,
    );
    assert_eq!(pointers(&filtered)[1], pointers(&first)[1]);
}

#[test]
fn no_more_is_kept_encoded_than_there_is_room_for() {
    let history = history();
    for number in 1..=(ENCODED_REVISIONS_MAX as u64 + 10) {
        history.messages(
            &revision(number, vec![settings_changed()]),
            &WatchFilter::default(),
            None,
        );
    }
    let kept = history.lock();
    assert_eq!(kept.revisions.len(), ENCODED_REVISIONS_MAX);
    assert_eq!(kept.revisions.keys().next(), Some(&Revision::new(11)));
    assert_eq!(
        kept.bytes,
        kept.revisions
            .values()
            .map(|(_, bytes)| bytes)
            .sum::<usize>()
    );
}
