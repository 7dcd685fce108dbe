//! The answers about migrations, and to the workers that carry them out.

use synod_model::{ClaimToken, Migration, MigrationId, MigrationProgress};
use synod_proto::{messages, v1};

use super::{Assumed, Header};

/// One migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The migration.
    pub migration: Migration,
    /// The present progress. `None` before a worker has reported any.
    pub progress: Option<MigrationProgress>,
}

/// Migrations in a list, all at one revision, ordered by resource, the oldest of each first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationPage {
    /// The replica that answered, and the revision of all pages of this list.
    pub header: Header,
    /// The migrations.
    pub items: Vec<Migration>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// The answer to creating a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationStarted {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The migration.
    pub id: MigrationId,
}

/// The answer to claiming a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationClaimed {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The fencing token, which the worker sends with every report.
    pub token: ClaimToken,
    /// The saved progress of the previous worker.
    pub progress: MigrationProgress,
}

/// The answer to completing a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationCompleted {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// What the completion rests on beside what is known; empty if nothing.
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
