//! Corrections of the kind of a collection, which needs to hold no object.

use synod_machine::{Command, WrittenHow};
use synod_model::{
    Attributes, CreateCollection, ErrorKind, Kind, Persisted, Preconditions, UpdateCollection,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::{resource, version};
use crate::shelf::{LOOSE, WIDGETS, content, create, declare, key, owned_by, widget, written};

const GADGETS: &str = "example.io.gadgets";

fn kind(text: &str) -> Kind {
    Kind::parse(text).expect("legal")
}

fn correct(of: &str, text: &str) -> Command {
    Command::UpdateCollection(UpdateCollection {
        resource: resource(of),
        strict_storage_version: None,
        create_on_update: None,
        unconditional_update: None,
        status_subresource: None,
        kind: Some(kind(text)),
        preconditions: Preconditions::default(),
    })
}

fn mistyped(of: &str) -> Command {
    Command::CreateCollection(CreateCollection {
        kind: kind("Wigdet"),
        ..declare(of, true, LOOSE)
    })
}

/// A cluster of the newest machine version, in which widgets have the wrong kind.
fn mistaken() -> Cluster {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(mistyped(WIDGETS)));
    cluster
}

fn kind_of(cluster: &Cluster, of: &str) -> Kind {
    let collection = cluster.collection(of).expect("it was declared");
    collection.kind.clone()
}

#[test]
fn a_correction_waits_for_the_machine_version_that_knows_it() {
    let mut cluster = Cluster::formed();
    accepted(cluster.send(mistyped(WIDGETS)));
    // Even one that changes nothing: a replica of an older version could not read it.
    for text in ["Widget", "Wigdet"] {
        let refusal = refused(cluster.send(correct(WIDGETS, text)), ErrorKind::Unavailable);
        let said = format!(
            "kind \"{text}\": corrections of kinds come with machine version 3, and 1 is in force"
        );
        assert_eq!(refusal.message.split(" until").next(), Some(&*said));
    }
    assert_eq!(kind_of(&cluster, WIDGETS), kind("Wigdet"));
}

#[test]
fn the_kind_of_an_empty_collection_is_corrected() {
    let mut cluster = mistaken();
    let before = cluster.collection(WIDGETS).expect("it was declared");
    let done = written(cluster.send(correct(WIDGETS, "Widget")));
    assert_eq!(done.how, WrittenHow::Updated);
    let after = cluster.collection(WIDGETS).expect("it is there");
    assert_eq!(after.kind, kind("Widget"));
    assert_eq!(after.rules, before.rules);
    assert_eq!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.metadata.generation, 2);
    assert_eq!(after.metadata.resource_version, cluster.revision());
    let past = cluster.state.at(before.metadata.resource_version);
    let past = past.expect("it is kept").collection(&resource(WIDGETS));
    assert_eq!(past, Some(before));
    let again = written(cluster.send(correct(WIDGETS, "Widget")));
    assert_eq!(again.how, WrittenHow::Unchanged);
}

#[test]
fn a_collection_that_holds_objects_keeps_its_kind() {
    let mut cluster = mistaken();
    let one = widget("a/one");
    cluster.stores(&one, Attributes::default());
    let refusal = refused(
        cluster.send(correct(WIDGETS, "Widget")),
        ErrorKind::Conflict,
    );
    assert_eq!(
        refusal.message,
        "collection widgets.example.io holds 1 objects, which were written as Wigdet: delete them first, and then correct the kind to Widget"
    );
    assert_eq!(refusal.metadata["objects"], "1");
    assert_eq!(kind_of(&cluster, WIDGETS), kind("Wigdet"));
    let same = written(cluster.send(correct(WIDGETS, "Wigdet")));
    assert_eq!(same.how, WrittenHow::Unchanged);
    cluster.deletes(&one, None);
    accepted(cluster.send(correct(WIDGETS, "Widget")));
    assert_eq!(kind_of(&cluster, WIDGETS), kind("Widget"));
}

#[test]
fn one_kind_of_a_group_is_that_of_one_collection_after_a_correction_too() {
    let mut cluster = mistaken();
    cluster.declares(GADGETS, LOOSE);
    refused(
        cluster.send(correct(WIDGETS, "Gadget")),
        ErrorKind::AlreadyExists,
    );
    accepted(cluster.send(correct(WIDGETS, "Widget")));
    // A restart derives the index of kinds anew.
    for restarts in [false, true] {
        if restarts {
            cluster.restart_from_checkpoint();
        }
        let mut alike = declare("example.io.others", true, LOOSE);
        alike.kind = kind("Widget");
        let alike = Command::CreateCollection(alike);
        refused(cluster.send(alike), ErrorKind::AlreadyExists);
    }
    // The wrong kind is free again, also for the other collection, and one of another group may have any.
    accepted(cluster.send(correct(GADGETS, "Wigdet")));
    accepted(cluster.send(correct(WIDGETS, "Gadget")));
    cluster.declares("example.com.gadgets", LOOSE);
}

#[test]
fn owners_are_found_by_the_corrected_kind() {
    let mut cluster = mistaken();
    accepted(cluster.send(correct(WIDGETS, "Widget")));
    let owner = cluster.stores(&widget("a/owner"), Attributes::default());
    let dependent = widget("a/dependent");
    cluster.stores(&dependent, owned_by(&[&owner]));
    cluster.deletes(&owner.key, None);
    assert!(!cluster.has(&dependent));
    let persisted = cluster.state.present().storage_state(&resource(WIDGETS));
    let persisted = persisted
        .expect("it is declared")
        .row
        .status
        .persisted
        .clone();
    assert_eq!(
        persisted,
        [Persisted::of(&version("v1"), &kind("Widget"))].into()
    );
}

#[test]
fn dependents_that_a_deleted_owner_has_left_go_after_a_correction_too() {
    let mut cluster = Cluster::upgraded();
    cluster.declares(WIDGETS, LOOSE);
    cluster.declares(GADGETS, LOOSE);
    let owner = cluster.stores(&key(GADGETS, "a/owner"), Attributes::default());
    let dependents = (0..300).map(|number| widget(&format!("a/dependent-{number}")));
    let dependents: Vec<_> = dependents.collect();
    let creates = dependents
        .iter()
        .map(|key| Command::CreateObject(create(key, owned_by(&[&owner]), content("v1", "{}"))));
    cluster.send_all(creates.collect());
    cluster.deletes(&owner.key, None);
    assert!(cluster.state.has_garbage());
    accepted(cluster.send(correct(GADGETS, "Device")));
    cluster.collects();
    assert!(!dependents.iter().any(|key| cluster.has(key)));
}
