//! Collections: declared before they hold objects, and removed only when empty.

use synod_machine::{Command, WrittenHow};
use synod_model::{
    CollectionRules, Current, DeleteCollection, ErrorKind, ForgetResource, Kind, Preconditions,
    Revision, UpdateCollection,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::entry::{of, resource};
use crate::shelf::{LOOSE, WIDGETS, content, create, declare, widget, written};

fn strictly(strict: bool) -> UpdateCollection {
    UpdateCollection {
        resource: resource(WIDGETS),
        strict_storage_version: Some(strict),
        create_on_update: None,
        unconditional_update: None,
        status_subresource: None,
        kind: None,
        preconditions: Preconditions::default(),
    }
}

fn remove(preconditions: Preconditions) -> Command {
    Command::DeleteCollection(DeleteCollection {
        resource: resource(WIDGETS),
        preconditions,
    })
}

#[test]
fn a_collection_is_declared_once_and_no_other_of_the_group_has_its_kind() {
    let mut cluster = Cluster::with_widgets();
    let present = cluster.collection(WIDGETS).expect("it was declared");
    assert_eq!(present.kind.as_str(), "Widget");
    let again = declare(WIDGETS, true, LOOSE);
    let refusal = refused(
        cluster.send(Command::CreateCollection(again)),
        ErrorKind::AlreadyExists,
    );
    assert_eq!(
        refusal.current.as_deref(),
        Some(&Current::Collection(present))
    );
    let mut alike = declare("example.io.gadgets", true, LOOSE);
    alike.kind = Kind::parse("Widget").expect("legal");
    refused(
        cluster.send(Command::CreateCollection(alike)),
        ErrorKind::AlreadyExists,
    );
    cluster.declares("example.com.widgets", LOOSE);
}

#[test]
fn what_is_declared_before_anybody_reported_it_holds_nothing_unknown() {
    let cluster = Cluster::with_widgets();
    assert!(cluster.persisted(WIDGETS).is_empty());
    let mut reported_first = Cluster::formed();
    reported_first.starts("a", &[of(WIDGETS)]);
    reported_first.declares(WIDGETS, LOOSE);
    assert_eq!(reported_first.persisted(WIDGETS), ["Unknown", "v1"]);
}

#[test]
fn an_object_needs_its_collection_and_the_namespace_that_it_asks_for() {
    let mut cluster = Cluster::with_widgets();
    let gadget = crate::shelf::key("example.io.gadgets", "a/one");
    let store =
        |key: &_| Command::CreateObject(create(key, Default::default(), content("v1", "{}")));
    refused(cluster.send(store(&gadget)), ErrorKind::NotFound);
    let refusal = refused(
        cluster.send(store(&widget("one"))),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(refusal.violations[0].field, "key.namespace");
    let regions = declare("regions.io.regions", false, LOOSE);
    written(cluster.send(Command::CreateCollection(regions)));
    let region = crate::shelf::key("regions.io.regions", "a/one");
    let refusal = refused(cluster.send(store(&region)), ErrorKind::InvalidArgument);
    assert_eq!(refusal.violations[0].field, "key.namespace");
    written(cluster.send(store(&crate::shelf::key("regions.io.regions", "one"))));
}

#[test]
fn the_rules_of_a_collection_change_and_a_change_to_the_same_is_none() {
    let mut cluster = Cluster::with_widgets();
    let before = cluster.revision();
    let same = cluster.send(Command::UpdateCollection(strictly(false)));
    assert_eq!(written(same).how, WrittenHow::Unchanged);
    assert_eq!(cluster.revision(), before);
    let on = cluster.send(Command::UpdateCollection(strictly(true)));
    assert_eq!(written(on).resource_version, before.next());
    let collection = cluster.collection(WIDGETS).expect("it is there");
    let rules = CollectionRules {
        strict_storage_version: true,
        ..LOOSE
    };
    assert_eq!(collection.rules, rules);
    assert_eq!(collection.metadata.generation, 2);
    let late = UpdateCollection {
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(before),
        },
        ..strictly(false)
    };
    let refusal = refused(
        cluster.send(Command::UpdateCollection(late)),
        ErrorKind::Conflict,
    );
    assert_eq!(
        refusal.current.as_deref(),
        Some(&Current::Collection(collection))
    );
}

#[test]
fn a_collection_goes_when_it_is_empty_and_what_is_known_of_its_storage_stays() {
    let mut cluster = Cluster::with_widgets();
    let one = widget("a/one");
    cluster.stores(&one, Default::default());
    let refusal = refused(
        cluster.send(remove(Preconditions::default())),
        ErrorKind::Conflict,
    );
    assert_eq!(refusal.metadata["objects"], "1");
    cluster.deletes(&one, None);
    let of_another = Preconditions {
        uid: Some(synod_model::Uid::from_bytes([9; 16])),
        resource_version: None,
    };
    refused(cluster.send(remove(of_another)), ErrorKind::Conflict);
    let gone = written(cluster.send(remove(Preconditions::default())));
    assert_eq!(gone.how, WrittenHow::Deleted);
    assert_eq!(gone.resource_version, cluster.revision());
    assert!(cluster.collection(WIDGETS).is_none());
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
    refused(
        cluster.send(remove(Preconditions::default())),
        ErrorKind::NotFound,
    );
    cluster.declares(WIDGETS, LOOSE);
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
}

#[test]
fn what_is_declared_is_not_forgotten_before_its_collection_goes() {
    let mut cluster = Cluster::with_widgets();
    let forget = || {
        Command::ForgetResource(ForgetResource {
            resource: resource(WIDGETS),
            if_revision: None,
        })
    };
    refused(cluster.send(forget()), ErrorKind::Conflict);
    let one = widget("a/one");
    cluster.stores(&one, Default::default());
    cluster.deletes(&one, None);
    written(cluster.send(remove(Preconditions::default())));
    accepted(cluster.send(forget()));
    cluster.declares(WIDGETS, LOOSE);
    cluster.stores(&one, Default::default());
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
}

#[test]
fn collections_are_listed_in_pages_and_read_at_any_revision() {
    let mut cluster = Cluster::formed();
    let names = ["a.io.as", "b.io.bs", "c.io.cs"];
    let mut at = vec![Revision::ZERO];
    for name in names {
        cluster.declares(name, LOOSE);
        at.push(cluster.revision());
    }
    for (count, revision) in at.iter().enumerate().skip(1) {
        let past = cluster.state.at(*revision).expect("it is kept");
        let listed: Vec<_> = past
            .collections(None)
            .map(|row| row.resource.clone())
            .collect();
        let declared: Vec<_> = names[..count].iter().map(|name| resource(name)).collect();
        assert_eq!(listed, declared);
        assert_eq!(past.collection(&resource("c.io.cs")).is_some(), count == 3);
    }
    let present = cluster.state.present();
    let first = resource("a.io.as");
    let rest = present.collections(Some(&first));
    assert_eq!(rest.count(), 2);
}
