//! Statements of members that arrive late, twice and out of order.

use std::time::Duration;

use synod_machine::{Answer, Command, Row};
use synod_model::{ClusterId, ErrorKind, StatementNumber};

use crate::cluster::{Cluster, Server, accepted, leave, refused, request};
use crate::entry::{of, release};
use crate::said::{numbered_adopt, numbered_report, statement};

fn said(cluster: &Cluster) -> Vec<(String, StatementNumber)> {
    let rows = cluster.state.rows();
    let said = rows.filter_map(|row| match row {
        Row::Statement(id, said) => Some((id.to_string(), said.number)),
        _ => None,
    });
    said.collect()
}

/// A server and another beside it, both at v1; the first is about to encode v2.
fn two(cluster: &mut Cluster) -> [Server; 2] {
    let v1 = [of("pods").decodes("v1 v2").encodes("v1")];
    let v2 = [of("pods").decodes("v1 v2").encodes("v2")];
    [cluster.starts("a", &v1), cluster.starts("b", &v2)]
}

// Guarantee: V-04
#[test]
fn a_report_that_was_given_up_in_a_session_does_not_follow_a_later_one() {
    let mut cluster = Cluster::formed();
    let [a, b] = two(&mut cluster);
    let session = cluster.opens_session();
    let v2 = [of("pods").decodes("v1 v2").encodes("v2")];
    let v1 = [of("pods").decodes("v1 v2").encodes("v1")];
    // The caller gives up the first request while it is on its way, so it stays the lowest unanswered one.
    let given_up = numbered_report(&a, 2, &v2, false);
    accepted(cluster.send_as(request(session, 2, 1), numbered_report(&a, 3, &v1, true)));
    assert_eq!(cluster.agreed("pods"), None);
    let late = cluster.send_as(request(session, 1, 1), given_up.clone());
    let refusal = refused(late.clone(), ErrorKind::Conflict);
    assert_eq!(cluster.encoding(&a, "pods").as_deref(), Some("v1"));
    assert_eq!(cluster.encoding(&b, "pods").as_deref(), Some("v2"));
    assert_eq!(cluster.agreed("pods"), None, "a goes on to write v1");
    assert_eq!(refusal.metadata["number"], "2");
    assert_eq!(refusal.metadata["last_number"], "3");
    assert!(
        refusal.message.contains("\"a\"") && refusal.message.contains("a number above 3"),
        "{refusal}"
    );
    // A repetition of it gets the same outcome, and so does the same request without a session.
    let again = cluster.send_as(request(session, 1, 1), given_up.clone());
    assert_eq!(again, late);
    refused(cluster.send(given_up), ErrorKind::Conflict);
}

// Guarantee: V-04
#[test]
fn an_adoption_does_not_follow_what_was_said_later() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    accepted(cluster.send(numbered_report(&a, 2, &[release::third()], false)));
    let selected = cluster.kept("pods").selected_revision;
    let late = numbered_adopt(&a, 3, "pods", selected);
    accepted(cluster.send(numbered_report(&a, 4, &[release::third()], false)));
    refused(cluster.send(late), ErrorKind::Conflict);
    assert_eq!(cluster.encoding(&a, "pods").as_deref(), Some("v1"));
    accepted(cluster.send(numbered_adopt(&a, 5, "pods", selected)));
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v2"));
    // And no report that was sent before it.
    let earlier = numbered_report(&a, 4, &[release::second()], false);
    refused(cluster.send(earlier), ErrorKind::Conflict);
}

#[test]
fn the_same_statement_again_is_carried_out_again_and_says_nothing_new() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let report = numbered_report(&a, 7, &[release::second()], false);
    let first = cluster.send(report.clone());
    let rows: Vec<Row> = cluster.state.rows().collect();
    let again = cluster.send(report);
    assert!(first.changed && !again.changed);
    assert_eq!(again.result, first.result);
    assert_eq!(cluster.state.rows().collect::<Vec<_>>(), rows);
}

/// A client that counts wrong, or two processes under one epoch, would otherwise make two statements count as one.
// Guarantee: V-04, TM-20
#[test]
fn something_else_under_the_same_number_is_refused() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let v1 = of("pods").decodes("v1 v2").encodes("v1");
    accepted(cluster.send(numbered_report(&a, 7, std::slice::from_ref(&v1), false)));
    let others = [
        numbered_report(&a, 7, &[v1.clone().encodes("v2")], false),
        numbered_report(&a, 7, std::slice::from_ref(&v1), true),
        numbered_report(&a, 7, &[], false),
        numbered_adopt(&a, 7, "pods", cluster.revision()),
    ];
    for other in others {
        let refusal = refused(cluster.send(other), ErrorKind::Conflict);
        assert_eq!(refusal.metadata["last_number"], "7");
    }
    assert_eq!(cluster.encoding(&a, "pods").as_deref(), Some("v1"));
    cluster.restart_from_checkpoint();
    let services = of("services");
    accepted(cluster.send(numbered_report(&a, 7, std::slice::from_ref(&v1), false)));
    accepted(cluster.send(numbered_report(
        &a,
        8,
        &[v1.clone(), services.clone()],
        false,
    )));
    // Another order of the entries is the same statement.
    accepted(cluster.send(numbered_report(&a, 8, &[services, v1], false)));
}

#[test]
fn a_statement_that_was_refused_was_not_taken() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let older = cluster.starts("older", &[release::first()]);
    let unreadable = numbered_report(&a, 9, &[release::fourth()], false);
    refused(cluster.send(unreadable), ErrorKind::NotDecodable);
    let adopts = numbered_adopt(&a, 8, "apps.deployments", cluster.revision());
    refused(cluster.send(adopts), ErrorKind::NotFound);
    cluster.leaves(&older);
    assert_eq!(said(&cluster), [("a".to_owned(), StatementNumber::FIRST)]);
    accepted(cluster.send(numbered_report(&a, 2, &[release::second()], false)));
    assert_eq!(said(&cluster), [("a".to_owned(), statement(2))]);
}

#[test]
fn a_number_is_kept_beside_the_member_and_wakes_nobody() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let revision = cluster.revision();
    let outcome = cluster.send(numbered_report(&a, 5, &[release::second()], true));
    assert!(!outcome.changed);
    assert_eq!(cluster.revision(), revision);
    assert_eq!(said(&cluster), [("a".to_owned(), statement(5))]);
    cluster.restart_from_checkpoint();
    refused(
        cluster.send(numbered_report(&a, 4, &[release::second()], true)),
        ErrorKind::Conflict,
    );
}

#[test]
fn a_new_epoch_counts_from_the_beginning() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    accepted(cluster.send(numbered_report(&a, 40, &[release::second()], true)));
    let again = cluster.join("a", &a.instance);
    assert_eq!(again.epoch, a.epoch);
    assert_eq!(said(&cluster), [("a".to_owned(), statement(40))]);
    let a = cluster.restarts(&a);
    assert_eq!(said(&cluster), []);
    accepted(cluster.send(numbered_report(&a, 1, &[release::second()], true)));
    assert_eq!(said(&cluster), [("a".to_owned(), StatementNumber::FIRST)]);
}

#[test]
fn who_goes_leaves_no_number_behind() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    accepted(cluster.send(leave(&a, true)));
    assert_eq!(said(&cluster), [("b".to_owned(), StatementNumber::FIRST)]);
    cluster.pass(Duration::from_secs(15));
    assert!(cluster.expires().changed);
    assert_eq!(said(&cluster), []);
    cluster.starts("c", &[release::second()]);
    let cluster_id = ClusterId::from_bytes([9; 16]);
    accepted(cluster.send(Command::Restore(synod_machine::Restore {
        cluster: cluster_id,
    })));
    assert_eq!(said(&cluster), []);
    refused(
        cluster.send(numbered_report(&b, 9, &[release::second()], true)),
        ErrorKind::NotAMember,
    );
}

#[test]
fn a_report_is_told_what_its_entries_have_adopted() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let took = cluster.kept("pods").selected_revision;
    let fixed = of("services").decodes("v1").encodes("v1");
    let told = cluster.reports(&a, &[release::third(), fixed]);
    let moved = cluster.kept("pods").selected_revision;
    assert!(moved > took);
    let [pods, services] = told.as_slice() else {
        panic!("two were reported")
    };
    assert_eq!(
        (pods.adopted_revision, pods.selected_revision),
        (Some(took), moved),
        "a has yet to adopt"
    );
    assert_eq!(services.adopted_revision, None);
    // Repeated for a caller that lost the answer, under this epoch or in a session.
    let session = cluster.opens_session();
    let again = numbered_report(&a, 3, &[release::third()], false);
    let told = accepted(cluster.send_as(request(session, 1, 1), again.clone()));
    assert!(matches!(&told, Answer::Reported(told) if told[0].adopted_revision == Some(took)));
    cluster.restart_from_checkpoint();
    let kept = accepted(cluster.send_as(request(session, 1, 1), again));
    assert_eq!(kept, told);
}
