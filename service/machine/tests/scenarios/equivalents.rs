//! One store under several names: what is kept of it is kept once, and holds under each of them.

mod told;

use std::time::Duration;

use synod_machine::{Answer, Command, Why, check_drop};
use synod_model::{
    AddEquivalents, CreateCollection, ErrorKind, Kind, LogTime, MigrationId, MigrationPhase,
    ObserveStorage, ObservedServer, ObserverName, Refusal, RemoveEquivalent, ServerLook,
    SettingsPatch, WorkerName,
};

use crate::cluster::{Cluster, Server, accepted, claim, complete, observe, refused, report};
use crate::entry::{Says, hash, of, resource, version};
use crate::raised::raised;
use crate::rosters::rule;

const OLD: &str = "extensions.ingresses";
const NEW: &str = "networking.k8s.io.ingresses";
const GRACE: Duration = Duration::from_secs(70);

fn cluster() -> Cluster {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    cluster
}

fn old() -> Says {
    of(OLD).decodes("v1 v2")
}

fn new() -> Says {
    of(NEW).decodes("v1 v2")
}

fn add(names: &[&str]) -> Command {
    let resources = names.iter().map(|name| resource(name)).collect();
    Command::AddEquivalents(AddEquivalents { resources })
}

fn remove(name: &str) -> Command {
    let resource = resource(name);
    Command::RemoveEquivalent(RemoveEquivalent { resource })
}

/// A named observer looks at the resource, and a server shows this version.
fn look(name: &str, shown: &str) -> Command {
    let shown = ServerLook {
        hashes: [hash(shown)].into(),
        member: None,
    };
    let server = ObservedServer::parse("https://s").expect("a legal server");
    Command::ObserveStorage(ObserveStorage {
        observer: ObserverName::parse("eye").ok(),
        servers: [(server, shown)].into(),
        ..ObserveStorage::unnamed(resource(name), [].into())
    })
}

impl Cluster {
    fn whys_to_keep(&self, name: &str, of: &str) -> Vec<Why> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(name), &version(of));
        verdict
            .dangers
            .into_iter()
            .map(|danger| danger.why)
            .collect()
    }

    /// Two servers, each of which stores the ingresses under one of the names, and a store in v1 alone.
    fn of_two_servers() -> (Self, Server, Server) {
        let mut cluster = cluster();
        let a = cluster.starts("a", &[old().encodes("v1")]);
        let b = cluster.starts("b", &[new().encodes("v1")]);
        accepted(cluster.send(add(&[OLD, NEW])));
        cluster.pass(GRACE);
        cluster.renew_all(&[&a, &b]);
        cluster.migrates(OLD);
        assert_eq!(cluster.persisted(NEW), ["v1"]);
        (cluster, a, b)
    }
}

// Guarantee: MG-11
#[test]
fn what_is_known_of_a_store_is_known_under_each_of_its_names() {
    let (mut cluster, a, b) = Cluster::of_two_servers();
    cluster.reports(&b, &[new().encodes("v2")]);
    assert_eq!(cluster.persisted(OLD), ["v1", "v2"]);
    assert_eq!(
        cluster.agreed(OLD),
        None,
        "the two encode different versions"
    );
    assert_eq!(cluster.agreed(NEW), None);
    // Each name has a common version of its own.
    let common = |name| {
        cluster
            .version(name)
            .and_then(|it| it.row.status.common.clone())
    };
    assert_eq!(common(OLD), Some(version("v1")));
    assert_eq!(common(NEW), Some(version("v2")));
    assert_eq!(cluster.common(OLD), None);
    let whys = cluster.whys_to_keep(NEW, "v1");
    assert!(
        whys.contains(&Why::Reported(a.id.clone(), version("v1"))),
        "{whys:?}"
    );
    cluster.reports(&a, &[old().encodes("v2")]);
    assert_eq!(cluster.agreed(OLD).as_deref(), Some("v2"));
    assert_eq!(cluster.agreed(NEW).as_deref(), Some("v2"));
}

// Guarantee: MG-11
#[test]
fn the_drain_of_one_name_holds_back_the_claim_of_the_other() {
    let (mut cluster, a, b) = Cluster::of_two_servers();
    // One server goes with writes in v1 under way, the other one encodes v2 from now on.
    cluster.leaves(&a);
    cluster.reports(&b, &[new().encodes("v2")]);
    let id = cluster.open(NEW).id;
    assert_eq!(
        *id.resource(),
        resource(OLD),
        "it is kept under the first name"
    );
    let refusal = refused(cluster.send(claim(&id, "worker")), ErrorKind::Draining);
    assert!(refusal.metadata.contains_key("retry_after_ms"));
    let whys = cluster.whys_to_keep(NEW, "v1");
    assert!(
        whys.iter().any(|why| matches!(why, Why::Draining(..))),
        "{whys:?}"
    );
    cluster.pass(GRACE);
    cluster.renews(&b);
    cluster.migrates(NEW);
    assert_eq!(cluster.whys_to_keep(OLD, "v1"), []);
}

#[test]
fn a_worker_claims_a_migration_under_any_name() {
    let (mut cluster, a, b) = Cluster::of_two_servers();
    cluster.reports(&a, &[old().encodes("v2")]);
    cluster.reports(&b, &[new().encodes("v2")]);
    let open = cluster.open(NEW);
    assert!(open.is_of(&resource(NEW)) && open.is_of(&resource(OLD)));
    let named = MigrationId::new(resource(NEW), open.id.number());
    let answer = accepted(cluster.send(claim(&named, "worker")));
    assert!(matches!(answer, Answer::MigrationClaimed { .. }));
    let claim = cluster.migration(&open.id).claim.expect("it was claimed");
    assert_eq!(
        claim.worker,
        WorkerName::parse("worker").expect("a legal name")
    );
}

#[test]
fn a_report_tells_of_the_other_names() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[new().encodes("v1")]);
    cluster.lets_unknown_writes_land(NEW);
    cluster.renews(&a);
    cluster.migrates(NEW);
    assert_eq!(cluster.persisted(NEW), ["v1"]);
    let before = cluster.kept(NEW).agreement_revision;
    cluster.reports(&a, &[new().encodes("v1").equivalent_to(&[OLD])]);
    let kept = cluster.kept(OLD);
    // Nobody has ever heard of who writes under the other name.
    assert_eq!(cluster.persisted(OLD), ["Unknown", "v1"]);
    assert_eq!(kept.equivalents, [resource(NEW)].into());
    assert_eq!(kept.on_trust, Some(cluster.revision()));
    assert!(
        kept.agreement_revision > before,
        "what is agreed on is agreed on anew"
    );
    assert_eq!(
        cluster.version(OLD).map(|_| ()),
        None,
        "nobody reports the other name"
    );
    let told = cluster.version(NEW).expect("it is reported");
    let (_, row) = told.entries().next().expect("it has an entry");
    assert_eq!(row.equivalents, [resource(OLD)].into());
    // To say it again changes nothing.
    let revision = cluster.revision();
    cluster.reports(&a, &[new().encodes("v1").equivalent_to(&[OLD])]);
    assert_eq!(cluster.revision(), revision);
}

// Guarantee: MG-11
#[test]
fn names_join_with_all_that_was_known_of_each() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[old().encodes("v1")]);
    let b = cluster.starts("b", &[new().encodes("v2")]);
    let c = cluster.starts("c", &[new().encodes("v2")]);
    cluster.pass(GRACE);
    cluster.renew_all(&[&a, &b, &c]);
    cluster.migrates(OLD);
    let work = cluster.claims(NEW, "worker");
    cluster.leaves(&c);
    let drains: Vec<(String, LogTime)> = cluster.drains(NEW);
    accepted(cluster.send(add(&[NEW, OLD])));
    assert_eq!(cluster.drains(OLD), drains);
    assert_eq!(cluster.persisted(OLD), ["Unknown", "v1", "v2"]);
    // The worker of the other name may go on until its claim would have run out.
    let kept = cluster.kept(OLD);
    assert!(kept.claim_drains.contains_key(&work.token));
    refused(cluster.send(complete(&work)), ErrorKind::NotFound);
    assert_eq!(cluster.agreed(NEW), None);
    let change = cluster.state.agreements(&resource(NEW)).last().cloned();
    assert_eq!(change.expect("it was agreed on").to, None);
}

// Guarantee: MG-11
#[test]
fn a_roster_over_any_name_asks_and_an_entry_under_any_name_answers() {
    let (mut cluster, _, b) = Cluster::of_two_servers();
    cluster.sets_roster(NEW, rule("a b c", "", 0));
    assert_eq!(cluster.kept(OLD).absent.to_string(), "c");
    cluster.sets_roster(OLD, rule("a d", "", 0));
    assert_eq!(cluster.kept(NEW).absent.to_string(), "c, d");
    cluster.starts("c", &[old().encodes("v1")]);
    cluster.starts("d", &[new().encodes("v1")]);
    assert!(cluster.kept(OLD).absent.is_empty());
    assert_eq!(cluster.agreed(OLD).as_deref(), Some("v1"));
    cluster.leaves(&b);
    assert_eq!(cluster.kept(OLD).absent.to_string(), "b");
}

#[test]
fn one_version_is_selected_for_all_names() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[old().prefers("v1")]);
    let b = cluster.starts("b", &[new().prefers("v2")]);
    assert_eq!(cluster.selected(OLD).as_deref(), Some("v1"));
    assert_eq!(cluster.selected(NEW).as_deref(), Some("v2"));
    accepted(cluster.send(add(&[OLD, NEW])));
    assert_eq!(cluster.selected(NEW).as_deref(), Some("v1"));
    assert_eq!(cluster.kept(NEW).selected_revision, cluster.revision());
    assert_eq!(
        cluster.agreed(NEW),
        None,
        "the second one encodes another version still"
    );
    cluster.adopts(&a, OLD);
    cluster.adopts(&b, NEW);
    assert_eq!(cluster.agreed(NEW).as_deref(), Some("v1"));
    cluster.reports(&a, &[old().prefers("v2")]);
    assert_eq!(cluster.selected(OLD).as_deref(), Some("v2"));
}

#[test]
fn who_reports_two_names_of_one_store_is_refused() {
    let mut cluster = cluster();
    let a = cluster.joins("a");
    let twice = [new().equivalent_to(&[OLD]), old(), of("pods")];
    let revision = cluster.revision();
    let refusal = refused(
        cluster.send(report(&a, &twice, false)),
        ErrorKind::InvalidArgument,
    );
    assert_eq!(
        refusal.violations.first().map(|it| it.field.as_str()),
        Some("entries[1].resource")
    );
    assert_eq!(cluster.revision(), revision, "nothing was joined");
    assert!(
        cluster
            .state
            .present()
            .storage_state(&resource(NEW))
            .is_none()
    );
    cluster.reports(&a, &[new().equivalent_to(&[OLD])]);
    refused(
        cluster.send(report(&a, &[new(), old()], false)),
        ErrorKind::InvalidArgument,
    );
    // One of them in place of the other is another name for the same entry.
    cluster.reports(&a, &[old()]);
    assert!(cluster.version(NEW).is_none() && cluster.version(OLD).is_some());
}

#[test]
fn names_that_another_member_reports_as_two_are_not_joined() {
    let mut cluster = cluster();
    let b = cluster.starts("b", &[new(), old()]);
    let refusal = refused(cluster.send(add(&[OLD, NEW])), ErrorKind::Conflict);
    assert_eq!(
        refusal.message,
        "resources ingresses.extensions, ingresses.networking.k8s.io cannot be names of one store: member b reports two of \
         them: have it report one, which names the others as its equivalents"
    );
    let a = cluster.joins("a");
    let told = report(&a, &[new().equivalent_to(&[OLD])], false);
    refused(cluster.send(told), ErrorKind::Conflict);
    // The next release of the member itself reports them as one.
    let b = cluster.is_replaced(&b, &[new().equivalent_to(&[OLD])]);
    assert!(cluster.version(OLD).is_none());
    assert_eq!(cluster.encoding(&b, NEW).as_deref(), Some("v1"));
}

#[test]
fn names_are_not_joined_where_that_could_not_hold() {
    let mut cluster = cluster();
    cluster.starts("a", &[of(OLD).prefers("v1")]);
    cluster.starts("b", &[of(NEW).decodes("v2").prefers("v2")]);
    let refusal: Refusal = refused(cluster.send(add(&[OLD, NEW])), ErrorKind::Conflict);
    assert_eq!(refusal.metadata["version"], "v1");
    let names: Vec<String> = (0..9).map(|i| format!("g{i}.example.widgets")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    refused(cluster.send(add(&names)), ErrorKind::InvalidArgument);
    refused(cluster.send(add(&names[..1])), ErrorKind::InvalidArgument);
    accepted(cluster.send(add(&names[..8])));
    refused(cluster.send(add(&names[7..])), ErrorKind::InvalidArgument);
    refused(
        cluster.send(add(&["keys.synod.secrets", NEW])),
        ErrorKind::InvalidArgument,
    );
}

// Guarantee: MG-11
#[test]
fn a_name_is_taken_out_by_an_operator_once_nobody_tells_it() {
    let (mut cluster, a, b) = Cluster::of_two_servers();
    cluster.reports(&b, &[new().encodes("v2").equivalent_to(&[OLD])]);
    cluster.leaves(&a);
    let refusal = refused(cluster.send(remove(OLD)), ErrorKind::Conflict);
    assert_eq!(refusal.metadata["member"], "b");
    cluster.reports(&b, &[new().encodes("v2")]);
    let drains = cluster.drains(OLD);
    assert!(!drains.is_empty());
    let open = cluster.open(NEW).id;
    accepted(cluster.send(remove(OLD)));
    for name in [OLD, NEW] {
        assert_eq!(cluster.persisted(name), ["Unknown", "v1", "v2"], "{name}");
        assert_eq!(cluster.drains(name), drains, "{name}");
        assert_eq!(
            cluster.kept(name).unknown_drain,
            Some(cluster.now().after(GRACE))
        );
    }
    assert_eq!(cluster.migration(&open).phase, MigrationPhase::Aborted);
    assert_eq!(cluster.agreed(NEW).as_deref(), Some("v2"));
    assert_eq!(cluster.agreed(OLD), None);
    refused(cluster.send(remove(OLD)), ErrorKind::NotFound);
}

#[test]
fn the_first_name_is_taken_out_like_any_other() {
    let (mut cluster, _, b) = Cluster::of_two_servers();
    accepted(cluster.send(add(&[NEW, "zoo.ingresses"])));
    accepted(cluster.send(remove(OLD)));
    assert_eq!(
        cluster.kept(NEW).equivalents,
        [resource("zoo.ingresses")].into()
    );
    assert!(cluster.kept(OLD).equivalents.is_empty());
    cluster.reports(&b, &[new().encodes("v2")]);
    assert_eq!(cluster.persisted("zoo.ingresses"), ["Unknown", "v1", "v2"]);
    assert_eq!(cluster.persisted(OLD), ["Unknown", "v1"]);
}

// Guarantee: MG-11
#[test]
fn keys_follow_the_names_of_their_resource() {
    let mut cluster = cluster();
    let (old_key, new_key) = (
        "extensions.keys.synod.ingresses",
        "networking.k8s.io.keys.synod.ingresses",
    );
    let key = |name| of(name).decodes("k1 k2").serves("");
    let a = cluster.starts("a", &[old(), key(old_key).prefers("k1")]);
    let b = cluster.starts("b", &[new(), key(new_key).prefers("k2")]);
    accepted(cluster.send(add(&[OLD, NEW])));
    assert_eq!(cluster.kept(old_key), cluster.kept(new_key));
    assert_eq!(cluster.selected(new_key).as_deref(), Some("k1"));
    let whys = cluster.whys_to_keep(old_key, "k2");
    assert!(
        whys.contains(&Why::Reported(b.id.clone(), version("k2"))),
        "{whys:?}"
    );
    // What the first one writes still lands when the other one alone is left.
    cluster.leaves(&a);
    cluster.adopts(&b, new_key);
    cluster.reports(&b, &[key(new_key).prefers("k2")]);
    cluster.adopts(&b, new_key);
    assert_eq!(cluster.agreed(old_key).as_deref(), Some("k2"));
    let id = cluster.open(new_key).id;
    refused(cluster.send(claim(&id, "worker")), ErrorKind::Draining);
    accepted(cluster.send(remove(OLD)));
    assert_eq!(cluster.persisted(old_key), cluster.persisted(new_key));
    assert_eq!(cluster.drains(old_key), cluster.drains(new_key));
    assert_eq!(cluster.agreed(new_key).as_deref(), Some("k2"));
    assert_eq!(cluster.agreed(old_key), None);
}

#[test]
fn the_name_that_has_the_collection_is_the_first() {
    let mut cluster = cluster();
    let create = |name: &str| {
        Command::CreateCollection(CreateCollection {
            resource: resource(name),
            kind: Kind::parse("Ingress").expect("a legal kind"),
            namespaced: true,
            rules: Default::default(),
        })
    };
    accepted(cluster.send(create(NEW)));
    cluster.starts("a", &[old().in_collection().equivalent_to(&[NEW])]);
    assert_eq!(cluster.kept(NEW).equivalents, [resource(OLD)].into());
    let refusal = refused(cluster.send(create(OLD)), ErrorKind::Conflict);
    assert_eq!(
        refusal.message,
        "resource ingresses.extensions is another name of ingresses.networking.k8s.io: create the collection under that one"
    );
    accepted(cluster.send(create("zoo.ingresses")));
    refused(
        cluster.send(add(&[OLD, "zoo.ingresses"])),
        ErrorKind::Conflict,
    );
}

#[test]
fn a_store_with_several_names_is_looked_at_once_for_all_of_them() {
    let (mut cluster, ..) = Cluster::of_two_servers();
    refused(
        cluster.send(observe(OLD, &["v1"])),
        ErrorKind::InvalidArgument,
    );
    refused(cluster.send(look(NEW, "v2")), ErrorKind::InvalidArgument);
    accepted(cluster.send(look(OLD, "v2")));
    assert!(cluster.kept(NEW).contradicted);
    let whys = cluster.whys_to_keep(NEW, "v2");
    assert!(
        whys.iter().any(|why| matches!(why, Why::Observed(_))),
        "{whys:?}"
    );
}

#[test]
fn a_look_at_one_name_is_no_agreement_on_a_store_that_turns_out_to_have_two() {
    let mut cluster = cluster();
    accepted(cluster.send(look(OLD, "v1")));
    assert!(cluster.kept(OLD).agreed_hash.is_some());
    accepted(cluster.send(add(&[OLD, NEW])));
    assert_eq!(cluster.kept(OLD).agreed_hash, None);
    accepted(cluster.send(look(OLD, "v1")));
    assert!(cluster.kept(OLD).agreed_hash.is_some());
}

#[test]
fn names_are_read_from_a_checkpoint_and_at_an_older_revision() {
    let (mut cluster, _, b) = Cluster::of_two_servers();
    let joined = cluster.revision();
    cluster.restart_from_checkpoint();
    cluster.reports(&b, &[new().encodes("v2")]);
    assert_eq!(cluster.persisted(OLD), ["v1", "v2"]);
    accepted(cluster.send(remove(NEW)));
    let past = cluster.state.at(joined).expect("it is kept");
    let then = past.storage_state(&resource(NEW)).expect("it was known");
    assert_eq!(then.resource, resource(OLD));
    let verdict = check_drop(&past, cluster.now(), &resource(NEW), &version("v1"));
    assert!(!verdict.is_safe());
    assert_eq!(
        cluster
            .state
            .present()
            .storage_state(&resource(NEW))
            .map(|it| it.resource),
        Some(resource(NEW))
    );
}

#[test]
fn the_next_process_of_a_member_reports_its_store_under_another_name() {
    let mut cluster = cluster();
    let a = cluster.starts("a", &[new().equivalent_to(&[OLD])]);
    let b = cluster.starts("b", &[new().equivalent_to(&[OLD])]);
    cluster.pass(GRACE);
    cluster.renew_all(&[&a, &b]);
    cluster.migrates(NEW);
    let a = cluster.is_replaced(&a, &[old().equivalent_to(&[NEW])]);
    assert_eq!(cluster.encoding(&a, OLD).as_deref(), Some("v1"));
    cluster.pass(Duration::from_secs(3600));
    cluster.expires();
    assert!(cluster.version(NEW).is_none() && cluster.version(OLD).is_none());
}

#[test]
fn names_that_become_one_store_need_room_and_those_that_are_one_need_none() {
    let (mut cluster, ..) = Cluster::of_two_servers();
    cluster.set(SettingsPatch {
        state_quota_bytes: Some(0),
        ..SettingsPatch::default()
    });
    refused(cluster.send(add(&[OLD, "zoo.ingresses"])), ErrorKind::Quota);
    accepted(cluster.send(add(&[OLD, NEW])));
}
