//! Histories while they are switched off.

use synod_machine::Command;
use synod_model::{
    ErrorKind, Feature, Mark, MarkControllerRevisions, MarkTie, Switch,
    TruncateControllerRevisions, Ttl,
};

use crate::raised::raised;
use crate::replica::{Replica, history, object_name, target, wanting};
use crate::switched::switch;

// Guarantee: U-04
#[test]
fn what_is_in_use_can_be_marked_while_histories_are_off_and_is_kept_when_they_are_on_again() {
    let mut replica = Replica::formed();
    for command in raised() {
        replica.done(command);
    }
    let wants = |state: u8| Command::CreateControllerRevision(wanting(0, target(state, 0), false));
    replica.done(wants(0));
    replica.done(wants(1));
    let kept = replica.history(0);
    replica.done(switch(Feature::Histories, Switch::Off));
    let truncates = |limit| {
        Command::TruncateControllerRevisions(TruncateControllerRevisions {
            history: history(0, false),
            limit,
            if_newest: None,
        })
    };
    for command in [wants(2), truncates(0)] {
        let refused = replica.send(command);
        assert!(!refused.changed);
        let refusal = refused.result.expect_err("histories are off");
        assert_eq!(refusal.kind, ErrorKind::SwitchedOff);
    }
    assert_eq!(replica.history(0), kept);
    // A marker that could not renew would find its snapshot deleted.
    let oldest = object_name(&kept[0].0);
    replica.done(Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history(0, false),
        current: Some(Mark::On(oldest)),
        update: None,
        in_use: None,
        tie: MarkTie::Renewals(Ttl::DEFAULT),
    }));
    replica.done(switch(Feature::Histories, Switch::On));
    replica.done(truncates(0));
    assert_eq!(replica.history(0).len(), 2, "one is marked, one the newest");
}
