//! Leases with candidates: the candidates' strategy chooses the holder.

use synod_machine::Command;
use synod_model::limits::LEASE_CONTENDERS_MAX;
use synod_model::{ErrorKind, FencingToken, PutLeaseCandidate};

use crate::stage::{
    Stage, TTL_MS, accepted, key, refused, renew, renew_candidate, stand, stand_by, ttl, withdraw,
};

fn preferred(stage: &Stage, name: &str) -> Option<String> {
    let lease = stage.lease(&key(name))?;
    lease.preferred.as_ref().map(ToString::to_string)
}

#[test]
fn the_first_candidate_has_the_lease_in_the_command_in_which_it_stands() {
    let mut stage = Stage::formed();
    let outcome = stage.send(stand("leader", "a", "1.31.0", "1.32.0"));
    let token = FencingToken::new(outcome.revision);
    assert_eq!(stage.holder("leader"), Some(("a".to_owned(), token)));
    assert_eq!(preferred(&stage, "leader"), None);
}

// Guarantee: L-10
#[test]
fn a_better_candidate_is_preferred_and_has_the_lease_when_its_holder_lets_go() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "new", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("leader", "old", "1.31.0", "1.31.0")));
    assert_eq!(
        stage.holder("leader").unwrap().0,
        "new",
        "a holder is not robbed"
    );
    assert_eq!(preferred(&stage, "leader"), Some("old".to_owned()));
    stage.releases("leader", "new");
    assert_eq!(stage.holder("leader").unwrap().0, "old");
    assert_eq!(preferred(&stage, "leader"), None);
}

#[test]
fn a_candidate_that_does_not_renew_is_not_chosen() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "new", "1.32.0", "1.32.0")));
    let token = stage.holder("leader").unwrap().1;
    accepted(stage.send(stand("leader", "old", "1.31.0", "1.31.0")));
    stage.pass(TTL_MS - 1);
    let before = stage.state.revision();
    accepted(stage.send(renew_candidate("leader", "new")));
    accepted(stage.send(renew("leader", token)));
    assert_eq!(stage.state.revision(), before, "renewals change nothing");
    stage.pass(1);
    stage.expires();
    assert_eq!(preferred(&stage, "leader"), None);
    assert_eq!(stage.holder("leader").unwrap().0, "new");
    refused(
        stage.send(renew_candidate("leader", "old")),
        ErrorKind::NotFound,
    );
}

#[test]
fn a_candidate_that_stands_again_for_a_shorter_time_stands_as_long_as_it_was_told() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "new", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("leader", "old", "1.31.0", "1.31.0")));
    let Command::PutLeaseCandidate(put) = stand("leader", "old", "1.31.0", "1.31.0") else {
        unreachable!("who stands is put in")
    };
    let shortly = PutLeaseCandidate {
        ttl: ttl(1_000),
        ..put
    };
    accepted(stage.send(Command::PutLeaseCandidate(shortly)));
    stage.pass(TTL_MS - 1);
    stage.expires();
    assert_eq!(preferred(&stage, "leader").as_deref(), Some("old"));
}

#[test]
fn one_who_only_wants_the_lease_waits_behind_the_candidates() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "a", "1.31.0", "1.31.0")));
    accepted(stage.send(stand("leader", "b", "1.32.0", "1.32.0")));
    stage.queues("leader", "outsider");
    accepted(stage.send(withdraw("leader", "a")));
    stage.releases("leader", "a");
    assert_eq!(stage.holder("leader").unwrap().0, "b");
    accepted(stage.send(withdraw("leader", "b")));
    assert_eq!(
        stage.holder("leader").unwrap().0,
        "b",
        "it keeps what it holds"
    );
    stage.releases("leader", "b");
    assert_eq!(stage.holder("leader").unwrap().0, "outsider");
}

#[test]
fn where_strategies_disagree_or_are_unknown_the_lease_is_whose_turn_it_is() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand_by(
        "example.com/mine",
        "leader",
        "a",
        "1.31.0",
        "1.31.0",
    )));
    assert!(stage.lease(&key("leader")).is_none(), "nobody is chosen");
    stage.takes("leader", "x");
    stage.queues("leader", "y");
    accepted(stage.send(stand("leader", "b", "1.31.0", "1.31.0")));
    assert_eq!(preferred(&stage, "leader"), None, "they disagree");
    stage.releases("leader", "x");
    assert_eq!(stage.holder("leader").unwrap().0, "y");
    accepted(stage.send(stand("leader", "c", "1.32.0", "1.33.0")));
    assert_eq!(
        preferred(&stage, "leader"),
        Some("a".to_owned()),
        "the highest binary version decides by which strategy all of them are compared"
    );
}

#[test]
fn a_candidate_that_says_something_else_of_itself_may_be_chosen_then() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "a", "1.32.0", "1.32.0")));
    accepted(stage.send(stand("leader", "b", "1.33.0", "1.33.0")));
    let before = stage.state.revision();
    let same = stage.send(stand("leader", "b", "1.33.0", "1.33.0"));
    assert!(!same.changed);
    assert_eq!(stage.state.revision(), before);
    assert!(stage.send(stand("leader", "b", "1.31.0", "1.33.0")).changed);
    assert_eq!(preferred(&stage, "leader"), Some("b".to_owned()));
    let candidate = stage
        .state
        .present()
        .lease_candidates(&key("leader"))
        .last();
    assert_eq!(candidate.unwrap().metadata.generation, 2);
}

#[test]
fn past_candidates_are_read_as_they_were() {
    let mut stage = Stage::formed();
    accepted(stage.send(stand("leader", "a", "1.32.0", "1.32.0")));
    let then = stage.state.revision();
    accepted(stage.send(stand("leader", "b", "1.31.0", "1.32.0")));
    accepted(stage.send(withdraw("leader", "a")));
    let names = |revision| {
        let past = stage.state.at(revision).unwrap();
        let key = key("leader");
        let standing = past.lease_candidates(&key);
        standing
            .map(|it| it.identity.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(then), ["a"]);
    assert_eq!(names(then.next()), ["a", "b"]);
    assert_eq!(names(stage.state.revision()), ["b"]);
    let past = stage.state.at(then).unwrap();
    assert_eq!(past.lease(&key("leader")).unwrap().preferred, None);
}

#[test]
fn candidates_have_their_limit() {
    let mut stage = Stage::formed();
    for i in 0..LEASE_CONTENDERS_MAX {
        accepted(stage.send(stand("leader", &format!("c{i}"), "1.31.0", "1.31.0")));
    }
    refused(
        stage.send(stand("leader", "late", "1.31.0", "1.31.0")),
        ErrorKind::Quota,
    );
    accepted(stage.send(stand("leader", "c0", "1.30.0", "1.31.0")));
}
