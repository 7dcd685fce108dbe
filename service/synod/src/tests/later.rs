//! Answers with reasons and assumptions that only a later release names: they are shown with their words, and never as none.

use std::time::Duration;

use synod_client::{
    Absent, Agreement, Assumed, Assumption, ClusterId, Danger, DangerReason, GroupResource, Header,
    LogTime, Obstacle, ObstacleReason, Revision, Safety, UpgradeObstacle, UpgradeReason,
    UpgradeStatus,
};

use crate::output::{Document, Format};
use crate::views;

const REASON: &str = "a comet is near";
const ASSUMPTION: &str = "no second comet comes";

fn pods() -> GroupResource {
    GroupResource::new("", "pods").unwrap()
}

fn header() -> Header {
    Header {
        cluster: ClusterId::parse("5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b").unwrap(),
        replica_id: 1,
        revision: Revision::new(7),
        raft_term: 1,
        age: None,
    }
}

fn assumptions() -> Vec<Assumed> {
    vec![Assumed {
        reason: Assumption::Other(4_712),
        message: ASSUMPTION.to_owned(),
        resources: vec![pods()],
        omitted: 0,
    }]
}

fn obstacle() -> Obstacle {
    Obstacle {
        reason: ObstacleReason::Other(4_711),
        message: REASON.to_owned(),
        groups: Vec::new(),
        omitted: 0,
        hashes: Vec::new(),
        expired: false,
        scope: None,
        nearest: None,
        selected_version: None,
        selected_revision: Revision::ZERO,
        absent: Absent::default(),
    }
}

/// Checks that each format has the words, and that each format for programs has the numbers.
fn is_shown(document: &Document) {
    for format in [Format::Table, Format::Wide, Format::Json, Format::Yaml] {
        let shown = document.render(format);
        for words in [REASON, ASSUMPTION] {
            assert!(shown.contains(words), "{words} in {shown}");
        }
        let is_for_programs = matches!(format, Format::Json | Format::Yaml);
        for number in ["4711", "4712"] {
            assert!(
                !is_for_programs || shown.contains(number),
                "{number} in {shown}"
            );
        }
    }
}

#[test]
fn a_danger_of_a_later_release_is_shown_with_its_words() {
    let unsafe_answer = Safety {
        header: header(),
        dangers: vec![Danger {
            resource: pods(),
            reason: DangerReason::Other(4_711),
            message: REASON.to_owned(),
        }],
        omitted: 0,
        log_time: LogTime::ZERO,
        assumptions: assumptions(),
    };
    assert!(!unsafe_answer.is_safe());
    is_shown(&views::safety(&unsafe_answer));
}

#[test]
fn an_obstacle_to_an_agreement_of_a_later_release_is_shown_with_its_words() {
    let disagreement = Agreement {
        header: header(),
        agreed: false,
        obstacles: vec![obstacle()],
        resources: Vec::new(),
        omitted: 0,
        left_over: Vec::new(),
        left_over_omitted: 0,
        assumptions: assumptions(),
    };
    is_shown(&views::agreement(&disagreement));
}

#[test]
fn an_obstacle_to_an_upgrade_of_a_later_release_is_shown_with_its_words() {
    let stop = UpgradeStatus {
        header: header(),
        may_go_on: false,
        message: "the upgrade must not go on".to_owned(),
        obstacles: vec![UpgradeObstacle {
            reason: UpgradeReason::Other(4_711),
            message: REASON.to_owned(),
            command: "synod status".to_owned(),
            resource: None,
            members: Vec::new(),
            omitted: 0,
            agreement: None,
            alarm: None,
            migration: None,
            worker: None,
            version: None,
            hash: None,
            remaining: Duration::ZERO,
        }],
        omitted: 0,
        assumptions: assumptions(),
        expiring_known: true,
    };
    is_shown(&views::upgrade(&stop));
}

#[test]
fn an_answer_that_rests_on_an_assumption_of_a_later_release_is_no_plain_yes() {
    let assumed = Safety {
        header: header(),
        dangers: Vec::new(),
        omitted: 0,
        log_time: LogTime::ZERO,
        assumptions: assumptions(),
    };
    assert!(assumed.is_safe() && !assumed.is_safe_for_sure());
    let lines = views::assumption_lines(&assumed.assumptions);
    assert!(lines.contains(ASSUMPTION), "{lines}");
}
