//! Collections whose objects have a status apart: which changes move the generation.

use bytes::Bytes;
use synod_machine::Command;
use synod_model::{
    Attributes, CollectionRules, Content, ErrorKind, MediaType, Preconditions, UpdateCollection,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::resource;
use crate::shelf::{LOOSE, WIDGETS, content, declare, labelled, patch, widget, written};

const APART: CollectionRules = CollectionRules {
    status_subresource: true,
    ..LOOSE
};

fn sets(status_subresource: bool) -> Command {
    Command::UpdateCollection(UpdateCollection {
        resource: resource(WIDGETS),
        strict_storage_version: None,
        create_on_update: None,
        unconditional_update: None,
        status_subresource: Some(status_subresource),
        kind: None,
        preconditions: Preconditions::default(),
    })
}

impl Cluster {
    /// The generation after an update to this JSON.
    fn generation_of(&mut self, data: &str) -> u64 {
        let one = widget("a/one");
        let before = self.object(&one).metadata.resource_version;
        self.updates(&one, Attributes::default(), content("v1", data));
        let after = self.object(&one);
        assert_eq!(after.content.data, data.as_bytes());
        assert!(after.metadata.resource_version > before);
        after.metadata.generation
    }
}

#[test]
fn a_status_apart_waits_for_the_machine_version_that_knows_it() {
    let mut cluster = Cluster::formed();
    let create = || Command::CreateCollection(declare(WIDGETS, true, APART));
    let refusal = refused(cluster.send(create()), ErrorKind::Unavailable);
    assert_eq!(
        refusal.message.split(" until").next(),
        Some(
            "status_subresource: status subresources come with machine version 2, and 1 is in force"
        )
    );
    cluster.declares(WIDGETS, LOOSE);
    // Even one that changes nothing: a replica of the older version could not read it.
    refused(cluster.send(sets(false)), ErrorKind::Unavailable);
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(create()));
    assert_eq!(cluster.collection(WIDGETS).map(|it| it.rules), Some(APART));
}

// Guarantee: K-07
#[test]
fn the_generation_moves_with_all_but_the_status() {
    let mut cluster = Cluster::upgraded();
    cluster.declares(WIDGETS, APART);
    let one = widget("a/one");
    cluster.stores(&one, Attributes::default());
    assert_eq!(cluster.generation_of(r#"{"status":{"ready":1}}"#), 1);
    assert_eq!(cluster.generation_of(r#"{"status":{"ready":2}}"#), 1);
    assert_eq!(cluster.generation_of(r#"{"spec":1,"status":2}"#), 2);
    // The same in another form, whatever becomes of the status.
    assert_eq!(cluster.generation_of(r#"{ "status": 3, "spec": 1.0 }"#), 2);
    assert_eq!(cluster.generation_of(r#"{ "spec": 1 }"#), 2);
    // The status is at the top, and nowhere else.
    assert_eq!(cluster.generation_of(r#"{"spec":{"status":1}}"#), 3);
    assert_eq!(cluster.generation_of(r#"{"spec":{"status":2}}"#), 4);
    // What is no object has none.
    for (data, generation) in [("[1]", 5), ("[2]", 6), ("{", 7)] {
        assert_eq!(cluster.generation_of(data), generation, "{data}");
    }
}

#[test]
fn a_patch_of_the_status_moves_no_generation_and_another_encoding_does() {
    let mut cluster = Cluster::upgraded();
    cluster.declares(WIDGETS, APART);
    let one = widget("a/one");
    cluster.stores(&one, Attributes::default());
    for (document, generation) in [
        (r#"{"status":{"ready":true}}"#, 1),
        (r#"{"spec":1}"#, 2),
        (r#"{"status":null}"#, 2),
    ] {
        written(cluster.send(Command::PatchObject(patch(&one, document))));
        assert_eq!(cluster.object(&one).metadata.generation, generation);
    }
    cluster.updates(
        &one,
        labelled(&[("a", "b")]),
        content("v1", r#"{"spec":1}"#),
    );
    assert_eq!(cluster.object(&one).metadata.generation, 2);
    let data = r#"{"spec":1}"#;
    cluster.updates(&one, Attributes::default(), content("v2", data));
    assert_eq!(cluster.object(&one).metadata.generation, 3);
    let bytes = Content {
        media_type: MediaType::parse("application/cbor").expect("legal"),
        data: Bytes::from_static(b"\xa0"),
        ..content("v2", data)
    };
    cluster.updates(&one, Attributes::default(), bytes);
    assert_eq!(cluster.object(&one).metadata.generation, 4);
}

#[test]
fn the_rule_counts_from_the_command_that_sets_it() {
    let mut cluster = Cluster::upgraded();
    cluster.declares(WIDGETS, LOOSE);
    cluster.stores(&widget("a/one"), Attributes::default());
    assert_eq!(cluster.generation_of(r#"{"status":1}"#), 2);
    accepted(cluster.send(sets(true)));
    assert_eq!(cluster.generation_of(r#"{"status":2}"#), 2);
    cluster.restart_from_checkpoint();
    assert_eq!(cluster.generation_of(r#"{"status":3}"#), 2);
    accepted(cluster.send(sets(false)));
    assert_eq!(cluster.generation_of(r#"{"status":4}"#), 3);
}
