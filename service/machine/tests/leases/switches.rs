//! Leases while they are switched off: nobody gets one, nobody loses one early, and whoever waits is let go.

use synod_machine::QueuePlace;
use synod_model::{ErrorKind, Feature, Switch};

use crate::raised::raised;
use crate::stage::{
    Stage, TTL_MS, accepted, acquire, key, refused, release, renew, renew_candidate, stand,
    withdraw,
};
use crate::switched::switch;

impl Stage {
    fn upgraded() -> Self {
        let mut stage = Self::formed();
        for command in raised() {
            accepted(stage.send(command));
        }
        stage
    }

    fn switches(&mut self, to: Switch) {
        accepted(self.send(switch(Feature::Leases, to)));
    }
}

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
