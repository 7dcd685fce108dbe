use synod_model::{
    ApiVersion, Epoch, GroupResource, InstanceId, Kind, Labels, Member, Metadata, Phase, Settings,
    Ttl, WallTime,
};

use super::*;
use crate::watch::StorageVersionChange;
use crate::{StorageVersionEntry, StorageVersionStatus};

fn metadata(uid: u8, revision: u64) -> Metadata {
    Metadata {
        uid: Uid::from_bytes([uid; 16]),
        resource_version: Revision::new(revision),
        create_revision: Revision::new(1),
        generation: 1,
        created: WallTime::from_millis(0),
    }
}

fn member_id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

fn member(name: &str, uid: u8, revision: u64) -> Listed {
    let object = WatchedObject::Member(Member {
        id: member_id(name),
        instance: InstanceId::parse("one").unwrap(),
        epoch: Epoch::new(Revision::new(1)),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: Default::default(),
        endpoint: Default::default(),
        phase: Phase::Joining,
        metadata: metadata(uid, revision),
        reported: false,
        gated: false,
    });
    Listed {
        resource: None,
        namespace: String::new(),
        name: name.to_owned(),
        object,
    }
}

fn pods(uid: u8, revision: u64, members: &[&str]) -> Listed {
    let entry = |member: &&str| StorageVersionEntry {
        member: member_id(member),
        kind: Kind::parse("Pod").unwrap(),
        decodable: [ApiVersion::parse("v1").unwrap()].into_iter().collect(),
        served: Default::default(),
        preferred: None,
        encoding: None,
        adopted_revision: None,
        since_revision: Revision::new(1),
        serve_until: None,
        stored: None,
        equivalents: BTreeSet::new(),
    };
    let change = StorageVersionChange {
        name: "core.pods".to_owned(),
        metadata: metadata(uid, revision),
        resource: GroupResource::new("", "pods").unwrap(),
        changed_entries: members.iter().map(entry).collect(),
        removed_members: Vec::new(),
        status: StorageVersionStatus {
            common: None,
            selected: None,
            selected_revision: Revision::ZERO,
            agreement_revision: Revision::ZERO,
            agreed: None,
            decodable_by_all: Vec::new(),
            served_by_all: Vec::new(),
            conditions: Vec::new(),
        },
    };
    Listed {
        resource: None,
        namespace: String::new(),
        name: "core.pods".to_owned(),
        object: WatchedObject::StorageVersion(change),
    }
}

/// The event by which an object is delivered.
fn event(change: ChangeType, listed: Listed) -> Event {
    Event {
        lease: None,
        resource: None,
        namespace: String::new(),
        change,
        kind: listed.object.kind(),
        name: listed.name,
        object: Some(listed.object),
    }
}

fn lines(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| format!("{} {}", event.change, event.name))
        .collect()
}

#[test]
fn the_first_list_adds_everything_and_the_same_list_again_nothing() {
    let mut known = Known::default();
    let list = || vec![member("b", 2, 5), member("a", 1, 4), pods(3, 6, &["a"])];
    assert_eq!(
        lines(&known.resync(list())),
        ["ADDED a", "ADDED b", "ADDED core.pods"]
    );
    assert_eq!(known.resync(list()), vec![]);
}

#[test]
fn what_is_gone_comes_before_what_is_new_and_that_before_what_changed() {
    let mut known = Known::default();
    known.resync(vec![
        member("a", 1, 1),
        member("b", 2, 2),
        member("z", 3, 3),
    ]);
    let events = known.resync(vec![member("a", 1, 9), member("c", 4, 8)]);
    assert_eq!(
        lines(&events),
        ["REMOVED b", "REMOVED z", "ADDED c", "MODIFIED a"]
    );
    assert_eq!(events[0].object, None);
}

#[test]
fn another_object_of_the_same_name_is_removed_and_added() {
    let mut known = Known::default();
    known.resync(vec![member("a", 1, 1)]);
    assert_eq!(
        lines(&known.resync(vec![member("a", 2, 5)])),
        ["REMOVED a", "ADDED a"]
    );
}

#[test]
fn what_was_delivered_as_events_is_known() {
    let mut known = Known::default();
    known.deliver(&event(ChangeType::Added, member("a", 1, 1)));
    known.deliver(&event(ChangeType::Added, member("b", 2, 2)));
    known.deliver(&event(ChangeType::Modified, member("a", 1, 3)));
    known.deliver(&event(ChangeType::Removed, member("b", 2, 4)));
    assert_eq!(known.resync(vec![member("a", 1, 3)]), vec![]);
    assert_eq!(
        lines(&known.resync(vec![member("b", 5, 6)])),
        ["REMOVED a", "ADDED b"]
    );
}

#[test]
fn a_changed_storage_version_says_whose_entries_are_gone() {
    let mut known = Known::default();
    known.deliver(&event(ChangeType::Added, pods(1, 1, &["a", "b"])));
    known.deliver(&event(ChangeType::Modified, pods(1, 2, &["c"])));
    let mut without_a = pods(1, 3, &[]);
    if let WatchedObject::StorageVersion(change) = &mut without_a.object {
        change.removed_members = vec![member_id("a")];
    }
    known.deliver(&event(ChangeType::Modified, without_a));
    let events = known.resync(vec![pods(1, 9, &["c", "d"])]);
    let Some(WatchedObject::StorageVersion(change)) = &events[0].object else {
        panic!("{events:?}");
    };
    assert_eq!(events[0].change, ChangeType::Modified);
    assert_eq!(change.removed_members, [member_id("b")]);
}

#[test]
fn the_settings_are_never_another_object() {
    let settings = |revision: u64| Listed {
        resource: None,
        namespace: String::new(),
        name: "settings".to_owned(),
        object: WatchedObject::Settings(Settings {
            revision: Revision::new(revision),
            ..Settings::default()
        }),
    };
    let mut known = Known::default();
    assert_eq!(lines(&known.resync(vec![settings(1)])), ["ADDED settings"]);
    assert_eq!(
        lines(&known.resync(vec![settings(5)])),
        ["MODIFIED settings"]
    );
}
