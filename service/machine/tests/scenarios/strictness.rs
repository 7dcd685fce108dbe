//! The strict guarantee: what is stored is encoded in the version that is selected at its revision.

use synod_machine::{Command, WrittenHow};
use synod_model::{Attributes, CollectionRules, Current, ErrorKind};

use crate::cluster::{Cluster, refused, report};
use crate::entry::of;
use crate::shelf::{LOOSE, WIDGETS, content, create, declare, labelled, patch, widget, written};

const STRICT: CollectionRules = CollectionRules {
    strict_storage_version: true,
    ..LOOSE
};

#[test]
fn nothing_is_stored_strictly_before_a_version_is_selected() {
    let mut cluster = Cluster::formed();
    cluster.declares(WIDGETS, STRICT);
    let one = widget("a/one");
    let create = create(&one, Attributes::default(), content("v1", "{}"));
    refused(
        cluster.send(Command::CreateObject(create)),
        ErrorKind::NoAgreement,
    );
    cluster.refuses_update(&one, content("v1", "{}"), ErrorKind::NoAgreement);
    assert!(cluster.persisted(WIDGETS).is_empty(), "nothing was stored");
}

// Guarantee: W-17
#[test]
fn a_strict_write_follows_the_selection_through_an_upgrade() {
    let mut cluster = Cluster::formed();
    cluster.declares(WIDGETS, STRICT);
    let a = cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").prefers("v1")]);
    let (one, two) = (widget("a/one"), widget("a/two"));
    cluster.stores(&one, Attributes::default());
    let refusal = cluster.refuses_update(&one, content("v2", "{}"), ErrorKind::EncodingNotSelected);
    assert_eq!(refusal.metadata["selected_version"], "v1");
    cluster.reports(&a, &[of(WIDGETS).decodes("v1 v2").prefers("v2")]);
    assert_eq!(cluster.selected(WIDGETS).as_deref(), Some("v2"));
    // From this very revision on, even if the writer does not know it yet.
    let late = create(&two, Attributes::default(), content("v1", "{}"));
    refused(
        cluster.send(Command::CreateObject(late)),
        ErrorKind::EncodingNotSelected,
    );
    let stored = cluster.object(&one);
    let refusal = refused(
        cluster.send(Command::PatchObject(patch(&one, r#"{"a":1}"#))),
        ErrorKind::EncodingNotSelected,
    );
    assert_eq!(refusal.current.as_deref(), Some(&Current::Object(stored)));
    // An object in the old version may still be labelled and deleted.
    let labels = cluster.updates(&one, labelled(&[("a", "b")]), content("v1", "{}"));
    assert_eq!(labels.how, WrittenHow::Updated);
    let nothing = cluster.send(Command::PatchObject(patch(&one, r#"{"a":null}"#)));
    assert_eq!(written(nothing).how, WrittenHow::Unchanged);
    cluster.updates(&two, Attributes::default(), content("v2", "{}"));
    assert_eq!(
        cluster.counts(WIDGETS),
        [("v1".to_owned(), 1), ("v2".to_owned(), 1)]
    );
    assert_eq!(cluster.deletes(&one, None), WrittenHow::Deleted);
    assert_eq!(cluster.counts(WIDGETS), [("v2".to_owned(), 1)]);
    // Losing every member does not unselect.
    cluster.leaves(&a);
    cluster.refuses_update(&two, content("v1", "{}"), ErrorKind::EncodingNotSelected);
}

// Guarantee: W-18
#[test]
fn while_members_report_a_resource_every_one_of_them_must_decode_what_is_written() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    let a = cluster.starts("a", &[of(WIDGETS).decodes("v1 v2")]);
    cluster.starts("b", &[of(WIDGETS).decodes("v1 v3")]);
    cluster.stores(&one, Attributes::default());
    let refusal = cluster.refuses_update(&one, content("v2", "{}"), ErrorKind::NotDecodable);
    assert!(
        refusal.message.contains(": b cannot decode v2"),
        "{refusal}"
    );
    assert_eq!(refusal.metadata["version"], "v2");
    let labels = cluster.updates(&one, labelled(&[("a", "b")]), content("v1", "{}"));
    assert_eq!(labels.how, WrittenHow::Updated);
    cluster.leaves(&a);
    let written = cluster.updates(&one, Attributes::default(), content("v3", "{}"));
    assert_eq!(written.how, WrittenHow::Updated);
}

// Guarantee: W-18
#[test]
fn a_write_adds_its_encoding_to_what_is_persisted_in_the_same_command() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    for version in ["v1", "v2", "v1"] {
        let before = cluster.revision();
        cluster.updates(&one, Attributes::default(), content(version, "{}"));
        assert_eq!(cluster.revision(), before.next());
        assert!(cluster.persisted(WIDGETS).contains(&version.to_owned()));
    }
    cluster.deletes(&one, None);
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2"]);
}

// Guarantee: W-17
#[test]
fn a_strict_collection_takes_voters_only() {
    let mut cluster = Cluster::formed();
    cluster.declares(WIDGETS, STRICT);
    let a = cluster.joins("a");
    let fixed = || report(&a, &[of(WIDGETS)], true);
    refused(cluster.send(fixed()), ErrorKind::EncodingNotSelected);
    cluster.reports(&a, &[of(WIDGETS).prefers("v1")]);
    refused(cluster.send(fixed()), ErrorKind::EncodingNotSelected);
}

#[test]
fn no_collection_is_or_becomes_strict_while_a_fixed_entry_exists() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of(WIDGETS)]);
    let strict = declare(WIDGETS, true, STRICT);
    refused(
        cluster.send(Command::CreateCollection(strict)),
        ErrorKind::NoAgreement,
    );
    cluster.declares(WIDGETS, LOOSE);
    let switch_on = || {
        Command::UpdateCollection(synod_model::UpdateCollection {
            resource: crate::entry::resource(WIDGETS),
            strict_storage_version: Some(true),
            create_on_update: None,
            unconditional_update: None,
            status_subresource: None,
            kind: None,
            preconditions: Default::default(),
        })
    };
    refused(cluster.send(switch_on()), ErrorKind::NoAgreement);
    cluster.reports(&a, &[of(WIDGETS).prefers("v1")]);
    assert_eq!(written(cluster.send(switch_on())).how, WrittenHow::Updated);
}
