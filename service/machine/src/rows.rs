//! The types of the rows that are not defined in `synod-model`, as plain values.
//!
//! Members and settings are values of `synod-model`. A row holds no deadline and no count that other rows imply:
//! deadlines are rows of their own, and tallies are recomputed when a checkpoint is loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use synod_model::{
    Absent, ApiVersion, ClaimToken, Condition, Epoch, Feature, GroupResource, InstanceId, Kind,
    LeaseKey, LogTime, MemberId, Metadata, MigrationProgress, MigrationTarget, ObservedServer,
    ObserverName, Persisted, Revision, ServeUntil, Stance, StatementNumber, StorageVersionHash,
    StoredIn, VersionSet, Walk, WallTime, WorkerName,
};

/// The number of a replica in its replica set. Never reused for another data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId(u64);

impl ReplicaId {
    /// The replica with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The random identity of a replica's data directory: it tells a wiped replica from the one before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId([u8; 16]);

impl DirectoryId {
    /// The identity with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the identity.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for DirectoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DirectoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DirectoryId({self})")
    }
}

/// What a replica announced about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaRow {
    /// The identity of its data directory.
    pub directory: DirectoryId,
    /// The address at which the replica serves clients.
    pub client_endpoint: String,
    /// The version of its program.
    pub binary: String,
    /// The highest machine version that the replica knows.
    pub machine_version: u32,
    /// Whether the replica's disk is nearly full: then commands that make the state grow are refused.
    pub disk_is_low: bool,
}

/// The last statement of a member under its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementRow {
    /// The number of the statement.
    pub number: StatementNumber,
    /// The hash of the statement: the same number with another hash is not a repetition.
    pub content: StatementHash,
}

/// The hash of a statement of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementHash([u8; 16]);

impl StatementHash {
    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// One resource of one member: what the member said, and which encoding follows.
///
/// The row does not name the member's epoch, so that a restart with an unchanged program changes no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// The kind that the resource stores.
    pub kind: Kind,
    /// The versions that the member can decode.
    pub decodable: VersionSet,
    /// The versions that the member serves.
    pub served: VersionSet,
    /// Whether the member encodes a fixed version, or the selected one as a voter.
    pub stance: Stance,
    /// The version that the member encodes: the fixed one, or the one that the voter took or adopted.
    pub encoding: Option<ApiVersion>,
    /// The `selected_revision` that the voter last took or adopted; `None` for a fixed entry.
    pub adopted_revision: Option<Revision>,
    /// The revision at which this member's entry for the resource first appeared with this kind of stance. The oldest
    /// preference is selected first.
    pub since: Revision,
    /// The time that the member names before which nobody may withdraw a served version.
    pub serve_until: Option<WallTime>,
    /// The place where the member stores the objects.
    pub stored: StoredIn,
    /// The other names of the objects' store, as the member told them.
    pub equivalents: BTreeSet<GroupResource>,
}

impl EntryRow {
    /// The voter's preference; `None` for a fixed entry.
    #[must_use]
    pub fn preferred(&self) -> Option<&ApiVersion> {
        match &self.stance {
            Stance::Fixed { .. } => None,
            Stance::Voting { preferred } => Some(preferred),
        }
    }

    /// Whether the entry encodes the selected version instead of a fixed one.
    #[must_use]
    pub fn is_voting(&self) -> bool {
        self.preferred().is_some()
    }
}

/// A resource that at least one member reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersionRow {
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// What follows from the resource's entries.
    pub status: VersionStatus,
}

/// What follows from the entries of a resource. No client can write these fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionStatus {
    /// The one encoding that all entries share, if they do.
    pub common: Option<ApiVersion>,
    /// The version that voters are told to encode.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which `common` or `selected` last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on, if there is an agreement.
    pub agreed: Option<ApiVersion>,
    /// The versions that every entry decodes.
    pub decodable_by_all: BTreeSet<ApiVersion>,
    /// The versions that every entry serves.
    pub served_by_all: BTreeSet<ApiVersion>,
    /// `AllEncodingVersionsEqual`: whether there is a common encoding.
    pub all_equal: Condition,
    /// `DecodableByAll`: whether every entry decodes every reported, selected and persisted version.
    pub decodable: Condition,
}

/// The state of a resource that stays when its last entry goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageStateRow {
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// What is remembered.
    pub status: StateStatus,
}

/// What is kept of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateStatus {
    /// The common encoding after the last change of entries; `None` while no member reports the resource.
    pub common: Option<ApiVersion>,
    /// The version that voters are told to encode. It stays set when every member is gone.
    pub selected: Option<ApiVersion>,
    /// The revision at which `selected` last changed; zero before it was first set.
    pub selected_revision: Revision,
    /// The revision at which the agreement last changed: through `common`, through `selected`, through the observation
    /// while no member reports the resource, or when an observation or a roster began or ceased to prevent one.
    pub agreement_revision: Revision,
    /// The version that is agreed on, which readers see as `current`. `None` means *unknown*.
    pub agreed: Option<ApiVersion>,
    /// The versions in which objects may be stored.
    pub persisted: BTreeSet<Persisted>,
    /// The union of all looks at discovery; `None` if the resource is not observed.
    pub observation: Option<Observation>,
    /// Whether discovery contradicts the members' reports, so that there is no agreement.
    pub contradicted: bool,
    /// The encoding that is agreed on while no member reports the resource: the one that discovery shows.
    pub agreed_hash: Option<StorageVersionHash>,
    /// The members that are missing by the resource's roster. While any is missing, there is no agreement.
    pub absent: Absent,
    /// The revision since which `persisted` is on trust: a writer that was not asked for may have written anything.
    /// Only the end of a migration that was created since then, under a roster, sets `None`.
    pub on_trust: Option<Revision>,
    /// Members that have reported under a roster that asks by labels, and have no entry now. They do not count as new
    /// when they come back; a member that is not remembered does.
    pub heard: BTreeSet<MemberId>,
    /// By version, the log time until which a write in it may still reach the store. It is only ever raised; a drain
    /// that is over is removed when the row changes.
    pub drains: BTreeMap<ApiVersion, LogTime>,
    /// The same by hash, for encodings that discovery has shown before.
    pub hash_drains: BTreeMap<StorageVersionHash, LogTime>,
    /// Of a served version: until when it is served in any case. It stays when who named it goes.
    pub serve_until: Option<ServeUntil>,
    /// The drains of claims that have ended without success, by the token of the claim. A drain that is over is removed when the row changes.
    pub claim_drains: BTreeMap<ClaimToken, ClaimDrain>,
    /// The log time until which writes in versions that nobody can name may still reach the store.
    pub unknown_drain: Option<LogTime>,
    /// The versions that were ever decodable, encoded, selected or stored, each with the revision at which it was first.
    pub known_versions: BTreeMap<ApiVersion, Revision>,
    /// The same by hash, for encodings that discovery has shown.
    pub known_hashes: BTreeMap<StorageVersionHash, Revision>,
    /// The revision that brought machine version 3 into force, if no migration was completed since.
    pub concluded_before: Option<Revision>,
    /// Evicted members of which somebody said that they have stopped, each with the log time until which its writes may have
    /// landed otherwise. Only the completion of a migration that was claimed later removes one.
    pub said_stopped: BTreeMap<MemberId, LogTime>,
    /// Whether a member ever reported the resource, as far as machine version 3 and later know. False of what no store shows.
    pub ever_reported: bool,
    /// Members without a gate that expired or were evicted, each with its last epoch: their processes may go on writing. One
    /// is removed when it comes back, or when somebody says that its process has stopped.
    pub ungated_gone: BTreeMap<MemberId, Epoch>,
    /// Whether there were more of these than are named. Only deleting the state makes an end of it.
    pub more_ungated_gone: bool,
    /// Members on the resource's roster that came back after a short absence. Only the completion of a migration that was
    /// claimed later, by `write_grace` or more, removes one.
    pub short_absences: BTreeMap<MemberId, ShortAbsence>,
    /// Whether objects were ever stored outside of this cluster, as far as machine version 3 and later know: members said so, or
    /// discovery showed what no member stores in the collection. Then the collection does not count all that is stored.
    pub stored_outside: bool,
    /// The looks of named observers. `observation` is the union of all looks.
    pub looks: BTreeMap<ObserverName, Look>,
    /// The look of an observer without a name, while there are looks of named ones; it is the observation itself otherwise.
    pub unnamed_look: Option<Observation>,
    /// The other names of the store, if the resource is the first of several equivalent ones. Of keys it is empty: their names
    /// follow from those of the resource.
    pub equivalents: BTreeSet<GroupResource>,
}

/// The short absence of a member that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortAbsence {
    /// The log time of the join with which it came back.
    pub returned: LogTime,
    /// How long nobody had renewed its membership then.
    pub away: Duration,
}

/// The memory of the memberships of a server's id. It stays when the member goes: what a server may write without a
/// membership depends on how long it was away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MembershipRow {
    /// The process that speaks, or spoke last, for the member.
    pub instance: InstanceId,
    /// The log time of the join since which the server writes through a gate alone, interrupted by short absences at most.
    /// `None` if its present or last process has no gate.
    pub gated_since: Option<LogTime>,
    /// The longest TTL of the process.
    pub longest_ttl: Duration,
    /// The log time of the join of the process.
    pub joined: LogTime,
    /// How long nobody had renewed the membership at that join. `None` if nobody is remembered who had one before.
    pub away: Option<Duration>,
    /// The log time of the last renewal of a member that is gone, or an earlier one.
    pub renewed: Option<LogTime>,
    /// Whether a process without a gate expired or was evicted, and none has reported since.
    pub left_ungated: bool,
}

/// The rewrites that may still reach the store after the claim of their worker has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimDrain {
    /// The worker, as it calls itself. Nobody may lift the drain under another name.
    pub worker: WorkerName,
    /// The encoding that it rewrites in.
    pub target: MigrationTarget,
    /// The log time until which a rewrite may still reach the store.
    pub until: LogTime,
    /// Whether a fence in the store refuses its rewrites once another fenced worker has raised it.
    pub fenced: bool,
    /// The walk of the worker.
    pub walks: Option<Walk>,
}

/// What discovery shows of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The hashes that the servers show. One hash can be an agreement, several cannot.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// The kind that the resource stores, if the observer knows it.
    pub kind: Option<Kind>,
    /// Whether the observation tells only of the past: its deadline has passed, or the last entry went while
    /// `overtaken` or `contradicted` held.
    pub expired: bool,
    /// Whether a member has reported something else since the last observation.
    pub overtaken: bool,
}

/// The look of a named observer at a resource's discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The servers that show the resource, or showed it when they were last reached.
    pub servers: BTreeMap<ObservedServer, ServerEvidence>,
    /// The kind that the resource stores, if the observer knows it.
    pub kind: Option<Kind>,
    /// Whether the look tells only of the past: not all of its servers were reached until its deadline, or the last entry
    /// went while `overtaken` or `contradicted` held.
    pub expired: bool,
    /// Whether a member has reported something else since all of its servers were last reached.
    pub overtaken: bool,
}

/// The encodings that a server shows of a resource, or showed when its observer last reached it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEvidence {
    /// The hashes, at least one.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// The member that the server is, if the observer knows it.
    pub member: Option<MemberId>,
    /// Those of the hashes after which the member has reported another encoding.
    pub superseded: BTreeSet<StorageVersionHash>,
}

impl StateStatus {
    /// The revision of the present agreement, reported or observed; `None` while there is none.
    #[must_use]
    pub fn agreement(&self) -> Option<Revision> {
        let holds = self.agreed.is_some() || self.agreed_hash.is_some();
        holds.then_some(self.agreement_revision)
    }
}

/// When the discovery of a resource was last observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// In log time, which decides whether the observation has expired.
    pub at: LogTime,
    /// By a replica's clock, for display.
    pub wall: WallTime,
}

/// The progress of a migration. It is kept apart from the migration, which takes it over only from time to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressRow {
    /// The progress that the worker last reported.
    pub progress: MigrationProgress,
    /// When the migration's own row last took it over.
    pub shown_at: LogTime,
    /// The walk of its worker.
    pub walks: Option<Walk>,
}

/// What still has to follow from a switch that moved: what precedes `next`, by key, is done; without it, nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// Votes are on again: what they call for is selected.
    Votes {
        /// The first resource that is left.
        next: Option<GroupResource>,
    },
    /// Queues end and nobody is preferred to a holder while leases are off; candidates are elected when they are on again.
    Leases {
        /// The first lease that is left.
        next: Option<LeaseKey>,
        /// Places with tickets up to this revision are gone: it is the one that last switched leases off, or zero.
        ended: Revision,
    },
    /// Migrations are on again: those that agreements call for are created.
    Migrations {
        /// The first resource that is left.
        next: Option<GroupResource>,
    },
}

impl Aftermath {
    /// The feature whose switch moved.
    #[must_use]
    pub const fn feature(&self) -> Feature {
        match self {
            Self::Votes { .. } => Feature::Votes,
            Self::Leases { .. } => Feature::Leases,
            Self::Migrations { .. } => Feature::Migrations,
        }
    }
}
