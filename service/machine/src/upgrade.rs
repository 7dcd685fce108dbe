//! Answers the question whether an upgrade may go on: the members agree on all that is known, all of it is migrated, and no
//! write in another version may still land.
//!
//! The answer is of one revision. Two facts are in no state, and the caller adds them: the alarms of a replica, and the time that
//! is left to members, which the leader alone knows.

mod obstacle;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_model::{
    Assumption, GroupResource, LogTime, MemberId, Migration, MigrationPhase, MigrationReason,
    Persisted,
};

pub use self::obstacle::{LateEncoding, UpgradeCause, UpgradeObstacle};
use crate::agreement::{AgreementQuery, AgreementVerdict, Obstacle, check_agreement};
use crate::safety::{assumed_members, standing_assumptions};
use crate::{Past, StorageStateView};

/// A member is about to expire once at most this part of its TTL is left: it has missed at least one renewal.
const EXPIRING_PART: u32 = 3;

/// The answer to the question whether an upgrade may go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpgradeVerdict {
    /// Every obstacle that the state has, the worst first.
    pub obstacles: Vec<UpgradeObstacle>,
    /// How many resources count.
    pub resources: usize,
    /// The assumptions of a positive answer, each with its resources.
    pub assumptions: BTreeMap<Assumption, BTreeSet<GroupResource>>,
    /// The members that an assumption is made of, in words.
    pub concerned: BTreeMap<Assumption, BTreeSet<String>>,
    /// Whether discovery is observed for a resource without a roster.
    pub is_observed: bool,
}

/// Checks whether an upgrade may go on. `remaining` is the log time that is left to members, as far as it is known.
#[must_use]
pub fn check_upgrade(
    past: &Past<'_>,
    now: LogTime,
    remaining: &BTreeMap<MemberId, Duration>,
) -> UpgradeVerdict {
    let agreement = check_agreement(past, now, &AgreementQuery::default());
    let mut verdict = UpgradeVerdict::default();
    verdict
        .obstacles
        .extend(against_agreement(past, &agreement));
    verdict.obstacles.extend(expiring(past, remaining));
    verdict
        .obstacles
        .extend(against_migrations(past, &agreement));
    for state in past.storage_states(None) {
        let late = late_writes(past, &state, now);
        let causes = late.map(|(encoding, remaining)| UpgradeCause::Draining {
            encoding,
            remaining,
        });
        let obstacles = causes.map(|cause| cause.of(&state.resource));
        verdict.obstacles.extend(obstacles);
    }
    verdict
        .obstacles
        .sort_by_key(|obstacle| obstacle.cause.rank());
    verdict.assume(past, agreement);
    verdict
}

impl UpgradeVerdict {
    /// Takes over what the agreement assumes, and adds what is assumed of the stores: an upgrade relies on both.
    fn assume(&mut self, past: &Past<'_>, agreement: AgreementVerdict) {
        self.resources = agreement.resources.len();
        self.assumptions = agreement.assumptions;
        self.is_observed = agreement.is_observed;
        for resource in agreement.resources.into_iter().map(|it| it.resource) {
            let state = past.storage_state(&resource);
            let status = state.as_ref().map(|state| &state.row.status);
            let rosters = past.rosters_of(&resource);
            for (assumption, member) in status.into_iter().flat_map(assumed_members) {
                self.concerned.entry(assumption).or_default().insert(member);
            }
            for assumption in standing_assumptions(status, &rosters) {
                let is_observed = past.is_observed(&resource);
                self.is_observed |= assumption == Assumption::NoRoster && is_observed;
                let resources = self.assumptions.entry(assumption).or_default();
                resources.insert(resource.clone());
            }
        }
    }
}

/// The obstacles to the agreement, as obstacles to an upgrade.
fn against_agreement(past: &Past<'_>, agreement: &AgreementVerdict) -> Vec<UpgradeObstacle> {
    let of_cluster = agreement.obstacles.iter();
    let of_cluster = of_cluster.map(|obstacle| UpgradeObstacle {
        resource: None,
        cause: match obstacle {
            Obstacle::MemberSilent { members } => UpgradeCause::Silent {
                members: members.clone(),
            },
            Obstacle::ScopeUnknown { scope } => UpgradeCause::Roster {
                scope: scope.clone(),
                obstacle: obstacle.clone(),
            },
            Obstacle::NothingKnown
            | Obstacle::Unknown { .. }
            | Obstacle::Unreported
            | Obstacle::NothingSelected { .. }
            | Obstacle::EncodingsDiffer { .. }
            | Obstacle::FixedElsewhere { .. }
            | Obstacle::NotAdopted { .. }
            | Obstacle::Absent { .. }
            | Obstacle::Contradicted { .. }
            | Obstacle::ObservationExpired
            | Obstacle::ObservationsDiffer { .. } => UpgradeCause::Disagreement {
                obstacle: obstacle.clone(),
            },
        },
    });
    let resources = agreement.resources.iter();
    let of_resources = resources.flat_map(|it| {
        let obstacles = it.obstacles.iter();
        obstacles.map(|obstacle| of_resource(past, &it.resource, obstacle))
    });
    of_cluster.chain(of_resources).collect()
}

fn of_resource(past: &Past<'_>, resource: &GroupResource, obstacle: &Obstacle) -> UpgradeObstacle {
    let obstacle = obstacle.clone();
    let rosters = past.rosters_of(resource);
    let cause = match (&obstacle, rosters.first()) {
        (Obstacle::Absent { .. }, Some(roster)) => UpgradeCause::Roster {
            scope: roster.scope.clone(),
            obstacle,
        },
        _ => UpgradeCause::Disagreement { obstacle },
    };
    cause.of(resource)
}

/// The members that have not renewed for so long that they are about to expire, by id.
fn expiring(
    past: &Past<'_>,
    remaining: &BTreeMap<MemberId, Duration>,
) -> impl Iterator<Item = UpgradeObstacle> {
    remaining.iter().filter_map(|(id, left)| {
        let ttl = past.member(id)?.ttl.duration();
        let cause = UpgradeCause::Expiring {
            member: id.clone(),
            remaining: *left,
        };
        (left.saturating_mul(EXPIRING_PART) <= ttl).then_some(UpgradeObstacle {
            resource: None,
            cause,
        })
    })
}

/// The migrations that have not ended well, and the resources that none migrates.
fn against_migrations(past: &Past<'_>, agreement: &AgreementVerdict) -> Vec<UpgradeObstacle> {
    let mut unfinished: BTreeMap<GroupResource, Vec<UpgradeCause>> = BTreeMap::new();
    for migration in past.migrations(None) {
        let resource = migration.id.resource();
        match migration.phase {
            MigrationPhase::Pending | MigrationPhase::Running => {
                let causes = unfinished.entry(resource.clone()).or_default();
                causes.push(UpgradeCause::of_open(&migration));
            }
            MigrationPhase::Failed if is_needed(past, &migration) => {
                let causes = unfinished.entry(resource.clone()).or_default();
                causes.push(UpgradeCause::of_failed(&migration));
            }
            MigrationPhase::Succeeded => {
                let causes = unfinished.get_mut(resource).into_iter();
                causes.for_each(|causes| causes.retain(|cause| !cause.is_failure()));
            }
            MigrationPhase::Failed | MigrationPhase::Aborted => {}
        }
    }
    for resource in agreement.resources.iter().map(|it| &it.resource) {
        let causes = unfinished.entry(resource.clone()).or_default();
        if let Some(stored) = unmigrated(past, resource).filter(|_| causes.is_empty()) {
            causes.push(UpgradeCause::NotMigrated { stored });
        }
    }
    let obstacles = unfinished.into_iter().flat_map(|(resource, causes)| {
        let causes = causes.into_iter();
        causes.map(move |cause| cause.of(&resource))
    });
    obstacles.collect()
}

/// Whether a failed migration still has something to do: the agreement that it carries out is the present one, and other
/// encodings are stored, or every object has to be written anew.
fn is_needed(past: &Past<'_>, migration: &Migration) -> bool {
    let resource = migration.id.resource();
    let state = past.storage_state(resource);
    let agreement = state.and_then(|state| state.row.status.agreement());
    agreement == Some(migration.agreement_revision)
        && (migration.reason == MigrationReason::RewriteAll || unmigrated(past, resource).is_some())
}

/// The encodings that may be stored beside the one that is agreed on. `None` if there are none, without an agreement, and for
/// what is never rewritten.
fn unmigrated(past: &Past<'_>, resource: &GroupResource) -> Option<BTreeSet<Persisted>> {
    MigrationReason::of_agreement_on(past.topic_kind(resource))?;
    let state = past.storage_state(resource)?;
    let status = &state.row.status;
    status.agreement()?;
    let is_agreed = |kept: &Persisted| match &status.agreed {
        Some(agreed) => kept.version() == Some(agreed),
        None => kept.hash().is_some() && kept.hash() == status.agreed_hash,
    };
    let others = status.persisted.iter().filter(|kept| !is_agreed(kept));
    let others: BTreeSet<Persisted> = others.cloned().collect();
    (!others.is_empty()).then_some(others)
}

/// The writes that may still land, and for how long, but those in the encoding that is agreed on: they change nothing.
fn late_writes<'a>(
    past: &Past<'_>,
    state: &'a StorageStateView,
    now: LogTime,
) -> impl Iterator<Item = (LateEncoding, Duration)> + 'a {
    let status = &state.row.status;
    let versions = status.late_versions().into_iter();
    let versions = versions.map(|(version, until)| (LateEncoding::Version(version.clone()), until));
    let hashes = status.late_hashes().into_iter();
    let hashes = hashes.map(|(hash, until)| (LateEncoding::Hash(hash), until));
    // For what is never rewritten, members that a restored backup does not know may act in any version.
    let is_rewritten = past.topic_kind(&state.resource).is_stored();
    let by_strangers = (!is_rewritten && status.persisted.contains(&Persisted::Unknown))
        .then(|| past.strangers_write_until());
    let unknown = status.unknown_drain.into_iter().chain(by_strangers).max();
    let unknown = unknown.map(|until| (LateEncoding::Unknown, until));
    let late = versions.chain(hashes).chain(unknown);
    let agreed = [
        status.agreed.clone().map(LateEncoding::Version),
        status.agreed_hash.map(LateEncoding::Hash),
    ];
    late.filter(move |(encoding, until)| {
        let mut agreed = agreed.iter().flatten();
        *until > now && !agreed.any(|agreed| agreed == encoding)
    })
    .map(move |(encoding, until)| (encoding, until.since(now)))
}
