use synod_model::{MigrationId, Violations};

use super::consistency::consistency;
use super::{Consistency, PageRequest};
use crate::convert::migration;
use crate::fields::sound;
use crate::v1;

/// Asks for one migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetMigration {
    /// Which one.
    pub id: MigrationId,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetMigration> for v1::MigrationsGetRequest {
    fn from(get: &GetMigration) -> Self {
        Self {
            name: get.id.to_string(),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::MigrationsGetRequest> for GetMigration {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = found.parsed("name", migration(&pb.name));
        let read = consistency(pb.read, &mut found);
        let Some(id) = id else { return Err(found) };
        sound(Self { id, read }, found)
    }
}

/// Asks for a page of migrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListMigrations {
    /// Which page.
    pub page: PageRequest<MigrationId>,
}

impl From<&ListMigrations> for v1::MigrationsListRequest {
    fn from(list: &ListMigrations) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::MigrationsListRequest> for ListMigrations {
    type Error = Violations;

    fn try_from(mut pb: v1::MigrationsListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let Some(page) = page else { return Err(found) };
        sound(Self { page }, found)
    }
}
