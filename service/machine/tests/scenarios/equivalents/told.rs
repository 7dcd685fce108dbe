//! What a report tells of names counts with what it says of the store, and what is of a store is kept under its first name alone.

use synod_machine::Command;
use synod_model::{ErrorKind, ForgetResource};

use super::{
    Cluster, NEW, OLD, accepted, add, cluster, new, of, old, refused, remove, report, resource,
};
use crate::entry::version;

const KEY_OF_OLD: &str = "extensions.keys.synod.ingresses";
const KEY_OF_NEW: &str = "networking.k8s.io.keys.synod.ingresses";

#[test]
fn the_migration_of_a_report_that_tells_names_rewrites_to_what_is_agreed_on_then() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[new().encodes("v1")]);
    cluster.reports(&a, &[new().encodes("v2").equivalent_to(&[OLD])]);
    assert_eq!(cluster.agreed(NEW).as_deref(), Some("v2"));
    assert_eq!(cluster.open(NEW).target.version, Some(version("v2")));
}

#[test]
fn what_a_replaced_process_writes_under_another_name_drains_for_the_store() {
    let (mut cluster, _, b) = Cluster::of_two_servers();
    cluster.restarts(&b);
    assert!(!cluster.drains(NEW).is_empty());
    assert_eq!(cluster.drains(NEW), cluster.drains(OLD));
    assert_eq!(cluster.state.present().storage_states(None).count(), 1);
}

#[test]
fn a_release_that_decodes_what_is_selected_tells_the_names_in_its_first_report() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[old().prefers("v1")]);
    let b = cluster.starts("b", &[of(NEW).decodes("v2").prefers("v2")]);
    cluster.is_replaced(&b, &[new().prefers("v2").equivalent_to(&[OLD])]);
    assert_eq!(cluster.selected(NEW).as_deref(), Some("v1"));
    cluster.adopts(&a, OLD);
    assert_eq!(cluster.agreed(NEW).as_deref(), Some("v1"));
}

#[test]
fn what_a_member_has_written_under_a_further_name_drains() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[old().encodes("v1"), new().encodes("v2")]);
    cluster.reports(&a, &[old().encodes("v1").equivalent_to(&[NEW])]);
    assert!(cluster.version(NEW).is_none());
    let drained: Vec<String> = cluster.drains(OLD).into_iter().map(|(it, _)| it).collect();
    assert_eq!(drained, ["v2"]);
}

#[test]
fn a_topic_is_no_name_of_a_store() {
    let mut cluster = cluster();
    let a = cluster.starts(
        "a",
        &[of(KEY_OF_OLD).decodes("k1").serves("").prefers("k1")],
    );
    refused(cluster.send(remove(KEY_OF_OLD)), ErrorKind::InvalidArgument);
    accepted(cluster.send(add(&[OLD, NEW])));
    for key in [KEY_OF_OLD, KEY_OF_NEW] {
        refused(cluster.send(remove(key)), ErrorKind::InvalidArgument);
    }
    for told in [KEY_OF_NEW, NEW] {
        let told = report(&a, &[new().equivalent_to(&[told])], false);
        refused(cluster.send(told), ErrorKind::InvalidArgument);
    }
}

#[test]
fn a_store_with_several_names_is_not_forgotten_while_a_key_of_them_is_known() {
    let mut cluster = cluster();
    let key = of(KEY_OF_NEW).decodes("k1").serves("").prefers("k1");
    cluster.starts("a", &[key]);
    accepted(cluster.send(add(&[OLD, NEW])));
    let forget = Command::ForgetResource(ForgetResource {
        resource: resource(NEW),
        if_revision: None,
    });
    let refusal = refused(cluster.send(forget), ErrorKind::Conflict);
    assert!(
        refusal.message.contains("a key of them is known"),
        "{refusal:?}"
    );
    let open = cluster.open(KEY_OF_NEW);
    assert!(open.is_of(&resource(KEY_OF_OLD)) && open.is_of(&resource(KEY_OF_NEW)));
}

#[test]
fn the_keys_of_joined_names_are_reported_once_too() {
    let mut cluster = cluster();
    let key = |name| of(name).serves("").decodes("k1").prefers("k1");
    let keys = [
        key("extensions.keys.synod.ingresses"),
        key("zoo.keys.synod.ingresses"),
    ];
    let a = cluster.starts("a", &keys);
    let told = [of(NEW).equivalent_to(&[OLD, "zoo.ingresses"])];
    // It goes on to report the keys of two of the names.
    refused(cluster.send(report(&a, &told, false)), ErrorKind::Conflict);
    cluster.reports_only(&a, &told);
    assert!(cluster.version("extensions.keys.synod.ingresses").is_none());
    assert!(cluster.version("zoo.keys.synod.ingresses").is_none());
}
