//! Which version is selected, and which version each member encodes.

use std::time::Duration;

use synod_model::ErrorKind;

use crate::cluster::{Cluster, TTL, accepted, adopt, refused, report};
use crate::entry::{of, release, resource, version};

/// Short for the texts that the cluster answers with.
fn some(version: &str) -> Option<String> {
    Some(version.to_owned())
}

// Guarantee: W-08
#[test]
fn one_bad_entry_refuses_the_whole_report() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::second()]);
    let b = cluster.joins("b");
    let says = [of("apps.deployments").prefers("v1"), release::fourth()];
    refused(
        cluster.send(report(&b, &says, false)),
        ErrorKind::NotDecodable,
    );
    assert!(cluster.version("apps.deployments").is_none());
    assert!(!cluster.state.present().member(&b.id).unwrap().reported);
}

#[test]
fn a_refused_report_names_every_entry_that_cannot_be_decoded_by_its_place() {
    let mut cluster = Cluster::formed();
    let jobs = || of("jobs.batch").decodes("v1 v2").prefers("v2");
    cluster.starts("a", &[release::third(), jobs()]);
    let b = cluster.joins("b");
    let says = [
        of("pods").decodes("v1").encodes("v1"),
        of("apps.deployments").prefers("v1"),
        of("jobs.batch").decodes("v1").prefers("v1"),
    ];
    let outcome = cluster.send(report(&b, &says, false));
    let refusal = outcome
        .result
        .expect_err("neither can read what is selected");
    let named: Vec<String> = refusal.violations.iter().map(ToString::to_string).collect();
    let rule = |i| {
        format!(
            "entries[{i}].decodableVersions: Invalid value: [\"v1\"]: must include v2, the selected version"
        )
    };
    assert_eq!(named, [rule(0), rule(2)]);
}

// Guarantee: V-01
#[test]
fn a_fixed_server_that_cannot_decode_the_selected_version_is_refused_too() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::third()]);
    let b = cluster.joins("b");
    let says = [of("pods").decodes("v1").encodes("v1")];
    refused(
        cluster.send(report(&b, &says, false)),
        ErrorKind::NotDecodable,
    );
}

#[test]
fn a_fixed_entry_among_voters_keeps_the_selected_version_where_it_is() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let fixed = cluster.starts("fixed", &[of("pods").decodes("v1 v2").encodes("v1")]);
    cluster.reports(&a, &[release::third()]);
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (some("v1"), some("v1"))
    );
    // Without the fixed entry, all voters agree.
    cluster.leaves_drained(&fixed);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.kept("pods").selected_revision, cluster.revision());
    assert_eq!(cluster.agreed("pods"), None);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.agreed("pods"), some("v2"));
}

#[test]
fn a_fixed_entry_that_encodes_what_the_voters_want_does_not_hold_them_up() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.starts("fixed", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(
        (cluster.selected("pods"), cluster.common("pods")),
        (some("v1"), None)
    );
    cluster.reports(&a, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
}

#[test]
fn nothing_is_selected_until_every_entry_decodes_a_preference() {
    let mut cluster = Cluster::formed();
    let old = cluster.starts("old", &[of("pods").decodes("v1").encodes("v1")]);
    let a = cluster.joins("a");
    let told = cluster.reports(&a, &[of("pods").decodes("v1 v2 v3").prefers("v3")]);
    // Its gate stays closed: it has no encoding, and so there is no common one.
    assert_eq!(
        (told[0].encoding.clone(), told[0].selected.clone()),
        (None, None)
    );
    assert_eq!(
        (cluster.selected("pods"), cluster.common("pods")),
        (None, None)
    );
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1"]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2 v3").prefers("v2")]);
    assert_eq!(cluster.selected("pods"), None);

    // When the last server that decodes only v1 is gone, the oldest voter decides for all waiting voters.
    cluster.leaves(&old);
    assert_eq!(cluster.selected("pods"), some("v3"));
    assert_eq!(cluster.encoding(&a, "pods"), some("v3"));
    assert_eq!(cluster.encoding(&b, "pods"), some("v3"));
    assert_eq!(cluster.agreed("pods"), some("v3"));
}

#[test]
fn the_oldest_voter_is_passed_over_while_somebody_cannot_decode_its_preference() {
    let mut cluster = Cluster::formed();
    cluster.starts("old", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2 v3").prefers("v3")]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2 v3").prefers("v2")]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
    assert_eq!(cluster.encoding(&b, "pods"), some("v2"));
}

#[test]
fn a_selection_that_several_departures_allow_is_made_once_after_the_last_of_them() {
    let mut cluster = Cluster::formed();
    // Replaced and never reported again: its entry decodes v2 at most.
    let mute = cluster.starts("mute", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let mute = cluster.restarts(&mute);
    cluster.pass(Duration::from_secs(290));
    cluster.renews(&mute);
    // Expires at the same time: its entry decodes v1 only.
    cluster.starts("gone", &[of("pods").decodes("v1").encodes("v1")]);
    let a = cluster.starts("a", &[of("pods").decodes("v2 v3").prefers("v3")]);
    let b = cluster.starts("b", &[of("pods").decodes("v2 v3").prefers("v2")]);
    assert_eq!(cluster.selected("pods"), None);
    cluster.pass(TTL);
    cluster.renew_all(&[&mute, &a, &b]);
    let outcome = cluster.expires();
    assert_eq!(
        accepted(outcome),
        synod_machine::Answer::Expired {
            members: 1,
            sessions: 0,
            unreported: 1,
            leases: 0,
            waiters: 0,
            candidates: 0,
            objects: 0,
            observations: 0,
        }
    );
    // With both gone, nothing blocks the oldest voter's preference; an evaluation in between would have selected v2.
    assert_eq!(cluster.selected("pods"), some("v3"));
    assert_eq!(cluster.agreed("pods"), some("v3"));
}

#[test]
fn fixed_entries_alone_select_nothing_and_agree_all_the_same() {
    let mut cluster = Cluster::formed();
    for id in ["a", "b"] {
        cluster.starts(id, &[of("pods").encodes("v1")]);
    }
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (None, some("v1"))
    );
}

#[test]
fn fixed_entries_alone_move_what_was_selected_to_their_common_encoding() {
    let mut cluster = Cluster::formed();
    let voter = cluster.starts("voter", &[release::third()]);
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.leaves_drained(&voter);
    // The preferences differ, so the selection stays.
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (some("v2"), None)
    );
    cluster.reports(&b, &[of("pods").decodes("v1 v2").encodes("v1")]);
    assert_eq!(
        (cluster.selected("pods"), cluster.agreed("pods")),
        (some("v1"), some("v1"))
    );
    assert_eq!(cluster.kept("pods").selected_revision, cluster.revision());
}

#[test]
fn a_server_that_begins_to_vote_takes_what_is_selected() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::third()]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let told = cluster.reports(&b, &[release::second()]);
    assert_eq!(told[0].encoding, Some(version("v2")));
    assert_eq!(cluster.agreed("pods"), some("v2"));
}

#[test]
fn a_re_report_keeps_its_encoding_until_it_adopts() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let told = cluster.reports(&a, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(told[0].encoding, Some(version("v1")));
    assert_eq!(told[0].selected, Some(version("v2")));
    cluster.reports(&a, &[release::third().of_kind("Gadget")]);
    assert_eq!(cluster.encoding(&a, "pods"), some("v1"));
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.encoding(&a, "pods"), some("v2"));
}

#[test]
fn a_re_report_that_decodes_its_own_encoding_no_more_takes_what_is_selected() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let told = cluster.reports(&a, &[release::fourth()]);
    assert_eq!(told[0].encoding, Some(version("v2")));
    assert_eq!(cluster.agreed("pods"), some("v2"));
}

#[test]
fn adopting_twice_changes_nothing_the_second_time() {
    let mut cluster = Cluster::formed();
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    cluster.reports(&a, &[release::third()]);
    cluster.reports(&b, &[release::third()]);
    cluster.adopts(&a, "pods");
    let revision = cluster.revision();
    let selected_revision = cluster.kept("pods").selected_revision;
    let outcome = cluster.send(adopt(&a, "pods", selected_revision));
    assert!(!outcome.changed);
    accepted(outcome);
    assert_eq!(cluster.revision(), revision);
}

#[test]
fn an_adopt_of_another_selection_is_told_the_present_one() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let earlier = cluster.kept("pods").selected_revision;
    cluster.reports(&a, &[release::third()]);
    let refusal = refused(
        cluster.send(adopt(&a, "pods", earlier)),
        ErrorKind::Conflict,
    );
    assert_eq!(refusal.metadata["selected_version"], "v2");
    assert_eq!(
        refusal.metadata["selected_revision"],
        cluster.kept("pods").selected_revision.to_string()
    );
}

#[test]
fn only_a_voter_of_the_present_epoch_can_adopt() {
    let mut cluster = Cluster::formed();
    let voter = cluster.starts("voter", &[release::second()]);
    let fixed = cluster.starts("fixed", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let mute = cluster.joins("mute");
    let selected = cluster.kept("pods").selected_revision;
    refused(
        cluster.send(adopt(&fixed, "pods", selected)),
        ErrorKind::NotFound,
    );
    refused(
        cluster.send(adopt(&mute, "pods", selected)),
        ErrorKind::NotFound,
    );
    refused(
        cluster.send(adopt(&voter, "apps.deployments", selected)),
        ErrorKind::NotFound,
    );
    // The entry is the older epoch's until the new one reports.
    let voter = cluster.restarts(&voter);
    refused(
        cluster.send(adopt(&voter, "pods", selected)),
        ErrorKind::NotFound,
    );
}

#[test]
fn resources_are_decided_each_for_itself() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts(
        "a",
        &[
            release::second(),
            of("apps.deployments").decodes("v1 v2").prefers("v2"),
        ],
    );
    assert_eq!(cluster.selected("pods"), some("v1"));
    assert_eq!(cluster.selected("apps.deployments"), some("v2"));
    cluster.reports(&a, &[release::third()]);
    assert_eq!(cluster.selected("pods"), some("v2"));
    assert_eq!(cluster.selected("apps.deployments"), some("v2"));
    assert_eq!(cluster.state.disagreement_count(), 1);
    assert!(
        cluster
            .state
            .agreements(&resource("apps.deployments"))
            .count()
            == 1
    );
}

#[test]
fn a_report_that_no_caller_can_send_is_refused_all_the_same() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let before: Vec<_> = cluster.state.rows().collect();
    // A panic over this report would stop every replica, each time it reads its log again.
    let twice = [release::third(), release::second()];
    let undecodable = [of("pods").decodes("v2").prefers("v1")];
    let nothing = [of("pods").decodes("v2").encodes("v1")];
    for says in [&twice[..], &undecodable, &nothing] {
        let outcome = cluster.send(report(&a, says, false));
        let refusal = refused(outcome, ErrorKind::InvalidArgument);
        assert!(
            refusal.violations[0].field.starts_with("entries["),
            "{refusal:?}"
        );
    }
    assert_eq!(cluster.state.rows().collect::<Vec<_>>(), before);
}
