//! Migrations as they are read, and what is answered to those who work at them.

use synod_model::{ClaimToken, Migration, MigrationId, MigrationProgress, Revision, Violations};
use synod_proto::v1;

use super::wire::{list, required};
use super::{Assumed, FromWire, Header};

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
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
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

/// A migration has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationCompleted {
    /// Who answered, and at which revision.
    pub header: Header,
    /// What that rests on beside what is known. None: nothing.
    pub assumptions: Vec<Assumed>,
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
            inconsistent: pb.inconsistent,
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

impl FromWire<v1::MigrationsCompleteResponse> for MigrationCompleted {
    fn from_wire(pb: v1::MigrationsCompleteResponse) -> Result<Self, Violations> {
        Ok(Self {
            header: Header::from_wire(pb.header)?,
            assumptions: list(pb.assumptions, Assumed::from_wire)?,
        })
    }
}
