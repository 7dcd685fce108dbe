//! Topics beside encodings: keys that are rotated, and features that are learned.

use std::time::Duration;

use synod_machine::{Command, Outcome, Restore, Row, Why, check_binary, check_drop};
use synod_model::{
    Attributes, Binary, BinaryResource, ClusterId, CollectionRules, CreateCollection, ErrorKind,
    Feature, Kind, MigrationReason, ObserveStorage, Persisted, ReportEntry, ResetStorageStates,
    StorageVersionHash, Switch, TOPICS_SINCE, Topic, TopicKind,
};

use crate::cluster::{
    Cluster, Server, TTL, accepted, adopt, claim, complete, forget, refused, report,
};
use crate::entry::{Says, of, resource, version};
use crate::raised::{raised, raised_to};
use crate::shelf::key;
use crate::switched::switch;

/// The topic of the key for secrets, as the scenarios name a resource.
const KEYS: &str = "keys.synod.secrets";
/// The topic of a feature.
const LOCKS: &str = "features.synod.locks";

/// A server that holds these keys, and would write with this one.
fn holds(keys: &'static str, writes: &'static str) -> Says {
    of(KEYS).of_kind("Secret").decodes(keys).prefers(writes)
}

/// A server that has the feature up to a level.
fn has(levels: &'static str) -> Says {
    let highest = levels.rsplit(' ').next().unwrap_or_default();
    of(LOCKS)
        .of_kind("Feature")
        .decodes(levels)
        .prefers(highest)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A collection of objects of a resource.
fn create(name: &str) -> Command {
    Command::CreateCollection(CreateCollection {
        resource: resource(name),
        kind: Kind::parse("Secret").expect("a legal kind"),
        namespaced: true,
        rules: CollectionRules::default(),
    })
}

/// Discovery shows an encoding of a resource that nobody has reported.
fn shows_another(name: &str) -> Command {
    Command::ObserveStorage(ObserveStorage::unnamed(
        resource(name),
        [StorageVersionHash::from_bytes([1; 8])].into(),
    ))
}

/// Everything that is known of stores is doubted.
fn reset_all() -> Command {
    Command::ResetStorageStates(ResetStorageStates { resource: None })
}

impl Cluster {
    /// Machine version 2 comes in force.
    fn learns_topics(&mut self) {
        for command in raised_to(TOPICS_SINCE) {
            accepted(self.send(command));
        }
    }

    fn is_unknown(&self, name: &str) -> bool {
        self.kept(name).persisted.contains(&Persisted::Unknown)
    }

    /// Every reason against a binary whose members would report this.
    fn against_binary(&self, entries: &[ReportEntry]) -> Vec<Why> {
        let resources = entries.iter().map(|entry| BinaryResource {
            resource: entry.resource.clone(),
            kind: None,
            decodable: entry.decodable.iter().cloned().collect(),
            stance: Some(entry.stance.clone()),
            new: false,
        });
        let binary = Binary {
            resources: resources.collect(),
            left_to_others: Vec::new(),
        };
        assert!(binary.check().is_empty());
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_binary(&past, now, &binary);
        verdict.dangers.into_iter().map(|one| one.why).collect()
    }

    /// Every reason against dropping a value of a topic.
    fn against(&self, name: &str, value: &str) -> Vec<Why> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(name), &version(value));
        verdict.dangers.into_iter().map(|one| one.why).collect()
    }

    /// Three servers that hold one key, with everything encrypted with it.
    fn with_one_key() -> (Self, [Server; 3]) {
        let mut cluster = Self::upgraded();
        let servers = ["a", "b", "c"].map(|id| cluster.starts(id, &[holds("k1", "k1")]));
        cluster.migrates(KEYS);
        assert_eq!(cluster.persisted(KEYS), ["k1"]);
        (cluster, servers)
    }
}

#[test]
fn a_topic_is_a_resource_of_a_reserved_group() {
    let topic = Topic::parse("keys/secrets").expect("a legal topic");
    assert_eq!(topic.resource(), &resource(KEYS));
    assert_eq!(TopicKind::of(&resource(LOCKS)), TopicKind::Feature);
}

/// A log about one resource in which each rule of keys would refuse something, under machine version 1: the answers, and
/// the state in the end.
fn before_topics(name: &str) -> (Vec<Outcome>, Cluster, Server) {
    let mut cluster = Cluster::formed();
    let [a, b, c] = ["a", "b", "c"].map(|id| cluster.joins(id));
    let says = |decodes: &'static str| of(name).of_kind("Secret").decodes(decodes);
    let mut outcomes = vec![
        cluster.send(report(&a, &[says("v1 v3").prefers("v3")], false)),
        cluster.send(report(&b, &[says("v1 v3").prefers("v1")], false)),
        cluster.send(report(&c, &[says("v1").encodes("v1")], false)),
        cluster.send(report(&c, &[says("v1 v3").encodes("v1")], false)),
        cluster.send(report(&b, &[says("v1").prefers("v1")], false)),
        cluster.send(report(&a, &[says("v1").prefers("v1")], false)),
    ];
    outcomes.push(cluster.send(shows_another(name)));
    outcomes.push(cluster.send(create(name)));
    (outcomes, cluster, c)
}

// Guarantee: T-09
#[test]
fn under_machine_version_1_a_topic_is_an_encoding_like_any_other() {
    for (topic, other) in [
        (KEYS, "keys.synot.secrets"),
        (LOCKS, "features.synot.locks"),
    ] {
        let (outcomes, cluster, _) = before_topics(topic);
        let (expected, other, _) = before_topics(other);
        // All but what is a hash of names.
        let rows = |cluster: &Cluster| -> Vec<Row> {
            let rows = cluster.state.rows();
            rows.filter(|row| !matches!(row, Row::Header { .. } | Row::Statement(..)))
                .collect()
        };
        let plain = |seen: &dyn std::fmt::Debug| format!("{seen:#?}").replace("synod", "synot");
        assert_eq!(plain(&outcomes), plain(&expected));
        for (row, expected) in rows(&cluster).iter().zip(&rows(&other)) {
            assert_eq!(plain(row), plain(expected));
        }
        assert_eq!(rows(&cluster).len(), rows(&other).len());
        let refused = outcomes.iter().filter(|outcome| outcome.result.is_err());
        assert_eq!(refused.count(), 2, "those who lack what is selected");
    }
}

#[test]
fn what_was_reported_before_topics_is_held_to_their_rules_once_it_is_reported_again() {
    let (_, mut cluster, c) = before_topics(KEYS);
    cluster.learns_topics();
    cluster.restart_from_checkpoint();
    assert_eq!(cluster.selected(KEYS), some("v1"));
    refused(
        cluster.send(report(&c, &[of(KEYS).encodes("v1")], false)),
        ErrorKind::InvalidArgument,
    );
}

// Guarantee: T-09
#[test]
fn a_report_of_a_topic_waits_for_the_machine_version_that_knows_it() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let reports = report(&a, &[of("pods"), holds("k1", "k1")], false);
    let [announce, raise] = raised();
    let Command::AnnounceReplica(mut older) = announce.clone() else {
        unreachable!("it is an announcement")
    };
    (older.machine_version, older.binary) = (1, "0.1.9".to_owned());
    accepted(cluster.send(Command::AnnounceReplica(older)));
    let refusal = cluster.state.check_topics(&reports).unwrap_err();
    assert_eq!(refusal.kind, ErrorKind::Unavailable);
    assert_eq!(
        refusal.message,
        format!(
            "topic \"keys/secrets\": topics come with machine version {TOPICS_SINCE}, and 1 is in force until all replicas \
             know that one: run the newer release on replica 1 (0.1.9), and try again"
        )
    );
    assert_eq!(refusal.metadata["not_executed"], "true");
    assert_eq!(refusal.metadata["resource"], "keys.synod.secrets");
    for other in [shows_another(KEYS), create(KEYS)] {
        let refusal = cluster.state.check_topics(&other).unwrap_err();
        assert_eq!(refusal.kind, ErrorKind::Unavailable);
    }
    for other in [
        report(&a, &[of("pods")], false),
        shows_another("pods"),
        create("pods"),
    ] {
        assert_eq!(cluster.state.check_topics(&other), Ok(()));
    }
    accepted(cluster.send(announce));
    accepted(cluster.send(raise));
    assert_eq!(cluster.state.check_topics(&reports), Ok(()));
    accepted(cluster.send(reports));
    assert_eq!(cluster.agreed(KEYS), some("k1"));
}

#[test]
fn no_level_rises_while_votes_are_switched_off() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[has("v1")]);
    accepted(cluster.send(switch(Feature::Votes, Switch::Off)));
    cluster.reports(&a, &[has("v1 v2")]);
    assert_eq!(cluster.selected(LOCKS), some("v1"));
    accepted(cluster.send(switch(Feature::Votes, Switch::On)));
    assert_eq!(cluster.selected(LOCKS), some("v2"));
}

// Guarantee: T-02
#[test]
fn a_key_is_rotated_while_a_server_dies_and_another_is_rolled_back() {
    let (mut cluster, [a, b, c]) = Cluster::with_one_key();
    // Each server is restarted with the new key. It is selected when the last one holds it.
    let a = cluster.is_replaced(&a, &[holds("k1 k2", "k2")]);
    cluster.is_replaced(&b, &[holds("k1 k2", "k2")]);
    assert_eq!(cluster.selected(KEYS), some("k1"));
    assert_eq!(cluster.encoding(&a, KEYS), some("k1"));
    // The last one is rolled back halfway: it holds the old key alone, and nothing has moved.
    let c = cluster.is_replaced(&c, &[holds("k1", "k1")]);
    assert_eq!(cluster.selected(KEYS), some("k1"));
    let c = cluster.is_replaced(&c, &[holds("k1 k2", "k2")]);
    assert_eq!(cluster.selected(KEYS), some("k2"));
    // Once selected, nobody may come without it.
    let rolled_back = cluster.restarts(&c);
    let refusal = refused(
        cluster.send(report(&rolled_back, &[holds("k1", "k1")], false)),
        ErrorKind::NotDecodable,
    );
    assert_eq!(
        refusal.message,
        "topic \"keys/secrets\": member \"c\" holds only [k1], not k2, the selected key: give it the key until nothing \
         is encrypted with it"
    );
    // Nor without the old one, which the objects are still encrypted with.
    let refusal = refused(
        cluster.send(report(&rolled_back, &[holds("k2", "k2")], false)),
        ErrorKind::NotDecodable,
    );
    assert!(
        refusal.message.contains("not k1, a persisted key"),
        "{refusal}"
    );
    cluster.reports(&rolled_back, &[holds("k1 k2", "k2")]);
    cluster.adopts(&a, KEYS);
    assert!(cluster.migrations(KEYS).iter().all(|one| !one.is_open()));
    // One is killed before it adopts: nothing is rewritten while it may write with the old key.
    cluster.pass(TTL);
    cluster.renew_all(&[&a, &rolled_back]);
    cluster.expires();
    assert_eq!(cluster.agreed(KEYS), some("k2"));
    let migration = cluster.open(KEYS);
    assert_eq!(migration.reason, MigrationReason::RewriteAll);
    assert_eq!(migration.target.version, Some(version("k2")));
    refused(
        cluster.send(claim(&migration.id, "worker")),
        ErrorKind::Draining,
    );
    assert!(
        cluster
            .against(KEYS, "k1")
            .iter()
            .any(|why| matches!(why, Why::Draining(..)))
    );
    let grace = cluster.state.settings().write_grace;
    for _ in 0..grace.as_secs() / 10 + 1 {
        cluster.pass(Duration::from_secs(10));
        cluster.renew_all(&[&a, &rolled_back]);
    }
    assert_eq!(cluster.against(KEYS, "k1"), [Why::Persisted(version("k1"))]);
    cluster.migrates(KEYS);
    assert_eq!(cluster.persisted(KEYS), ["k2"]);
    assert_eq!(cluster.against(KEYS, "k1"), []);
    assert!(!cluster.against(KEYS, "k2").is_empty());
}

// Guarantee: T-01
#[test]
fn a_server_that_does_not_hold_the_new_key_keeps_it_from_being_selected() {
    let (mut cluster, [a, b, _c]) = Cluster::with_one_key();
    cluster.reports(&a, &[holds("k1 k2", "k2")]);
    cluster.reports(&b, &[holds("k1 k2", "k2")]);
    assert_eq!(cluster.selected(KEYS), some("k1"));
    assert_eq!(cluster.agreed(KEYS), some("k1"));
    assert_eq!(cluster.persisted(KEYS), ["k1"]);
}

#[test]
fn a_selection_that_has_moved_is_not_adopted_by_its_old_revision() {
    let (mut cluster, servers) = Cluster::with_one_key();
    let first = cluster.kept(KEYS).selected_revision;
    for server in &servers {
        cluster.reports(server, &[holds("k1 k2", "k2")]);
    }
    assert_eq!(cluster.selected(KEYS), some("k2"));
    refused(
        cluster.send(adopt(&servers[0], KEYS, first)),
        ErrorKind::Conflict,
    );
    assert_eq!(cluster.encoding(&servers[0], KEYS), some("k1"));
    for server in &servers {
        assert_eq!(cluster.agreed(KEYS), None);
        cluster.adopts(server, KEYS);
    }
    assert_eq!(cluster.agreed(KEYS), some("k2"));
}

#[test]
fn a_rotation_that_is_called_back_halfway_rewrites_to_the_key_that_is_agreed_on() {
    let (mut cluster, servers) = Cluster::with_one_key();
    for server in &servers {
        cluster.reports(server, &[holds("k1 k2", "k2")]);
        cluster.renews(server);
    }
    servers
        .iter()
        .for_each(|server| cluster.adopts(server, KEYS));
    let first = cluster.claims(KEYS, "worker");
    for server in &servers {
        cluster.reports(server, &[holds("k1 k2", "k1")]);
    }
    refused(cluster.send(complete(&first)), ErrorKind::NoAgreement);
    servers
        .iter()
        .for_each(|server| cluster.adopts(server, KEYS));
    let back = cluster.open(KEYS);
    assert_eq!(back.target.version, Some(version("k1")));
    assert!(!cluster.against(KEYS, "k2").is_empty());
    // The first worker may rewrite with k2 until its claim would have run out, and what it has sent may land after that.
    refused(cluster.send(claim(&back.id, "two")), ErrorKind::Draining);
    cluster.pass(Duration::from_secs(15 + 70));
    servers.iter().for_each(|server| cluster.renews(server));
    cluster.migrates(KEYS);
    assert_eq!(cluster.against(KEYS, "k2"), []);
}

#[test]
fn what_only_stores_show_is_refused_for_a_key() {
    let (mut cluster, _) = Cluster::with_one_key();
    let refusal = refused(
        cluster.send(shows_another(KEYS)),
        ErrorKind::InvalidArgument,
    );
    assert!(refusal.message.contains("\"keys/secrets\""), "{refusal}");
    refused(cluster.send(create(KEYS)), ErrorKind::InvalidArgument);
}

#[test]
fn a_fixed_entry_for_a_key_or_a_feature_is_refused() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.joins("a");
    for says in [
        of(KEYS).decodes("k1").encodes("k1"),
        of(LOCKS).decodes("v1").encodes("v1"),
        of(LOCKS).decodes("v2").prefers("v2"),
    ] {
        refused(
            cluster.send(report(&a, &[says], false)),
            ErrorKind::InvalidArgument,
        );
    }
    assert_eq!(cluster.state.storage_version_count(), 0);
}

// Guarantee: T-04
#[test]
fn a_feature_is_used_when_everybody_has_it_and_is_never_unlearned() {
    let mut cluster = Cluster::upgraded();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[has("v1")]));
    assert_eq!(cluster.agreed(LOCKS), some("v1"));
    let a = cluster.is_replaced(&a, &[has("v1 v2 v3")]);
    assert_eq!(cluster.selected(LOCKS), some("v1"));
    // The highest level that both have, though nobody prefers just that.
    let b = cluster.is_replaced(&b, &[has("v1 v2")]);
    assert_eq!(cluster.selected(LOCKS), some("v2"));
    assert_eq!(cluster.agreed(LOCKS), None);
    cluster.adopts(&a, LOCKS);
    assert_eq!(cluster.agreed(LOCKS), some("v2"));
    assert!(cluster.migrations(LOCKS).is_empty());
    // A server that goes takes nothing with it, and the level rises for those who stay.
    cluster.leaves_drained(&b);
    assert_eq!(cluster.selected(LOCKS), some("v3"));
    let late = cluster.joins("late");
    let refusal = refused(
        cluster.send(report(&late, &[has("v1 v2")], false)),
        ErrorKind::NotDecodable,
    );
    assert_eq!(
        refusal.message,
        "topic \"features/locks\": member \"late\" has only [v1, v2], not v3, the selected level: run a release that has \
         it"
    );
    cluster.leaves_drained(&a);
    refused(
        cluster.send(report(&late, &[has("v1 v2")], false)),
        ErrorKind::NotDecodable,
    );
    cluster.reports(&late, &[has("v1 v2 v3")]);
    assert_eq!(cluster.agreed(LOCKS), some("v3"));
}

#[test]
fn more_than_nine_levels_are_ordered_by_number() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[has("v1 v2 v3 v4 v5 v6 v7 v8 v9")]);
    let ten = has("v1 v2 v3 v4 v5 v6 v7 v8 v9 v10");
    let b = cluster.starts("b", std::slice::from_ref(&ten));
    assert_eq!(cluster.selected(LOCKS), some("v9"));
    cluster.starts("a", &[ten]);
    assert_eq!(cluster.selected(LOCKS), some("v10"));
    cluster.adopts(&b, LOCKS);
    assert_eq!(cluster.encoding(&b, LOCKS), some("v10"));
}

#[test]
fn a_binary_is_not_asked_for_keys_but_for_features() {
    let (mut cluster, [a, ..]) = Cluster::with_one_key();
    let pods = of("pods").decodes("v1").prefers("v1");
    cluster.reports(&a, std::slice::from_ref(&pods));
    cluster.migrates("pods");
    assert_eq!(cluster.against_binary(&[pods.entry()]), []);
    cluster.reports(&a, &[has("v1")]);
    assert!(!cluster.against_binary(&[pods.entry()]).is_empty());
    assert_eq!(
        cluster.against_binary(&[pods.entry(), has("v1").entry()]),
        []
    );
}

#[test]
fn a_binary_with_another_level_may_join_servers_that_lack_it() {
    let mut cluster = Cluster::upgraded();
    for id in ["a", "b"] {
        cluster.starts(id, &[has("v1")]);
    }
    assert_eq!(cluster.against_binary(&[has("v1 v2").entry()]), []);
    for id in ["a", "b"] {
        cluster.starts(id, &[has("v1 v2")]);
    }
    assert_eq!(cluster.selected(LOCKS), some("v2"));
    let against = cluster.against_binary(&[has("v1").entry()]);
    assert!(
        against.contains(&Why::Selected(version("v2"))),
        "{against:?}"
    );
    assert_eq!(cluster.against_binary(&[has("v1 v2").entry()]), []);
    // A reset is for when something is not as it should be, and nobody can say which levels were used.
    accepted(cluster.send(reset_all()));
    assert_eq!(
        cluster.against_binary(&[has("v1 v2").entry()]),
        [Why::PersistedUnknown]
    );
}

// Guarantee: T-03
#[test]
fn a_reset_unlearns_no_level_and_lets_nobody_in_without_a_key() {
    let (mut cluster, servers) = Cluster::with_one_key();
    for server in &servers {
        cluster.reports(server, &[holds("k1 k2", "k2"), has("v1 v2")]);
    }
    for server in &servers {
        cluster.adopts(server, KEYS);
    }
    accepted(cluster.send(reset_all()));
    assert!(cluster.is_unknown(KEYS) && cluster.is_unknown(LOCKS));
    let late = cluster.joins("late");
    let refusal = refused(
        cluster.send(report(&late, &[holds("k2", "k2")], false)),
        ErrorKind::NotDecodable,
    );
    assert!(
        refusal.message.contains("not k1, a persisted key"),
        "{refusal}"
    );
    for server in &servers {
        cluster.leaves_drained(server);
    }
    accepted(cluster.send(reset_all()));
    assert_eq!(cluster.selected(LOCKS), some("v2"));
    for lacks in [has("v1"), holds("k2 k3", "k3"), holds("k1", "k1")] {
        refused(
            cluster.send(report(&late, &[lacks], false)),
            ErrorKind::NotDecodable,
        );
    }
    // What is forgotten begins anew.
    accepted(cluster.send(forget(LOCKS)));
    cluster.reports(&late, &[has("v1")]);
    assert_eq!(cluster.agreed(LOCKS), some("v1"));
}

// Guarantee: T-03
#[test]
fn who_lacked_a_key_before_topics_is_refused_when_it_reports_again() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.joins(id));
    cluster.reports(&a, &[holds("k1 k2", "k1")]);
    cluster.reports(&a, &[holds("k1 k2", "k2")]);
    cluster.reports(&b, &[holds("k2", "k2")]);
    cluster.learns_topics();
    // It holds no less than before, and yet not what objects may be encrypted with.
    for lacks in [holds("k2", "k2"), holds("k2 k3", "k2")] {
        let refusal = refused(
            cluster.send(report(&b, &[lacks], false)),
            ErrorKind::NotDecodable,
        );
        assert!(
            refusal.message.contains("not k1, a persisted key"),
            "{refusal}"
        );
    }
    cluster.reports(&b, &[holds("k1 k2", "k2")]);
}

// Guarantee: T-03
#[test]
fn a_collection_from_before_topics_says_nothing_of_what_a_key_encrypts() {
    let mut cluster = Cluster::formed();
    accepted(cluster.send(create(KEYS)));
    assert!(!cluster.is_unknown(KEYS));
    cluster.learns_topics();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[holds("k1", "k1")]));
    assert!(cluster.is_unknown(KEYS), "what was stored before");
    cluster.migrates(KEYS);
    for server in [&a, &b] {
        cluster.reports(server, &[holds("k1 k2", "k2")]);
    }
    cluster.adopts(&a, KEYS);
    // One is killed before it adopts, and a write of it may land behind a worker without being counted.
    cluster.pass(TTL);
    cluster.renews(&a);
    cluster.expires();
    assert_eq!(cluster.agreed(KEYS), some("k2"));
    refused(
        cluster.send(claim(&cluster.open(KEYS).id, "worker")),
        ErrorKind::Draining,
    );
    assert!(!cluster.is_unknown(KEYS));
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([7; 16]),
    })));
    assert!(cluster.is_unknown(KEYS), "what was stored after the backup");
}

// Guarantee: T-03
#[test]
fn what_discovery_showed_before_topics_does_not_speak_against_a_key() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[holds("k1", "k1")]);
    accepted(cluster.send(shows_another(KEYS)));
    assert_eq!(cluster.agreed(KEYS), None);
    cluster.learns_topics();
    assert_eq!(cluster.agreed(KEYS), some("k1"));
    cluster.reports(&a, &[holds("k1", "k1")]);
    assert!(!cluster.kept(KEYS).contradicted);
}

// Guarantee: T-03
#[test]
fn what_was_agreed_on_before_topics_is_in_doubt_and_all_of_it_is_rewritten() {
    let mut cluster = Cluster::formed();
    accepted(cluster.send(create(KEYS)));
    let servers = ["a", "b"].map(|id| cluster.starts(id, &[holds("k1 k2", "k1")]));
    for server in &servers {
        cluster.reports(server, &[holds("k1 k2", "k2")]);
    }
    for server in &servers {
        cluster.adopts(server, KEYS);
    }
    // The collection says that nothing is stored with any other key, and only what is known to be older is rewritten.
    assert_eq!(cluster.against(KEYS, "k0"), []);
    let before = cluster.open(KEYS);
    assert_eq!(before.reason, MigrationReason::Agreement);

    cluster.learns_topics();
    assert_eq!(cluster.agreed(KEYS), some("k2"));
    assert_eq!(cluster.against(KEYS, "k0"), [Why::PersistedUnknown]);
    let after = cluster.open(KEYS);
    assert_ne!(after.id, before.id);
    assert_eq!(after.reason, MigrationReason::RewriteAll);
    cluster.migrates(KEYS);
    assert_eq!(cluster.persisted(KEYS), ["k2"]);
    assert_eq!(cluster.against(KEYS, "k0"), []);
    // Another rise, or the same one again, doubts nothing.
    cluster.learns_topics();
    assert_eq!(cluster.persisted(KEYS), ["k2"]);
}

// Guarantee: T-03
#[test]
fn what_was_selected_before_topics_is_decided_by_their_rules_at_once() {
    let mut cluster = Cluster::formed();
    let levels = |preferred| {
        of(LOCKS)
            .of_kind("Feature")
            .decodes("v1 v2")
            .prefers(preferred)
    };
    cluster.starts("a", &[levels("v1")]);
    cluster.starts("b", &[levels("v2")]);
    assert_eq!(cluster.selected(LOCKS), some("v1"));
    cluster.learns_topics();
    assert!(cluster.due().topics.contains(&resource(LOCKS)));
    cluster.expires();
    assert_eq!(cluster.selected(LOCKS), some("v2"));
    assert!(cluster.due().topics.is_empty());
}

#[test]
fn a_roster_of_the_reserved_group_asks_for_those_who_hold_a_key() {
    let mut cluster = Cluster::upgraded();
    cluster.sets_roster("keys.synod.*", crate::rosters::rule("a b", "", 0));
    cluster.starts("a", &[holds("k1", "k1"), of("pods").prefers("v1")]);
    assert_eq!(
        (cluster.agreed(KEYS), cluster.agreed("pods")),
        (None, some("v1"))
    );
    cluster.starts("b", &[holds("k1", "k1")]);
    assert_eq!(cluster.agreed(KEYS), some("k1"));
    let unknown = cluster.kept(KEYS).persisted.contains(&Persisted::Unknown);
    assert!(unknown, "what was written before is not known");
    cluster.lets_unknown_writes_land(KEYS);
    accepted(cluster.send(claim(&cluster.open(KEYS).id, "worker")));
}

#[test]
fn an_object_in_a_collection_from_before_topics_is_encrypted_with_no_key() {
    let mut cluster = Cluster::formed();
    accepted(cluster.send(create(KEYS)));
    cluster.learns_topics();
    let a = cluster.starts("a", &[holds("v1", "v1")]);
    cluster.migrates(KEYS);
    cluster.stores(&key(KEYS, "a/one"), Attributes::default());
    cluster.reports(&a, &[holds("v1 v2", "v2")]);
    cluster.adopts(&a, KEYS);
    cluster.migrates(KEYS);
    assert_eq!(cluster.persisted(KEYS), ["v2"]);
}
