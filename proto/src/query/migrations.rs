use synod_model::{MigrationId, MigrationName};

use super::page::lists;
use super::{Consistency, PageRequest};
use crate::{messages, v1};

/// Asks for one migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetMigration {
    /// The id of the migration, or its alias.
    pub name: MigrationName,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of migrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListMigrations {
    /// The page.
    pub page: PageRequest<MigrationId>,
}

messages! {
    v1::MigrationsGetRequest = GetMigration {
        name = name,
        read = read,
    }
}

lists! {
    MigrationsListRequest = ListMigrations {}
}
