//! A second deletion of an object under deletion, with another policy: the last one counts.

use std::sync::Arc;

use synod_machine::{Command, WrittenHow};
use synod_model::{Attributes, Object, ObjectKey, Propagation};

use crate::cluster::Cluster;
use crate::shelf::{content, create, finalized, owned_by, widget};

const BACKGROUND: Option<Propagation> = Some(Propagation::Background);
const FOREGROUND: Option<Propagation> = Some(Propagation::Foreground);
const ORPHAN: Option<Propagation> = Some(Propagation::Orphan);

/// The attributes of an object that belongs to this owner and has these finalizers.
fn finalized_and_owned(finalizers: &[&str], owner: &Object) -> Attributes {
    Attributes {
        owners: owned_by(&[owner]).owners,
        ..finalized(finalizers)
    }
}

/// An owner with these finalizers, and this many dependents, each with a finalizer of its own.
fn family(finalizers: &[&str], dependents: usize) -> (Cluster, Arc<Object>, Vec<ObjectKey>) {
    let mut cluster = Cluster::with_widgets();
    let owner = cluster.stores(&widget("a/owner"), finalized(finalizers));
    let keys = (0..dependents).map(|i| widget(&format!("a/dependent-{i}")));
    let keys: Vec<ObjectKey> = keys.collect();
    let attributes = finalized_and_owned(&["x.io/wait"], &owner);
    let creates = keys
        .iter()
        .map(|key| Command::CreateObject(create(key, attributes.clone(), content("v1", "{}"))));
    cluster.send_all(creates.collect());
    (cluster, owner, keys)
}

fn finalizers(cluster: &Cluster, key: &ObjectKey) -> Vec<String> {
    let object = cluster.object(key);
    let finalizers = object.attributes.finalizers.iter();
    finalizers.map(ToString::to_string).collect()
}

#[test]
fn a_second_delete_by_another_policy_switches_the_finalizers_and_keeps_the_mark() {
    let (mut cluster, owner, _) = family(&["x.io/own"], 1);
    let deleted = |cluster: &mut Cluster, how| cluster.deletes(&owner.key, how);
    assert_eq!(deleted(&mut cluster, BACKGROUND), WrittenHow::Deleting);
    let marked = cluster.object(&owner.key);
    assert_eq!(finalizers(&cluster, &owner.key), ["x.io/own"]);
    assert_eq!(deleted(&mut cluster, FOREGROUND), WrittenHow::Deleting);
    assert_eq!(
        finalizers(&cluster, &owner.key),
        ["x.io/own", "foregroundDeletion"]
    );
    let switched = cluster.object(&owner.key);
    assert_eq!(switched.metadata.resource_version, cluster.revision());
    // It is still one deletion: its time stays, and the generation does not change.
    let at = |object: &Object| object.deletion.as_deref().map(|deletion| deletion.at);
    assert_eq!(at(&switched), at(&marked));
    assert_eq!(switched.metadata.generation, marked.metadata.generation);
    // The dependent is being deleted now, and the owner waits for it.
    let dependent = widget("a/dependent-0");
    assert!(cluster.object(&dependent).deletion.is_some());
    assert_eq!(deleted(&mut cluster, BACKGROUND), WrittenHow::Deleting);
    assert_eq!(finalizers(&cluster, &owner.key), ["x.io/own"]);
    assert_eq!(deleted(&mut cluster, ORPHAN), WrittenHow::Deleting);
    // All have dropped the reference in the same command: nothing is left to orphan.
    assert_eq!(finalizers(&cluster, &owner.key), ["x.io/own"]);
    assert!(cluster.object(&dependent).attributes.owners.is_empty());
    cluster.restart_from_checkpoint();
    cluster.updates(&owner.key, Attributes::default(), content("v1", "{}"));
    assert!(!cluster.has(&owner.key) && cluster.has(&dependent));
}

#[test]
fn a_second_delete_that_says_nothing_or_the_same_changes_nothing() {
    for policy in [FOREGROUND, ORPHAN] {
        // More dependents than one command can process, so the deletion is half done.
        let (mut cluster, owner, _) = family(&[], 300);
        assert_eq!(cluster.deletes(&owner.key, policy), WrittenHow::Deleting);
        let (revision, digest) = (cluster.revision(), cluster.state.digest());
        for again in [None, policy] {
            assert_eq!(cluster.deletes(&owner.key, again), WrittenHow::Unchanged);
        }
        assert_eq!(cluster.revision(), revision);
        // Nor does the deletion begin anew.
        assert_eq!(cluster.state.digest(), digest);
    }
}

#[test]
fn an_owner_that_waits_in_the_foreground_goes_at_once_when_the_background_will_do() {
    let (mut cluster, owner, dependents) = family(&[], 2);
    assert_eq!(
        cluster.deletes(&owner.key, FOREGROUND),
        WrittenHow::Deleting
    );
    cluster.collects();
    assert!(cluster.has(&owner.key), "its dependents have finalizers");
    assert_eq!(cluster.deletes(&owner.key, BACKGROUND), WrittenHow::Deleted);
    assert!(!cluster.has(&owner.key));
    for key in &dependents {
        assert!(cluster.object(key).deletion.is_some());
    }
    assert_eq!(cluster.collects(), 0);
}

// Guarantee: W-21
#[test]
fn a_deletion_in_the_foreground_that_is_switched_in_its_midst_goes_on_as_the_last_word_says() {
    let (mut cluster, owner, dependents) = family(&[], 300);
    cluster.deletes(&owner.key, FOREGROUND);
    let doomed = |cluster: &Cluster| {
        let of = dependents.iter().map(|key| cluster.object(key));
        of.filter(|object| object.deletion.is_some()).count()
    };
    let before = doomed(&cluster);
    assert!((1..300).contains(&before), "{before} are being deleted");
    assert_eq!(cluster.deletes(&owner.key, ORPHAN), WrittenHow::Deleting);
    assert_eq!(finalizers(&cluster, &owner.key), ["orphan"]);
    cluster.restart_from_checkpoint();
    cluster.collects();
    assert!(!cluster.has(&owner.key));
    // Deletions that have begun continue; no other dependent is deleted, and all drop the reference.
    assert_eq!(doomed(&cluster), before);
    for key in &dependents {
        assert!(cluster.object(key).attributes.owners.is_empty());
    }
}

#[test]
fn what_an_orphaning_deletion_has_not_come_to_goes_when_it_is_switched() {
    for policy in [BACKGROUND, FOREGROUND] {
        let (mut cluster, owner, dependents) = family(&[], 300);
        cluster.deletes(&owner.key, ORPHAN);
        let free = |cluster: &Cluster| {
            let of = dependents.iter().map(|key| cluster.object(key));
            of.filter(|object| object.deletion.is_none()).count()
        };
        let of = dependents.iter().map(|key| cluster.object(key));
        let forgot = of.filter(|object| object.attributes.owners.is_empty());
        let forgot = forgot.count();
        assert!((1..300).contains(&forgot), "{forgot} have forgotten it");
        let how = cluster.deletes(&owner.key, policy);
        let (gone, waits) = (WrittenHow::Deleted, WrittenHow::Deleting);
        assert_eq!(how, if policy == BACKGROUND { gone } else { waits });
        cluster.collects();
        assert_eq!(free(&cluster), forgot, "{policy:?}");
        assert_eq!(cluster.has(&owner.key), policy == FOREGROUND);
    }
}

#[test]
fn a_policy_that_finds_no_dependents_leaves_no_finalizer_and_so_the_object_goes() {
    let (mut cluster, owner, dependents) = family(&[], 1);
    cluster.deletes(&owner.key, FOREGROUND);
    // The dependent is deleted by hand, up to its finalizer, and disowned: nothing names the owner any more.
    let free = finalized(&["x.io/wait"]);
    let blocked = cluster.object(&owner.key).attributes.clone();
    assert!(blocked.finalizers.contains("foregroundDeletion"));
    cluster.updates(&dependents[0], free, content("v1", "{}"));
    assert!(!cluster.has(&owner.key), "it waited for nothing else");

    // With a finalizer of its own the owner waits only for that, whatever policy is given.
    let (mut cluster, owner, _) = family(&["x.io/own"], 0);
    assert_eq!(cluster.deletes(&owner.key, None), WrittenHow::Deleting);
    for policy in [FOREGROUND, ORPHAN, BACKGROUND] {
        assert_eq!(cluster.deletes(&owner.key, policy), WrittenHow::Unchanged);
    }
    assert!(!cluster.state.has_garbage());
}

#[test]
fn no_deletion_of_an_owner_overrides_what_was_asked_of_its_dependent() {
    let (mut cluster, owner, _) = family(&[], 0);
    let parent = widget("a/parent");
    let parent = cluster.stores(&parent, owned_by(&[&owner]));
    let children = (0..300).map(|i| widget(&format!("b/child-{i}")));
    let children: Vec<ObjectKey> = children.collect();
    let of_parent = |key: &ObjectKey| widget(&format!("a/{}", key.name.name()));
    let creates = children.iter().map(|key| {
        let attributes = owned_by(&[&parent]);
        Command::CreateObject(create(&of_parent(key), attributes, content("v1", "{}")))
    });
    cluster.send_all(creates.collect());
    cluster.deletes(&parent.key, ORPHAN);
    cluster.deletes(&owner.key, FOREGROUND);
    cluster.collects();
    assert!(!cluster.has(&owner.key) && !cluster.has(&parent.key));
    for key in &children {
        assert!(cluster.has(&of_parent(key)), "it was to be orphaned");
    }
}

#[test]
fn owners_that_own_each_other_go_also_if_one_joins_the_wait_later() {
    for first in [BACKGROUND, ORPHAN, FOREGROUND] {
        for last in [BACKGROUND, ORPHAN, FOREGROUND] {
            let mut cluster = Cluster::with_widgets();
            let (one, two) = (widget("a/one"), widget("a/two"));
            let of_one = cluster.stores(&one, finalized(&["x.io/wait"]));
            cluster.stores(&two, finalized_and_owned(&["x.io/wait"], &of_one));
            let of_two = cluster.object(&two);
            let attributes = finalized_and_owned(&["x.io/wait"], &of_two);
            cluster.updates(&one, attributes, content("v1", "{}"));
            cluster.deletes(&one, first);
            cluster.deletes(&two, FOREGROUND);
            cluster.deletes(&one, last);
            cluster.collects();
            for key in [&one, &two] {
                let Some(object) = cluster.find(key) else {
                    continue;
                };
                let mut attributes = object.attributes.clone();
                attributes.finalizers = attributes.finalizers.without("x.io/wait");
                cluster.updates(key, attributes, content("v1", "{}"));
                cluster.collects();
            }
            let left: Vec<&ObjectKey> = [&one, &two]
                .into_iter()
                .filter(|key| {
                    cluster
                        .find(key)
                        .is_some_and(|left| left.deletion.is_some())
                })
                .collect();
            assert!(left.is_empty(), "{first:?} {last:?}: {left:?}");
        }
    }
}
