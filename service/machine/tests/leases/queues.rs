//! Queues for leases: who waits, and who gets the lease next.

use synod_machine::{Answer, Command, QueuePlace};
use synod_model::{FencingToken, Lease, Ticket};

use crate::stage::{Stage, TTL_MS, accepted, acquire, acquire_as, key, release, renew};

#[test]
fn a_lease_goes_to_those_who_wait_in_the_order_in_which_they_came() {
    let mut stage = Stage::formed();
    stage.takes("lock", "z");
    for waiter in ["c", "a", "b"] {
        stage.queues("lock", waiter);
    }
    assert_eq!(stage.waiting("lock"), ["c", "a", "b"]);
    let mut last = "z".to_owned();
    for expected in ["c", "a", "b"] {
        let before = stage.state.revision();
        stage.releases("lock", &last);
        let (holder, token) = stage.holder("lock").unwrap();
        assert_eq!(holder, expected);
        assert_eq!(
            token.revision(),
            before.next(),
            "in the command that freed it"
        );
        last = holder;
    }
    stage.releases("lock", &last);
    assert_eq!(stage.holder("lock"), None);
}

// Guarantee: L-06
#[test]
fn an_expiry_hands_the_lease_on_in_the_same_command() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    stage.pass(TTL_MS / 2);
    let ticket = stage.queues("lock", "b");
    stage.pass(TTL_MS / 2);
    let outcome = stage.expires();
    let token = FencingToken::new(outcome.revision);
    assert_eq!(stage.holder("lock"), Some(("b".to_owned(), token)));
    assert_eq!(
        stage.state.lease_place(&key("lock"), ticket),
        QueuePlace::Held(token)
    );
    let lease = stage.lease(&key("lock")).unwrap();
    assert_eq!(lease.hold.as_ref().unwrap().ticket, Some(ticket));
    assert_eq!(lease.transitions, 1);
}

/// The leases that the last command changed, in the order of its events, with their new holders.
fn last_changes(stage: &Stage) -> Vec<(String, Option<String>)> {
    let events = stage.events.last().unwrap();
    assert_eq!(events.revision, stage.state.revision());
    let changes = events.changes.iter().map(|change| {
        let change = change
            .of::<Lease>()
            .expect("nothing but leases changed here");
        let hold = change.after.and_then(|lease| lease.hold.as_ref());
        let holder = hold.map(|hold| hold.holder.to_string());
        (change.key.to_string(), holder)
    });
    changes.collect()
}

#[test]
fn leases_that_expire_in_one_command_are_passed_on_in_the_order_of_their_keys() {
    // In any order of the deadlines, on a replica that ran all the time and on one that began with a checkpoint.
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
        let mut stage = Stage::formed();
        for name in order {
            stage.takes(name, "holder");
            stage.pass(1);
        }
        stage.queues("c", "next-of-c");
        stage.queues("a", "next-of-a");
        stage.pass(TTL_MS - 1);
        let due = stage.due();
        assert_eq!(due.leases.len(), 3);
        let mut restarted = stage.restarted();
        for stage in [&mut stage, &mut restarted] {
            let answer = accepted(stage.send(Command::Expire(due.clone())));
            assert!(matches!(answer, Answer::Expired { leases: 3, .. }));
            let named = |name: &str, holder: Option<&str>| {
                (format!("default/{name}"), holder.map(ToOwned::to_owned))
            };
            let expected = [
                named("a", Some("next-of-a")),
                named("b", None),
                named("c", Some("next-of-c")),
            ];
            assert_eq!(
                last_changes(stage),
                expected,
                "taken in the order {order:?}"
            );
        }
        // The digest covers the history, and so the order of events.
        assert_eq!(stage.state.digest(), restarted.state.digest());
    }
}

#[test]
fn who_asks_again_keeps_its_place_and_is_known_to_be_there() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    let ticket = stage.queues("lock", "b");
    stage.queues("lock", "c");
    for _ in 0..5 {
        stage.pass(TTL_MS - 1);
        accepted(stage.send(renew("lock", token)));
        let revision = stage.state.revision();
        assert_eq!(stage.queues("lock", "b"), ticket);
        assert_eq!(stage.state.revision(), revision, "nothing changed");
        stage.expires();
    }
    assert_eq!(
        stage.waiting("lock"),
        ["b"],
        "who did not ask again is gone"
    );
}

// Guarantee: L-07
#[test]
fn the_dead_are_passed_over_and_do_not_keep_the_lease_from_the_others() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    stage.queues("lock", "dead");
    stage.pass(TTL_MS - 1);
    stage.queues("lock", "alive");
    stage.pass(1);
    // The leader has not expired the waiter yet: its place has expired all the same.
    assert_eq!(stage.waiting("lock"), ["dead", "alive"]);
    stage.releases("lock", "a");
    assert_eq!(stage.holder("lock").unwrap().0, "alive");
    assert!(stage.waiting("lock").is_empty());
}

#[test]
fn a_waiter_whose_member_is_gone_is_passed_over() {
    let mut stage = Stage::formed();
    let epoch = stage.joins("m", "one");
    stage.takes("lock", "a");
    accepted(stage.send(acquire_as("lock", "b", "m", epoch)));
    stage.queues("lock", "c");
    stage.leaves("m", epoch);
    stage.releases("lock", "a");
    assert_eq!(stage.holder("lock").unwrap().0, "c");
}

#[test]
fn a_queue_survives_a_change_of_leader_and_a_start_from_a_checkpoint() {
    let mut stage = Stage::formed();
    let token = stage.takes("lock", "a");
    let tickets: Vec<Ticket> = ["b", "c"]
        .iter()
        .map(|who| stage.queues("lock", who))
        .collect();
    stage.pass(TTL_MS - 1);
    stage.elect();
    stage.restart_from_checkpoint();
    accepted(stage.send(renew("lock", token)));
    stage.pass(TTL_MS - 1);
    stage.expires();
    assert_eq!(
        stage.waiting("lock"),
        ["b", "c"],
        "a new leader gives a whole wait"
    );
    assert_eq!(stage.queues("lock", "b"), tickets[0]);
    stage.releases("lock", "a");
    assert_eq!(stage.holder("lock").unwrap().0, "b");
}

#[test]
fn who_gives_up_waiting_is_not_given_the_lease() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    let ticket = stage.queues("lock", "b");
    let outcome = stage.releases("lock", "b");
    assert!(outcome.changed);
    assert_eq!(
        stage.state.lease_place(&key("lock"), ticket),
        QueuePlace::Gone
    );
    assert!(!stage.releases("lock", "b").changed);
    stage.releases("lock", "a");
    assert_eq!(stage.holder("lock"), None);
}

#[test]
fn a_release_by_token_leaves_the_place_of_one_who_waits_again() {
    let mut stage = Stage::formed();
    let lost = stage.takes("lock", "a");
    stage.queues("lock", "b");
    stage.pass(TTL_MS - 1);
    stage.queues("lock", "b");
    stage.pass(1);
    stage.expires();
    stage.queues("lock", "a");
    stage.send(release("lock", "a", Some(lost)));
    assert_eq!(stage.waiting("lock"), ["a"]);
}

#[test]
fn waiting_wakes_no_watcher_and_a_handover_is_one_event() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    let before = stage.events.len();
    stage.queues("lock", "b");
    stage.queues("lock", "c");
    let changes = |stage: &Stage, from: usize| {
        let events = stage.events[from..].iter();
        events.map(|events| events.changes.len()).sum::<usize>()
    };
    assert_eq!(changes(&stage, before), 0);
    let before = stage.events.len();
    stage.releases("lock", "a");
    assert_eq!(changes(&stage, before), 1);
}

#[test]
fn leases_of_one_name_in_two_namespaces_have_nothing_to_do_with_each_other() {
    let mut stage = Stage::formed();
    stage.takes("lock", "a");
    let elsewhere = synod_model::LeaseKey::new("elsewhere", "lock").unwrap();
    let Command::AcquireLease(here) = acquire("lock", "b", None) else {
        unreachable!("it is an acquisition")
    };
    accepted(stage.send(Command::AcquireLease(synod_model::AcquireLease {
        key: elsewhere,
        ..here
    })));
    let present = stage.state.present();
    let named = |namespace| {
        let leases = present.leases(namespace, None);
        leases
            .map(|lease| lease.key.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(named(None), ["default/lock", "elsewhere/lock"]);
    assert_eq!(named(Some("default")), ["default/lock"]);
    assert_eq!(named(Some("else")), Vec::<String>::new());
    let after = |namespace, after| present.leases(namespace, Some(&after)).count();
    assert_eq!(after(None, key("lock")), 1);
    assert_eq!(after(Some("elsewhere"), key("lock")), 1);
    assert_eq!(after(Some("default"), key("zz")), 0);
    assert_eq!(after(Some("aaa"), key("lock")), 0);
}
