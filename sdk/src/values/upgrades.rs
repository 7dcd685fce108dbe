//! Checks of an upgrade: whether it may go on, and what prevents it.

use std::time::Duration;

use synod_model::{
    ApiVersion, GroupResource, MemberId, MigrationId, StorageVersionHash, Violations, WorkerName,
};
use synod_proto::wire::{self, Wire};
use synod_proto::{messages, v1};

use super::{Alarm, Assumed, Header, Obstacle};

/// Whether an upgrade may go on, at one revision, and what this assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeStatus {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether there is no obstacle. The answer may rest on [`UpgradeStatus::assumptions`].
    pub may_go_on: bool,
    /// The answer in one sentence, for people.
    pub message: String,
    /// The obstacles, the worst first, up to a limit of the answer.
    pub obstacles: Vec<UpgradeObstacle>,
    /// How many more there are.
    pub omitted: u32,
    /// The assumptions of a positive answer, listed also if it is negative. A caller that acts on the answer must ensure them.
    pub assumptions: Vec<Assumed>,
    /// Whether the replica knows which members are about to expire: only the leader does.
    pub expiring_known: bool,
}

impl UpgradeStatus {
    /// Returns whether there is no obstacle, and no assumption that somebody has to vouch for.
    #[must_use]
    pub fn may_go_on_for_sure(&self) -> bool {
        let mut assumptions = self.assumptions.iter();
        self.may_go_on && !assumptions.any(|it| it.reason.needs_vouching())
    }
}

/// An obstacle to an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeObstacle {
    /// The kind of obstacle.
    pub reason: UpgradeReason,
    /// The same in words, for people.
    pub message: String,
    /// A command of `synod` that shows more or helps, for a shell.
    pub command: String,
    /// The resource that it concerns; `None` if it concerns the whole cluster.
    pub resource: Option<GroupResource>,
    /// The members that it concerns, up to a limit of the answer.
    pub members: Vec<MemberId>,
    /// How many more members it concerns.
    pub omitted: u32,
    /// The obstacle to the agreement, where the reason is one.
    pub agreement: Option<Obstacle>,
    /// The alarm, where the reason is one.
    pub alarm: Option<Alarm>,
    /// The migration, where the reason names one.
    pub migration: Option<MigrationId>,
    /// The worker that has claimed the migration.
    pub worker: Option<WorkerName>,
    /// The version that drains, or that a migration writes.
    pub version: Option<ApiVersion>,
    /// The hash of the version, where only that is known.
    pub hash: Option<StorageVersionHash>,
    /// The log time that it lasts still, where the reason says so; else zero.
    pub remaining: Duration,
}

messages! {
    v1::StorageVersionsCheckUpgradeResponse = UpgradeStatus {
        header = header,
        may_go_on = may_go_on,
        message = message,
        obstacles = obstacles,
        omitted = omitted,
        assumptions = assumptions,
        expiring_known = expiring_known,
    }

    v1::UpgradeObstacle = UpgradeObstacle {
        reason = reason,
        message = message,
        command = command,
        resource = resource,
        members = members,
        omitted = omitted,
        agreement = agreement,
        alarm = alarm,
        migration = migration by unless_empty,
        worker = worker,
        version = version,
        hash = hash,
        remaining = remaining_ms,
    }
}

/// The name of a migration; an empty one stands for none.
mod unless_empty {
    use super::*;

    pub(super) fn write(migration: &Option<MigrationId>) -> String {
        let name = migration.as_ref().map(ToString::to_string);
        name.unwrap_or_default()
    }

    pub(super) fn read(pb: String) -> Result<Option<MigrationId>, Violations> {
        match pb.as_str() {
            "" => Ok(None),
            name => MigrationId::parse(name).map(Some),
        }
    }
}

/// Defines the reasons, and converts them in both directions.
macro_rules! reasons {
    ($($(#[doc = $words:literal])* $variant:ident = $name:literal,)*) => {
        /// The cause that prevents an upgrade.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum UpgradeReason {
            $($(#[doc = $words])* $variant,)*
            /// A reason of a later release, by its number: [`UpgradeObstacle::message`] says it.
            Other(i32),
        }

        impl UpgradeReason {
            /// Its name in tables.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(_) => "other",
                }
            }
        }

        impl Wire<i32> for UpgradeReason {
            fn to_wire(&self) -> i32 {
                match self {
                    $(Self::$variant => v1::UpgradeReason::$variant.into(),)*
                    Self::Other(number) => *number,
                }
            }

            fn of_wire(pb: i32) -> Result<Self, Violations> {
                match v1::UpgradeReason::try_from(pb) {
                    $(Ok(v1::UpgradeReason::$variant) => Ok(Self::$variant),)*
                    Ok(v1::UpgradeReason::Unspecified) => {
                        let names = [$(v1::UpgradeReason::$variant.as_str_name()),*];
                        Err(wire::unknown(pb, &names))
                    }
                    Err(_) => Ok(Self::Other(pb)),
                }
            }
        }
    };
}

reasons! {
    /// The replica that answers raises an alarm.
    Alarm = "alarm",
    /// The members do not agree, or nothing is known at all.
    Disagreement = "disagreement",
    /// A roster asks for members that do not report the resource, or for resources that nothing knows.
    Roster = "roster",
    /// Members have joined and have not reported since. An empty report counts.
    Silent = "silent",
    /// A member is about to expire.
    Expiring = "expiring",
    /// The worker of a migration gave up, and nothing has migrated the resource since.
    MigrationFailed = "migration-failed",
    /// Other versions than the agreed one may be stored, and no migration waits or runs.
    NotMigrated = "not-migrated",
    /// A migration waits for a worker.
    MigrationPending = "migration-pending",
    /// A worker has claimed a migration.
    MigrationRunning = "migration-running",
    /// Writes in another version than the agreed one may still land.
    Draining = "draining",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_a_later_release_is_an_obstacle_with_its_words() {
        let later = v1::UpgradeObstacle {
            reason: 4_711,
            message: "a comet is near".to_owned(),
            command: "synod telescope".to_owned(),
            ..v1::UpgradeObstacle::default()
        };
        let obstacle = UpgradeObstacle::of_wire(later.clone()).unwrap();
        assert_eq!(obstacle.reason, UpgradeReason::Other(4_711));
        assert_eq!(obstacle.message, "a comet is near");
        assert_eq!(obstacle.to_wire(), later);
        let none = v1::UpgradeObstacle::default();
        let faults = UpgradeObstacle::of_wire(none).unwrap_err();
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["reason"]);
    }
}
