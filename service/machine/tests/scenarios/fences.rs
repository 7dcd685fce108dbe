//! Writes that are accepted only while the caller holds a lease.

use synod_machine::{Answer, Command};
use synod_model::{
    AcquireLease, Attributes, CreateObject, DeleteObject, ErrorKind, Fences, FencingToken,
    HolderIdentity, LeaseKey, Operation, PatchObject, ReleaseLease, Revision, Transact, Ttl,
    UpdateObject,
};

use crate::cluster::{Cluster, accepted, refused};
use crate::shelf::{content, create, delete, patch, update, widget, written};

fn lock() -> LeaseKey {
    LeaseKey::new("a", "lock").expect("a name")
}

fn under(token: FencingToken) -> Fences {
    Fences {
        if_lease: Some((lock(), token)),
        ..Fences::default()
    }
}

fn acquires(cluster: &mut Cluster, holder: &str) -> FencingToken {
    let acquire = AcquireLease {
        key: lock(),
        holder: HolderIdentity::parse(holder).expect("a name"),
        ttl: Ttl::DEFAULT,
        wait: None,
        if_member: None,
    };
    match accepted(cluster.send(Command::AcquireLease(acquire))) {
        Answer::LeaseHeld { token, .. } => token,
        other => panic!("a free lease is held, not {other:?}"),
    }
}

fn releases(cluster: &mut Cluster, holder: &str) {
    let release = ReleaseLease {
        key: lock(),
        holder: HolderIdentity::parse(holder).expect("a name"),
        token: None,
    };
    accepted(cluster.send(Command::ReleaseLease(release)));
}

fn stores(name: &str, fences: Fences) -> CreateObject {
    CreateObject {
        fences,
        ..create(&widget(name), Attributes::default(), content("v1", "{}"))
    }
}

/// Every kind of write. Each would be carried out if `a/one` exists and `a/two` does not.
fn writes(fences: &Fences) -> [Command; 5] {
    let one = widget("a/one");
    let fences = || fences.clone();
    [
        Command::CreateObject(stores("a/two", fences())),
        Command::UpdateObject(UpdateObject {
            fences: fences(),
            ..update(&one, Attributes::default(), content("v1", "[]"))
        }),
        Command::PatchObject(PatchObject {
            fences: fences(),
            ..patch(&one, "{\"a\":1}")
        }),
        Command::DeleteObject(DeleteObject {
            fences: fences(),
            ..delete(&one, None)
        }),
        Command::Transact(Transact {
            compares: Vec::new(),
            operations: vec![Operation::Create(stores("a/two", Fences::default()))],
            reads: Vec::new(),
            fences: fences(),
        }),
    ]
}

// Guarantee: L-04
#[test]
fn a_write_is_fenced_by_the_token_of_a_lease_for_as_long_as_it_is_held() {
    let mut cluster = Cluster::with_widgets();
    let nobodys = FencingToken::new(Revision::new(1));
    for write in writes(&under(nobodys)) {
        refused(cluster.send(write), ErrorKind::StaleEpoch);
    }
    let lost = acquires(&mut cluster, "first");
    written(cluster.send(Command::CreateObject(stores("a/one", under(lost)))));
    releases(&mut cluster, "first");
    for write in writes(&under(lost)) {
        refused(cluster.send(write), ErrorKind::StaleEpoch);
    }
    let token = acquires(&mut cluster, "second");
    for write in writes(&under(lost)) {
        let refusal = refused(cluster.send(write), ErrorKind::StaleEpoch);
        assert!(refusal.current.is_some(), "it says who holds it");
    }
    let before = cluster.revision();
    let [new, update, ..] = writes(&under(token));
    for write in [update, new] {
        written(cluster.send(write));
    }
    assert_eq!(cluster.revision().get(), before.get() + 2);
}

#[test]
fn a_lease_that_has_expired_fences_off_who_held_it() {
    let mut cluster = Cluster::with_widgets();
    let token = acquires(&mut cluster, "first");
    cluster.pass(Ttl::DEFAULT.duration());
    // Until the expiry is in the log the lease is held, and no other caller can get it.
    written(cluster.send(Command::CreateObject(stores("a/one", under(token)))));
    cluster.expires();
    for write in writes(&under(token)) {
        refused(cluster.send(write), ErrorKind::StaleEpoch);
    }
}
