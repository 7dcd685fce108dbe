//! The state as a value made of persistent maps, and the questions that need no past revision.

mod controller_revisions;
mod leases;
mod objects;

use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use synod_model::limits::STATE_RESERVE_BYTES;
use synod_model::stored::Stored as _;
use synod_model::{
    AgreementChange, ClusterId, EVIDENCE_SINCE, Epoch, ErrorKind, Feature, GroupResource, Identity,
    Kind, LogTime, Member, MemberId, Migration, MigrationAlias, MigrationId, Refusal,
    ResourceScope, Revision, Roster, Sequence, SessionId, Settings, Uid,
};

use crate::controller_revisions::ControllerRevisions;
use crate::deadlines::Deadlines;
use crate::digest::{Digest, RowSum};
use crate::history::History;
use crate::leases::Leases;
use crate::memberships::Memberships;
use crate::objects::{Dependents, Held};
use crate::tally::Tally;
use crate::{
    Aftermath, EntryRow, Garbage, Heartbeat, MACHINE_VERSION_MIN, OutcomeRow, ProgressRow,
    ReplicaId, ReplicaRow, StatementRow, StorageStateRow, StorageVersionRow,
};

/// The whole replicated state at one position of the log. A clone is cheap and never changes.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) cluster: Option<ClusterId>,
    pub(crate) machine_version: u32,
    pub(crate) revision: Revision,
    pub(crate) log_time: LogTime,
    /// Until when writes of members that only a lost cluster knew may arrive, in any version; zero without a restore.
    pub(crate) strangers_write_until: LogTime,
    pub(crate) settings: Arc<Settings>,
    pub(crate) replicas: OrdMap<ReplicaId, ReplicaRow>,
    /// The replicas that have left the replica set.
    pub(crate) left: OrdSet<ReplicaId>,
    pub(crate) members: OrdMap<MemberId, Arc<Member>>,
    /// By member, the last statement of its epoch that was accepted. A member without statements has no key here.
    pub(crate) statements: OrdMap<MemberId, StatementRow>,
    pub(crate) memberships: Memberships,
    pub(crate) deadlines: Deadlines,
    pub(crate) sessions: OrdMap<SessionId, Session>,
    pub(crate) storage_versions: OrdMap<GroupResource, StorageVersion>,
    pub(crate) storage_states: OrdMap<GroupResource, StorageState>,
    pub(crate) collections: OrdMap<GroupResource, Held>,
    /// The work that deletions have left, by the uid of the owner.
    pub(crate) garbage: OrdMap<Uid, Arc<Garbage>>,
    pub(crate) controller_revisions: ControllerRevisions,
    pub(crate) leases: Leases,
    pub(crate) migrations: OrdMap<MigrationId, KeptMigration>,
    /// The rosters, by their scope.
    pub(crate) rosters: OrdMap<ResourceScope, Arc<Roster>>,
    /// What still has to follow from switches that moved. A switch from which everything has followed has no key here.
    pub(crate) aftermaths: OrdMap<Feature, Aftermath>,
    pub(crate) history: History,
    /// The sum over every row above. The fields below are derived from those rows.
    pub(crate) sum: RowSum,
    /// The resources that each member reports. A member without entries has no key here.
    pub(crate) reported: OrdMap<MemberId, OrdSet<GroupResource>>,
    /// The collection that has the objects of a group and kind.
    pub(crate) kinds: OrdMap<(Arc<str>, Kind), GroupResource>,
    /// The objects that name each owner.
    pub(crate) dependents: Dependents,
    /// The migration that has each alias.
    pub(crate) aliases: OrdMap<MigrationAlias, MigrationId>,
    /// The first name of each other name of a set of equivalent resources.
    pub(crate) first_names: OrdMap<GroupResource, GroupResource>,
}

/// A session with the outcomes it keeps.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Sequences below this one are answered and forgotten: they are never executed again.
    pub(crate) lowest: Sequence,
    /// Who opened it, if that was proved: nobody else may use it.
    pub(crate) owner: Option<Identity>,
    pub(crate) outcomes: OrdMap<Sequence, Arc<OutcomeRow>>,
}

/// A reported resource with its entries. It exists while it has at least one.
#[derive(Clone, Debug)]
pub(crate) struct StorageVersion {
    pub(crate) row: Arc<StorageVersionRow>,
    pub(crate) entries: OrdMap<MemberId, Arc<EntryRow>>,
    /// The counts behind the row, derived from the entries.
    pub(crate) tally: Arc<Tally>,
}

/// The storage state of a resource, with its history of agreements.
#[derive(Clone, Debug)]
pub(crate) struct StorageState {
    pub(crate) row: Arc<StorageStateRow>,
    /// Oldest first.
    pub(crate) agreements: Vector<Arc<AgreementChange>>,
    /// When it was last observed; `None` if it never was.
    pub(crate) heartbeat: Option<Heartbeat>,
}

/// A migration with its progress.
#[derive(Clone, Debug)]
pub(crate) struct KeptMigration {
    pub(crate) row: Arc<Migration>,
    /// `None` before a worker has reported any.
    pub(crate) progress: Option<Arc<ProgressRow>>,
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// The state before the first entry: no cluster, revision zero.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cluster: None,
            machine_version: MACHINE_VERSION_MIN,
            revision: Revision::ZERO,
            log_time: LogTime::ZERO,
            strangers_write_until: LogTime::ZERO,
            settings: Arc::new(Settings::default()),
            replicas: OrdMap::new(),
            left: OrdSet::new(),
            members: OrdMap::new(),
            statements: OrdMap::new(),
            memberships: Memberships::default(),
            deadlines: Deadlines::default(),
            sessions: OrdMap::new(),
            storage_versions: OrdMap::new(),
            storage_states: OrdMap::new(),
            collections: OrdMap::new(),
            garbage: OrdMap::new(),
            controller_revisions: ControllerRevisions::default(),
            leases: Leases::default(),
            migrations: OrdMap::new(),
            rosters: OrdMap::new(),
            aftermaths: OrdMap::new(),
            history: History::default(),
            sum: RowSum::default(),
            reported: OrdMap::new(),
            kinds: OrdMap::new(),
            dependents: Dependents::default(),
            aliases: OrdMap::new(),
            first_names: OrdMap::new(),
        }
    }

    /// The cluster's identity; `None` before its first command.
    #[must_use]
    pub fn cluster(&self) -> Option<&ClusterId> {
        self.cluster.as_ref()
    }

    /// The machine version in force.
    #[must_use]
    pub fn machine_version(&self) -> u32 {
        self.machine_version
    }

    /// The present revision of the store.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The log time of the last entry.
    #[must_use]
    pub fn log_time(&self) -> LogTime {
        self.log_time
    }

    /// The replicated settings.
    #[must_use]
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The replicas that have announced themselves, by number.
    pub fn replicas(&self) -> impl Iterator<Item = (ReplicaId, &ReplicaRow)> {
        self.replicas.iter().map(|(id, row)| (*id, row))
    }

    /// The number of members.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// The number of resources that a member reports.
    #[must_use]
    pub fn entry_count(&self, member: &MemberId) -> usize {
        self.reported.get(member).map_or(0, OrdSet::len)
    }

    /// The number of open sessions.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// The number of reported resources.
    #[must_use]
    pub fn storage_version_count(&self) -> usize {
        self.storage_versions.len()
    }

    /// The number of reported resources without an agreement.
    ///
    /// Costs one step for each reported resource.
    #[must_use]
    pub fn disagreement_count(&self) -> usize {
        self.storage_versions
            .values()
            .filter(|version| version.row.status.agreed.is_none())
            .count()
    }

    /// The events of the kept revisions.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The kept agreements of a resource, oldest first. They stay when the last entry goes.
    pub fn agreements(
        &self,
        resource: &GroupResource,
    ) -> impl Iterator<Item = &Arc<AgreementChange>> + use<'_> {
        self.state_of(resource)
            .into_iter()
            .flat_map(|state| &state.agreements)
    }

    /// Whether the upgrade history has a floor of its own, and revisions have their times and callers.
    pub(crate) fn keeps_upgrade_history(&self) -> bool {
        self.machine_version >= EVIDENCE_SINCE
    }

    /// The floor of the upgrade history, if it is below that of the others. Under an older machine version it never is.
    pub(crate) fn lower_upgrade_floor(&self) -> Option<Revision> {
        let floor = self.history.upgrade_floor();
        (floor < self.history.floor()).then_some(floor)
    }

    /// The migrations of a resource, the oldest first.
    pub fn migrations_of(&self, resource: &GroupResource) -> impl Iterator<Item = &Arc<Migration>> {
        let first = self.first_name(resource);
        let of = |number| MigrationId::new(first.clone().into_owned(), number);
        self.migrations
            .range(of(Revision::ZERO)..=of(Revision::new(u64::MAX)))
            .map(|(_, kept)| &kept.row)
    }

    /// The progress of a migration, as its worker last reported it. It is kept apart from the migration.
    #[must_use]
    pub fn migration_progress(&self, id: &MigrationId) -> Option<&ProgressRow> {
        self.migrations.get(id)?.progress.as_deref()
    }

    /// When the discovery of a resource was last observed. It is kept apart from the storage state.
    #[must_use]
    pub fn heartbeat(&self, resource: &GroupResource) -> Option<Heartbeat> {
        self.state_of(resource)?.heartbeat
    }

    /// Until when a write that is on its way now may arrive.
    pub(crate) fn write_grace_ends(&self) -> LogTime {
        self.log_time.after(self.settings.write_grace)
    }

    /// The digest over every row, including deadlines and sessions.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest_with(&self.sum)
    }

    /// The digest of this state if `sum` is the sum over its rows.
    pub(crate) fn digest_with(&self, sum: &RowSum) -> Digest {
        sum.digest(|to| {
            self.revision.store(to);
            self.log_time.store(to);
            self.deadlines.lifted_at.store(to);
            self.machine_version.store(to);
            self.history.floor().store(to);
            self.cluster.store(to);
            self.strangers_write_until.store(to);
            if let Some(floor) = self.lower_upgrade_floor() {
                floor.store(to);
            }
        })
    }

    /// The bytes of the state's rows, by the machine's own estimate, which is equal on every replica.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sum.bytes()
    }

    /// Whether only the reserve of the quota is left, or a replica's disk is nearly full. Then commands that make the
    /// state grow are refused, unless they keep members alive. See also [`Self::is_over_quota`].
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_at_quota() || self.low_on_disk().next().is_some()
    }

    /// Whether only the reserve of the quota is left.
    #[must_use]
    pub fn is_at_quota(&self) -> bool {
        self.bytes().saturating_add(STATE_RESERVE_BYTES) >= self.settings.state_quota_bytes
    }

    /// The replicas whose disks are nearly full.
    pub fn low_on_disk(&self) -> impl Iterator<Item = ReplicaId> {
        let low = self.replicas.iter().filter(|(_, row)| row.disk_is_low);
        low.map(|(id, _)| *id)
    }

    /// Refuses a command that makes the state grow when the state is full.
    pub(crate) fn check_quota(&self) -> Result<(), Refusal> {
        if self.is_full() {
            return Err(self.full());
        }
        Ok(())
    }

    /// The refusal of a command that makes the state grow when the state is full.
    pub(crate) fn full(&self) -> Refusal {
        let low: Vec<String> = self.low_on_disk().map(|id| id.to_string()).collect();
        let message = if self.is_at_quota() || low.is_empty() {
            format!(
                "the state has {} bytes, and of its quota of {} only the reserve is left: delete something or raise \
                 state_quota_bytes",
                self.bytes(),
                self.settings.state_quota_bytes
            )
        } else {
            format!(
                "the disk of replica {} is nearly full, so only what does not make the state grow is stored: make room \
                 there",
                low.join(" and of replica ")
            )
        };
        Refusal::new(ErrorKind::Quota, message)
    }

    /// Whether the reserve is used up, too. Then new members and never reported resources are refused: their number is
    /// unbounded.
    #[must_use]
    pub fn is_over_quota(&self) -> bool {
        self.bytes() >= self.settings.state_quota_bytes
    }

    /// The member, if it holds this very epoch.
    ///
    /// # Errors
    ///
    /// `NOT_A_MEMBER` if no member holds the id (or only an epoch of another cluster could be this large), and
    /// `STALE_EPOCH` if another process holds it under a later epoch.
    pub fn fenced(&self, id: &MemberId, epoch: Epoch) -> Result<&Arc<Member>, Refusal> {
        let absent = || {
            Refusal::new(
                ErrorKind::NotAMember,
                format!("member \"{id}\" is not in the cluster with epoch {epoch}: join and report again"),
            )
            .with("member", id.as_str())
        };
        let member = self.members.get(id).ok_or_else(absent)?;
        match member.epoch.cmp(&epoch) {
            std::cmp::Ordering::Equal => Ok(member),
            std::cmp::Ordering::Less => Err(absent()),
            std::cmp::Ordering::Greater => Err(stale_epoch(member, epoch)),
        }
    }
}

/// The refusal of `what` because there is no room.
pub(crate) fn over_quota(state: &State, what: &str) -> Refusal {
    let message = format!(
        "{what}: the state has {} bytes, and its quota of {} is used up with the reserve: remove something or raise \
         state_quota_bytes",
        state.bytes(),
        state.settings.state_quota_bytes
    );
    Refusal::new(ErrorKind::Quota, message)
}

/// The refusal of an epoch that another process has replaced.
pub(crate) fn stale_epoch(present: &Member, epoch: Epoch) -> Refusal {
    Refusal::new(
        ErrorKind::StaleEpoch,
        format!(
            "member \"{}\": epoch {epoch} was replaced by epoch {} of instance \"{}\": this process must stop writing",
            present.id, present.epoch, present.instance
        ),
    )
    .with("member", present.id.as_str())
    .with("current_epoch", present.epoch.to_string())
}
