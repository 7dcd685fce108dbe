//! Patches of the metadata and the TTL of an object.

use std::time::Duration;

use synod_machine::{Command, WrittenHow};
use synod_model::{
    Attributes, CollectionRules, Current, ErrorKind, MediaType, PatchObject, Refusal, TtlChange,
    UpdateObject,
};

use crate::cluster::{Cluster, refused};
use crate::entry::of;
use crate::shelf::{
    LOOSE, WIDGETS, content, finalized, labelled, patch, patch_metadata, update, widget, written,
};

fn patches(cluster: &mut Cluster, patch: PatchObject) -> WrittenHow {
    written(cluster.send(Command::PatchObject(patch))).how
}

fn refuses(cluster: &mut Cluster, patch: PatchObject, kind: ErrorKind) -> Refusal {
    refused(cluster.send(Command::PatchObject(patch)), kind)
}

#[test]
fn what_is_said_of_an_object_is_patched_whatever_its_data_is() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let mut bytes = content("v1", "no JSON");
    bytes.media_type = MediaType::parse("application/cbor").expect("legal");
    cluster.updates(&one, labelled(&[("a", "1"), ("b", "2")]), bytes.clone());
    let before = cluster.object(&one);
    let relabel = patch_metadata(&one, r#"{"labels":{"a":null,"c":"3"}}"#);
    assert_eq!(patches(&mut cluster, relabel.clone()), WrittenHow::Updated);
    let after = cluster.object(&one);
    assert_eq!(after.attributes, labelled(&[("b", "2"), ("c", "3")]));
    assert_eq!(after.content, bytes);
    assert_eq!(after.metadata.resource_version, cluster.revision());
    // The generation counts changes of the data only.
    assert_eq!(after.metadata.generation, before.metadata.generation);
    let revision = cluster.revision();
    assert_eq!(patches(&mut cluster, relabel), WrittenHow::Unchanged);
    assert_eq!(cluster.revision(), revision);
}

// Guarantee: W-22
#[test]
fn the_metadata_of_a_strict_collection_is_patched_in_whatever_encoding_the_data_is() {
    let mut cluster = Cluster::formed();
    let rules = CollectionRules {
        strict_storage_version: true,
        ..LOOSE
    };
    cluster.declares(WIDGETS, rules);
    let a = cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").prefers("v1")]);
    let one = widget("a/one");
    cluster.stores(&one, Attributes::default());
    cluster.reports(&a, &[of(WIDGETS).decodes("v1 v2").prefers("v2")]);
    let stale = patch(&one, r#"{"a":1}"#);
    refuses(&mut cluster, stale, ErrorKind::EncodingNotSelected);
    let relabel = patch_metadata(&one, r#"{"labels":{"a":"b"}}"#);
    assert_eq!(patches(&mut cluster, relabel), WrittenHow::Updated);
    assert_eq!(cluster.object(&one).attributes, labelled(&[("a", "b")]));
    assert_eq!(cluster.counts(WIDGETS), [("v1".to_owned(), 1)]);
}

// Guarantee: W-22
#[test]
fn data_and_metadata_are_patched_together_or_not_at_all() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    cluster.stores(&one, Attributes::default());
    let both = |data: &str, metadata: &str| PatchObject {
        metadata: patch_metadata(&one, metadata).metadata,
        ..patch(&one, data)
    };
    let relabel = r#"{"labels":{"a":"b"}}"#;
    let before = cluster.object(&one);
    refuses(
        &mut cluster,
        both("[]", relabel),
        ErrorKind::InvalidArgument,
    );
    let bad = both(r#"{"x":1}"#, r#"{"labels":{"a":"-"}}"#);
    let refusal = refuses(&mut cluster, bad, ErrorKind::InvalidArgument);
    assert_eq!(refusal.violations[0].field, "metadata.labels[a]");
    assert_eq!(cluster.object(&one), before);
    let good = both(r#"{"x":1}"#, relabel);
    let revision = cluster.revision();
    assert_eq!(patches(&mut cluster, good), WrittenHow::Updated);
    assert_eq!(cluster.revision(), revision.next());
    let after = cluster.object(&one);
    assert_eq!(after.attributes, labelled(&[("a", "b")]));
    assert_eq!(after.content.data, r#"{"x":1}"#);
}

#[test]
fn a_patch_of_metadata_keeps_the_rules_of_owners_and_finalizers() {
    let mut cluster = Cluster::with_widgets();
    let (one, owner) = (widget("a/one"), widget("a/owner"));
    cluster.stores(&one, finalized(&["x.io/a", "x.io/b"]));
    let owner = cluster.stores(&owner, Attributes::default());
    let owned = |uid: &str| {
        let reference = format!(
            r#"{{"apiVersion":"example.io/v9","kind":"Widget","name":"owner","uid":"{uid}"}}"#
        );
        patch_metadata(&one, &format!(r#"{{"ownerReferences":[{reference}]}}"#))
    };
    let nobody = owned("0190a5b0-0000-8000-8000-000000000000");
    let refusal = refuses(&mut cluster, nobody, ErrorKind::InvalidArgument);
    assert_eq!(refusal.violations[0].field, "ownerReferences[0]");
    let uid = owner.metadata.uid.to_string();
    assert_eq!(patches(&mut cluster, owned(&uid)), WrittenHow::Updated);
    cluster.deletes(&owner.key, None);
    assert!(
        cluster.object(&one).deletion.is_some(),
        "it goes with its owner"
    );

    let more = patch_metadata(&one, r#"{"finalizers":["x.io/a","x.io/b","x.io/c"]}"#);
    let refusal = refuses(&mut cluster, more, ErrorKind::InvalidArgument);
    assert_eq!(refusal.violations[0].field, "finalizers");
    let fewer = patch_metadata(&one, r#"{"finalizers":["x.io/b"]}"#);
    assert_eq!(patches(&mut cluster, fewer), WrittenHow::Updated);
    let none = patch_metadata(&one, r#"{"finalizers":null}"#);
    assert_eq!(patches(&mut cluster, none), WrittenHow::Deleted);
    assert!(!cluster.has(&one));
}

#[test]
fn a_resource_version_in_a_patch_of_metadata_is_what_it_was_made_for() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let first = cluster.stores(&one, Attributes::default());
    let made_for_first = patch_metadata(
        &one,
        &format!(
            r#"{{"resourceVersion":"{}","labels":{{"a":"b"}}}}"#,
            first.metadata.resource_version
        ),
    );
    assert_eq!(
        patches(&mut cluster, made_for_first.clone()),
        WrittenHow::Updated
    );
    let refusal = refuses(&mut cluster, made_for_first, ErrorKind::Conflict);
    assert_eq!(
        refusal.message,
        "Operation cannot be fulfilled on widgets.example.io \"one\": the object has been modified; please apply \
         your changes to the latest version and try again"
    );
    let present = Current::Object(cluster.object(&one));
    assert_eq!(refusal.current.as_deref(), Some(&present));
    let renamed = patch_metadata(&one, r#"{"name":"two"}"#);
    let refusal = refuses(&mut cluster, renamed, ErrorKind::InvalidArgument);
    assert_eq!(
        refusal.violations[0].to_string(),
        "metadata.name: Invalid value: \"two\": field is immutable"
    );
}

#[test]
fn a_ttl_is_taken_away_by_an_update_or_a_patch_and_by_nothing_else() {
    let mut cluster = Cluster::with_widgets();
    let minute = Duration::from_secs(60);
    let keys = ["a/kept", "a/updated", "a/patched", "a/labelled"].map(widget);
    for key in &keys {
        cluster.stores_for(key, minute);
    }
    let [kept, updated, patched, labelled] = &keys;
    let revision = cluster.revision();
    let ttl = TtlChange::Remove;
    let same = UpdateObject {
        ttl,
        ..update(updated, Attributes::default(), content("v1", "{}"))
    };
    // Removing the TTL does not change the object.
    let without = written(cluster.send(Command::UpdateObject(same)));
    assert_eq!(without.how, WrittenHow::Unchanged);
    let only = PatchObject {
        ttl,
        data: None,
        ..patch(patched, "")
    };
    assert_eq!(patches(&mut cluster, only), WrittenHow::Unchanged);
    assert_eq!(cluster.revision(), revision);
    let with_labels = PatchObject {
        ttl,
        ..patch_metadata(labelled, r#"{"labels":{"a":"b"}}"#)
    };
    assert_eq!(patches(&mut cluster, with_labels), WrittenHow::Updated);
    let relabelled = patch_metadata(kept, r#"{"labels":{"a":"b"}}"#);
    assert_eq!(patches(&mut cluster, relabelled), WrittenHow::Updated);
    cluster.restart_from_checkpoint();
    cluster.pass(minute * 2);
    cluster.expires();
    assert!(!cluster.has(kept));
    for key in [updated, patched, labelled] {
        assert!(cluster.has(key), "{key}");
        assert_eq!(cluster.state.object_deadline(key), None);
    }
}
