//! What members that are gone may still write: drains, and what is persisted.

use std::time::Duration;

use synod_machine::Command;
use synod_model::{ErrorKind, LogTime, SettingsPatch};

use crate::cluster::{Cluster, TTL, leave, refused, report};
use crate::entry::{of, release, resource};

const GRACE: Duration = Duration::from_secs(70);

fn drains(versions: &[&str], until: LogTime) -> Vec<(String, LogTime)> {
    let versions = versions.iter();
    versions
        .map(|version| ((*version).to_owned(), until))
        .collect()
}

fn some(version: &str) -> Option<String> {
    Some(version.to_owned())
}

// Guarantee: V-25
#[test]
fn an_expired_member_drains_for_the_write_grace_from_its_expiry() {
    let mut cluster = Cluster::formed();
    cluster.starts(
        "a",
        &[
            of("pods").decodes("v1 v2").encodes("v1"),
            of("apps.deployments"),
        ],
    );
    cluster.pass(TTL * 3);
    cluster.expires();
    let until = cluster.now().after(GRACE);
    assert_eq!(cluster.drains("pods"), drains(&["v1"], until));
    assert_eq!(cluster.drains("apps.deployments"), drains(&["v1"], until));
}

#[test]
fn a_member_that_leaves_drains_like_one_that_expired() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::third()]);
    cluster.pass(Duration::from_secs(3));
    cluster.leaves(&a);
    assert_eq!(
        cluster.drains("pods"),
        drains(&["v2"], cluster.now().after(GRACE))
    );
}

#[test]
fn a_member_that_leaves_with_drained_permits_drains_nothing() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    // The selection has moved, and it has not adopted; yet it says that no write is on its way.
    cluster.reports(&a, &[release::third()]);
    cluster.reports(&b, &[release::third()]);
    cluster.leaves_drained(&a);
    assert_eq!(cluster.drains("pods"), []);
}

// Guarantee: V-25
#[test]
fn a_replaced_member_drains_for_a_whole_ttl_and_the_grace() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    // The leader may know of a renewal that came just now.
    cluster.pass(Duration::from_secs(4));
    let until = cluster.now().after(TTL).after(GRACE);
    cluster.restarts(&a);
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"], until));
}

#[test]
fn a_replaced_member_with_a_fixed_encoding_drains_that_one() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let until = cluster.now().after(TTL).after(GRACE);
    cluster.restarts(&a);
    assert_eq!(cluster.drains("pods"), drains(&["v1"], until));
}

#[test]
fn a_replaced_voter_may_still_follow_what_is_selected_after_it_was_replaced() {
    let mut cluster = Cluster::formed();
    let says = of("pods").decodes("v1 v2 v3");
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[says.clone().prefers("v1")]));
    let until = cluster.now().after(TTL).after(GRACE);
    // The old process of `a` still watches, and does not know yet that it was replaced.
    let a = cluster.restarts(&a);
    for version in ["v2", "v3"] {
        for server in [&a, &b] {
            cluster.reports(server, &[says.clone().prefers(version)]);
        }
        assert_eq!(cluster.selected("pods"), some(version));
    }
    // What it wrote while v2 was selected must land before v3 can be the only stored version.
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2", "v3"], until));
}

#[test]
fn a_replaced_members_deadline_counts_as_it_was_lifted() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.pass(Duration::from_secs(4));
    cluster.elect();
    cluster.restarts(&a);
    let deadline = cluster.now().after(TTL);
    assert_eq!(
        cluster.drains("pods"),
        drains(&["v1", "v2"], deadline.after(GRACE))
    );
}

// Guarantee: V-25
#[test]
fn a_voter_that_has_not_adopted_may_write_any_version_that_it_decodes() {
    let mut cluster = Cluster::formed();
    let says = of("pods").decodes("v1 v2 v3");
    let [a, b, c] = ["a", "b", "c"].map(|id| cluster.starts(id, &[says.clone().prefers("v1")]));
    for server in [&a, &b, &c] {
        cluster.reports(server, &[says.clone().prefers("v2")]);
    }
    assert_eq!(cluster.selected("pods"), some("v2"));
    cluster.adopts(&a, "pods");
    let deadline = cluster.now().after(TTL);

    // A voter that has adopted writes the selected version.
    cluster.leaves(&a);
    assert_eq!(
        cluster.drains("pods"),
        drains(&["v2"], cluster.now().after(GRACE))
    );
    // A voter that has not may write any version that it decodes, whether it is replaced...
    cluster.restarts(&b);
    let until = deadline.after(GRACE);
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2", "v3"], until));
    // ...or expires.
    cluster.pass(TTL);
    cluster.renews(&c);
    cluster.pass(TTL);
    cluster.expires();
    assert_eq!(
        cluster.drains("pods"),
        drains(&["v1", "v2", "v3"], cluster.now().after(GRACE))
    );
}

#[test]
fn a_voter_that_never_had_an_encoding_wrote_nothing() {
    let mut cluster = Cluster::formed();
    cluster.starts("old", &[of("pods").encodes("v1")]);
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").prefers("v2")]);
    cluster.leaves(&a);
    assert_eq!(cluster.drains("pods"), []);
}

#[test]
fn a_drain_is_only_raised() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let b = cluster.starts("b", &[release::second()]);
    let deadline = cluster.now().after(TTL);
    cluster.restarts(&a);
    let until = deadline.after(GRACE);
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"], until));
    // This drain would end earlier than the kept one.
    cluster.leaves(&b);
    assert!(cluster.now().after(GRACE) < until);
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"], until));
}

#[test]
fn an_epoch_that_never_reported_leaves_no_drain_of_its_own() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let until = cluster.now().after(TTL).after(GRACE);
    let a = cluster.restarts(&a);
    cluster.pass(TTL - Duration::from_secs(1));
    // Replaced once more: the entries are still those of the first process.
    let a = cluster.restarts(&a);
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"], until));
    cluster.leaves(&a);
    assert!(cluster.version("pods").is_none());
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"], until));
}

#[test]
fn a_resource_that_is_reported_no_more_was_drained_before() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    cluster.reports_only(&a, &[of("pods")]);
    assert!(cluster.version("apps.deployments").is_none());
    assert_eq!(cluster.drains("apps.deployments"), []);
}

#[test]
fn the_write_grace_is_a_setting() {
    let mut cluster = Cluster::with(SettingsPatch {
        write_grace: Some(Duration::from_secs(5)),
        ..SettingsPatch::default()
    });
    let a = cluster.starts("a", &[of("pods")]);
    cluster.leaves(&a);
    let until = cluster.now().after(Duration::from_secs(5));
    assert_eq!(cluster.drains("pods"), drains(&["v1"], until));
}

// Guarantee: V-16
#[test]
fn persisted_begins_unknown_and_keeps_every_encoding_there_was() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2 v3").encodes("v1")]);
    cluster.reports(&a, &[of("pods").decodes("v1 v2 v3").encodes("v3")]);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v3"]);
    cluster.leaves(&a);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v3"]);
    // A version of another kind is another encoding.
    cluster.starts("a", &[of("pods").of_kind("Gadget")]);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v1", "v3"]);
}

#[test]
fn what_is_selected_is_persisted_before_anybody_encodes_it() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    assert_eq!(cluster.encoding(&a, "pods"), some("v1"));
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);
}

/// `pods` is stored in v1 and v2, and no member is left.
fn stored_in_two_versions(enforce: bool) -> Cluster {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    cluster.adopts(&a, "pods");
    cluster.leaves_drained(&a);
    cluster.set(SettingsPatch {
        enforce_persisted: Some(if enforce {
            [resource("pods")].into()
        } else {
            [].into()
        }),
        ..SettingsPatch::default()
    });
    cluster
}

#[test]
fn a_voter_that_cannot_decode_what_is_stored_is_refused_where_that_is_enforced() {
    let mut cluster = stored_in_two_versions(true);
    let b = cluster.joins("b");
    let refusal = refused(
        cluster.send(report(&b, &[release::fourth()], false)),
        ErrorKind::NotDecodable,
    );
    assert_eq!(refusal.metadata["version"], "v1");
    assert!(refusal.message.contains("a persisted version"), "{refusal}");
    // A member that decodes all stored versions is accepted, and so is one that does not vote.
    cluster.reports(&b, &[release::third()]);
    cluster.starts("c", &[of("pods").decodes("v2").encodes("v2")]);
}

#[test]
fn elsewhere_the_condition_tells() {
    let mut cluster = stored_in_two_versions(false);
    cluster.starts("b", &[release::fourth()]);
    let status = cluster.version("pods").unwrap().row.status.clone();
    assert_eq!(status.decodable.status.as_str(), "False");
    assert_eq!(status.decodable.message, "b does not decode v1");
}

#[test]
fn a_voter_that_decodes_no_less_than_before_may_stay_when_enforcement_begins() {
    let mut cluster = stored_in_two_versions(false);
    let b = cluster.starts("b", &[release::fourth()]);
    cluster.set(SettingsPatch {
        enforce_persisted: Some([resource("pods")].into()),
        ..SettingsPatch::default()
    });
    // The present entry...
    cluster.reports(&b, &[release::fourth().serves("")]);
    // ...and the replaced one count.
    let b = cluster.is_replaced(&b, &[release::fourth()]);
    let b = cluster.is_replaced(&b, &[of("pods").decodes("v2 v3").prefers("v2")]);
    // Less than that is refused.
    let less = [release::fourth()];
    refused(
        cluster.send(report(&b, &less, false)),
        ErrorKind::NotDecodable,
    );
    // A member that left and joins again has no earlier entry to compare with.
    cluster.leaves(&b);
    let b = cluster.joins("b");
    let same = [of("pods").decodes("v2 v3").prefers("v2")];
    refused(
        cluster.send(report(&b, &same, false)),
        ErrorKind::NotDecodable,
    );
}

#[test]
fn a_leave_is_fenced_by_its_epoch_and_drains_nothing_then() {
    let mut cluster = Cluster::formed();
    let old = cluster.starts("a", &[release::second()]);
    let new = cluster.is_replaced(&old, &[release::second()]);
    let before = cluster.drains("pods");
    refused(cluster.send(leave(&old, false)), ErrorKind::StaleEpoch);
    assert_eq!(cluster.drains("pods"), before);
    cluster.pass(TTL);
    cluster.renews(&new);
    assert!(!cluster.send(Command::Expire(cluster.due())).changed);
}
