//! The call `CheckUpgrade`: adds what this replica knows beside the state to the machine's verdict, and converts it to a message
//! of a bounded size.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::{
    Holder, LateEncoding, UpgradeCause, UpgradeObstacle, UpgradeVerdict,
    check_upgrade as verdict_on,
};
use synod_model::{MemberId, MigrationId, MigrationTarget, Refusal};
use synod_proto::limits::{OBSTACLE_MEMBERS_MAX, UPGRADE_OBSTACLES_MAX};
use synod_proto::wire::Wire as _;
use synod_proto::{CheckUpgrade, v1};

use super::agreement::obstacle;
use super::cluster::alarms;
use super::safety::assumptions;
use super::typed;
use crate::handle::{Asking, Handle};
use crate::read::Reading;

pub(super) async fn check_upgrade(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsCheckUpgradeRequest,
) -> Result<v1::StorageVersionsCheckUpgradeResponse, Refusal> {
    let CheckUpgrade { read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let now = reading.published().state.log_time();
    let remaining = remaining(handle, &reading)?;
    let known = remaining.is_some();
    let verdict = verdict_on(&reading.past()?, now, &remaining.unwrap_or_default());
    let alarms = alarms(handle, reading.published());
    Ok(v1::StorageVersionsCheckUpgradeResponse {
        header: Some(handle.header_of(&reading)),
        expiring_known: known,
        ..answer(alarms, &verdict)
    })
}

/// The log time that is left to each member. `None` if this replica does not know it: it does not lead, or reads a past revision.
fn remaining(
    handle: &Handle,
    reading: &Reading,
) -> Result<Option<BTreeMap<MemberId, Duration>>, Refusal> {
    let leads = handle.consensus().leadership().borrow().is_me;
    if !reading.is_present() || !leads {
        return Ok(None);
    }
    let past = reading.past()?;
    let members = past.members(None);
    let left = members.map(|member| {
        let id = member.id.clone();
        let left = handle.left_by_leader(reading, &Holder::Member(id.clone()))?;
        Some((id, left))
    });
    // A replica that ceases to lead meanwhile knows nothing any more.
    Ok(left.collect())
}

fn answer(
    alarms: Vec<v1::Alarm>,
    verdict: &UpgradeVerdict,
) -> v1::StorageVersionsCheckUpgradeResponse {
    let count = alarms.len() + verdict.obstacles.len();
    let alarms = alarms.into_iter().map(of_alarm);
    let obstacles = alarms.chain(verdict.obstacles.iter().map(of_state));
    let obstacles: Vec<_> = obstacles.take(UPGRADE_OBSTACLES_MAX).collect();
    let omitted = count - obstacles.len();
    let assumptions = assumptions(
        &verdict.assumptions,
        &verdict.concerned,
        verdict.is_observed,
    );
    v1::StorageVersionsCheckUpgradeResponse {
        header: None,
        may_go_on: count == 0,
        message: match obstacles.first() {
            Some(worst) => negative_sentence(worst, count),
            None => positive_sentence(verdict, assumptions.len()),
        },
        obstacles,
        omitted: u32::try_from(omitted).unwrap_or(u32::MAX),
        assumptions,
        expiring_known: false,
    }
}

fn positive_sentence(verdict: &UpgradeVerdict, assumptions: usize) -> String {
    let resources = counted(verdict.resources, "resource", "resources");
    let all = format!("the members agree on {resources}, all is migrated, and nothing drains");
    match assumptions {
        0 => format!("the upgrade may go on: {all}"),
        count => {
            let assumptions = counted(count, "assumption", "assumptions");
            format!("the upgrade may go on under {assumptions}: {all}")
        }
    }
}

fn negative_sentence(worst: &v1::UpgradeObstacle, count: usize) -> String {
    let of = match &worst.resource {
        Some(resource) => format!("{}: ", qualified(resource)),
        None => String::new(),
    };
    let message = &worst.message;
    match count - 1 {
        0 => format!("the upgrade may not go on: {of}{message}"),
        more => {
            let more = counted(more, "more obstacle", "more obstacles");
            format!("the upgrade may not go on: {of}{message} ({more})")
        }
    }
}

fn qualified(resource: &v1::GroupResource) -> String {
    match resource.group.as_str() {
        "" => resource.resource.clone(),
        group => format!("{}.{group}", resource.resource),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    let what = if count == 1 { one } else { many };
    format!("{count} {what}")
}

fn of_alarm(alarm: v1::Alarm) -> v1::UpgradeObstacle {
    let command = match alarm.kind() {
        v1::AlarmKind::SwitchedOff | v1::AlarmKind::Quota => "synod settings",
        v1::AlarmKind::Unspecified
        | v1::AlarmKind::NoQuorum
        | v1::AlarmKind::DigestMismatch
        | v1::AlarmKind::DiskFull
        | v1::AlarmKind::DamagedCheckpoint
        | v1::AlarmKind::WentBack
        | v1::AlarmKind::Certificate
        | v1::AlarmKind::Policy
        | v1::AlarmKind::Audit
        | v1::AlarmKind::NotVoting => "synod doctor",
    };
    v1::UpgradeObstacle {
        reason: v1::UpgradeReason::Alarm.into(),
        message: alarm.message.clone(),
        command: command.to_owned(),
        alarm: Some(alarm),
        ..v1::UpgradeObstacle::default()
    }
}

fn of_state(of: &UpgradeObstacle) -> v1::UpgradeObstacle {
    let members = of.cause.members();
    let named = members.iter().take(OBSTACLE_MEMBERS_MAX);
    let named: Vec<String> = named.map(ToString::to_string).collect();
    let omitted = members.len() - named.len();
    let mut pb = v1::UpgradeObstacle {
        message: of.to_string(),
        command: of.command(),
        resource: of.resource.as_ref().map(Into::into),
        members: named,
        omitted: u32::try_from(omitted).unwrap_or(u32::MAX),
        ..v1::UpgradeObstacle::default()
    };
    pb.set_reason(reason(&of.cause));
    match &of.cause {
        UpgradeCause::Disagreement { obstacle: of } | UpgradeCause::Roster { obstacle: of, .. } => {
            pb.agreement = Some(obstacle(of));
        }
        UpgradeCause::Silent { .. } | UpgradeCause::NotMigrated { .. } => {}
        UpgradeCause::Expiring { remaining, .. } => pb.remaining_ms = remaining.to_wire(),
        UpgradeCause::MigrationFailed {
            migration, target, ..
        }
        | UpgradeCause::MigrationPending { migration, target } => {
            name_migration(&mut pb, migration, target);
        }
        UpgradeCause::MigrationRunning {
            migration,
            target,
            worker,
            ..
        } => {
            name_migration(&mut pb, migration, target);
            pb.worker = worker.to_string();
        }
        UpgradeCause::Draining {
            encoding,
            remaining,
        } => {
            pb.remaining_ms = remaining.to_wire();
            match encoding {
                LateEncoding::Version(version) => pb.version = version.to_string(),
                LateEncoding::Hash(hash) => pb.hash = hash.to_string(),
                LateEncoding::Unknown => {}
            }
        }
    }
    pb
}

fn name_migration(pb: &mut v1::UpgradeObstacle, migration: &MigrationId, target: &MigrationTarget) {
    pb.migration = migration.to_string();
    match &target.version {
        Some(version) => pb.version = version.to_string(),
        None => pb.hash = target.hash.to_string(),
    }
}

fn reason(cause: &UpgradeCause) -> v1::UpgradeReason {
    use v1::UpgradeReason as Reason;
    match cause {
        UpgradeCause::Disagreement { .. } => Reason::Disagreement,
        UpgradeCause::Roster { .. } => Reason::Roster,
        UpgradeCause::Silent { .. } => Reason::Silent,
        UpgradeCause::Expiring { .. } => Reason::Expiring,
        UpgradeCause::MigrationFailed { .. } => Reason::MigrationFailed,
        UpgradeCause::NotMigrated { .. } => Reason::NotMigrated,
        UpgradeCause::MigrationPending { .. } => Reason::MigrationPending,
        UpgradeCause::MigrationRunning { .. } => Reason::MigrationRunning,
        UpgradeCause::Draining { .. } => Reason::Draining,
    }
}

#[cfg(test)]
mod tests {
    use synod_model::GroupResource;

    use super::*;

    fn alarm(kind: v1::AlarmKind, message: &str) -> v1::Alarm {
        v1::Alarm {
            kind: kind.into(),
            replica_id: 0,
            message: message.to_owned(),
        }
    }

    fn drains(count: usize) -> UpgradeVerdict {
        let drain = |number: usize| UpgradeObstacle {
            resource: Some(GroupResource::new("apps", &format!("r{number}s")).expect("legal")),
            cause: UpgradeCause::Draining {
                encoding: LateEncoding::Unknown,
                remaining: Duration::from_secs(7),
            },
        };
        UpgradeVerdict {
            obstacles: (0..count).map(drain).collect(),
            resources: count,
            ..UpgradeVerdict::default()
        }
    }

    #[test]
    fn alarms_are_obstacles_and_worse_than_all_others() {
        let off = alarm(v1::AlarmKind::SwitchedOff, "votes are switched off");
        let answer = answer(vec![off.clone()], &drains(1));
        assert!(!answer.may_go_on);
        let reasons: Vec<_> = answer.obstacles.iter().map(|it| it.reason()).collect();
        assert_eq!(
            reasons,
            [v1::UpgradeReason::Alarm, v1::UpgradeReason::Draining]
        );
        assert_eq!(answer.obstacles[0].alarm, Some(off));
        assert_eq!(answer.obstacles[0].command, "synod settings");
        assert_eq!(
            answer.message,
            "the upgrade may not go on: votes are switched off (1 more obstacle)"
        );
        let broken = alarm(v1::AlarmKind::Certificate, "a certificate has expired");
        assert_eq!(of_alarm(broken).command, "synod doctor");
    }

    #[test]
    fn an_answer_names_the_first_64_obstacles_and_counts_the_others() {
        let verdict = drains(UPGRADE_OBSTACLES_MAX + 3);
        let all = answer(Vec::new(), &verdict);
        assert_eq!((all.obstacles.len(), all.omitted), (64, 3));
        let quota = alarm(v1::AlarmKind::Quota, "the state is at its quota");
        let with_alarm = answer(vec![quota], &verdict);
        assert_eq!((with_alarm.obstacles.len(), with_alarm.omitted), (64, 4));
    }

    #[test]
    fn the_answer_is_one_sentence() {
        let yes = answer(Vec::new(), &drains(0));
        assert!(yes.may_go_on);
        assert_eq!(
            yes.message,
            "the upgrade may go on: the members agree on 0 resources, all is migrated, and nothing drains"
        );
        let no = answer(Vec::new(), &drains(1));
        assert_eq!(
            no.message,
            "the upgrade may not go on: r0s.apps: writes in versions that nobody can name may still land, for 7 s more"
        );
    }
}
