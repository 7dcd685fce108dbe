//! Served versions: advertised when every server can serve one, withdrawn when all agree and its date has come.

use std::time::Duration;

use synod_machine::{Command, Restore, Why, check_binary, check_drop};
use synod_model::{
    Attributes, Binary, BinaryResource, ClusterId, CollectionRules, CreateCollection, ErrorKind,
    Feature, Kind, LogTime, Persisted, ResetStorageStates, Switch, Topic, TopicKind, WallTime,
};

use crate::cluster::{Cluster, Server, TTL, accepted, forget, refused, report};
use crate::entry::{Says, of, resource, version};
use crate::raised::raised;
use crate::rosters::rule;
use crate::shelf::{content, create, key};
use crate::switched::switch;

/// Whether `v1beta1` of the widgets of `example.io` is served.
const BETA: &str = "widgets.example.io.served.synod.v1beta1";

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A server that has the code of the version, and would serve it or not.
fn can(preferred: &'static str) -> Says {
    of(BETA)
        .of_kind("Widget")
        .decodes("served withdrawn")
        .prefers(preferred)
}

/// A server of a release without the code.
fn cannot() -> Says {
    of(BETA)
        .of_kind("Widget")
        .decodes("withdrawn")
        .prefers("withdrawn")
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn after(time: WallTime, span: Duration) -> WallTime {
    let millis = u64::try_from(span.as_millis()).expect("a short span");
    WallTime::from_millis(time.as_millis() + millis)
}

impl Cluster {
    /// Three servers that serve the version, which was promised for an hour from now.
    fn serving_for_an_hour() -> (Self, [Server; 3]) {
        let mut cluster = Self::upgraded();
        let date = after(cluster.wall(), HOUR);
        let says = can("served").until(date);
        let servers = ["a", "b", "c"].map(|id| cluster.starts(id, std::slice::from_ref(&says)));
        assert_eq!(cluster.agreed(BETA), some("served"));
        (cluster, servers)
    }

    /// Log time passes while these servers renew, and the leader proposes what is due.
    fn lives(&mut self, span: Duration, servers: &[&Server]) {
        let end = self.now().after(span);
        while self.now() < end {
            self.pass(
                TTL.min(end.since(self.now()))
                    .mul_f64(0.5)
                    .max(Duration::from_millis(1)),
            );
            self.renew_all(servers);
            self.expires();
        }
    }

    /// Every reason against removing the code that serves the version.
    fn against_removal(&self) -> Vec<Why> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(BETA), &version("served"));
        verdict.dangers.into_iter().map(|one| one.why).collect()
    }

    /// Every reason against a binary that says this of the version; `None`: it does not know of it.
    fn against_release(&self, says: Option<Says>) -> Vec<Why> {
        let entries = [of("pods").entry()].into_iter();
        let entries = entries.chain(says.map(|says| says.entry()));
        let named = entries.map(|entry| BinaryResource {
            resource: entry.resource,
            kind: None,
            decodable: entry.decodable.iter().cloned().collect(),
            stance: Some(entry.stance),
            new: false,
        });
        let binary = Binary {
            resources: named.collect(),
            left_to_others: Vec::new(),
        };
        assert!(binary.check().is_empty());
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_binary(&past, now, &binary);
        let dangers = verdict.dangers.into_iter();
        let of_beta = dangers.filter(|one| one.resource == resource(BETA));
        of_beta.map(|one| one.why).collect()
    }
}

#[test]
fn a_version_is_a_topic_of_its_own() {
    let topic = Topic::parse("served/v1beta1.widgets.example.io").expect("a legal topic");
    assert_eq!(topic.resource(), &resource(BETA));
    assert_eq!(topic.kind(), TopicKind::Served);
    assert_eq!(topic.to_string(), "served/v1beta1.widgets.example.io");
}

// Guarantee: T-05
#[test]
fn a_version_is_advertised_when_the_last_server_can_serve_it() {
    let mut cluster = Cluster::upgraded();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[cannot()]));
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    let a = cluster.is_replaced(&a, &[can("served")]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    // The new binary is there, but its operator does not want the version yet.
    let b = cluster.is_replaced(&b, &[can("withdrawn")]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    cluster.reports(&b, &[can("served")]);
    // The processes that were replaced may still answer that it is withdrawn.
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    let grace = TTL + cluster.state.settings().write_grace;
    cluster.lives(grace - Duration::from_millis(1), &[&a, &b]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    cluster.lives(Duration::from_millis(1), &[&a, &b]);
    assert_eq!(
        cluster.selected(BETA),
        some("served"),
        "nobody said anything"
    );
    assert_eq!(
        cluster.agreed(BETA),
        None,
        "nobody shows it before it has adopted"
    );
    for server in [&a, &b] {
        cluster.adopts(server, BETA);
    }
    assert_eq!(cluster.agreed(BETA), some("served"));
    assert_eq!(cluster.persisted(BETA), ["served"]);
    assert!(cluster.migrations(BETA).is_empty(), "nothing is stored");
}

// Guarantee: T-05
#[test]
fn a_server_that_cannot_serve_an_advertised_version_is_refused() {
    let (mut cluster, [a, ..]) = Cluster::serving_for_an_hour();
    let late = cluster.joins("late");
    let refusal = refused(
        cluster.send(report(&late, &[cannot()], false)),
        ErrorKind::NotDecodable,
    );
    assert_eq!(
        refusal.message,
        "topic \"served/v1beta1.widgets.example.io\": member \"late\" can be only [withdrawn], not served, the selected \
         state: run a release that has the code of the version until all agree that it is withdrawn"
    );
    refused(
        cluster.send(report(&a, &[cannot()], false)),
        ErrorKind::NotDecodable,
    );
    assert!(
        cluster
            .against_release(None)
            .contains(&Why::Selected(version("served")))
    );
    assert!(!cluster.against_release(Some(cannot())).is_empty());
    let silent = Why::MemberSilent(late.id.clone(), 1);
    assert_eq!(cluster.against_release(Some(can("withdrawn"))), [silent]);
    cluster.reports(&late, &[]);
    assert_eq!(cluster.against_release(Some(can("withdrawn"))), []);
}

// Guarantee: T-07
#[test]
fn a_version_is_withdrawn_by_itself_when_all_prefer_it_and_the_date_has_come() {
    let (mut cluster, servers) = Cluster::serving_for_an_hour();
    let [a, b, c] = servers.map(|server| cluster.is_replaced(&server, &[can("withdrawn")]));
    let all = [&a, &b, &c];
    let date = cluster.kept(BETA).serve_until.expect("a date was named");
    cluster.lives(
        date.log.since(cluster.now()) - Duration::from_millis(1),
        &all,
    );
    assert_eq!(cluster.selected(BETA), some("served"));
    assert!(
        cluster
            .against_removal()
            .contains(&Why::Selected(version("served")))
    );
    cluster.lives(Duration::from_millis(1), &all);
    assert_eq!(
        cluster.selected(BETA),
        some("withdrawn"),
        "no server has said anything"
    );
    for server in all {
        assert_eq!(cluster.agreed(BETA), None);
        cluster.adopts(server, BETA);
    }
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
}

// Guarantee: T-05
#[test]
fn the_removal_of_the_code_is_safe_when_nobody_who_is_gone_can_serve_it() {
    let (mut cluster, servers) = Cluster::serving_for_an_hour();
    let [a, b, c] = &servers;
    cluster.lives(HOUR, &[a, b, c]);
    let [a, b, c] = servers.map(|server| cluster.is_replaced(&server, &[can("withdrawn")]));
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    cluster.lives(HOUR, &[&a, &b, &c]);
    for server in [&b, &c] {
        cluster.adopts(server, BETA);
    }
    // One is killed before it has adopted: it may serve the version until its proof of membership ends.
    cluster.lives(TTL + Duration::from_millis(1), &[&b, &c]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert_eq!(cluster.persisted(BETA), ["served", "withdrawn"]);
    refused(
        cluster.send(report(&b, &[cannot()], false)),
        ErrorKind::NotDecodable,
    );
    assert!(!cluster.against_removal().is_empty());
    cluster.restart_from_checkpoint();
    let grace = cluster.state.settings().write_grace;
    cluster.lives(grace, &[&b, &c]);
    assert_eq!(
        cluster.persisted(BETA),
        ["withdrawn"],
        "the drain is over, and nobody said anything"
    );
    assert_eq!(cluster.against_removal(), []);
    assert_eq!(cluster.against_release(None), []);
    cluster.is_replaced(&c, &[cannot()]);
    cluster.is_replaced(&b, &[cannot()]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
}

// Guarantee: T-07
#[test]
fn one_server_that_is_rolled_back_keeps_the_version_served() {
    let (mut cluster, servers) = Cluster::serving_for_an_hour();
    let [a, b, c] = servers.map(|server| cluster.is_replaced(&server, &[can("withdrawn")]));
    let b = cluster.is_replaced(&b, &[can("served")]);
    cluster.lives(HOUR + HOUR, &[&a, &b, &c]);
    assert_eq!(cluster.selected(BETA), some("served"));
    cluster.is_replaced(&b, &[can("withdrawn")]);
    assert_eq!(
        cluster.selected(BETA),
        some("withdrawn"),
        "the date is past"
    );
}

// Guarantee: T-07
#[test]
fn of_all_dates_the_latest_counts_whoever_named_it_and_wherever_it_is() {
    let mut cluster = Cluster::upgraded();
    let begin = cluster.wall();
    let date = |hours: u32| after(begin, HOUR * hours);
    let a = cluster.starts("a", &[can("served").until(date(2))]);
    let b = cluster.starts("b", &[can("served").until(date(1))]);
    let kept = |cluster: &Cluster| cluster.kept(BETA).serve_until.map(|until| until.date);
    assert_eq!(kept(&cluster), Some(date(2)));
    // Nobody names it any more, everything is reset, and everybody goes.
    cluster.leaves_drained(&a);
    cluster.reports(&b, &[can("withdrawn")]);
    accepted(
        cluster.send(Command::ResetStorageStates(ResetStorageStates {
            resource: None,
        })),
    );
    assert_eq!(
        (kept(&cluster), cluster.selected(BETA)),
        (Some(date(2)), some("served"))
    );
    cluster.leaves_drained(&b);
    accepted(
        cluster.send(Command::ResetStorageStates(ResetStorageStates {
            resource: None,
        })),
    );
    assert_eq!(
        (kept(&cluster), cluster.selected(BETA)),
        (Some(date(2)), some("served"))
    );
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([2; 16]),
    })));
    cluster.restart_from_checkpoint();
    let b = cluster.starts("b", &[can("withdrawn")]);
    assert_eq!(
        (kept(&cluster), cluster.selected(BETA)),
        (Some(date(2)), some("served"))
    );
    cluster.lives(HOUR * 2, &[&b]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    // Only forgetting the topic forgets its date.
    cluster.leaves_drained(&b);
    cluster.pass(HOUR * 48);
    accepted(cluster.send(forget(BETA)));
    cluster.starts("b", &[can("withdrawn")]);
    assert_eq!(
        (kept(&cluster), cluster.selected(BETA)),
        (None, some("withdrawn"))
    );
}

// Guarantee: T-08
#[test]
fn a_date_that_is_too_far_away_is_refused_and_the_promise_stays() {
    let (mut cluster, [a, ..]) = Cluster::serving_for_an_hour();
    let far = after(cluster.wall(), HOUR * 24 * 1_096 + Duration::from_millis(1));
    let refusal = refused(
        cluster.send(report(&a, &[can("served").until(far)], false)),
        ErrorKind::InvalidArgument,
    );
    assert!(
        refusal
            .message
            .contains("must be within 1096 days from now"),
        "{refusal}"
    );
    assert_eq!(refusal.violations.len(), 1);
    let near = after(cluster.wall(), HOUR * 24 * 1_096);
    cluster.reports(&a, &[can("served").until(near)]);
    let kept = cluster.kept(BETA).serve_until.expect("a date was named");
    assert_eq!(kept.date, near);
    assert_eq!(kept.log, LogTime::ZERO.after(HOUR * 24 * 1_096));
}

#[test]
fn only_a_version_is_promised_until_a_date_and_it_has_two_states() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.joins("a");
    let date = after(cluster.wall(), HOUR);
    for says in [
        of("pods").until(date),
        of("keys.synod.secrets")
            .decodes("k1")
            .prefers("k1")
            .until(date),
        of(BETA).decodes("served withdrawn").encodes("served"),
        of(BETA).decodes("served").prefers("served"),
        of(BETA).decodes("served withdrawn v1").prefers("served"),
    ] {
        refused(
            cluster.send(report(&a, &[says], false)),
            ErrorKind::InvalidArgument,
        );
    }
}

#[test]
fn what_is_first_selected_follows_the_date_and_the_least_of_all_servers() {
    let mut cluster = Cluster::upgraded();
    let date = after(cluster.wall(), HOUR);
    // It was served before there was anybody to agree with, and is promised still.
    let a = cluster.starts("a", &[can("withdrawn").until(date)]);
    assert_eq!(cluster.selected(BETA), some("served"));
    cluster.leaves_drained(&a);
    cluster.pass(HOUR);
    accepted(cluster.send(forget(BETA)));
    cluster.starts("a", &[cannot().until(after(cluster.wall(), HOUR))]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
}

#[test]
fn no_version_is_advertised_or_withdrawn_while_votes_are_switched_off() {
    let (mut cluster, servers) = Cluster::serving_for_an_hour();
    let [a, b, c] = servers.map(|server| cluster.is_replaced(&server, &[can("withdrawn")]));
    accepted(cluster.send(switch(Feature::Votes, Switch::Off)));
    cluster.lives(HOUR + HOUR, &[&a, &b, &c]);
    assert_eq!(cluster.selected(BETA), some("served"));
    accepted(cluster.send(switch(Feature::Votes, Switch::On)));
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
}

#[test]
fn under_a_roster_an_agreement_on_a_version_assumes_nothing() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[can("withdrawn")]);
    assert!(cluster.kept(BETA).on_trust.is_some());
    cluster.sets_roster(
        "widgets.example.io.served.synod.v1beta1",
        rule("a b", "", 0),
    );
    assert_eq!(cluster.agreed(BETA), None, "b is missing");
    assert!(!cluster.against_removal().is_empty());
    cluster.starts("b", &[cannot()]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert_eq!(cluster.kept(BETA).on_trust, None);
    assert_eq!(cluster.against_removal(), []);
}

#[test]
fn after_a_restore_a_version_may_be_served_until_strangers_are_gone() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[can("withdrawn")]);
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([2; 16]),
    })));
    let a = cluster.starts("a", &[can("withdrawn")]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert!(cluster.kept(BETA).persisted.contains(&Persisted::Unknown));
    assert!(!cluster.against_removal().is_empty());
    cluster.lives(HOUR * 25, &[&a]);
    assert_eq!(cluster.persisted(BETA), ["withdrawn"]);
    assert_eq!(cluster.against_removal(), []);
}

/// Only a clock that was ahead once is made up for: the next leader with a right one moves the log time.
// Guarantee: T-07
#[test]
fn a_clock_that_was_ahead_withdraws_nothing_once_another_leader_has_seen_the_date() {
    let (mut cluster, [a, ..]) = Cluster::serving_for_an_hour();
    let date = cluster.kept(BETA).serve_until.expect("a date was named");
    let later = after(date.date, HOUR);
    cluster.clock_is_ahead(HOUR);
    cluster.reports(&a, &[can("served").until(later)]);
    let ahead = cluster.kept(BETA).serve_until.expect("a date was named");
    assert_eq!((ahead.date, ahead.log), (later, date.log));
    cluster.clock_is_ahead(Duration::ZERO);
    cluster.is_replaced(&a, &[can("served").until(later)]);
    let right = cluster.kept(BETA).serve_until.expect("a date was named");
    assert_eq!((right.date, right.log), (later, date.log.after(HOUR)));
}

// Guarantee: T-05
#[test]
fn a_version_is_not_advertised_while_somebody_is_missing() {
    let mut cluster = Cluster::upgraded();
    cluster.sets_roster(BETA, rule("a b c", "", 0));
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[can("served")]));
    assert_eq!(cluster.selected(BETA), some("withdrawn"), "c may lack it");
    cluster.sets_roster(BETA, rule("a b", "", 0));
    assert_eq!(cluster.selected(BETA), some("served"), "nobody waits for c");
    for server in [&a, &b] {
        cluster.adopts(server, BETA);
    }
    assert_eq!(cluster.agreed(BETA), some("served"));
    // Once it is advertised, who is missing withdraws nothing.
    cluster.leaves_drained(&b);
    assert_eq!(cluster.selected(BETA), some("served"));
}

// Guarantee: T-05
#[test]
fn a_version_is_not_advertised_while_a_killed_server_may_answer_without_it() {
    let mut cluster = Cluster::upgraded();
    let _killed = cluster.starts("b", &[cannot()]);
    let a = cluster.starts("a", &[can("served")]);
    cluster.lives(TTL, &[&a]);
    assert_eq!(
        cluster.selected(BETA),
        some("withdrawn"),
        "it is gone, but may answer"
    );
    let grace = cluster.state.settings().write_grace;
    cluster.lives(grace - Duration::from_millis(1), &[&a]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    cluster.restart_from_checkpoint();
    cluster.lives(Duration::from_millis(1), &[&a]);
    assert_eq!(cluster.selected(BETA), some("served"));
}

// Guarantee: T-06
#[test]
fn when_nobody_is_left_a_release_without_the_code_is_let_in_after_the_date_and_the_drains() {
    let (mut cluster, [a, b, c]) = Cluster::serving_for_an_hour();
    for server in [&a, &b] {
        cluster.leaves_drained(server);
    }
    cluster.leaves(&c);
    let late = cluster.joins("late");
    let tries = |cluster: &mut Cluster| {
        assert!(!cluster.against_release(None).is_empty());
        refused(
            cluster.send(report(&late, &[cannot()], false)),
            ErrorKind::NotDecodable,
        );
    };
    tries(&mut cluster);
    cluster.lives(HOUR, &[&late]);
    cluster.reports(&late, &[]);
    assert_eq!(cluster.against_release(None), []);
    // One with the code finds it served; when it is killed, the drain counts.
    let d = cluster.starts("d", &[can("served")]);
    assert_eq!(cluster.agreed(BETA), some("served"));
    cluster.leaves(&d);
    tries(&mut cluster);
    let grace = cluster.state.settings().write_grace;
    cluster.lives(grace, &[&late]);
    // Also while another release is missing by a roster, which keeps it from an agreement.
    cluster.sets_roster(BETA, rule("late later", "", 0));
    cluster.reports(&late, &[cannot()]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    cluster.starts("later", &[cannot()]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert_eq!(cluster.persisted(BETA), ["withdrawn"]);
}

#[test]
fn an_object_in_a_collection_from_before_topics_holds_no_version() {
    let mut cluster = Cluster::formed();
    accepted(cluster.send(Command::CreateCollection(CreateCollection {
        resource: resource(BETA),
        kind: Kind::parse("Widget").expect("a legal kind"),
        namespaced: true,
        rules: CollectionRules::default(),
    })));
    let object = create(
        &key(BETA, "a/one"),
        Attributes::default(),
        content("served", "{}"),
    );
    accepted(cluster.send(Command::CreateObject(object)));
    for command in raised() {
        accepted(cluster.send(command));
    }
    let servers = ["a", "b"].map(|id| cluster.starts(id, &[can("served")]));
    assert_eq!(cluster.agreed(BETA), some("served"));
    for server in &servers {
        cluster.reports(server, &[can("withdrawn")]);
    }
    for server in &servers {
        cluster.adopts(server, BETA);
    }
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert_eq!(cluster.persisted(BETA), ["withdrawn"]);
    assert_eq!(cluster.against_removal(), []);
}

// Guarantee: T-05
#[test]
fn a_topic_that_a_backup_does_not_know_may_be_served_until_strangers_are_gone() {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([2; 16]),
    })));
    let a = cluster.starts("a", &[can("withdrawn")]);
    assert_eq!(cluster.agreed(BETA), some("withdrawn"));
    assert!(cluster.against_removal().contains(&Why::PersistedUnknown));
    cluster.lives(HOUR * 25, &[&a]);
    assert_eq!(cluster.against_removal(), []);
}

// Guarantee: T-07
#[test]
fn what_happens_between_a_date_and_the_look_of_the_leader_does_not_lose_the_date() {
    let hour = || {
        let (mut cluster, servers) = Cluster::serving_for_an_hour();
        let servers = servers.map(|server| cluster.is_replaced(&server, &[can("withdrawn")]));
        let date = cluster.kept(BETA).serve_until.expect("a date was named");
        let [a, b, c] = &servers;
        cluster.lives(
            date.log.since(cluster.now()) - Duration::from_millis(1),
            &[a, b, c],
        );
        (cluster, servers)
    };
    let (mut cluster, _) = hour();
    cluster.pass(Duration::from_millis(1));
    cluster.sets_roster(BETA, rule("a", "", 0));
    assert_eq!(cluster.selected(BETA), some("served"), "nobody has looked");
    cluster.restart_from_checkpoint();
    cluster.expires();
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
    // What expires together with it is counted first.
    let (mut cluster, [a, b, _]) = hour();
    cluster.pass(TTL);
    cluster.renew_all(&[&a, &b]);
    cluster.expires();
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
}

// Guarantee: T-07
#[test]
fn a_date_that_a_wrong_clock_took_for_past_hides_no_nearer_one() {
    let (mut cluster, servers) = Cluster::serving_for_an_hour();
    let [a, b, c] = &servers;
    cluster.lives(HOUR, &[a, b, c]);
    let far = after(cluster.wall(), HOUR * 24 * 5_000);
    cluster.clock_is_ahead(HOUR * 24 * 5_000);
    cluster.reports(a, &[can("served").until(far)]);
    cluster.clock_is_ahead(Duration::ZERO);
    let near = after(cluster.wall(), HOUR);
    for server in [a, b, c] {
        cluster.reports(server, &[can("withdrawn").until(near)]);
    }
    let kept = cluster.kept(BETA).serve_until.expect("a date was named");
    assert_eq!((kept.date, kept.log), (far, cluster.now().after(HOUR)));
    assert_eq!(cluster.selected(BETA), some("served"));
    cluster.lives(HOUR, &[a, b, c]);
    assert_eq!(cluster.selected(BETA), some("withdrawn"));
}
