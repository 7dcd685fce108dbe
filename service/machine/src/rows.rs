//! The rows of the state: what is kept, as plain values.
//!
//! Members and settings are values of `synod-model`; the rest is here. A row holds no deadline and no count that other
//! rows imply: deadlines are rows of their own, and tallies are recomputed when a checkpoint is loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use synod_model::{
    Absent, ApiVersion, Condition, Kind, LogTime, MemberId, Metadata, MigrationProgress, Persisted,
    Revision, Stance, StatementNumber, StorageVersionHash, VersionSet, WallTime,
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

/// The random identity of a replica's data directory: what tells a wiped replica from the one it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId([u8; 16]);

impl DirectoryId {
    /// The identity with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
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

/// What a replica announced of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaRow {
    /// The identity of its data directory.
    pub directory: DirectoryId,
    /// Where it serves clients.
    pub client_endpoint: String,
    /// The version of its program.
    pub binary: String,
    /// The highest machine version that it knows.
    pub machine_version: u32,
    /// Whether its disk is nearly full, so that what makes the state grow is refused.
    pub disk_is_low: bool,
}

/// What a member said last under its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementRow {
    /// Its number.
    pub number: StatementNumber,
    /// What it was: another one under the same number is not the same statement again.
    pub content: StatementHash,
}

/// The hash of what a member said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementHash([u8; 16]);

impl StatementHash {
    /// The hash with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// One resource of one member: what it said, and what follows for its encoding.
///
/// The row does not name the member's epoch, so that a restart with an unchanged program changes no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// The kind that the resource stores.
    pub kind: Kind,
    /// The versions that the member can decode.
    pub decodable: VersionSet,
    /// The versions that it serves.
    pub served: VersionSet,
    /// Whether it encodes what it says, or what is selected.
    pub stance: Stance,
    /// What it encodes: the fixed version, or the one that the voter took or adopted.
    pub encoding: Option<ApiVersion>,
    /// The `selected_revision` that the voter last took or adopted; `None` for a fixed entry.
    pub adopted_revision: Option<Revision>,
    /// The revision at which this member's entry for the resource first appeared with this kind of stance: the age
    /// that decides whose preference is selected first.
    pub since: Revision,
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

    /// Whether it encodes what is selected rather than what it says.
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
    /// What follows from its entries.
    pub status: VersionStatus,
}

/// What follows from the entries of a resource. Nobody can write these fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionStatus {
    /// The one encoding that all entries share, if they do.
    pub common: Option<ApiVersion>,
    /// The instruction to voters.
    pub selected: Option<ApiVersion>,
    /// When selected last changed; zero before it first was set.
    pub selected_revision: Revision,
    /// When common or selected last changed.
    pub agreement_revision: Revision,
    /// The version that is agreed on, if there is agreement.
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

/// What stays of a resource when its last entry goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageStateRow {
    /// Identity and revisions of the object.
    pub metadata: Metadata,
    /// What is remembered.
    pub status: StateStatus,
}

/// What is remembered of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateStatus {
    /// The common encoding after the last change of entries; `None` while nobody reports the resource.
    pub common: Option<ApiVersion>,
    /// The instruction to voters. Losing every member does not unset it.
    pub selected: Option<ApiVersion>,
    /// When selected last changed; zero before it first was set.
    pub selected_revision: Revision,
    /// When common, selected or, while nobody reports the resource, what is observed last changed, or when an observation
    /// or a roster began or ceased to stand against an agreement.
    pub agreement_revision: Revision,
    /// The version that is agreed on: the state's `current`. `None` is *unknown*.
    pub agreed: Option<ApiVersion>,
    /// The versions in which objects may be stored.
    pub persisted: BTreeSet<Persisted>,
    /// What discovery shows of it; `None` if it is not observed.
    pub observation: Option<Observation>,
    /// Whether what discovery shows stands against what the members say, so that they do not agree.
    pub contradicted: bool,
    /// The encoding that is agreed on while nobody reports the resource: the one that discovery shows.
    pub agreed_hash: Option<StorageVersionHash>,
    /// Who is missing by the resource's roster. While somebody is, there is no agreement.
    pub absent: Absent,
    /// Since when what is persisted is on trust: whoever writes the resource and was not asked for may have written
    /// anything. Only the end of a migration that was created since then, under a roster, makes it `None`: nothing is.
    pub on_trust: Option<Revision>,
    /// Members that have spoken under a roster that asks by labels, and have no entry now: they are not new when they come
    /// again. One that is not remembered is new.
    pub heard: BTreeSet<MemberId>,
    /// By version, the log time until which a write in it may still land. Only ever raised; one that is over goes when the row
    /// changes.
    pub drains: BTreeMap<ApiVersion, LogTime>,
    /// By hash, the same for what discovery has shown before.
    pub hash_drains: BTreeMap<StorageVersionHash, LogTime>,
}

/// What discovery shows of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The hashes that its servers show. One can be an agreement, several are none.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// The kind that it stores, if the observer knows it.
    pub kind: Option<Kind>,
    /// Whether its deadline has passed without another look, or the last entry went that it was overtaken by or stood
    /// against: then it tells of the past alone.
    pub expired: bool,
    /// Whether a member has said something else since the last look.
    pub overtaken: bool,
}

impl StateStatus {
    /// The revision of the present agreement, reported or observed; `None` while there is none.
    #[must_use]
    pub fn agreement(&self) -> Option<Revision> {
        let holds = self.agreed.is_some() || self.agreed_hash.is_some();
        holds.then_some(self.agreement_revision)
    }
}

/// When discovery was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// In log time, which decides whether it is stale.
    pub at: LogTime,
    /// By a replica's clock, for people.
    pub wall: WallTime,
}

/// How far a migration is, kept beside it: the migration shows it from time to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressRow {
    /// What the worker last said.
    pub progress: MigrationProgress,
    /// When the migration last showed it.
    pub shown_at: LogTime,
}
