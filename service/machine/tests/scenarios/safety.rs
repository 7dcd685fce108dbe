//! Whether a binary may join, and whether a version may go.

use std::time::Duration;

use synod_machine::{Danger, Decodes, Why, check_binary, check_drop};
use synod_model::{Kind, MemberId};

use crate::cluster::{Cluster, hash};
use crate::entry::{of, release, resource, version};

fn binary(name: &str, versions: &str, kind: Option<&str>) -> Decodes {
    Decodes {
        resource: resource(name),
        kind: kind.map(|kind| Kind::parse(kind).expect("a legal kind")),
        versions: versions.split(' ').map(version).collect(),
    }
}

fn whys(dangers: Vec<Danger>) -> Vec<Why> {
    dangers.into_iter().map(|danger| danger.why).collect()
}

fn of_binary(cluster: &Cluster, versions: &str) -> Vec<Why> {
    let binary = binary("pods", versions, None);
    whys(check_binary(
        &cluster.state.present(),
        cluster.state.log_time(),
        &[binary],
    ))
}

fn of_drop(cluster: &Cluster, text: &str) -> Vec<Why> {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    whys(check_drop(&past, now, &resource("pods"), &version(text)))
}

fn member(id: &str) -> MemberId {
    MemberId::parse(id).expect("a legal id")
}

#[test]
fn what_nobody_knows_is_not_safe() {
    let mut cluster = Cluster::formed();
    assert_eq!(of_binary(&cluster, "v1 v2"), [Why::NoState]);
    assert_eq!(of_drop(&cluster, "v1"), [Why::NoState]);
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(of_binary(&cluster, "v1 v2"), [Why::PersistedUnknown]);
    assert_eq!(of_drop(&cluster, "v1"), [Why::PersistedUnknown]);
    cluster.migrates("pods");
    assert_eq!(of_binary(&cluster, "v2"), []);
    assert_eq!(of_drop(&cluster, "v1"), []);
}

#[test]
fn every_reason_is_named() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.migrates("pods");
    let b = cluster.starts("b", &[release::third()]);
    let (v1, v2) = (version("v1"), version("v2"));
    assert_eq!(
        of_drop(&cluster, "v1"),
        [
            Why::Persisted(v1.clone()),
            Why::Selected(v1.clone()),
            Why::Reported(member("a"), v1.clone()),
            Why::Reported(member("b"), v1.clone()),
            Why::Voted(member("a"), v1.clone()),
        ]
    );
    assert_eq!(of_binary(&cluster, "v2"), of_drop(&cluster, "v1"));
    // A vote for what is not selected yet counts: the next command may select it.
    assert_eq!(
        of_drop(&cluster, "v2"),
        [Why::Voted(member("b"), v2.clone())]
    );
    // a, the last that wants v1, goes.
    cluster.leaves(&a);
    cluster.adopts(&b, "pods");
    let until = cluster.now().after(Duration::from_secs(70));
    assert_eq!(
        of_drop(&cluster, "v1"),
        [Why::Persisted(v1.clone()), Why::Draining(v1, until)]
    );
    cluster.pass(Duration::from_secs(70));
    cluster.renews(&b);
    cluster.migrates("pods");
    assert_eq!(of_drop(&cluster, "v1"), []);
    assert_eq!(of_binary(&cluster, "v2"), []);
    let dangers = of_drop(&cluster, "v2");
    assert!(
        dangers.contains(&Why::Reported(member("b"), v2)),
        "{dangers:?}"
    );
}

#[test]
fn an_encoding_that_only_its_hash_names_is_told_by_the_kind() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.migrates("pods");
    let unnamed = [Why::PersistedHash(hash("v1"))];
    assert_eq!(of_binary(&cluster, "v1"), unnamed);
    assert_eq!(of_drop(&cluster, "v2"), unnamed);
    let ask = |versions: &str| {
        let binary = binary("pods", versions, Some("Widget"));
        whys(check_binary(
            &cluster.state.present(),
            cluster.state.log_time(),
            &[binary],
        ))
    };
    assert_eq!(ask("v1"), []);
    assert_eq!(ask("v2"), unnamed);
}

#[test]
fn the_answer_is_of_one_revision_and_of_the_resources_that_are_named() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    cluster.migrates("pods");
    let before = cluster.revision();
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let past = cluster.state.at(before).expect("it is kept");
    let pods = binary("pods", "v1", None);
    let now = cluster.state.log_time();
    assert_eq!(check_binary(&past, now, std::slice::from_ref(&pods)), []);
    assert_ne!(
        check_binary(&cluster.state.present(), now, std::slice::from_ref(&pods)),
        []
    );
    let both = [pods, binary("apps.deployments", "v1", None)];
    let dangers = check_binary(&past, now, &both);
    assert_eq!(dangers.len(), 1);
    assert_eq!(dangers[0].resource, resource("apps.deployments"));
}
