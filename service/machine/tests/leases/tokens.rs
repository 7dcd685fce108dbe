//! Holders of leases: who holds one, for how long, and which token proves it.

use synod_machine::{Answer, Command, Expire, QueuePlace, Row};
use synod_model::limits::LEASE_CONTENDERS_MAX;
use synod_model::{
    AcquireLease, Current, ErrorKind, FencingToken, OpenSession, RequestId, Revision, Sequence,
    SettingsPatch, UpdateSettings,
};

use crate::stage::{
    Stage, TTL_MS, accepted, acquire, acquire_as, key, refused, release, renew, stand, ttl,
};

// Guarantee: L-01
#[test]
fn a_token_is_the_revision_that_gave_the_lease_and_a_later_one_is_higher() {
    let mut stage = Stage::formed();
    let first = stage.takes("lock", "a");
    assert_eq!(first.revision(), stage.state.revision());
    stage.releases("lock", "a");
    let second = stage.takes("lock", "a");
    assert!(second > first);
    let lease = stage.lease(&key("lock")).unwrap();
    assert_eq!(lease.transitions, 1);
    assert_eq!(lease.metadata.resource_version, second.revision());
    assert_eq!(lease.metadata.create_revision, first.revision());
}

#[test]
fn who_holds_a_lease_keeps_its_token_when_it_asks_again() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    let before = stage.state.revision();
    stage.pass(TTL_MS - 1);
    let again = accepted(stage.send(acquire("lock", "a", None)));
    let held = Answer::LeaseHeld {
        token,
        ttl: ttl(TTL_MS),
    };
    assert_eq!(again, held);
    assert_eq!(stage.state.revision(), before, "nothing changed");
    stage.pass(TTL_MS - 1);
    assert_eq!(stage.due(), Expire::default(), "asking has renewed it");
}

/// As `acquire`, with a TTL of one second.
fn acquire_shortly(name: &str, identity: &str) -> Command {
    match acquire(name, identity, None) {
        Command::AcquireLease(acquire) => Command::AcquireLease(AcquireLease {
            ttl: ttl(1_000),
            ..acquire
        }),
        other => other,
    }
}

// Guarantee: M-03
#[test]
fn asking_again_for_a_shorter_time_takes_nothing_back_of_what_was_promised() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    stage.pass(1_000);
    let again = accepted(stage.send(acquire_shortly("lock", "a")));
    let held = Answer::LeaseHeld {
        token,
        ttl: ttl(1_000),
    };
    assert_eq!(again, held);
    accepted(stage.send(renew("lock", token)));
    stage.pass(TTL_MS - 1);
    stage.expires();
    assert_eq!(
        stage.holder("lock"),
        Some(("a".to_owned(), token)),
        "it acts on what it was told before, perhaps by the leader alone"
    );
    stage.pass(1);
    stage.expires();
    assert_eq!(stage.holder("lock"), None);
    // The next holder was promised nothing.
    accepted(stage.send(acquire_shortly("lock", "b")));
    stage.pass(1_000);
    stage.expires();
    assert_eq!(stage.holder("lock"), None);
}

#[test]
fn another_who_does_not_wait_is_told_who_holds_it() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    let refusal = refused(stage.send(acquire("lock", "b", None)), ErrorKind::Conflict);
    let Some(Current::Lease(lease)) = refusal.current.as_deref() else {
        panic!("the lease comes with the refusal")
    };
    assert_eq!(lease.hold.as_ref().unwrap().holder.as_str(), "a");
}

#[test]
fn a_renewal_moves_the_deadline_and_neither_the_revision_nor_the_lease() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    let (revision, lease) = (stage.state.revision(), stage.lease(&key("lock")));
    stage.pass(TTL_MS - 1);
    let outcome = stage.send(renew("lock", token));
    assert!(!outcome.changed);
    stage.pass(TTL_MS - 1);
    stage.expires();
    assert_eq!(
        (stage.state.revision(), stage.lease(&key("lock"))),
        (revision, lease)
    );
    stage.pass(1);
    stage.expires();
    assert_eq!(stage.holder("lock"), None);
}

#[test]
fn a_renewal_that_is_earlier_in_the_log_wins_over_an_expiry() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    stage.pass(TTL_MS);
    let due = stage.due();
    assert_eq!(due.leases.len(), 1);
    stage.send(renew("lock", token));
    accepted(stage.send(Command::Expire(due)));
    assert_eq!(stage.holder("lock"), Some(("a".to_owned(), token)));
}

#[test]
fn a_new_leader_gives_every_holder_a_whole_ttl() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    stage.pass(TTL_MS - 1);
    stage.elect();
    stage.takes("other", "b");
    stage.pass(TTL_MS - 1);
    assert_eq!(stage.due(), Expire::default());
}

// Guarantee: L-03
#[test]
fn a_lost_token_proves_nothing_and_cannot_be_renewed() {
    let mut stage = Stage::formed();
    let lost = stage.takes("lock", "a");
    stage.pass(TTL_MS);
    stage.expires();
    refused(stage.send(renew("lock", lost)), ErrorKind::StaleEpoch);
    let token = stage.takes("lock", "b");
    for stale in [lost, FencingToken::new(Revision::new(token.get() + 1))] {
        let refusal = refused(stage.send(renew("lock", stale)), ErrorKind::StaleEpoch);
        assert!(refusal.current.is_some());
        assert!(stage.state.holds_lease(&key("lock"), stale).is_err());
    }
    assert!(stage.state.holds_lease(&key("lock"), token).is_ok());
    assert!(stage.state.holds_lease(&key("none"), token).is_err());
}

#[test]
fn whoever_has_a_lease_after_an_expiry_has_it_by_a_higher_token() {
    let mut stage = Stage::formed();
    let mut lost = stage.takes("lock", "a");
    let mut passes_on = |stage: &mut Stage, to: &str| {
        let (holder, token) = stage.holder("lock").unwrap();
        assert_eq!(holder, to);
        assert!(token > lost, "{to} has {token} after {lost}");
        assert_eq!(token.revision(), stage.state.revision());
        // The old token is refused, although the same holder has the lease again.
        assert!(stage.state.holds_lease(&key("lock"), lost).is_err());
        refused(stage.send(renew("lock", lost)), ErrorKind::StaleEpoch);
        lost = token;
    };
    // In the expiry itself, to the next waiter.
    stage.pass(1);
    stage.queues("lock", "b");
    stage.pass(TTL_MS - 1);
    stage.expires();
    passes_on(&mut stage, "b");
    // After it, to the same holder.
    stage.pass(TTL_MS);
    stage.expires();
    assert_eq!(stage.holder("lock"), None);
    stage.takes("lock", "b");
    passes_on(&mut stage, "b");
    // After it and a start from a checkpoint, to another.
    stage.pass(TTL_MS);
    stage.expires();
    stage.restart_from_checkpoint();
    stage.takes("lock", "c");
    passes_on(&mut stage, "c");
    // In the expiry itself, to the elected candidate.
    stage.pass(1);
    stage.send(stand("lock", "d", "1.0.0", "1.0.0"));
    stage.pass(TTL_MS - 1);
    stage.expires();
    passes_on(&mut stage, "d");
}

#[test]
fn releasing_by_a_token_that_is_lost_takes_the_lease_from_nobody() {
    let mut stage = Stage::formed();
    let lost = stage.takes("lock", "a");
    stage.releases("lock", "a");
    let token = stage.takes("lock", "a");
    let outcome = stage.send(release("lock", "a", Some(lost)));
    assert!(!outcome.changed);
    stage.releases("lock", "b");
    assert_eq!(stage.holder("lock"), Some(("a".to_owned(), token)));
    assert!(stage.send(release("lock", "a", Some(token))).changed);
    assert_eq!(stage.holder("lock"), None);
}

#[test]
fn a_free_lease_is_forgotten_after_the_longest_ttl_and_not_before() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    stage.releases("lock", "a");
    stage.pass(24 * 60 * 60 * 1_000 - 1);
    stage.expires();
    assert!(stage.lease(&key("lock")).is_some());
    stage.pass(1);
    stage.expires();
    assert!(stage.lease(&key("lock")).is_none());
    let mut rows = stage.state.rows();
    assert!(!rows.any(|row| matches!(row, Row::Lease(_))));
}

#[test]
fn a_lease_that_was_given_anew_is_not_meant_by_an_older_expiry() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    stage.pass(TTL_MS);
    let due = stage.due();
    stage.releases("lock", "a");
    let token = stage.takes("lock", "b");
    stage.pass(TTL_MS);
    accepted(stage.send(Command::Expire(due)));
    assert_eq!(stage.holder("lock"), Some(("b".to_owned(), token)));
}

#[test]
fn a_hold_ends_with_the_epoch_of_its_member() {
    let mut stage = Stage::formed();
    let epoch = stage.joins("m", "one");
    let before = stage.state.revision();
    accepted(stage.send(acquire_as("lock", "a", "m", epoch)));
    accepted(stage.send(acquire_as("other", "a", "m", epoch)));
    stage.queues("lock", "b");
    stage.leaves("m", epoch);
    assert_eq!(stage.holder("lock").unwrap().0, "b", "who waited has it");
    assert_eq!(stage.holder("other"), None);
    assert_eq!(
        stage.state.revision(),
        Revision::new(before.get() + 4),
        "all of it at the revision of the departure"
    );
    refused(
        stage.send(acquire_as("third", "a", "m", epoch)),
        ErrorKind::NotAMember,
    );

    let first = stage.joins("m", "two");
    accepted(stage.send(acquire_as("other", "a", "m", first)));
    let second = stage.joins("m", "three");
    assert_eq!(stage.holder("other"), None, "another process is the member");
    refused(
        stage.send(acquire_as("other", "a", "m", first)),
        ErrorKind::StaleEpoch,
    );
    accepted(stage.send(acquire_as("other", "a", "m", second)));
}

#[test]
fn a_retry_of_a_request_has_the_token_of_the_first_try() {
    let mut stage = Stage::formed();
    let Answer::SessionOpened(session) = accepted(stage.send(Command::OpenSession(OpenSession {})))
    else {
        panic!("opening a session answers its id")
    };
    let request = |number| {
        let sequence = Sequence::new(number).unwrap();
        Some(RequestId::new(session, sequence, Sequence::FIRST).unwrap())
    };
    let first = stage.send_as(request(1), acquire("lock", "a", None));
    let queued = stage.send_as(request(2), acquire("lock", "b", Some(TTL_MS)));
    stage.restart_from_checkpoint();
    stage.elect();
    assert_eq!(stage.send_as(request(1), acquire("lock", "a", None)), first);
    let Answer::LeaseQueued(ticket) = accepted(queued.clone()) else {
        panic!("another has the lease")
    };
    let place = stage.state.lease_place(&key("lock"), ticket);
    assert_eq!(place, QueuePlace::Waiting { ahead: 0 });
    stage.releases("lock", "a");
    assert_eq!(
        stage.send_as(request(2), acquire("lock", "b", Some(TTL_MS))),
        queued
    );
    let token = stage.holder("lock").unwrap().1;
    assert_eq!(
        stage.state.lease_place(&key("lock"), ticket),
        QueuePlace::Held(token)
    );
}

#[test]
fn a_full_state_takes_no_new_lease_and_no_new_waiter_and_keeps_those_it_has() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    stage.takes("free", "a");
    stage.releases("free", "a");
    stage.queues("lock", "b");
    let patch = SettingsPatch {
        state_quota_bytes: Some(64 << 20),
        ..SettingsPatch::default()
    };
    let update = UpdateSettings {
        patch,
        if_revision: None,
    };
    accepted(stage.send(Command::UpdateSettings(update)));
    assert!(stage.state.is_full());
    refused(stage.send(acquire("new", "a", None)), ErrorKind::Quota);
    refused(
        stage.send(acquire("lock", "c", Some(TTL_MS))),
        ErrorKind::Quota,
    );
    stage.takes("free", "c");
    stage.queues("lock", "b");
    accepted(stage.send(renew("lock", token)));
    stage.releases("lock", "a");
    assert_eq!(stage.holder("lock").unwrap().0, "b");
}

#[test]
fn a_queue_has_its_limit() {
    let mut stage = Stage::formed();
    stage.takes("lock", "holder");
    for i in 0..LEASE_CONTENDERS_MAX {
        stage.queues("lock", &format!("w{i}"));
    }
    refused(
        stage.send(acquire("lock", "late", Some(TTL_MS))),
        ErrorKind::Quota,
    );
    stage.queues("lock", "w0");
    stage.releases("lock", "w1");
    stage.queues("lock", "late");
    assert_eq!(stage.waiting("lock").len(), LEASE_CONTENDERS_MAX);
}
