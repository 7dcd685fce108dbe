//! The answer whether the members of the fixture agree.

use synod_client::Assumption;
use synod_proto::v1;

use super::{header, resource};

/// A resource that is agreed on and two that are not, a silent member, and what is left over.
pub(super) fn agreement() -> v1::StorageVersionsCheckAgreementResponse {
    v1::StorageVersionsCheckAgreementResponse {
        header: Some(header()),
        agreed: false,
        obstacles: vec![v1::Obstacle {
            groups: vec![group("", &["server-d"])],
            ..obstacle(
                v1::ObstacleReason::MemberSilent,
                "server-d has joined and has not reported",
            )
        }],
        resources: vec![pods(), gadgets(), deployments()],
        omitted: 0,
        left_over: vec![resource("example.com", "widgets")],
        left_over_omitted: 0,
        assumptions: vec![v1::Assumption {
            reason: v1::AssumptionReason::NoRoster.into(),
            message: Assumption::NoRoster.sentence(false).to_owned(),
            resources: vec![resource("apps", "deployments")],
            omitted: 0,
        }],
    }
}

/// Three obstacles to an upgrade, and one that is only counted.
pub(super) fn upgrade() -> v1::StorageVersionsCheckUpgradeResponse {
    let differ = pods().obstacles.remove(0);
    v1::StorageVersionsCheckUpgradeResponse {
        header: Some(header()),
        may_go_on: false,
        message: "the upgrade may not go on: pods: server-b encodes v1; server-a encodes v2 (3 more obstacles)".to_owned(),
        obstacles: vec![
            v1::UpgradeObstacle {
                reason: v1::UpgradeReason::Disagreement.into(),
                message: differ.message.clone(),
                command: "synod storage-versions get pods".to_owned(),
                resource: Some(resource("", "pods")),
                members: vec!["server-a".to_owned(), "server-b".to_owned()],
                agreement: Some(differ),
                ..v1::UpgradeObstacle::default()
            },
            v1::UpgradeObstacle {
                reason: v1::UpgradeReason::Silent.into(),
                message: "server-d has joined and has not reported".to_owned(),
                command: "synod members get server-d".to_owned(),
                members: vec!["server-d".to_owned()],
                ..v1::UpgradeObstacle::default()
            },
            v1::UpgradeObstacle {
                reason: v1::UpgradeReason::Draining.into(),
                message: "writes in apps/v1beta1 may still land, for 25 s more".to_owned(),
                command: "synod upgrade status --wait 25s".to_owned(),
                resource: Some(resource("apps", "deployments")),
                version: "apps/v1beta1".to_owned(),
                remaining_ms: 24_600,
                ..v1::UpgradeObstacle::default()
            },
        ],
        omitted: 1,
        assumptions: agreement().assumptions,
        expiring_known: true,
    }
}

fn deployments() -> v1::ResourceAgreement {
    v1::ResourceAgreement {
        resource: Some(resource("apps", "deployments")),
        agreed: true,
        agreed_version: Some("apps/v1".to_owned()),
        ..v1::ResourceAgreement::default()
    }
}

fn pods() -> v1::ResourceAgreement {
    let differ = v1::Obstacle {
        groups: vec![group("v1", &["server-b"]), group("v2", &["server-a"])],
        ..obstacle(
            v1::ObstacleReason::EncodingsDiffer,
            "server-b encodes v1; server-a encodes v2",
        )
    };
    let behind = v1::Obstacle {
        groups: vec![group("", &["server-b"])],
        selected_version: "v2".to_owned(),
        selected_revision: 38,
        ..obstacle(
            v1::ObstacleReason::NotAdopted,
            "server-b has not adopted v2, selected at revision 38",
        )
    };
    v1::ResourceAgreement {
        resource: Some(resource("", "pods")),
        obstacles: vec![differ, behind],
        ..v1::ResourceAgreement::default()
    }
}

fn gadgets() -> v1::ResourceAgreement {
    let contradicted = v1::Obstacle {
        hashes: vec!["ycR7J1GaKp8=".to_owned()],
        ..obstacle(
            v1::ObstacleReason::Contradicted,
            "discovery shows ycR7J1GaKp8=, which no member says that it encodes",
        )
    };
    v1::ResourceAgreement {
        resource: Some(resource("example.com", "gadgets")),
        obstacles: vec![contradicted],
        ..v1::ResourceAgreement::default()
    }
}

/// Why members do not agree on the pods of the fixture.
pub(super) fn of_pods() -> Vec<v1::Obstacle> {
    let absent = obstacle(
        v1::ObstacleReason::Absent,
        "missing by its roster: server-c, and 1 more member of any labels, to reach the required minimum",
    );
    pods().obstacles.into_iter().chain([absent]).collect()
}

/// Why there is no agreement on the jobs of the fixture.
pub(super) fn of_jobs() -> Vec<v1::Obstacle> {
    vec![obstacle(
        v1::ObstacleReason::ObservationExpired,
        "no member reports it, and nobody has looked at its discovery for two periods",
    )]
}

/// Why members do not agree on the widgets of the fixture.
pub(super) fn of_widgets() -> Vec<v1::Obstacle> {
    gadgets().obstacles
}

fn obstacle(reason: v1::ObstacleReason, message: &str) -> v1::Obstacle {
    v1::Obstacle {
        reason: reason.into(),
        message: message.to_owned(),
        ..v1::Obstacle::default()
    }
}

fn group(version: &str, members: &[&str]) -> v1::ObstacleGroup {
    v1::ObstacleGroup {
        version: version.to_owned(),
        members: members.iter().map(|&member| member.to_owned()).collect(),
    }
}
