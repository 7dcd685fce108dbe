//! Questions about versions and resources of which nobody ever heard.

use synod_machine::{Command, Why, check_drop};
use synod_model::ObserveStorage;
use synod_model::limits::KNOWN_ENCODINGS_MAX;

use crate::cluster::{Cluster, accepted};
use crate::entry::{Says, hash, of, resource, version};
use crate::raised::raised;

const DEPLOYMENTS: &str = "apps.deployments";

fn whys(cluster: &Cluster, name: &str, text: &str) -> Vec<Why> {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource(name), &version(text));
    verdict
        .dangers
        .into_iter()
        .map(|danger| danger.why)
        .collect()
}

fn deployments(decodes: &'static str, encodes: &'static str) -> Says {
    of(DEPLOYMENTS)
        .of_kind("Deployment")
        .decodes(decodes)
        .encodes(encodes)
}

fn rolled() -> Cluster {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let server = cluster.starts("a", &[deployments("apps/v1 apps/v1beta2", "apps/v1beta2")]);
    cluster.migrates(DEPLOYMENTS);
    cluster.reports(&server, &[deployments("apps/v1 apps/v1beta2", "apps/v1")]);
    cluster.migrates(DEPLOYMENTS);
    cluster.reports(&server, &[deployments("apps/v1", "apps/v1")]);
    cluster
}

// Guarantee: V-23
#[test]
fn a_version_that_nobody_ever_named_is_not_safe_to_drop() {
    let cluster = rolled();
    // What was there once is known for ever, though nobody decodes it any more.
    assert_eq!(whys(&cluster, DEPLOYMENTS, "apps/v1beta2"), []);
    let known = ["apps/v1", "apps/v1beta2"].map(version).to_vec();
    for mistyped in ["v1", "apps/v2"] {
        let why = Why::VersionUnknown(version(mistyped), known.clone());
        assert_eq!(whys(&cluster, DEPLOYMENTS, mistyped), [why]);
    }
    let said = whys(&cluster, DEPLOYMENTS, "apps/v1bata2")[0].to_string();
    assert_eq!(
        said,
        "nobody ever reported, observed or stored apps/v1bata2 of it: known are apps/v1beta2, apps/v1"
    );
}

// Guarantee: V-23
#[test]
fn what_is_known_is_in_the_checkpoint() {
    let mut cluster = rolled();
    cluster.restart_from_checkpoint();
    assert_eq!(whys(&cluster, DEPLOYMENTS, "apps/v1beta2"), []);
}

// Guarantee: V-23
#[test]
fn a_resource_that_nobody_ever_named_is_answered_with_the_nearest() {
    let cluster = rolled();
    let nearest = Some(resource(DEPLOYMENTS));
    let found = whys(&cluster, "apps.deployment", "apps/v1");
    assert_eq!(found, [Why::NoState(nearest)]);
    let found = whys(&cluster, "example.io.widgets", "example.io/v1");
    assert_eq!(found, [Why::NoState(None)]);
}

// Guarantee: V-23
#[test]
fn a_version_of_which_only_the_hash_was_shown_is_known() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    cluster.observes("pods", &["v1"]);
    cluster.migrates("pods");
    cluster.observes("pods", &["v2"]);
    cluster.pass(std::time::Duration::from_secs(70));
    cluster.observes("pods", &["v2"]);
    cluster.migrates("pods");
    assert_eq!(whys(&cluster, "pods", "v1"), []);
    let why = Why::VersionUnknown(version("v3"), Vec::new());
    assert_eq!(whys(&cluster, "pods", "v3"), [why]);
}

#[test]
fn the_newest_versions_are_remembered_and_no_more_than_the_bound() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let a = cluster.starts("a", &[of("pods")]);
    for number in 2..=KNOWN_ENCODINGS_MAX + 2 {
        let decodes: &'static str = Box::leak(format!("v1 v{number}").into_boxed_str());
        cluster.reports(&a, &[of("pods").decodes(decodes).encodes("v1")]);
    }
    let known = cluster.kept("pods").known_versions;
    assert_eq!(known.len(), KNOWN_ENCODINGS_MAX);
    // v1 was heard of first, too, but it is reported still.
    assert!(known.contains_key(&version("v1")) && !known.contains_key(&version("v2")));
    let is_known = |text| {
        let whys = whys(&cluster, "pods", text);
        !whys
            .iter()
            .any(|why| matches!(why, Why::VersionUnknown(..)))
    };
    assert!(is_known("v1") && is_known("v4") && !is_known("v2"));
}

#[test]
fn a_hash_of_which_no_kind_is_known_makes_no_version_known() {
    let mut cluster = rolled();
    let a = cluster.starts("a", &[of("pods")]);
    let shown = ObserveStorage::unnamed(resource("pods"), [hash("v1")].into());
    accepted(cluster.send(Command::ObserveStorage(shown)));
    cluster.leaves(&a);
    // Nobody is left who says which kind it is.
    let whys = whys(&cluster, "pods", "v9");
    let unknown = Why::VersionUnknown(version("v9"), vec![version("v1")]);
    assert!(whys.contains(&unknown), "{whys:?}");
}
