//! A collection counts its objects, and proves nothing about objects that are stored outside of this cluster.

use std::time::Duration;

use synod_machine::{Answer, Command, Why, check_drop};
use synod_model::{
    Attributes, ClaimMigration, DeleteCollection, ErrorKind, LogTime, MigrationId, MigrationPhase,
    Preconditions, Refusal, StoredIn, Ttl, Walk, WorkerName,
};

use crate::cluster::{Cluster, Work, accepted, complete, fail, progress, refused, report};
use crate::entry::{Says, of, resource, version};
use crate::raised::raised;
use crate::shelf::{WIDGETS, content, widget};

const GRACE: Duration = Duration::from_secs(70);
const SECOND: Duration = Duration::from_secs(1);

fn widgets(encodes: &'static str) -> Says {
    of(WIDGETS).decodes("v1 v2").encodes(encodes)
}

fn claim_to_walk(id: &MigrationId, walks: Option<Walk>) -> Command {
    Command::ClaimMigration(ClaimMigration {
        id: id.clone(),
        worker: WorkerName::parse("worker").expect("a legal name"),
        ttl: Ttl::DEFAULT,
        fenced: false,
        walks,
    })
}

/// A cluster with a collection of two widgets in v1.
fn counting() -> Cluster {
    let mut cluster = Cluster::with_widgets();
    for command in raised() {
        accepted(cluster.send(command));
    }
    cluster.stores(&widget("a/one"), Attributes::default());
    cluster.stores(&widget("a/two"), Attributes::default());
    cluster
}

impl Cluster {
    fn walks(&mut self, walks: Walk) -> Work {
        let id = self.open(WIDGETS).id;
        let answer = accepted(self.send(claim_to_walk(&id, Some(walks))));
        let Answer::MigrationClaimed { token, progress } = answer else {
            panic!("it was claimed");
        };
        Work {
            id,
            token,
            progress,
        }
    }

    fn may_not_walk(&mut self, walks: Option<Walk>) -> Refusal {
        let id = self.open(WIDGETS).id;
        refused(self.send(claim_to_walk(&id, walks)), ErrorKind::Conflict)
    }

    fn rewrites_all(&mut self, version: &str) {
        for name in ["a/one", "a/two"] {
            self.updates(&widget(name), Attributes::default(), content(version, "{}"));
        }
    }

    fn whys_against(&self, of: &str) -> Vec<Why> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(WIDGETS), &version(of));
        let dangers = verdict.dangers.into_iter();
        dangers.map(|danger| danger.why).collect()
    }
}

#[test]
fn what_members_store_in_a_collection_alone_is_what_it_counts() {
    let mut cluster = counting();
    cluster.starts("a", &[widgets("v2").in_collection()]);
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2"]);
    assert_eq!(cluster.kept(WIDGETS).unknown_drain, None);
    let work = cluster.walks(Walk::Collection);
    cluster.rewrites_all("v2");
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v2"]);
    assert_eq!(cluster.whys_against("v1"), []);
}

// Guarantee: MG-10
#[test]
fn a_member_with_a_store_of_its_own_puts_in_doubt_what_a_collection_counts() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v2").in_collection()]);
    let work = cluster.walks(Walk::Collection);
    cluster.rewrites_all("v2");
    // Its report is taken, since no gate may close by it.
    cluster.reports(&a, &[widgets("v2")]);
    let status = cluster.kept(WIDGETS);
    assert!(status.stored_outside);
    assert_eq!(cluster.persisted(WIDGETS), ["Unknown", "v1", "v2"]);
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(status.unknown_drain, Some(until));
    assert_eq!(cluster.migration(&work.id).phase, MigrationPhase::Aborted);
    let whys = cluster.whys_against("v1");
    assert!(whys.contains(&Why::PersistedUnknown) && whys.contains(&Why::DrainingUnknown(until)));
}

// Guarantee: MG-10
#[test]
fn a_worker_that_leaves_out_a_store_is_refused_with_the_walk_that_is_needed() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v2")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    // Without a word a worker of a declared collection walks that.
    let refusal = cluster.may_not_walk(None);
    assert_eq!(refusal.metadata["walk"], "both");
    assert_eq!(
        refusal.message,
        format!(
            "migration \"{}\" is pending: a worker that walks the collection leaves out objects that may be in another version: \
             claim it for one that walks the collection and the store outside",
            cluster.open(WIDGETS).id
        )
    );
    let refusal = cluster.may_not_walk(Some(Walk::Outside));
    assert_eq!(refusal.metadata["walk"], "both");
    cluster.rewrites_all("v2");
    // What the collection counts is in v2 already.
    let refusal = cluster.may_not_walk(Some(Walk::Collection));
    assert_eq!(refusal.metadata["walk"], "outside");
    let work = cluster.walks(Walk::Outside);
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v2"]);
    assert_eq!(cluster.whys_against("v1"), []);
}

// Guarantee: MG-10
#[test]
fn drains_count_for_what_is_stored_outside_though_there_is_a_collection() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v1")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    let work = cluster.walks(Walk::Both);
    accepted(cluster.send(complete(&work)));
    cluster.is_replaced(&a, &[widgets("v2")]);
    let id = cluster.open(WIDGETS).id;
    let walks = Some(Walk::Both);
    refused(cluster.send(claim_to_walk(&id, walks)), ErrorKind::Draining);
}

// Guarantee: MG-10
#[test]
fn a_look_proves_nothing_outside_if_it_shows_what_is_stored_in_the_collection() {
    let mut cluster = counting();
    cluster.starts("a", &[widgets("v1").in_collection()]);
    cluster.observes(WIDGETS, &["v1"]);
    assert!(!cluster.kept(WIDGETS).stored_outside);
    cluster.observes(WIDGETS, &["v1", "v2"]);
    assert!(cluster.kept(WIDGETS).stored_outside);
    assert!(cluster.persisted(WIDGETS).contains(&"Unknown".to_owned()));
}

#[test]
fn a_worker_that_walks_something_else_begins_at_the_first_key() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v2")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    cluster.rewrites_all("v2");
    for (walks, stood) in [(Walk::Outside, 0), (Walk::Outside, 7), (Walk::Both, 0)] {
        let work = cluster.walks(walks);
        assert_eq!(work.progress.done, stood, "{walks:?}");
        accepted(cluster.send(progress(&work, 7)));
        accepted(cluster.send(fail(&work, synod_model::FailureClass::Transient)));
        cluster.pass(SECOND * 8);
        cluster.renews(&a);
        cluster.expires();
    }
}

#[test]
fn what_a_worker_may_still_rewrite_in_a_collection_holds_back_no_claim_and_is_named() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v2").in_collection()]);
    cluster.walks(Walk::Collection);
    cluster.reports(&a, &[widgets("v1").in_collection()]);
    let drains = cluster.kept(WIDGETS).claim_drains;
    let walks: Vec<_> = drains.values().map(|drain| drain.walks).collect();
    assert_eq!(walks, [Some(Walk::Collection)]);
    let is_of_v2 = |why: &Why| matches!(why, Why::Draining(of, _) if *of == version("v2"));
    assert!(cluster.whys_against("v2").iter().any(is_of_v2));
    // Also one that walks outside, too, need not wait for it: the collection counts what was rewritten in it.
    cluster.reports(&a, &[widgets("v1")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    let until = drains.values().map(|drain| drain.until).max();
    assert!(until > Some(cluster.state.log_time()));
    cluster.walks(Walk::Both);
}

// Guarantee: MG-10
#[test]
fn a_restored_cluster_knows_nothing_of_what_is_stored_outside() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v1")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    let work = cluster.walks(Walk::Outside);
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
    cluster.is_restored();
    assert_eq!(cluster.persisted(WIDGETS), ["Unknown", "v1"]);
}

// Guarantee: MG-10
#[test]
fn an_upgrade_doubts_what_collections_were_taken_to_count() {
    let mut cluster = Cluster::with_widgets();
    let a = cluster.starts("a", &[widgets("v1")]);
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
    for command in raised() {
        accepted(cluster.send(command));
    }
    let status = cluster.kept(WIDGETS);
    assert!(status.stored_outside && status.concluded_before.is_some());
    assert!(status.unknown_drain > Some(LogTime::ZERO));
    assert_eq!(cluster.persisted(WIDGETS), ["Unknown", "v1"]);
    assert_eq!(cluster.may_not_walk(None).metadata["walk"], "outside");
    // It stays so, since nobody knows what is outside.
    cluster.reports(&a, &[widgets("v1").in_collection()]);
    assert!(cluster.kept(WIDGETS).stored_outside);
}

#[test]
fn replicas_of_an_older_machine_version_learn_nothing_of_places() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v2").in_collection()]);
    let newer = report(&a, &[widgets("v1").in_collection()], true);
    let Command::Report(older) = newer.clone().as_known_to(2) else {
        panic!("it is a report still");
    };
    assert_eq!(older.entries[0].stored, StoredIn::Outside);
    assert_eq!(newer.clone().as_known_to(3), newer);
    let id = cluster.open(WIDGETS).id;
    let claim = claim_to_walk(&id, Some(Walk::Both));
    assert_eq!(claim.as_known_to(2), claim_to_walk(&id, None));
}

#[test]
fn a_collection_that_is_gone_proves_nothing_either() {
    let mut cluster = Cluster::with_widgets();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let a = cluster.starts("a", &[widgets("v2").in_collection()]);
    let gone = DeleteCollection {
        resource: resource(WIDGETS),
        preconditions: Preconditions::default(),
    };
    accepted(cluster.send(Command::DeleteCollection(gone)));
    cluster.reports(&a, &[widgets("v2")]);
    assert_eq!(cluster.persisted(WIDGETS), ["Unknown", "v2"]);
    let whys = cluster.whys_against("v1");
    assert!(whys.contains(&Why::PersistedUnknown), "{whys:?}");
    assert_eq!(cluster.open(WIDGETS).phase, MigrationPhase::Pending);
}

#[test]
fn an_encoding_that_a_collection_counts_is_persisted_whatever_kind_members_said() {
    let mut cluster = counting();
    let a = cluster.starts("a", &[widgets("v1").of_kind("Gadget")]);
    cluster.leaves(&a);
    cluster.observes(WIDGETS, &["v1"]);
    cluster.pass(GRACE);
    cluster.observes(WIDGETS, &["v1"]);
    let work = cluster.walks(Walk::Both);
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
    // Whoever reports next finds what is counted among what may be stored.
    cluster.starts("b", &[widgets("v2")]);
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2"]);
}
