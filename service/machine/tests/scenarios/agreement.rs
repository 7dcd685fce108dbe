//! Agreement and what readers see of it: conditions, intersections, revisions, history.

use std::time::Duration;

use synod_machine::VersionStatus;
use synod_model::{AgreementCause, Condition, ConditionStatus, Revision, SettingsPatch};

use crate::cluster::{Cluster, TTL};
use crate::entry::{of, release, resource, version};

fn status(cluster: &Cluster) -> VersionStatus {
    cluster
        .version("pods")
        .expect("somebody reports pods")
        .row
        .status
        .clone()
}

fn texts(condition: &Condition) -> [&str; 4] {
    [
        &condition.kind,
        condition.status.as_str(),
        &condition.reason,
        &condition.message,
    ]
}

#[test]
fn the_condition_has_the_words_of_kubernetes() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    assert_eq!(
        texts(&status(&cluster).all_equal),
        [
            "AllEncodingVersionsEqual",
            "True",
            "CommonEncodingVersionSet",
            "Common encoding version set"
        ]
    );
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(
        texts(&status(&cluster).all_equal),
        [
            "AllEncodingVersionsEqual",
            "False",
            "CommonEncodingVersionUnset",
            "Common encoding version unset"
        ]
    );
    let metadata = cluster.version("pods").unwrap().row.metadata.clone();
    assert_eq!(
        status(&cluster).all_equal.observed_generation,
        metadata.generation
    );
    cluster.leaves(&a);
    assert_eq!(status(&cluster).all_equal.status, ConditionStatus::True);
}

#[test]
fn its_transition_moves_when_the_status_flips_or_the_common_version_changes() {
    let mut cluster = Cluster::formed();
    let says = of("pods").decodes("v1 v2");
    let a = cluster.starts("a", &[says.clone().encodes("v1")]);
    let transition = |cluster: &Cluster| {
        let condition = status(cluster).all_equal;
        (condition.transition, condition.transition_revision)
    };
    let here = |cluster: &Cluster| (cluster.wall(), cluster.revision());
    assert_eq!(transition(&cluster), here(&cluster));

    // The transition time moves from one version to another.
    cluster.pass(TTL / 3);
    cluster.reports(&a, &[says.clone().encodes("v2")]);
    assert_eq!(status(&cluster).all_equal.status, ConditionStatus::True);
    assert_eq!(transition(&cluster), here(&cluster));

    // It does not move when one more member reports the same.
    let before = transition(&cluster);
    cluster.pass(TTL / 3);
    let b = cluster.starts("b", &[says.clone().encodes("v2")]);
    assert_eq!(transition(&cluster), before);

    // It moves from true to false, and not from one disagreement to another.
    cluster.reports(&b, &[says.clone().encodes("v1")]);
    assert_eq!(transition(&cluster), here(&cluster));
    let before = transition(&cluster);
    cluster.pass(TTL / 6);
    cluster.starts("c", &[says.encodes("v1")]);
    assert_eq!(transition(&cluster), before);
}

#[test]
fn the_other_condition_names_who_cannot_decode_which_version() {
    let mut cluster = Cluster::formed();
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(
        texts(&status(&cluster).decodable),
        [
            "DecodableByAll",
            "True",
            "AllVersionsDecodable",
            "every entry decodes every reported, selected and persisted version"
        ]
    );
    cluster.starts("a", &[of("pods").decodes("v1").encodes("v1")]);
    assert_eq!(
        texts(&status(&cluster).decodable),
        [
            "DecodableByAll",
            "False",
            "VersionsNotDecodable",
            "a does not decode v2"
        ]
    );
    // The member that encoded v2 is gone, but what it stored is not.
    let transition = status(&cluster).decodable.transition_revision;
    cluster.leaves(&b);
    assert_eq!(status(&cluster).decodable.message, "a does not decode v2");
    assert_eq!(status(&cluster).decodable.transition_revision, transition);
}

#[test]
fn it_names_eight_and_counts_the_others() {
    let mut cluster = Cluster::formed();
    cluster.starts("new", &[of("pods").decodes("v1 v2").encodes("v2")]);
    for i in 0..10 {
        cluster.starts(&format!("old-{i}"), &[of("pods").encodes("v1")]);
    }
    let message = status(&cluster).decodable.message;
    assert!(
        message.starts_with("old-0 does not decode v2, old-1"),
        "{message}"
    );
    assert!(
        message.ends_with("old-7 does not decode v2 and 2 more"),
        "{message}"
    );
}

#[test]
fn what_all_decode_and_serve_is_the_intersection() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v3 v1 v2").serves("v1 v2")]);
    let b = cluster.starts("b", &[of("pods").decodes("v2 v1 v4").serves("v1")]);
    assert_eq!(
        status(&cluster).decodable_by_all,
        [version("v1"), version("v2")].into()
    );
    assert_eq!(status(&cluster).served_by_all, [version("v1")].into());
    cluster.leaves(&b);
    let all = ["v1", "v2", "v3"].map(version);
    assert_eq!(status(&cluster).decodable_by_all, all.into());
    assert_eq!(
        status(&cluster).served_by_all,
        ["v1", "v2"].map(version).into()
    );
}

// Guarantee: V-02
#[test]
fn a_common_version_is_unset_at_once_by_the_first_who_differs() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(
        (cluster.common("pods"), cluster.agreed("pods")),
        (None, None)
    );
    cluster.reports(&b, &[of("pods").decodes("v1 v2").encodes("v1")]);
    assert_eq!(cluster.common("pods").as_deref(), Some("v1"));
}

#[test]
fn who_is_nearly_silent_for_its_ttl_counts_like_everybody_until_it_is_expired() {
    let mut cluster = Cluster::formed();
    let says = of("pods").decodes("v1 v2");
    let a = cluster.starts("a", &[says.clone().encodes("v1")]);
    cluster.starts("late", &[of("pods").decodes("v2").encodes("v2")]);
    let counts_all = |cluster: &Cluster| {
        assert_eq!(
            (cluster.common("pods"), cluster.agreed("pods")),
            (None, None)
        );
        let status = status(cluster);
        assert_eq!(status.decodable_by_all, [version("v2")].into());
        assert!(status.decodable.message.contains("late does not decode v1"));
    };
    // Less and less of the TTL is left. Each time the agreement is evaluated again.
    let tick = Duration::from_millis(1);
    let mut passed = Duration::ZERO;
    for (i, at) in [TTL / 2 + tick, TTL * 3 / 4, TTL - tick].iter().enumerate() {
        cluster.pass(*at - passed);
        passed = *at;
        cluster.renews(&a);
        assert!(!cluster.expires().changed);
        let other = cluster.starts(&format!("other-{i}"), &[says.clone().encodes("v1")]);
        counts_all(&cluster);
        cluster.restart_from_checkpoint();
        cluster.leaves(&other);
        counts_all(&cluster);
    }
    cluster.pass(tick);
    assert!(cluster.expires().changed);
    assert_eq!(cluster.common("pods").as_deref(), Some("v1"));
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
}

#[test]
fn a_voter_that_is_nearly_silent_for_its_ttl_is_waited_for() {
    let mut cluster = Cluster::formed();
    let [a, late] = ["a", "late"].map(|id| cluster.starts(id, &[release::second()]));
    cluster.reports(&a, &[release::third()]);
    cluster.reports(&late, &[release::third()]);
    assert_eq!(cluster.selected("pods").as_deref(), Some("v2"));
    cluster.pass(TTL - Duration::from_millis(1));
    cluster.renews(&a);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.agreed("pods"), None, "the other encodes v1 still");
    cluster.adopts(&late, "pods");
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v2"));
}

#[test]
fn the_agreement_revision_moves_with_common_and_selected_and_nothing_else() {
    let mut cluster = Cluster::formed();
    let of_pods = |cluster: &Cluster| cluster.kept("pods").agreement_revision;
    let [a, b] = ["a", "b"].map(|id| cluster.starts(id, &[release::second()]));
    let first = of_pods(&cluster);
    assert!(
        first < cluster.revision(),
        "the second voter changed neither"
    );
    cluster.reports(&a, &[release::third()]);
    assert_eq!(of_pods(&cluster), first);

    // `selected` moves; `common` stays.
    cluster.reports(&b, &[release::third()]);
    assert_eq!(of_pods(&cluster), cluster.revision());
    // `common` is unset.
    cluster.adopts(&a, "pods");
    assert_eq!(of_pods(&cluster), cluster.revision());
    // `common` is set.
    cluster.adopts(&b, "pods");
    assert_eq!(of_pods(&cluster), cluster.revision());
    let agreed_at = cluster.revision();
    cluster.reports(&a, &[release::third().of_kind("Gadget")]);
    cluster.leaves(&a);
    assert_eq!(of_pods(&cluster), agreed_at);
    // `common` goes with the last entry.
    cluster.leaves(&b);
    assert_eq!(of_pods(&cluster), cluster.revision());
    assert_eq!(cluster.kept("pods").common, None);
}

#[test]
fn the_history_of_agreements_tells_what_changed_when_and_by_whom() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let set_at = (cluster.revision(), cluster.wall());
    cluster.pass(TTL / 3);
    let b = cluster.starts("b", &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    cluster.reports(&b, &[release::third()]);
    let lost_at = (cluster.revision(), cluster.wall());
    cluster.adopts(&b, "pods");
    cluster.pass(TTL / 3);
    cluster.adopts(&a, "pods");
    let back_at = (cluster.revision(), cluster.wall());

    let lines = cluster.state.agreements(&resource("pods"));
    let lines: Vec<_> = lines
        .map(|line| {
            let text = |version: &Option<synod_model::ApiVersion>| {
                version.as_ref().map(ToString::to_string)
            };
            let cause = line.cause.as_ref().and_then(AgreementCause::member);
            let cause = cause.map(ToString::to_string);
            (
                text(&line.from),
                text(&line.to),
                (line.revision, line.at),
                cause,
            )
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        lines,
        [
            (None, some("v1"), set_at, some("a")),
            (some("v1"), None, lost_at, some("b")),
            (None, some("v2"), back_at, some("a")),
        ]
    );
    // It stays when all members are gone.
    cluster.pass(TTL);
    cluster.expires();
    assert_eq!(cluster.state.agreements(&resource("pods")).count(), 4);
    assert_eq!(cluster.state.agreements(&resource("batch.jobs")).count(), 0);
}

#[test]
fn the_history_of_agreements_keeps_as_many_lines_as_it_is_set_to() {
    for kept in 2..=4_usize {
        let mut cluster = Cluster::with(SettingsPatch {
            agreements_kept: Some(u32::try_from(kept).unwrap()),
            ..SettingsPatch::default()
        });
        let says = of("pods").decodes("v1 v2");
        let a = cluster.starts("a", &[says.clone().encodes("v1")]);
        cluster.reports(&a, &[says.clone().encodes("v2")]);
        cluster.reports(&a, &[says.encodes("v1")]);
        let lines = cluster.state.agreements(&resource("pods"));
        let revisions: Vec<Revision> = lines.map(|line| line.revision).collect();
        assert_eq!(revisions.len(), kept.min(3));
        assert_eq!(revisions.last(), Some(&cluster.revision()));
    }
}

#[test]
fn a_storage_version_that_comes_back_is_a_new_object() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let first = cluster.version("pods").unwrap().row.metadata.clone();
    let state = cluster
        .state
        .present()
        .storage_state(&resource("pods"))
        .unwrap();
    cluster.leaves(&a);
    cluster.pass(TTL);
    cluster.starts("a", &[of("pods")]);
    let second = cluster.version("pods").unwrap().row.metadata.clone();
    assert_ne!(first.uid, second.uid);
    assert_eq!(second.create_revision, cluster.revision());
    // The storage state is still the same object.
    let still = cluster
        .state
        .present()
        .storage_state(&resource("pods"))
        .unwrap();
    assert_eq!(state.row.metadata.uid, still.row.metadata.uid);
}
