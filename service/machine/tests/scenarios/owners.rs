//! Owners and their dependents: which are deleted with an object, after it, before it, or not at all.

use std::sync::Arc;

use synod_machine::{Command, WrittenHow};
use synod_model::{
    ApiVersion, Attributes, ErrorKind, Kind, Object, ObjectKey, ObjectName, OwnerReference,
    OwnerReferences, Propagation,
};

use crate::cluster::{Cluster, refused};
use crate::shelf::{
    LOOSE, content, create, declare, finalized, key, owned_by, update, widget, written,
};

const BACKGROUND: Option<Propagation> = Some(Propagation::Background);
const FOREGROUND: Option<Propagation> = Some(Propagation::Foreground);
const ORPHAN: Option<Propagation> = Some(Propagation::Orphan);

/// An owner with this many dependents.
fn family(dependents: usize) -> (Cluster, Arc<Object>, Vec<ObjectKey>) {
    let mut cluster = Cluster::with_widgets();
    let owner = cluster.stores(&widget("a/owner"), Attributes::default());
    let keys = (0..dependents).map(|i| widget(&format!("a/dependent-{i}")));
    let keys: Vec<ObjectKey> = keys.collect();
    let creates = keys
        .iter()
        .map(|key| Command::CreateObject(create(key, owned_by(&[&owner]), content("v1", "{}"))));
    cluster.send_all(creates.collect());
    (cluster, owner, keys)
}

fn left(cluster: &Cluster, keys: &[ObjectKey]) -> usize {
    keys.iter().filter(|key| cluster.has(key)).count()
}

#[test]
fn dependents_go_after_their_owner_in_the_same_command_if_they_are_few() {
    let (mut cluster, owner, dependents) = family(3);
    let grandchild = widget("a/grandchild");
    let parent = cluster.object(&dependents[0]);
    cluster.stores(&grandchild, owned_by(&[&parent]));
    let before = cluster.revision();
    assert_eq!(cluster.deletes(&owner.key, None), WrittenHow::Deleted);
    assert_eq!(cluster.revision(), before.next());
    assert_eq!(left(&cluster, &dependents), 0);
    assert!(!cluster.has(&grandchild) && !cluster.state.has_garbage());
}

// Guarantee: W-20
#[test]
fn many_dependents_go_in_further_commands_from_where_the_last_one_stopped() {
    let (mut cluster, owner, dependents) = family(300);
    assert_eq!(cluster.deletes(&owner.key, BACKGROUND), WrittenHow::Deleted);
    let after_first = left(&cluster, &dependents);
    assert!((150..300).contains(&after_first), "{after_first} are left");
    // Neither a new leader nor a restart loses the cursor.
    cluster.elect();
    cluster.restart_from_checkpoint();
    assert!(cluster.state.has_garbage());
    assert!((1..4).contains(&cluster.collects()));
    assert_eq!(left(&cluster, &dependents), 0);
}

#[test]
fn no_owner_waits_for_ever_while_others_are_deleted_faster_than_they_are_dealt_with() {
    let mut cluster = Cluster::with_widgets();
    let owners = (0..40).map(|i| {
        let key = widget(&format!("a/owner-{i}"));
        cluster.stores(&key, Attributes::default())
    });
    // In the order of uids, almost all other owners would come before it.
    let last = owners.max_by_key(|owner| owner.metadata.uid);
    let first = last.expect("there are owners");
    let waiting: Vec<ObjectKey> = (0..300)
        .map(|i| widget(&format!("a/dependent-{i}")))
        .collect();
    let creates = waiting
        .iter()
        .map(|key| Command::CreateObject(create(key, owned_by(&[&first]), content("v1", "{}"))));
    cluster.send_all(creates.collect());
    cluster.deletes(&first.key, BACKGROUND);
    let mut rounds = 0;
    while left(&cluster, &waiting) > 0 {
        // Each command of the leader finds another owner, with more dependents than it can process.
        let owner = cluster.stores(&widget(&format!("b/owner-{rounds}")), Attributes::default());
        let creates = (0..200).map(|i| {
            let key = widget(&format!("b/dependent-{rounds}-{i}"));
            Command::CreateObject(create(&key, owned_by(&[&owner]), content("v1", "{}")))
        });
        cluster.send_all(creates.collect());
        cluster.deletes(&owner.key, BACKGROUND);
        cluster.send(Command::CollectGarbage(Default::default()));
        rounds += 1;
        assert!(rounds < 60, "{} still wait", left(&cluster, &waiting));
    }
    assert!(cluster.state.has_garbage(), "others were never few enough");
}

#[test]
fn a_dependent_with_another_owner_that_lives_stays_and_forgets_the_one_that_went() {
    let (mut cluster, owner, _) = family(0);
    let other = cluster.stores(&widget("a/other"), Attributes::default());
    let shared = widget("a/shared");
    cluster.stores(&shared, owned_by(&[&owner, &other]));
    cluster.deletes(&owner.key, None);
    assert_eq!(cluster.object(&shared).attributes, owned_by(&[&other]));
    cluster.deletes(&other.key, FOREGROUND);
    assert!(!cluster.has(&shared) && !cluster.has(&other.key));
}

#[test]
fn orphans_stay_and_forget_their_owner() {
    let (mut cluster, owner, dependents) = family(200);
    assert_eq!(cluster.deletes(&owner.key, ORPHAN), WrittenHow::Deleting);
    let waiting = cluster.object(&owner.key);
    assert!(waiting.attributes.finalizers.contains("orphan"));
    cluster.restart_from_checkpoint();
    cluster.collects();
    assert!(!cluster.has(&owner.key));
    for key in &dependents {
        assert!(cluster.object(key).attributes.owners.is_empty());
    }
}

#[test]
fn in_the_foreground_the_owner_goes_last_of_all() {
    let (mut cluster, owner, dependents) = family(200);
    let stubborn = widget("a/stubborn");
    let mut attributes = finalized(&["x.io/wait"]);
    attributes.owners = owned_by(&[&owner]).owners;
    cluster.stores(&stubborn, attributes.clone());
    assert_eq!(
        cluster.deletes(&owner.key, FOREGROUND),
        WrittenHow::Deleting
    );
    cluster.collects();
    assert_eq!(left(&cluster, &dependents), 0);
    assert!(cluster.has(&owner.key) && cluster.object(&stubborn).deletion.is_some());
    cluster.restart_from_checkpoint();
    attributes.finalizers = Attributes::default().finalizers;
    let last = cluster.updates(&stubborn, attributes, content("v1", "{}"));
    assert_eq!(last.how, WrittenHow::Deleted);
    assert!(!cluster.has(&owner.key), "it waited for nothing else");
}

#[test]
fn an_owner_that_waits_goes_when_its_dependent_names_it_no_more() {
    let (mut cluster, owner, _) = family(0);
    let dependent = widget("a/dependent");
    let mut attributes = finalized(&["x.io/wait"]);
    attributes.owners = owned_by(&[&owner]).owners;
    cluster.stores(&dependent, attributes);
    cluster.deletes(&owner.key, FOREGROUND);
    assert!(cluster.has(&owner.key));
    cluster.updates(&dependent, finalized(&["x.io/wait"]), content("v1", "{}"));
    assert!(!cluster.has(&owner.key) && cluster.has(&dependent));
}

// Guarantee: W-20, O-11
#[test]
fn owners_that_own_each_other_go_together_whichever_way_they_are_deleted() {
    for propagation in [BACKGROUND, FOREGROUND] {
        for first in ["a/one", "a/two", "a/three"] {
            let mut cluster = Cluster::with_widgets();
            let names = ["a/one", "a/two", "a/three"];
            for name in names {
                cluster.stores(&widget(name), Attributes::default());
            }
            for (i, name) in names.iter().enumerate() {
                let next = cluster.object(&widget(names[(i + 1) % 3]));
                cluster.updates(&widget(name), owned_by(&[&next]), content("v1", "{}"));
            }
            cluster.deletes(&widget(first), propagation);
            cluster.collects();
            let all = names.map(widget);
            assert_eq!(left(&cluster, &all), 0, "{first} {propagation:?}");
        }
    }
}

#[test]
fn an_object_that_owns_itself_goes() {
    for propagation in [BACKGROUND, FOREGROUND] {
        let (mut cluster, owner, _) = family(0);
        cluster.updates(&owner.key, owned_by(&[&owner]), content("v1", "{}"));
        cluster.deletes(&owner.key, propagation);
        cluster.collects();
        assert!(!cluster.has(&owner.key), "{propagation:?}");
    }
}

#[test]
fn a_long_chain_goes_in_bounded_commands_from_its_end_in_the_foreground() {
    let mut cluster = Cluster::with_widgets();
    let mut owner = cluster.stores(&widget("a/link-0"), Attributes::default());
    for i in 1..400 {
        owner = cluster.stores(&widget(&format!("a/link-{i}")), owned_by(&[&owner]));
    }
    cluster.deletes(&widget("a/link-0"), FOREGROUND);
    let all: Vec<ObjectKey> = (0..400).map(|i| widget(&format!("a/link-{i}"))).collect();
    while cluster.state.has_garbage() {
        let before = left(&cluster, &all);
        cluster.send(Command::CollectGarbage(Default::default()));
        assert!(before - left(&cluster, &all) <= 128);
        // What is left is always the beginning of the chain: no owner is removed before its dependents.
        let left = left(&cluster, &all);
        assert!(all[..left].iter().all(|key| cluster.has(key)));
    }
    assert_eq!(left(&cluster, &all), 0);
}

#[test]
fn an_owner_must_be_there_in_the_same_namespace_or_in_none() {
    let mut cluster = Cluster::with_widgets();
    let elsewhere = cluster.stores(&widget("b/owner"), Attributes::default());
    let regions = declare("example.io.regions", false, LOOSE);
    written(cluster.send(Command::CreateCollection(regions)));
    let region = key("example.io.regions", "one");
    let region = cluster.stores(&region, Attributes::default());
    let (mine, absent) = (widget("a/mine"), widget("a/absent"));
    let store = |attributes| Command::CreateObject(create(&mine, attributes, content("v1", "{}")));
    let refusal = refused(
        cluster.send(store(owned_by(&[&elsewhere]))),
        ErrorKind::InvalidArgument,
    );
    let foreign = refusal.violations[0].clone();
    assert_eq!(foreign.field, "ownerReferences[0]");
    // The refusal does not tell whether it is in another namespace or missing.
    let mut nowhere = (*elsewhere).clone();
    nowhere.key = absent;
    nowhere.metadata.uid = synod_model::Uid::from_bytes([7; 16]);
    let refusal = refused(
        cluster.send(store(owned_by(&[&nowhere]))),
        ErrorKind::InvalidArgument,
    );
    let unified = |rule: &str, object: &Object| {
        let rule = rule.replace(&object.metadata.uid.to_string(), "UID");
        rule.replace(object.key.name.name(), "NAME")
    };
    assert_eq!(
        unified(&refusal.violations[0].rule, &nowhere),
        unified(&foreign.rule, &elsewhere)
    );
    written(cluster.send(store(owned_by(&[&region]))));
    // And an object without a namespace cannot belong to one that has a namespace.
    let widget = cluster.object(&mine);
    let update = update(&region.key, owned_by(&[&widget]), content("v1", "{}"));
    refused(
        cluster.send(Command::UpdateObject(update)),
        ErrorKind::InvalidArgument,
    );
    cluster.deletes(&region.key, None);
    assert!(!cluster.has(&mine));
}

#[test]
fn an_owner_that_is_kept_is_named_as_it_was() {
    let (mut cluster, owner, _) = family(0);
    let dependent = widget("a/dependent");
    let mut attributes = finalized(&["x.io/wait"]);
    attributes.owners = owned_by(&[&owner]).owners;
    cluster.stores(&dependent, attributes.clone());
    let altered = |alter: &dyn Fn(&mut OwnerReference)| {
        let mut reference = owned_by(&[&owner]).owners.iter().next().cloned().unwrap();
        alter(&mut reference);
        let owners = OwnerReferences::new(vec![reference]).unwrap();
        Attributes {
            owners,
            ..attributes.clone()
        }
    };
    let faults: [&dyn Fn(&mut OwnerReference); 3] = [
        &|reference| reference.name = ObjectName::parse("other").unwrap(),
        &|reference| reference.kind = Kind::parse("Other").unwrap(),
        &|reference| reference.api_version = ApiVersion::parse("other.io/v1").unwrap(),
    ];
    for fault in faults {
        let update = update(&dependent, altered(fault), content("v1", "{}"));
        let refusal = refused(
            cluster.send(Command::UpdateObject(update)),
            ErrorKind::InvalidArgument,
        );
        assert_eq!(refusal.violations[0].field, "ownerReferences[0]");
    }
    // Another version of the same group names the same owner, which finds its dependent until the owner is deleted.
    let other_version =
        altered(&|reference| reference.api_version = ApiVersion::parse("example.io/v2").unwrap());
    cluster.updates(&dependent, other_version.clone(), content("v1", "{}"));
    cluster.deletes(&owner.key, FOREGROUND);
    assert!(cluster.has(&owner.key));
    let last = Attributes {
        owners: other_version.owners,
        ..Attributes::default()
    };
    cluster.updates(&dependent, last, content("v1", "{}"));
    assert!(!cluster.has(&dependent) && !cluster.has(&owner.key));
}

#[test]
fn what_waits_for_its_dependents_to_go_gets_no_new_ones() {
    let (mut cluster, owner, _) = family(0);
    let mut attributes = finalized(&["x.io/wait"]);
    attributes.owners = owned_by(&[&owner]).owners;
    cluster.stores(&widget("a/dependent"), attributes);
    cluster.deletes(&owner.key, FOREGROUND);
    let late = create(&widget("a/late"), owned_by(&[&owner]), content("v1", "{}"));
    let refusal = refused(
        cluster.send(Command::CreateObject(late)),
        ErrorKind::InvalidArgument,
    );
    assert!(
        refusal.violations[0]
            .rule
            .contains("waits for its dependents")
    );
}
