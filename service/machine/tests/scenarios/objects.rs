//! Single objects: create, read, update and delete, with optimistic concurrency.

use std::time::Duration;

use synod_machine::{
    AnnounceReplica, Command, DirectoryId, MACHINE_VERSION, ReplicaId, WrittenHow,
};
use synod_model::limits::STATE_RESERVE_BYTES;
use synod_model::{
    Attributes, CollectionRules, CreateObject, Current, ErrorKind, Fences, LabelSelector,
    Namespace, PatchFormat, PatchObject, Preconditions, SettingsPatch, Ttl, TtlChange,
    UpdateObject,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::resource;
use crate::shelf::{
    LOOSE, WIDGETS, content, create, delete, finalized, key, labelled, patch, update, widget,
    written,
};

#[test]
fn an_object_is_created_once_and_found_with_all_that_was_said() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let stored = cluster.stores(&one, labelled(&[("color", "red")]));
    assert_eq!(stored.metadata.resource_version, cluster.revision());
    assert_eq!(stored.metadata.generation, 1);
    assert_eq!(stored.attributes, labelled(&[("color", "red")]));
    let again = create(&one, Attributes::default(), content("v1", "{}"));
    let refusal = refused(
        cluster.send(Command::CreateObject(again)),
        ErrorKind::AlreadyExists,
    );
    assert_eq!(refusal.message, "widgets.example.io \"one\" already exists");
    assert_eq!(refusal.current.as_deref(), Some(&Current::Object(stored)));
    assert!(!cluster.has(&widget("b/one")));
}

// Guarantee: W-15
#[test]
fn an_update_that_changes_nothing_is_no_write_and_a_rewrite_in_another_encoding_is_one() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let stored = cluster.stores(&one, Attributes::default());
    let revision = cluster.revision();
    let same = cluster.updates(&one, Attributes::default(), content("v1", "{}"));
    assert_eq!(
        (same.how, cluster.revision()),
        (WrittenHow::Unchanged, revision)
    );
    assert_eq!(same.resource_version, stored.metadata.resource_version);
    let rewritten = cluster.updates(&one, Attributes::default(), content("v2", "{}"));
    assert_eq!(rewritten.how, WrittenHow::Updated);
    assert_eq!(rewritten.resource_version, revision.next());
    assert_eq!(cluster.object(&one).metadata.uid, stored.metadata.uid);
    assert_eq!(cluster.counts(WIDGETS), [("v2".to_owned(), 1)]);
    let relabelled = cluster.updates(&one, labelled(&[("a", "b")]), content("v2", "{}"));
    assert_eq!(relabelled.how, WrittenHow::Updated);
    // The generation counts changes of the data only.
    assert_eq!(cluster.object(&one).metadata.generation, 2);
}

#[test]
fn only_who_encodes_the_whole_content_anew_moves_its_revision() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let created = cluster.stores(&one, Attributes::default());
    let first = created.metadata.resource_version;
    assert_eq!(created.content_revision, first);
    let stored = |cluster: &Cluster| {
        let object = cluster.object(&one);
        (object.metadata.resource_version, object.content_revision)
    };
    cluster.updates(&one, labelled(&[("a", "b")]), content("v1", "{}"));
    assert_eq!(stored(&cluster), (cluster.revision(), first));
    written(cluster.send(Command::PatchObject(patch(&one, r#"{"size":1}"#))));
    assert_eq!(stored(&cluster), (cluster.revision(), first));
    let finalizing = finalized(&["example.io/wait"]);
    cluster.updates(&one, finalizing, content("v1", r#"{"size":1}"#));
    written(cluster.send(Command::DeleteObject(delete(&one, None))));
    assert_eq!(stored(&cluster), (cluster.revision(), first));
    let finalizing = finalized(&["example.io/wait"]);
    cluster.updates(&one, finalizing, content("v1", r#"{"size":2}"#));
    assert_eq!(stored(&cluster), (cluster.revision(), cluster.revision()));
}

// Guarantee: W-15
#[test]
fn a_change_made_for_another_object_conflicts_and_shows_the_present_one() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let first = cluster.stores(&one, Attributes::default());
    cluster.updates(&one, Attributes::default(), content("v1", "[1]"));
    let present = cluster.object(&one);
    let late = Preconditions {
        uid: None,
        resource_version: Some(first.metadata.resource_version),
    };
    let of_another = Preconditions {
        uid: Some(synod_model::Uid::from_bytes([9; 16])),
        resource_version: None,
    };
    let exact = Preconditions {
        uid: Some(present.metadata.uid),
        resource_version: Some(present.metadata.resource_version),
    };
    for preconditions in [late, of_another] {
        let commands = [
            Command::UpdateObject(UpdateObject {
                preconditions,
                ..update(&one, Attributes::default(), content("v1", "[2]"))
            }),
            Command::PatchObject(PatchObject {
                preconditions,
                ..patch(&one, r#"{"a":1}"#)
            }),
            Command::DeleteObject(synod_model::DeleteObject {
                preconditions,
                ..delete(&one, None)
            }),
        ];
        for command in commands {
            let refusal = refused(cluster.send(command), ErrorKind::Conflict);
            let current = Current::Object(present.clone());
            assert_eq!(refusal.current.as_deref(), Some(&current));
        }
    }
    let right = UpdateObject {
        preconditions: exact,
        ..update(&one, Attributes::default(), content("v1", "[2]"))
    };
    let updated = written(cluster.send(Command::UpdateObject(right)));
    assert_eq!(updated.how, WrittenHow::Updated);
}

#[test]
fn an_update_creates_only_where_that_is_allowed_and_was_not_made_for_something() {
    let mut cluster = Cluster::formed();
    cluster.declares(WIDGETS, CollectionRules::default());
    cluster.declares("example.io.gadgets", LOOSE);
    let (widget, gadget) = (widget("a/one"), key("example.io.gadgets", "a/one"));
    cluster.refuses_update(&widget, content("v1", "{}"), ErrorKind::NotFound);
    let made_for_one = UpdateObject {
        preconditions: Preconditions {
            uid: Some(synod_model::Uid::from_bytes([9; 16])),
            resource_version: None,
        },
        ..update(&gadget, Attributes::default(), content("v1", "{}"))
    };
    refused(
        cluster.send(Command::UpdateObject(made_for_one)),
        ErrorKind::NotFound,
    );
    let created = cluster.updates(&gadget, Attributes::default(), content("v1", "{}"));
    assert_eq!(created.how, WrittenHow::Created);
    // An update without a resource version fails, too, where the collection requires one.
    cluster.stores(&widget, Attributes::default());
    let refusal = cluster.refuses_update(&widget, content("v1", "[1]"), ErrorKind::InvalidArgument);
    assert_eq!(
        refusal.violations[0].to_string(),
        "preconditions.resourceVersion: Invalid value: 0: must be specified for an update"
    );
}

#[test]
fn a_patch_works_on_what_is_there_and_only_on_the_encoding_that_it_was_made_for() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    refused(
        cluster.send(Command::PatchObject(patch(&one, "{}"))),
        ErrorKind::NotFound,
    );
    let document = r#"{"big":9007199254740993,"a":{"b":1}}"#;
    cluster.updates(&one, labelled(&[("x", "y")]), content("v1", document));
    let patched = cluster.send(Command::PatchObject(patch(
        &one,
        r#"{"a":{"b":null,"c":2}}"#,
    )));
    assert_eq!(written(patched).how, WrittenHow::Updated);
    let object = cluster.object(&one);
    assert_eq!(
        object.content.data,
        r#"{"a":{"c":2},"big":9007199254740993}"#
    );
    assert_eq!(object.attributes, labelled(&[("x", "y")]));
    let nothing = cluster.send(Command::PatchObject(patch(&one, r#"{"a":{"c":2}}"#)));
    assert_eq!(written(nothing).how, WrittenHow::Unchanged);

    let failing = PatchObject {
        data: patch(&one, "").data.map(|patch| synod_model::Patch {
            format: PatchFormat::Json,
            document: r#"[{"op":"test","path":"/a/c","value":3}]"#.into(),
            ..patch
        }),
        ..patch(&one, "")
    };
    let refusal = refused(
        cluster.send(Command::PatchObject(failing)),
        ErrorKind::Conflict,
    );
    let current = Current::Object(object);
    assert_eq!(refusal.current.as_deref(), Some(&current));
    let refusal = refused(
        cluster.send(Command::PatchObject(patch(&one, "[]"))),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(refusal.violations[0].field, "patch.document");

    cluster.updates(&one, Attributes::default(), content("v2", "{}"));
    let present = Current::Object(cluster.object(&one));
    let refusal = refused(
        cluster.send(Command::PatchObject(patch(&one, r#"{"a":1}"#))),
        ErrorKind::Conflict,
    );
    assert_eq!(refusal.current.as_deref(), Some(&present));
}

#[test]
fn what_is_no_json_takes_no_patch() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let mut bytes = content("v1", "{}");
    bytes.media_type = synod_model::MediaType::parse("application/cbor").expect("legal");
    cluster.updates(&one, Attributes::default(), bytes);
    let refusal = refused(
        cluster.send(Command::PatchObject(patch(&one, r#"{"a":1}"#))),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(refusal.violations[0].field, "mediaType");
}

#[test]
fn a_write_is_fenced_by_the_epoch_of_a_member() {
    let mut cluster = Cluster::with_widgets();
    let old = cluster.joins("api");
    let one = widget("a/one");
    let fenced = |server: &crate::cluster::Server| Fences {
        if_member: Some((server.id.clone(), server.epoch)),
        ..Fences::default()
    };
    let new = cluster.restarts(&old);
    let store = |fences| {
        Command::CreateObject(CreateObject {
            fences,
            ..create(&one, Attributes::default(), content("v1", "{}"))
        })
    };
    refused(cluster.send(store(fenced(&old))), ErrorKind::StaleEpoch);
    written(cluster.send(store(fenced(&new))));
    cluster.leaves(&new);
    let delete = synod_model::DeleteObject {
        fences: fenced(&new),
        ..delete(&one, None)
    };
    refused(
        cluster.send(Command::DeleteObject(delete)),
        ErrorKind::NotAMember,
    );
    assert!(cluster.has(&one));
}

#[test]
fn what_has_finalizers_waits_for_the_last_of_them() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    cluster.stores(&one, finalized(&["x.io/a", "x.io/b"]));
    assert_eq!(cluster.deletes(&one, None), WrittenHow::Deleting);
    let marked = cluster.object(&one);
    let deletion = marked.deletion.as_deref().expect("it is being deleted");
    assert_eq!(deletion.revision, cluster.revision());
    assert_eq!(marked.metadata.generation, 2);
    assert_eq!(cluster.deletes(&one, None), WrittenHow::Unchanged);
    let more = update(
        &one,
        finalized(&["x.io/a", "x.io/b", "x.io/c"]),
        content("v1", "{}"),
    );
    let refusal = refused(
        cluster.send(Command::UpdateObject(more)),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(refusal.violations[0].field, "finalizers");
    let fewer = cluster.updates(&one, finalized(&["x.io/b"]), content("v1", "{}"));
    assert_eq!(fewer.how, WrittenHow::Updated);
    let last = cluster.updates(&one, Attributes::default(), content("v1", "{}"));
    assert_eq!(last.how, WrittenHow::Deleted);
    assert_eq!(last.resource_version, cluster.revision());
    assert!(!cluster.has(&one));
    assert!(cluster.counts(WIDGETS).is_empty());
}

#[test]
fn an_object_with_a_ttl_goes_when_nobody_sets_it_anew() {
    let mut cluster = Cluster::with_widgets();
    let (one, two) = (widget("a/one"), widget("a/two"));
    let minute = Duration::from_secs(60);
    cluster.stores_for(&one, minute);
    cluster.stores_for(&two, minute);
    cluster.pass(minute / 2);
    let revision = cluster.revision();
    let renew = UpdateObject {
        ttl: TtlChange::Set(Ttl::from_millis(60_000).expect("legal")),
        ..update(&one, Attributes::default(), content("v1", "{}"))
    };
    // A longer TTL does not change the object.
    let renewed = written(cluster.send(Command::UpdateObject(renew)));
    assert_eq!(
        (renewed.how, cluster.revision()),
        (WrittenHow::Unchanged, revision)
    );
    // A change of the object does not extend its TTL.
    cluster.updates(&two, Attributes::default(), content("v1", "[1]"));
    cluster.pass(minute / 2);
    cluster.expires();
    assert!(cluster.has(&one) && !cluster.has(&two));
    let deadline = cluster.state.object_deadline(&one).expect("it has one");
    assert_eq!(deadline.at, cluster.now().after(minute / 2));
    // Objects that are not due, or are named by mistake, stay.
    let mut named = cluster.due();
    named.objects.extend([one.clone(), two.clone()]);
    assert!(!cluster.send(Command::Expire(named)).changed);
    cluster.pass(minute);
    cluster.restart_from_checkpoint();
    cluster.expires();
    assert!(!cluster.has(&one));
    assert_eq!(cluster.state.object_deadline(&one), None);
}

#[test]
fn what_expires_with_finalizers_waits_for_them_and_expires_once() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let create = CreateObject {
        ttl: Some(Ttl::MIN),
        ..create(&one, finalized(&["x.io/a"]), content("v1", "{}"))
    };
    written(cluster.send(Command::CreateObject(create)));
    cluster.pass(Duration::from_secs(1));
    cluster.expires();
    assert!(cluster.object(&one).deletion.is_some());
    assert!(cluster.due().objects.is_empty());
    // Nothing restores the deadline.
    let late = UpdateObject {
        ttl: TtlChange::Set(Ttl::MAX),
        ..update(&one, finalized(&["x.io/a"]), content("v1", "[1]"))
    };
    written(cluster.send(Command::UpdateObject(late)));
    assert_eq!(cluster.state.object_deadline(&one), None);
}

// Guarantee: W-23
#[test]
fn when_the_quota_is_full_nothing_grows_and_deletions_go_on() {
    let mut cluster = Cluster::with_widgets();
    let (one, two) = (widget("a/one"), widget("a/two"));
    cluster.updates(
        &one,
        Attributes::default(),
        content("v1", &format!("\"{}\"", "x".repeat(900))),
    );
    cluster.stores(&two, finalized(&["x.io/a"]));
    cluster.deletes(&two, None);
    // The history is at its bound and no longer grows.
    let full = SettingsPatch {
        state_quota_bytes: Some(cluster.state.bytes() + STATE_RESERVE_BYTES),
        history_revisions: Some(1),
        ..SettingsPatch::default()
    };
    cluster.set(full.clone());
    cluster.set(SettingsPatch {
        state_quota_bytes: Some(cluster.state.bytes() + STATE_RESERVE_BYTES - 400),
        ..full
    });
    assert!(cluster.state.is_full());
    let longer = content("v1", &format!("\"{}\"", "x".repeat(901)));
    cluster.refuses_update(&one, longer, ErrorKind::Quota);
    let create = create(
        &widget("a/three"),
        Attributes::default(),
        content("v1", "{}"),
    );
    refused(
        cluster.send(Command::CreateObject(create)),
        ErrorKind::Quota,
    );
    let shorter = content("v1", &format!("\"{}\"", "x".repeat(899)));
    cluster.updates(&one, Attributes::default(), shorter);
    let last = cluster.updates(&two, Attributes::default(), content("v1", "{}"));
    assert_eq!(last.how, WrittenHow::Deleted);
    assert_eq!(cluster.deletes(&one, None), WrittenHow::Deleted);
}

#[test]
fn objects_are_listed_by_namespace_in_pages_at_one_revision() {
    let mut cluster = Cluster::with_widgets();
    for name in ["b/2", "a/1", "a-b/1", "b/1", "c/1"] {
        cluster.stores(&widget(name), Attributes::default());
    }
    let revision = cluster.revision();
    cluster.deletes(&widget("b/1"), None);
    cluster.updates(&widget("a/1"), Attributes::default(), content("v2", "[1]"));
    cluster.stores(&widget("b/0"), Attributes::default());
    cluster.stores(&widget("z/1"), Attributes::default());
    let of = resource(WIDGETS);
    let all = LabelSelector::default();
    let past = cluster.state.at(revision).expect("it is kept");
    let names = |namespace: Option<&Namespace>, after: Option<&str>| -> Vec<String> {
        let after = after.map(|name| widget(name).name);
        past.objects(&of, namespace, &all, after.as_ref())
            .map(|object| object.key.name.to_string())
            .collect()
    };
    assert_eq!(names(None, None), ["a/1", "a-b/1", "b/1", "b/2", "c/1"]);
    assert_eq!(names(None, Some("b/1")), ["b/2", "c/1"]);
    let b = Namespace::parse("b").expect("legal");
    assert_eq!(names(Some(&b), None), ["b/1", "b/2"]);
    assert_eq!(names(Some(&b), Some("b/1")), ["b/2"]);
    let was = past.object(&widget("a/1")).expect("it was there");
    assert_eq!(was.content, content("v1", "{}"));
    let counts = past.object_counts(&of);
    assert_eq!(counts.values().sum::<u64>(), 5);
    assert_eq!(
        cluster.counts(WIDGETS),
        [("v1".to_owned(), 5), ("v2".to_owned(), 1)]
    );
}

// Guarantee: D-16
#[test]
fn while_a_replica_is_low_on_disk_nothing_grows_and_deletions_go_on() {
    let mut cluster = Cluster::with_widgets();
    let (one, two) = (widget("a/one"), widget("a/two"));
    cluster.stores(&one, Attributes::default());
    let announce = |disk_is_low| {
        Command::AnnounceReplica(AnnounceReplica {
            replica: ReplicaId::new(2),
            directory: DirectoryId::from_bytes([2; 16]),
            client_endpoint: "replica-2:2379".to_owned(),
            binary: "0.1.0".to_owned(),
            machine_version: MACHINE_VERSION,
            disk_is_low,
        })
    };
    accepted(cluster.send(announce(true)));
    assert!(cluster.state.is_full() && !cluster.state.is_at_quota());
    let create = || Command::CreateObject(create(&two, Attributes::default(), content("v1", "{}")));
    let refusal = refused(cluster.send(create()), ErrorKind::Quota);
    assert!(
        refusal.message.contains("the disk of replica 2"),
        "{refusal}"
    );
    assert_eq!(cluster.deletes(&one, None), WrittenHow::Deleted);
    accepted(cluster.send(announce(false)));
    accepted(cluster.send(create()));
}
