//! Upgrades and downgrades as the seed describes them, and what can go wrong in one.

use std::time::Duration;

use synod_model::ErrorKind;

use crate::cluster::{Cluster, TTL, adopt, refused, report};
use crate::entry::{of, release, version};

/// An optional version, as the cluster returns it.
fn some(version: &str) -> Option<String> {
    Some(version.to_owned())
}

#[test]
fn scenario_one_of_the_seed_upgrading_to_the_first_release_that_votes() {
    let mut cluster = Cluster::formed();
    let old = of("pods").decodes("v1 v2").encodes("v1");
    let [a, b, c] = ["a", "b", "c"].map(|id| cluster.starts(id, std::slice::from_ref(&old)));
    assert_eq!(cluster.selected("pods"), None);
    assert_eq!(cluster.agreed("pods"), some("v1"));

    // The first upgraded server sets its preference as the selected version. The others do not respect the vote yet.
    let a = cluster.is_replaced(&a, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
    assert_eq!(cluster.common("pods"), None);

    // When they are upgraded, they use the selected version.
    let b = cluster.is_replaced(&b, &[release::second()]);
    assert_eq!(cluster.encoding(&b, "pods"), some("v2"));
    assert_eq!(cluster.agreed("pods"), None);
    let c = cluster.is_replaced(&c, &[release::third()]);
    assert_eq!(cluster.encoding(&c, "pods"), some("v2"));
    assert_eq!(cluster.agreed("pods"), some("v2"));
    assert_eq!(
        cluster.kept("pods").agreement_revision,
        cluster
            .version("pods")
            .unwrap()
            .row
            .metadata
            .resource_version
    );
}

#[test]
fn scenario_two_of_the_seed_the_last_upgraded_server_changes_the_selected_version() {
    let mut cluster = Cluster::formed();
    let [a, b, c] = ["a", "b", "c"].map(|id| cluster.starts(id, &[release::second()]));
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (some("v1"), some("v1"))
    );
    let selected_since = cluster.kept("pods").selected_revision;

    let a = cluster.is_replaced(&a, &[release::third()]);
    let b = cluster.is_replaced(&b, &[release::third()]);
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (some("v1"), some("v1"))
    );
    assert_eq!(cluster.kept("pods").selected_revision, selected_since);

    let c = cluster.restarts(&c);
    let told = cluster.reports(&c, &[release::third()]);
    let selected_at = cluster.revision();
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.kept("pods").selected_revision, selected_at);
    assert_eq!(cluster.kept("pods").agreement_revision, selected_at);
    // The last server has no permit to drain: it takes the new version and is told so.
    assert_eq!(told[0].encoding, Some(version("v2")));
    assert_eq!(
        (told[0].selected.clone(), told[0].selected_revision),
        (Some(version("v2")), selected_at)
    );

    // The others encode the new version once they have adopted it; the last adoption makes the agreement.
    assert_eq!(cluster.encoding(&a, "pods"), some("v1"));
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
    assert_eq!(cluster.agreed("pods"), None);
    cluster.adopts(&b, "pods");
    assert_eq!(cluster.agreed("pods"), some("v2"));
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);
}

#[test]
fn a_downgrade_from_the_third_release_to_the_second_selects_the_older_version_again() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::third()]));
    assert_eq!(cluster.agreed("pods"), some("v2"));
    let a = cluster.is_replaced(&a, &[release::second()]);
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
    assert_eq!(cluster.selected("pods"), some("v2"));
    cluster.is_replaced(&b, &[release::second()]);
    assert_eq!(cluster.selected("pods"), some("v1"));
    assert_eq!(cluster.agreed("pods"), None);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.agreed("pods"), some("v1"));
}

// Guarantee: V-01
#[test]
fn a_release_that_was_skipped_to_is_refused_and_changes_nothing() {
    let mut cluster = Cluster::formed();
    let [a, _b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    let a = cluster.restarts(&a);
    let before: Vec<_> = cluster.state.rows().collect();
    let refusal = refused(
        cluster.send(report(&a, &[release::fourth()], false)),
        ErrorKind::NotDecodable,
    );
    assert_eq!(cluster.state.rows().collect::<Vec<_>>(), before);
    assert_eq!(refusal.metadata["resource"], "core.pods");
    assert_eq!(refusal.metadata["version"], "v1");
    assert_eq!(refusal.metadata["decodable_versions"], "v2");
    assert!(
        refusal
            .message
            .contains("member \"a\" decodes only [v2], not v1"),
        "{refusal}"
    );
}

// Guarantee: V-03
#[test]
fn a_paused_voter_holds_agreement_up_until_it_expires() {
    let mut cluster = Cluster::formed();
    let [a, b, paused] = ["a", "b", "paused"].map(|id| cluster.starts(id, &[release::second()]));
    cluster.reports(&paused, &[release::third()]);
    let a = cluster.is_replaced(&a, &[release::third()]);
    let b = cluster.is_replaced(&b, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    cluster.adopts(&a, "pods");
    assert_eq!(
        (cluster.common("pods"), cluster.agreed("pods")),
        (None, None)
    );

    cluster.pass(TTL);
    cluster.renew_all(&[&a, &b]);
    cluster.expires();
    assert_eq!(cluster.agreed("pods"), some("v2"));
    // It may have seen the new selection or not, so a write in any version that it decodes may still arrive.
    let until = cluster.now().after(Duration::from_secs(70));
    assert_eq!(
        cluster.drains("pods"),
        [("v1".to_owned(), until), ("v2".to_owned(), until)]
    );
}

#[test]
fn when_all_members_are_gone_an_upgraded_one_that_is_back_first_decides() {
    let mut cluster = Cluster::formed();
    for id in ["a", "b"] {
        cluster.starts(id, &[release::second()]);
    }
    cluster.pass(TTL);
    cluster.expires();
    assert_eq!(cluster.state.member_count(), 0);
    assert!(cluster.version("pods").is_none());
    // Losing every member does not unselect.
    assert_eq!(
        (
            cluster.selected("pods"),
            cluster.common("pods"),
            cluster.agreed("pods")
        ),
        (some("v1"), None, None)
    );

    let a = cluster.starts("a", &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
    assert_eq!(cluster.agreed("pods"), some("v2"));
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);

    // A server of the older release returns, and takes the selected version.
    let b = cluster.starts("b", &[release::second()]);
    assert_eq!(cluster.encoding(&b, "pods"), some("v2"));
    assert_eq!(cluster.agreed("pods"), some("v2"));
}

// Guarantee: V-03
#[test]
fn a_selection_that_moved_and_moved_back_must_still_be_adopted_by_every_voter() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    cluster.reports(&a, &[release::third()]);
    cluster.reports(&b, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    let moved_at = cluster.kept("pods").selected_revision;
    cluster.reports(&a, &[release::second()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    cluster.reports(&b, &[release::second()]);
    assert_eq!(cluster.selected("pods"), some("v1"));
    assert!(cluster.kept("pods").selected_revision > moved_at);
    // Both encode v1 as before; but one of them may have begun to write v2 in between.
    assert_eq!(cluster.common("pods"), some("v1"));
    assert_eq!(cluster.agreed("pods"), None);
    refused(
        cluster.send(adopt(&a, "pods", moved_at)),
        ErrorKind::Conflict,
    );
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.agreed("pods"), None);
    cluster.adopts(&b, "pods");
    assert_eq!(cluster.agreed("pods"), some("v1"));
}

#[test]
fn a_replaced_member_that_never_reports_votes_for_five_minutes_and_no_longer() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::third()]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").prefers("v1")]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    let a = cluster.restarts(&a);
    let minute = Duration::from_secs(60);
    for _ in 0..4 {
        cluster.pass(minute);
        cluster.renew_all(&[&a, &b]);
        cluster.expires();
    }
    cluster.pass(minute - Duration::from_millis(1));
    cluster.renew_all(&[&a, &b]);
    cluster.expires();
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert!(cluster.version("pods").unwrap().entry(&a.id).is_some());

    cluster.pass(Duration::from_millis(1));
    let outcome = cluster.expires();
    assert!(outcome.changed);
    assert!(cluster.version("pods").unwrap().entry(&a.id).is_none());
    assert_eq!(cluster.selected("pods"), some("v1"));
    // The member itself still exists, and can still report.
    let told = cluster.reports(&a, &[release::third()]);
    assert_eq!(told[0].encoding, Some(version("v1")));
}

#[test]
fn a_replaced_member_that_reports_in_time_is_not_taken_for_silent() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let a = cluster.restarts(&a);
    cluster.pass(TTL / 3);
    cluster.reports(&a, &[release::second()]);
    cluster.pass(Duration::from_secs(300));
    cluster.renews(&a);
    assert_eq!(cluster.due(), synod_machine::Expire::default());
    assert!(cluster.version("pods").unwrap().entry(&a.id).is_some());
}
