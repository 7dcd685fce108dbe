//! What an observation counts for once the members that reported otherwise are gone.

use std::time::Duration;

use synod_machine::{Command, Why, check_binary, check_drop};
use synod_model::{Binary, BinaryResource, ErrorKind, ObserveStorage, Revision};

use crate::cluster::{Cluster, accepted, claim, hash, observe, refused};
use crate::entry::{of, resource, version};

const DAY: Duration = Duration::from_secs(24 * 3_600);
const GRACE: Duration = Duration::from_secs(70);

fn is_safe(cluster: &Cluster, text: &str) -> bool {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    check_drop(&past, now, &resource("pods"), &version(text)).is_safe()
}

/// It is older than a's report of v2. If it were the agreement, what a wrote since would be lost.
// Guarantee: V-13
#[test]
fn a_look_that_is_older_than_what_was_said_last_is_no_agreement() {
    let mut cluster = Cluster::formed();
    let v1 = of("pods").decodes("v1 v2").encodes("v1");
    let a = cluster.starts("a", std::slice::from_ref(&v1));
    cluster.observes("pods", &["v1"]);
    cluster.migrates("pods");
    cluster.reports(&a, &[v1.encodes("v2")]);
    assert!(cluster.kept("pods").contradicted);
    cluster.leaves_drained(&a);
    let kept = cluster.kept("pods");
    assert_eq!((kept.agreed_hash, kept.agreement()), (None, None));
    assert!(kept.observation.is_some_and(|seen| seen.expired));
    assert!(!is_safe(&cluster, "v2") && !is_safe(&cluster, "v1"));
    // The next observation counts, and what was written in between is unknown.
    cluster.observes("pods", &["v2"]);
    assert_eq!(cluster.kept("pods").agreed_hash, Some(hash("v2")));
    assert!(cluster.persisted("pods").contains(&"Unknown".to_owned()));
}

/// The members reported two versions, discovery showed both, and one member is gone.
// Guarantee: V-13
#[test]
fn a_look_that_stood_against_the_last_member_is_no_agreement_without_it() {
    let mut cluster = Cluster::formed();
    let both = of("pods").decodes("v1 v2");
    let a = cluster.starts("a", &[both.encodes("v1")]);
    cluster.observes("pods", &["v2"]);
    assert!(cluster.kept("pods").contradicted);
    cluster.leaves_drained(&a);
    assert_eq!(cluster.kept("pods").agreement(), None);
    assert!(!is_safe(&cluster, "v1"));
}

#[test]
fn a_look_that_agrees_with_what_was_said_before_it_is_an_agreement_when_all_are_gone() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    cluster.observes("pods", &["v1"]);
    cluster.leaves_drained(&a);
    assert_eq!(cluster.kept("pods").agreed_hash, Some(hash("v1")));
}

/// There is no common version before and none after, and the same observation: still the agreement is a new one,
/// because a fence of the old one would admit writes of the members that are gone.
// Guarantee: V-13
#[test]
fn an_agreement_by_discovery_alone_after_there_were_entries_is_always_anew() {
    let mut cluster = Cluster::formed();
    let both = of("pods").decodes("v1 v2");
    cluster.starts("a", &[both.clone().encodes("v1")]);
    cluster.starts("b", &[both.encodes("v2")]);
    cluster.observes("pods", &["v1"]);
    let before = cluster.kept("pods").agreement_revision;
    cluster.pass(Duration::from_secs(60));
    cluster.expires();
    let kept = cluster.kept("pods");
    assert_eq!(kept.agreed_hash, Some(hash("v1")));
    assert!(kept.agreement_revision > before);
    assert_eq!(kept.agreement(), Some(cluster.revision()));
}

/// It was made before the members joined, and shows nothing that they do not report.
// Guarantee: V-13
#[test]
fn a_look_that_expired_before_members_joined_goes_when_it_agrees_with_them() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.pass(DAY);
    cluster.expires();
    let both = of("pods").decodes("v1 v2");
    let a = cluster.starts("a", &[both.clone().encodes("v2")]);
    assert!(cluster.kept("pods").contradicted);
    cluster.reports(&a, &[both.clone().encodes("v1")]);
    let kept = cluster.kept("pods");
    assert!(kept.observation.is_none() && !kept.contradicted);
    cluster.reports(&a, &[both.encodes("v2")]);
    assert!(!cluster.kept("pods").contradicted);
    // A server that showed it may have stopped just now.
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version("v1"));
    let whys: Vec<Why> = verdict.dangers.into_iter().map(|one| one.why).collect();
    let drains = whys.iter().any(|why| matches!(why, Why::DrainingHash(..)));
    assert!(drains, "{whys:?}");
    cluster.pass(GRACE);
    cluster.renews(&a);
    accepted(cluster.send(claim(&id, "one")));
}

/// It may be v1 in a kind of another name, or a version that nobody ever named.
// Guarantee: MG-24
#[test]
fn a_hash_that_nothing_explains_may_be_any_version() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.migrates("pods");
    assert!(is_safe(&cluster, "v1"));
    cluster.observes("pods", &["v2", "v3"]);
    let whys = |text: &str| -> Vec<Why> {
        let (past, now) = (cluster.state.present(), cluster.state.log_time());
        let verdict = check_drop(&past, now, &resource("pods"), &version(text));
        verdict.dangers.into_iter().map(|one| one.why).collect()
    };
    let unreadable = Why::UnreadableHash(hash("v3"));
    assert_eq!(whys("v1"), [unreadable, Why::Contradicted]);
    assert!(whys("v3").contains(&Why::Observed(hash("v3"))));
}

/// A server that does not take part writes, so it may store what no member reports.
// Guarantee: MG-24
#[test]
fn what_contradicts_a_report_speaks_against_every_version() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2 v3").encodes("v3")]);
    cluster.migrates("pods");
    cluster.observes("pods", &["v2", "v3"]);
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version("v1"));
    let whys: Vec<Why> = verdict.dangers.into_iter().map(|one| one.why).collect();
    assert_eq!(whys, [Why::Contradicted]);
    // Nor may a binary join that decodes all that is known.
    let binary = Binary {
        resources: vec![BinaryResource {
            resource: resource("pods"),
            kind: None,
            decodable: ["v1", "v2", "v3"].map(version).into(),
            stance: None,
            new: false,
        }],
        left_to_others: Vec::new(),
    };
    let verdict = check_binary(&past, now, &binary);
    let whys: Vec<Why> = verdict.dangers.into_iter().map(|one| one.why).collect();
    assert_eq!(whys, [Why::Contradicted]);
}

/// Two observers look at once. The one that posts last has not seen the other's observation.
// Guarantee: V-13
#[test]
fn a_look_that_was_overtaken_is_refused_and_takes_nothing_away() {
    let mut cluster = Cluster::formed();
    // Neither has read any state before it looks.
    let first = cluster.send(look("pods", &["v1", "v2"], 0));
    let refusal = refused(cluster.send(look("pods", &["v1"], 0)), ErrorKind::Conflict);
    let present = first.revision.to_string();
    assert_eq!(refusal.metadata["resource_version"], present);
    let shown = cluster.kept("pods").observation;
    assert_eq!(shown.map(|seen| seen.hashes.len()), Some(2));
    // A member's report since then is newer, too.
    let read = first.revision.get();
    cluster.starts("a", &[of("pods")]);
    refused(
        cluster.send(look("pods", &["v2"], read)),
        ErrorKind::Conflict,
    );
    let read = cluster.revision().get();
    accepted(cluster.send(look("pods", &["v1"], read)));
    assert!(!cluster.kept("pods").contradicted);
    let unheard = look("batch.jobs", &["v1"], 7);
    refused(cluster.send(unheard), ErrorKind::Conflict);
}

fn look(name: &str, versions: &[&str], read: u64) -> Command {
    let Command::ObserveStorage(look) = observe(name, versions) else {
        panic!("a look is one");
    };
    Command::ObserveStorage(ObserveStorage {
        if_revision: Some(Revision::new(read)),
        ..look
    })
}
