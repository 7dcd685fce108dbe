//! Migrations as they are read, and what is answered to those who work at them.

use synod_model::{
    ApiVersion, ClaimToken, GroupResource, LogTime, MemberId, Migration, MigrationId,
    MigrationProgress, Revision, StorageVersionHash, Violation, Violations,
};
use synod_proto::v1;

use super::storage_version::resource;
use super::wire::{list, required};
use super::{FromWire, Header};

/// One migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationView {
    /// Who answered, and at which revision.
    pub header: Header,
    /// The migration.
    pub migration: Migration,
    /// How far it is now. `None` before a worker has said anything.
    pub progress: Option<MigrationProgress>,
}

/// Migrations in a list, all at one revision, ordered by resource, the oldest of each first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationPage {
    /// Who answered, and the revision of all pages of this list.
    pub header: Header,
    /// The migrations.
    pub items: Vec<Migration>,
}

/// A migration was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationStarted {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Which.
    pub id: MigrationId,
}

/// A migration is a worker's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationClaimed {
    /// Who answered, and at which revision.
    pub header: Header,
    /// What the worker shows with everything that it says.
    pub token: ClaimToken,
    /// Where the worker before it stood.
    pub progress: MigrationProgress,
}

/// Whether something is safe, at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Safety {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Every reason why it is not; none: it is.
    pub dangers: Vec<Danger>,
    /// How many more reasons there are than an answer names.
    pub omitted: u32,
    /// The log time of the state that was read, to hold against the drains.
    pub log_time: LogTime,
}

impl Safety {
    /// Whether nothing speaks against it.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.dangers.is_empty()
    }
}

/// Why something is not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Danger {
    /// The resource.
    pub resource: GroupResource,
    /// What about it.
    pub reason: DangerReason,
}

/// What makes something unsafe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DangerReason {
    /// Nothing is known of the resource's store: nobody ever reported or observed it.
    NoState,
    /// Objects may be stored in versions that nobody can name.
    PersistedUnknown,
    /// Objects may be stored in this version.
    Persisted(ApiVersion),
    /// Objects may be stored in an encoding of which only the hash is known.
    PersistedHash(StorageVersionHash),
    /// Members are instructed to encode this version.
    Selected(ApiVersion),
    /// A member encodes this version.
    Reported(MemberId, ApiVersion),
    /// A member prefers this version, so it may be selected.
    Voted(MemberId, ApiVersion),
    /// Writes in this version may still land until then.
    Draining(ApiVersion, LogTime),
}

impl FromWire<v1::MigrationsGetResponse> for MigrationView {
    fn from_wire(pb: v1::MigrationsGetResponse) -> Result<Self, Violations> {
        let migration = required(pb.migration).map_err(|fault| fault.at("migration"))?;
        let progress = pb.progress.map(MigrationProgress::try_from);
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            migration: Migration::try_from(migration)?,
            progress: progress.transpose()?,
        })
    }
}

impl FromWire<v1::MigrationsListResponse> for MigrationPage {
    fn from_wire(pb: v1::MigrationsListResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            items: list(pb.migrations, Migration::try_from)?,
        })
    }
}

impl FromWire<v1::MigrationsStartResponse> for MigrationStarted {
    fn from_wire(pb: v1::MigrationsStartResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            id: MigrationId::parse(&pb.name)?,
        })
    }
}

impl FromWire<v1::MigrationsClaimResponse> for MigrationClaimed {
    fn from_wire(pb: v1::MigrationsClaimResponse) -> Result<Self, Violations> {
        let token = ClaimToken::new(Revision::new(pb.token));
        token.check().map_err(|fault| fault.at("token"))?;
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            token,
            progress: MigrationProgress::try_from(pb.progress.unwrap_or_default())?,
        })
    }
}

impl FromWire<v1::StorageVersionsCheckBinaryResponse> for Safety {
    fn from_wire(pb: v1::StorageVersionsCheckBinaryResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            dangers: list(pb.dangers, Danger::from_wire)?,
            omitted: pb.omitted,
            log_time: LogTime::from_millis(pb.log_time_ms),
        })
    }
}

impl FromWire<v1::StorageVersionsCheckDropResponse> for Safety {
    fn from_wire(pb: v1::StorageVersionsCheckDropResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            dangers: list(pb.dangers, Danger::from_wire)?,
            omitted: pb.omitted,
            log_time: LogTime::from_millis(pb.log_time_ms),
        })
    }
}

impl FromWire<v1::Danger> for Danger {
    fn from_wire(pb: v1::Danger) -> Result<Self, Violations> {
        use v1::DangerReason as Pb;
        let version = || ApiVersion::parse(&pb.version).map_err(|fault| fault.at("version"));
        let member = || MemberId::parse(&pb.member).map_err(|fault| fault.at("member"));
        let reason = match pb.reason() {
            Pb::NoState => DangerReason::NoState,
            Pb::PersistedUnknown => DangerReason::PersistedUnknown,
            Pb::Persisted => DangerReason::Persisted(version()?),
            Pb::PersistedHash => DangerReason::PersistedHash(
                StorageVersionHash::parse(&pb.hash).map_err(|fault| fault.at("hash"))?,
            ),
            Pb::Selected => DangerReason::Selected(version()?),
            Pb::Reported => DangerReason::Reported(member()?, version()?),
            Pb::Voted => DangerReason::Voted(member()?, version()?),
            Pb::Draining => {
                DangerReason::Draining(version()?, LogTime::from_millis(pb.until_log_time_ms))
            }
            Pb::Unspecified => {
                let fault = Violation::required("must be a reason that is known here");
                return Err(fault.at("reason").into());
            }
        };
        Ok(Self {
            resource: resource(pb.resource)?,
            reason,
        })
    }
}
