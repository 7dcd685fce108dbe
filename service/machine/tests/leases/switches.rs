//! Leases while they are switched off: nobody gets one, nobody loses one early, and whoever waits is let go.

use synod_machine::{Command, Expire, FollowSwitches, QueuePlace, Row};
use synod_model::limits::{AFTERMATH_STEPS_MAX, LEASE_CONTENDERS_MAX};
use synod_model::{ErrorKind, Feature, Switch, Ttl};

use crate::deletion::delete;
use crate::raised::raised;
use crate::stage::{
    Stage, TTL_MS, accepted, acquire, key, refused, release, renew, renew_candidate, stand,
    withdraw,
};
use crate::switched::switch;

impl Stage {
    pub(crate) fn upgraded() -> Self {
        let mut stage = Self::formed();
        for command in raised() {
            accepted(stage.send(command));
        }
        stage
    }

    fn switches(&mut self, to: Switch) {
        accepted(self.send(switch(Feature::Leases, to)));
    }

    /// The leader sends what is left to follow from switches. Returns the number of commands.
    fn follows(&mut self) -> usize {
        let mut commands = 0;
        while self.state.aftermaths().next().is_some() {
            let before = self.places();
            accepted(self.send(Command::FollowSwitches(FollowSwitches {})));
            assert!(before - self.places() <= AFTERMATH_STEPS_MAX);
            commands += 1;
        }
        commands
    }

    /// The rows of places in queues, of waiters that wait and of others.
    fn places(&self) -> usize {
        let rows = self.state.rows();
        rows.filter(|row| matches!(row, Row::LeaseWaiter(..)))
            .count()
    }

    /// Leases that are held, each with as many waiters as may be.
    fn crowded(names: &[&str]) -> Self {
        let mut stage = Self::upgraded();
        for name in names {
            let mut commands = vec![acquire(name, "holder", None)];
            let waiters = 0..LEASE_CONTENDERS_MAX;
            commands
                .extend(waiters.map(|who| acquire(name, &format!("waiter-{who}"), Some(TTL_MS))));
            stage.send_all(commands).into_iter().for_each(|outcome| {
                accepted(outcome);
            });
        }
        stage
    }
}

const CROWDED: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

// Guarantee: U-05
#[test]
fn queues_end_at_once_and_their_rows_go_in_bounded_commands() {
    let mut stage = Stage::crowded(&CROWDED);
    accepted(stage.send(stand("z", "new", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("z", "old", "1.31.0", "1.31.0")));
    let key = key("i");
    let (first, _) = stage.state.lease_waiters(&key).next().unwrap();
    let all = stage.places();
    assert_eq!(all, CROWDED.len() * LEASE_CONTENDERS_MAX);
    stage.switches(Switch::Off);
    let left = stage.places();
    assert!(left > 0 && all - left <= AFTERMATH_STEPS_MAX, "{left} left");
    for name in CROWDED {
        assert!(stage.waiting(name).is_empty(), "{name}");
        assert_eq!(stage.state.lease_waiter_count(&crate::stage::key(name)), 0);
    }
    assert_eq!(stage.state.lease_place(&key, first), QueuePlace::Gone);
    // Its turn comes after the crowd's: until then it shows what it did.
    let preferred = |stage: &Stage| {
        stage
            .lease(&crate::stage::key("z"))
            .unwrap()
            .preferred
            .clone()
    };
    assert!(preferred(&stage).is_some());
    stage.restart_from_checkpoint();
    accepted(stage.send(release("i", "holder", None)));
    assert_eq!(stage.holder("i"), None, "nobody is given what is released");
    // A lease that nobody asks for is kept for as long as rows hang on it.
    let free = stage.lease(&key).unwrap().metadata.resource_version;
    stage.pass(Ttl::MAX.as_millis());
    accepted(stage.send(Command::Expire(Expire {
        leases: [(key.clone(), free)].into(),
        ..Expire::default()
    })));
    stage.restart_from_checkpoint();
    assert!(stage.lease(&key).is_some());
    assert!(stage.follows() >= left / AFTERMATH_STEPS_MAX);
    assert_eq!(stage.places(), 0);
    assert_eq!(preferred(&stage), None);
    assert!(
        !stage
            .send(Command::FollowSwitches(FollowSwitches {}))
            .changed
    );
}

#[test]
fn a_lease_that_is_deleted_takes_the_places_with_it_that_a_switch_has_ended() {
    let mut stage = Stage::crowded(&CROWDED);
    accepted(stage.send(stand("h", "candidate", "1.32.0", "1.32.0")));
    stage.switches(Switch::Off);
    let before = stage.places();
    for name in ["h", "i"] {
        accepted(stage.send(delete(name)));
        assert_eq!(stage.lease(&key(name)), None);
    }
    assert_eq!(before - stage.places(), 2 * LEASE_CONTENDERS_MAX);
    stage.restart_from_checkpoint();
    stage.switches(Switch::On);
    stage.follows();
    assert_eq!(stage.places(), 0);
    assert_eq!(stage.holder("h").unwrap().0, "candidate");
    assert_eq!(stage.lease(&key("i")), None);
}

// Guarantee: U-05
#[test]
fn a_place_that_a_switch_has_ended_gets_nothing_when_leases_are_on_before_its_row_is_gone() {
    let mut stage = Stage::crowded(&CROWDED);
    accepted(stage.send(stand("z", "new", "1.32.0", "1.32.0")));
    stage.switches(Switch::Off);
    accepted(stage.send(release("z", "new", None)));
    stage.switches(Switch::On);
    assert!(stage.places() > 0);
    // Whoever was told that leases are off has stopped to wait. It may ask again, behind others.
    let other = stage.queues("i", "other");
    let again = stage.queues("i", "waiter-0");
    assert!(again > other);
    assert_eq!(stage.waiting("i"), ["other", "waiter-0"]);
    let place = stage.state.lease_place(&key("i"), again);
    assert_eq!(place, QueuePlace::Waiting { ahead: 1 });
    accepted(stage.send(release("i", "holder", None)));
    assert_eq!(stage.holder("i").unwrap().0, "other");
    // A candidate gets its lease when its turn comes; until then, whoever asks does.
    assert_eq!(stage.holder("z"), None);
    stage.takes("z", "guest");
    let preferred = stage.lease(&key("z")).unwrap().preferred.clone();
    assert_eq!(preferred.unwrap().to_string(), "new");
    // Who held an ended place has no more right to a new one than others.
    accepted(stage.send(acquire("h", "first-of-all", Some(TTL_MS))));
    let again = (0..LEASE_CONTENDERS_MAX).map(|who| format!("waiter-{who}"));
    let again = again.map(|who| acquire("h", &who, Some(TTL_MS)));
    let mut outcomes = stage.send_all(again.collect());
    refused(outcomes.pop().unwrap(), ErrorKind::Quota);
    outcomes.into_iter().for_each(|outcome| {
        accepted(outcome);
    });
    assert_eq!(stage.waiting("h").len(), LEASE_CONTENDERS_MAX);
    let mut other_order = stage.restarted();
    stage.follows();
    other_order.follows();
    assert_eq!(stage.state.digest(), other_order.state.digest());
    assert_eq!(stage.places(), 1 + LEASE_CONTENDERS_MAX, "these wait again");
    accepted(stage.send(release("i", "other", None)));
    assert_eq!(stage.holder("i").unwrap().0, "waiter-0");
}

// Guarantee: U-04
#[test]
fn a_hold_ends_at_its_deadline_and_its_token_fences_until_then_and_after() {
    let mut stage = Stage::upgraded();
    let token = stage.takes("lock", "a");
    stage.switches(Switch::Off);
    refused(stage.send(renew("lock", token)), ErrorKind::SwitchedOff);
    refused(
        stage.send(acquire("lock", "a", None)),
        ErrorKind::SwitchedOff,
    );
    refused(
        stage.send(acquire("free", "b", None)),
        ErrorKind::SwitchedOff,
    );
    stage.pass(TTL_MS - 1);
    stage.expires();
    assert!(stage.state.holds_lease(&key("lock"), token).is_ok());
    stage.pass(1);
    stage.expires();
    assert_eq!(stage.holder("lock"), None);
    assert!(stage.state.holds_lease(&key("lock"), token).is_err());
    stage.switches(Switch::On);
    let next = stage.takes("lock", "b");
    assert!(next > token, "a token is never given twice");
}

// Guarantee: U-04
#[test]
fn a_holder_may_release_and_nobody_gets_what_it_released() {
    let mut stage = Stage::upgraded();
    stage.takes("lock", "a");
    let ticket = stage.queues("lock", "b");
    stage.switches(Switch::Off);
    // The call that waits hears of it at once, instead of a lease that it may not have.
    let place = stage.state.lease_place(&key("lock"), ticket);
    assert_eq!(place, QueuePlace::Gone);
    accepted(stage.send(release("lock", "a", None)));
    assert_eq!(stage.holder("lock"), None);
    assert!(stage.waiting("lock").is_empty());
    stage.switches(Switch::On);
    assert_eq!(stage.holder("lock"), None);
}

#[test]
fn candidates_are_elected_when_leases_are_on_again_and_not_before() {
    let mut stage = Stage::upgraded();
    accepted(stage.send(stand("leader", "new", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("leader", "old", "1.31.0", "1.31.0")));
    accepted(stage.send(stand("leader", "gone", "1.31.0", "1.30.0")));
    let preferred = |stage: &Stage| stage.lease(&key("leader")).unwrap().preferred.clone();
    assert!(preferred(&stage).is_some());
    stage.switches(Switch::Off);
    assert_eq!(
        preferred(&stage),
        None,
        "a holder that gave way would leave the lease free"
    );
    refused(
        stage.send(stand("leader", "third", "1.30.0", "1.30.0")),
        ErrorKind::SwitchedOff,
    );
    refused(
        stage.send(renew_candidate("leader", "old")),
        ErrorKind::SwitchedOff,
    );
    accepted(stage.send(withdraw("leader", "gone")));
    accepted(stage.send(release("leader", "new", None)));
    assert_eq!(stage.holder("leader"), None);
    stage.restart_from_checkpoint();
    stage.switches(Switch::On);
    assert_eq!(stage.holder("leader").unwrap().0, "old");
}

#[test]
fn candidates_that_cannot_renew_go_at_their_deadlines() {
    let mut stage = Stage::upgraded();
    accepted(stage.send(stand("leader", "a", "1.32.0", "1.32.0")));
    stage.switches(Switch::Off);
    stage.pass(TTL_MS);
    stage.expires();
    stage.switches(Switch::On);
    assert_eq!(stage.holder("leader"), None);
}
