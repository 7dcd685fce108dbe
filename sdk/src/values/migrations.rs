//! Migrations as they are read, and what is answered to those who work at them.

use synod_model::{ClaimToken, Migration, MigrationId, MigrationProgress};
use synod_proto::{messages, v1};

use super::{Assumed, Header};

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

messages! {
    v1::MigrationsGetResponse = MigrationView {
        header = header,
        migration = migration,
        progress = progress,
    }
    v1::MigrationsListResponse = MigrationPage {
        header = header,
        items = migrations,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::MigrationsStartResponse = MigrationStarted {
        header = header,
        id = name,
    }
    v1::MigrationsClaimResponse = MigrationClaimed {
        header = header,
        token = token,
        progress = progress,
    }
    v1::MigrationsCompleteResponse = MigrationCompleted {
        header = header,
        assumptions = assumptions,
    }
}
