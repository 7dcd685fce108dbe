use synod_model::{Metadata, Uid, WallTime};

use super::*;

fn key() -> LeaseKey {
    LeaseKey::parse("kube-system/scheduler").unwrap()
}

fn lease(revision: u64) -> Lease {
    Lease {
        key: key(),
        hold: None,
        transitions: 0,
        preferred: None,
        metadata: Metadata {
            uid: Uid::from_bytes([1; 16]),
            resource_version: Revision::new(revision),
            create_revision: Revision::new(1),
            generation: 1,
            created: WallTime::from_millis(0),
        },
    }
}

fn events(revision: u64, object: Option<v1::Lease>) -> v1::WatchEvents {
    let r#type = match object {
        Some(_) => v1::EventType::Modified,
        None => v1::EventType::Removed,
    };
    v1::WatchEvents {
        revision,
        events: vec![v1::Event {
            r#type: r#type.into(),
            namespace: key().namespace().to_owned(),
            name: key().name().to_owned(),
            object: object.map(v1::event::Object::Lease),
            ..v1::Event::default()
        }],
        ..v1::WatchEvents::default()
    }
}

fn revision(seen: &mut Seen, events: v1::WatchEvents) -> Option<Option<u64>> {
    let after = seen
        .after(events, &key())
        .unwrap_or_else(|_| panic!("the events are sound"));
    after.map(|lease| lease.map(|lease| lease.metadata.resource_version.get()))
}

#[test]
fn an_event_that_the_read_has_shown_already_is_skipped() {
    let mut seen = Seen {
        newest: Revision::new(7),
        answered: None,
    };
    assert!(seen.is_news(Some(&lease(7))));
    for before in [3, 5, 7] {
        assert_eq!(
            revision(&mut seen, events(before, Some((&lease(before)).into()))),
            None
        );
    }
    assert_eq!(revision(&mut seen, events(6, None)), None);
    assert_eq!(
        revision(&mut seen, events(8, Some((&lease(8)).into()))),
        Some(Some(8))
    );
    assert_eq!(revision(&mut seen, events(9, None)), Some(None));
    assert_eq!(
        revision(&mut seen, events(8, Some((&lease(8)).into()))),
        None
    );
}

#[test]
fn the_same_state_is_answered_once() {
    let mut seen = Seen::default();
    assert!(seen.is_news(None));
    assert!(!seen.is_news(None));
    assert!(seen.is_news(Some(&lease(3))));
    assert!(!seen.is_news(Some(&lease(3))));
    assert!(seen.is_news(None));
}

#[test]
fn a_lease_that_cannot_be_read_is_an_error_and_not_a_missing_one() {
    let mut seen = Seen::default();
    let damaged = v1::Lease {
        metadata: None,
        ..(&lease(3)).into()
    };
    assert!(matches!(
        seen.after(events(3, Some(damaged)), &key()),
        Err(Broken::Refused(_))
    ));
}
