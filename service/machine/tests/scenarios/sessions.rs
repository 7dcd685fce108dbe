//! Exactly-once sessions: which outcomes a session keeps, and for how long.

use std::time::Duration;

use synod_machine::{Answer, Command, Outcome, Recorded};
use synod_model::{CloseSession, ErrorKind, Revision, SessionId, SettingsPatch, UpdateSettings};

use crate::cluster::{
    Cluster, TTL, accepted, join, leave, number, refused, renew, report, request,
};
use crate::entry::{release, resource};

const MINUTE: Duration = Duration::from_secs(60);

fn join_of(id: &str) -> Command {
    Command::Join(join(id, "first"))
}

/// A command that changes something each time it is executed.
fn open_another() -> Command {
    Command::OpenSession(synod_model::OpenSession {})
}

fn recorded(cluster: &Cluster, session: SessionId, sequence: u64) -> Recorded {
    cluster.state.recorded(session, number(sequence))
}

#[test]
fn a_session_is_known_by_the_revision_that_opened_it() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    assert_eq!(session, SessionId::new(cluster.revision()));
    let other = cluster.opens_session();
    assert!(other > session);
    assert_eq!(cluster.state.session_count(), 2);
}

#[test]
fn a_retry_gets_the_first_outcome_and_changes_nothing() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let first = cluster.send_as(request(session, 1, 1), open_another());
    assert!(first.changed);
    let rows = |cluster: &Cluster| cluster.state.rows().collect::<Vec<_>>();
    let before = rows(&cluster);
    for _ in 0..3 {
        assert_eq!(
            cluster.send_as(request(session, 1, 1), open_another()),
            first
        );
    }
    assert_eq!(rows(&cluster), before);
    assert_eq!(recorded(&cluster, session, 1), Recorded::Applied(first));
}

#[test]
fn a_retry_gets_its_outcome_whatever_has_happened_since() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let first = cluster.send_as(request(session, 1, 1), join_of("a"));
    let Answer::Joined { .. } = accepted(first.clone()) else {
        panic!("a join answers an epoch");
    };
    cluster.pass(TTL);
    cluster.expires();
    cluster.elect();
    assert_eq!(cluster.send_as(request(session, 1, 1), join_of("a")), first);
    assert_eq!(cluster.state.member_count(), 0, "it did not join again");
}

// Guarantee: W-06
#[test]
fn a_retry_gets_its_outcome_from_a_replica_that_started_from_a_checkpoint() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let session = cluster.opens_session();
    let told = cluster.send_as(
        request(session, 1, 1),
        report(&a, &[release::second()], false),
    );
    let no = cluster.send_as(
        request(session, 2, 1),
        report(&a, &[release::fourth()], false),
    );
    let told_later = cluster.send_as(request(session, 3, 1), leave(&a, false));
    cluster.restart_from_checkpoint();
    let again = |cluster: &mut Cluster, sequence| {
        let request = request(session, sequence, 1);
        cluster.send_as(request, open_another())
    };
    assert_eq!(again(&mut cluster, 1), told);
    assert_eq!(again(&mut cluster, 2), no);
    assert_eq!(again(&mut cluster, 3), told_later);
    let fresh = again(&mut cluster, 4);
    assert_eq!(fresh.revision, told_later.revision.next());
}

#[test]
fn a_refusal_is_an_outcome_and_is_not_tried_again() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let session = cluster.opens_session();
    let first = request(session, 1, 1);
    let b = cluster.joins("b");
    let bad = report(&b, &[release::first()], false);
    // Refused, because v2 is selected by now.
    cluster.reports(&a, &[release::third()]);
    refused(cluster.send_as(first, bad.clone()), ErrorKind::NotDecodable);
    // Now the report would be accepted, and still the answer is the same.
    cluster.leaves(&a);
    assert!(cluster.version("pods").is_none());
    refused(cluster.send_as(first, bad), ErrorKind::NotDecodable);
    assert!(cluster.version("pods").is_none());
}

#[test]
fn a_kept_refusal_leaves_the_object_out() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let update = Command::UpdateSettings(UpdateSettings {
        patch: SettingsPatch::default(),
        if_revision: Some(Revision::new(1_000)),
    });
    let first = cluster.send_as(request(session, 1, 1), update.clone());
    let first = refused(first, ErrorKind::Conflict);
    assert!(first.current.is_some(), "the next try needs no read");
    let again = refused(
        cluster.send_as(request(session, 1, 1), update),
        ErrorKind::Conflict,
    );
    assert_eq!((again.current, again.message), (None, first.message));
}

#[test]
fn requests_of_a_session_may_arrive_in_any_order() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let third = cluster.send_as(request(session, 3, 1), open_another());
    let first = cluster.send_as(request(session, 1, 1), open_another());
    assert!(first.changed && third.changed);
    assert_eq!(recorded(&cluster, session, 2), Recorded::NotApplied);
    assert!(
        cluster
            .send_as(request(session, 2, 1), open_another())
            .changed
    );
    assert_eq!(
        cluster.send_as(request(session, 3, 1), open_another()),
        third
    );
}

#[test]
fn what_the_caller_has_seen_is_forgotten_and_never_executed_again() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    for sequence in 1..=3 {
        cluster.send_as(request(session, sequence, 1), open_another());
    }
    let outcome = cluster.send_as(request(session, 4, 3), open_another());
    assert!(outcome.changed);
    let sessions = cluster.state.session_count();
    for sequence in [1, 2] {
        assert_eq!(recorded(&cluster, session, sequence), Recorded::Expired);
        let late = cluster.send_as(request(session, sequence, 1), open_another());
        refused(late, ErrorKind::RequestExpired);
    }
    for sequence in [3, 4] {
        assert!(matches!(
            recorded(&cluster, session, sequence),
            Recorded::Applied(_)
        ));
    }
    // A late request does not make the range known again.
    assert!(
        cluster
            .send_as(request(session, 5, 1), open_another())
            .changed
    );
    assert_eq!(recorded(&cluster, session, 2), Recorded::Expired);
    assert_eq!(cluster.state.session_count(), sessions + 1);
}

#[test]
fn an_unknown_session_executes_nothing() {
    let mut cluster = Cluster::formed();
    let unknown = SessionId::new(Revision::new(77));
    let revision = cluster.revision();
    let outcome = cluster.send_as(request(unknown, 1, 1), join_of("a"));
    refused(outcome, ErrorKind::RequestExpired);
    assert_eq!(cluster.revision(), revision);
    assert_eq!(recorded(&cluster, unknown, 1), Recorded::Expired);
}

#[test]
fn two_sessions_know_nothing_of_each_other() {
    let mut cluster = Cluster::formed();
    let [one, other] = [cluster.opens_session(), cluster.opens_session()];
    let first = cluster.send_as(request(one, 1, 1), join_of("a"));
    let second = cluster.send_as(request(other, 1, 1), join_of("b"));
    assert_ne!(first, second);
    assert_eq!(cluster.state.member_count(), 2);
}

#[test]
fn a_full_session_refuses_the_next_request_and_forgets_nothing() {
    let outcomes = 3;
    let mut cluster = Cluster::with(SettingsPatch {
        session_outcomes: Some(outcomes),
        ..SettingsPatch::default()
    });
    let session = cluster.opens_session();
    let first = cluster.send_as(request(session, 1, 1), open_another());
    cluster.send_as(request(session, 2, 1), open_another());
    // At the limit a request is still accepted; one more is refused, and was not executed.
    assert!(
        cluster
            .send_as(request(session, 3, 1), open_another())
            .changed
    );
    let revision = cluster.revision();
    refused(
        cluster.send_as(request(session, 4, 1), open_another()),
        ErrorKind::Overloaded,
    );
    assert_eq!(cluster.revision(), revision);
    assert_eq!(recorded(&cluster, session, 4), Recorded::NotApplied);
    assert_eq!(recorded(&cluster, session, 1), Recorded::Applied(first));
    // It is accepted once the caller has seen one of the answers.
    assert!(
        cluster
            .send_as(request(session, 4, 2), open_another())
            .changed
    );
}

#[test]
fn a_session_that_is_used_lives_on_and_one_that_is_not_ends() {
    let mut cluster = Cluster::formed();
    let [used, idle] = [cluster.opens_session(), cluster.opens_session()];
    cluster.pass(4 * MINUTE);
    cluster.send_as(request(used, 1, 1), join_of("a"));
    cluster.pass(MINUTE - Duration::from_millis(1));
    assert!(cluster.due().sessions.is_empty());
    cluster.pass(Duration::from_millis(1));
    assert_eq!(cluster.due().sessions, [idle].into());
    let outcome = cluster.expires();
    assert!(outcome.changed);
    assert_eq!(recorded(&cluster, idle, 1), Recorded::Expired);
    assert!(matches!(recorded(&cluster, used, 1), Recorded::Applied(_)));
    cluster.pass(4 * MINUTE);
    cluster.expires();
    assert_eq!(cluster.state.session_count(), 0);
    refused(
        cluster.send_as(request(used, 1, 1), join_of("a")),
        ErrorKind::RequestExpired,
    );
}

#[test]
fn a_lowered_setting_takes_no_time_back_from_the_sessions_that_are_open() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    cluster.set(SettingsPatch {
        session_ttl: Some(Duration::from_secs(1)),
        ..SettingsPatch::default()
    });
    cluster.send_as(request(session, 1, 1), join_of("a"));
    cluster.pass(5 * MINUTE - Duration::from_millis(1));
    assert!(cluster.due().sessions.is_empty());
    cluster.pass(Duration::from_millis(1));
    assert_eq!(cluster.due().sessions, [session].into());
}

#[test]
fn a_new_leader_gives_every_session_its_whole_ttl() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    cluster.pass(5 * MINUTE);
    cluster.elect();
    assert!(!cluster.expires().changed);
    assert_eq!(recorded(&cluster, session, 1), Recorded::NotApplied);
}

#[test]
fn a_closed_session_is_gone_and_closing_it_twice_is_no_fault() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    cluster.send_as(request(session, 1, 1), join_of("a"));
    let close = || Command::CloseSession(CloseSession { session });
    let outcome = cluster.send(close());
    assert!(outcome.changed);
    assert_eq!(cluster.state.session_count(), 0);
    assert_eq!(recorded(&cluster, session, 1), Recorded::Expired);
    let again = cluster.send(close());
    assert_eq!((again.changed, again.result), (false, Ok(Answer::Done)));
}

#[test]
fn a_session_can_close_itself() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let close = Command::CloseSession(CloseSession { session });
    let outcome = cluster.send_as(request(session, 1, 1), close);
    assert!(outcome.changed);
    assert_eq!(cluster.state.session_count(), 0);
}

#[test]
fn renewals_in_a_session_are_remembered_like_any_request() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let session = cluster.opens_session();
    let first = cluster.send_as(request(session, 1, 1), renew(&a));
    assert!(!first.changed);
    cluster.pass(TTL / 2);
    // A retry does not renew the member again.
    let deadline = cluster.deadline_of(&a.id);
    assert_eq!(cluster.send_as(request(session, 1, 1), renew(&a)), first);
    assert_eq!(cluster.deadline_of(&a.id), deadline);
}

#[test]
fn callers_without_a_session_are_executed_each_time() {
    let mut cluster = Cluster::formed();
    let outcomes: Vec<Outcome> = (0..2).map(|_| cluster.send(open_another())).collect();
    assert!(outcomes.iter().all(|outcome| outcome.changed));
    assert_eq!(cluster.state.session_count(), 2);
    assert_eq!(cluster.state.agreements(&resource("pods")).count(), 0);
}
