//! Leases that are deleted, whoever holds them.

use synod_machine::{ChangeOf, Command};
use synod_model::{DeleteLease, ErrorKind, Feature, Lease, Preconditions, Switch};

use crate::naive::{Said, World};
use crate::stage::{Stage, accepted, acquire, key, refused, release, renew, stand};
use crate::switched::switch;

/// Deletes a lease, whichever it is.
pub(crate) fn delete(name: &str) -> Command {
    Command::DeleteLease(DeleteLease {
        key: key(name),
        preconditions: Preconditions::default(),
    })
}

impl World {
    /// The rules of a deletion once more.
    pub(crate) fn delete(&mut self, name: &str) -> Said {
        self.turn(|world, revision| {
            if world.leases.remove(name).is_none() {
                return Said::Refused("NOT_FOUND");
            }
            world.hand_on(name, revision);
            if world.leases[name].held.is_none() {
                world.leases.remove(name);
                world.ended.retain(|it| it.lease != name);
            }
            Said::Done
        })
    }
}

impl Stage {
    fn deletes(&mut self, name: &str) {
        accepted(self.send(delete(name)));
    }
}

// Guarantee: L-02
#[test]
fn a_holder_whose_lease_was_deleted_finds_its_token_stale() {
    let mut stage = Stage::upgraded();
    let token = stage.takes("a", "h");
    let before = stage.lease(&key("a")).unwrap();
    stage.deletes("a");
    assert_eq!(stage.lease(&key("a")), None);
    refused(stage.send(renew("a", token)), ErrorKind::StaleEpoch);
    // Which is no error, since it has nothing to give up.
    assert!(!stage.send(release("a", "h", Some(token))).changed);
    refused(stage.send(delete("a")), ErrorKind::NotFound);
    stage.restart_from_checkpoint();

    let again = stage.takes("a", "h");
    assert!(again > token, "a token never comes back");
    let after = stage.lease(&key("a")).unwrap();
    assert_ne!(after.metadata.uid, before.metadata.uid);
    assert_eq!(after.transitions, 0);
    refused(stage.send(renew("a", token)), ErrorKind::StaleEpoch);
    accepted(stage.send(renew("a", again)));
}

// Guarantee: L-02
#[test]
fn who_waits_for_a_lease_has_a_new_one_when_it_is_deleted() {
    let mut stage = Stage::upgraded();
    let token = stage.takes("a", "h0");
    let before = stage.lease(&key("a")).unwrap();
    for waiter in ["h1", "h2"] {
        stage.queues("a", waiter);
    }
    stage.deletes("a");
    let (holder, next) = stage.holder("a").unwrap();
    assert_eq!(holder, "h1");
    assert!(next > token);
    assert_eq!(stage.waiting("a"), ["h2"]);
    let after = stage.lease(&key("a")).unwrap();
    assert_ne!(after.metadata.uid, before.metadata.uid);
    assert_eq!(
        (after.transitions, after.metadata.create_revision),
        (0, next.revision())
    );
    // One event tells of it all.
    let events = stage.events.last().unwrap();
    let told: Vec<_> = events
        .changes
        .iter()
        .filter_map(|change| change.of::<Lease>())
        .map(|ChangeOf { before, after, .. }| (before.cloned(), after.cloned()))
        .collect();
    assert_eq!(told, [(Some(before), Some(after))]);
    // The place of one that has given up is none.
    stage.pass(100_000);
    stage.deletes("a");
    assert_eq!(stage.lease(&key("a")), None);
}

#[test]
fn a_candidate_is_elected_when_the_lease_is_deleted() {
    let mut stage = Stage::upgraded();
    stage.takes("a", "stranger");
    accepted(stage.send(stand("a", "c1", "1.30.0", "1.31.0")));
    accepted(stage.send(stand("a", "c2", "1.29.0", "1.31.0")));
    stage.queues("a", "h1");
    stage.deletes("a");
    assert_eq!(stage.holder("a").unwrap().0, "c2");
    assert_eq!(stage.waiting("a"), ["h1"]);
    // While leases are off nobody gets one.
    accepted(stage.send(switch(Feature::Leases, Switch::Off)));
    stage.deletes("a");
    assert_eq!(stage.lease(&key("a")), None);
    accepted(stage.send(switch(Feature::Leases, Switch::On)));
    assert_eq!(stage.holder("a").unwrap().0, "c2");
}

#[test]
fn only_the_lease_that_is_meant_is_deleted() {
    let mut stage = Stage::upgraded();
    stage.takes("a", "h");
    let lease = stage.lease(&key("a")).unwrap();
    stage.takes("b", "h");
    let other = stage.lease(&key("b")).unwrap();
    let meant = |uid, resource_version| {
        Command::DeleteLease(DeleteLease {
            key: key("a"),
            preconditions: Preconditions {
                uid,
                resource_version,
            },
        })
    };
    let (uid, revision) = (lease.metadata.uid, lease.metadata.resource_version);
    let refusal = refused(
        stage.send(meant(Some(other.metadata.uid), None)),
        ErrorKind::Conflict,
    );
    assert!(refusal.message.contains("UID in precondition"), "{refusal}");
    refused(
        stage.send(meant(Some(uid), Some(revision.next()))),
        ErrorKind::Conflict,
    );
    accepted(stage.send(meant(Some(uid), Some(revision))));
    assert_eq!(stage.lease(&key("a")), None);
}

#[test]
fn a_free_lease_is_deleted_and_what_is_deleted_is_as_it_never_was() {
    let mut stage = Stage::upgraded();
    stage.takes("a", "h");
    stage.releases("a", "h");
    stage.deletes("a");
    assert_eq!(stage.lease(&key("a")), None);
    assert_eq!(
        stage.state.due(stage.state.log_time(), usize::MAX).holders,
        []
    );
    stage.pass(48 * 60 * 60 * 1_000);
    stage.expires();
    stage.takes("a", "h");
}

#[test]
fn a_deletion_waits_for_the_machine_version_that_knows_it() {
    let mut stage = Stage::formed();
    accepted(stage.send(acquire("a", "h", None)));
    let refusal = refused(stage.send(delete("a")), ErrorKind::Unavailable);
    assert!(refusal.message.contains("machine version 2"), "{refusal}");
    assert_eq!(refusal.metadata["not_executed"], "true");
}
