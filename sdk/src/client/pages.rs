//! Lists that are too long for one answer.

use synod_model::limits::LIST_PAGE_MAX;
use synod_proto::v1;

use super::{Client, ListMembers, ListMigrations, ListStorageVersions};
use crate::values::read;
use crate::{Error, MemberPage, MigrationPage, StorageVersionPage};

/// The pages of a list of members.
#[derive(Debug)]
pub struct MemberPages {
    client: Client,
    /// What to ask for next; `None` at the end.
    next: Option<v1::MembershipListRequest>,
}

/// The pages of a list of storage versions.
#[derive(Debug)]
pub struct StorageVersionPages {
    client: Client,
    /// What to ask for next; `None` at the end.
    next: Option<v1::StorageVersionsListRequest>,
}

/// The pages of a list of migrations.
#[derive(Debug)]
pub struct MigrationPages {
    client: Client,
    /// What to ask for next; `None` at the end.
    next: Option<v1::MigrationsListRequest>,
}

impl MigrationPages {
    pub(super) fn new(client: Client, list: ListMigrations) -> Self {
        let next = v1::MigrationsListRequest {
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
        };
        Self {
            client,
            next: Some(next),
        }
    }

    /// The next page; `None` after the last. A page that failed is asked for again by the next call.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn next(&mut self) -> Result<Option<MigrationPage>, Error> {
        let Some(message) = self.next.clone() else {
            return Ok(None);
        };
        let mut answer = self.client.migration_page(message.clone()).await?;
        let continue_token = std::mem::take(&mut answer.continue_token);
        let page = read(answer)?;
        self.next = (!continue_token.is_empty()).then_some(v1::MigrationsListRequest {
            read: None,
            continue_token,
            ..message
        });
        Ok(Some(page))
    }

    /// All that is left, as one page.
    ///
    /// # Errors
    ///
    /// As [`MigrationPages::next`]; also if nothing was left.
    pub async fn all(mut self) -> Result<MigrationPage, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            all.items.extend(page.items);
        }
        Ok(all)
    }
}

impl MemberPages {
    pub(super) fn new(client: Client, list: ListMembers) -> Self {
        let labels = list.labels.iter();
        let next = v1::MembershipListRequest {
            read: list.read.to_wire(),
            labels: labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
        };
        Self {
            client,
            next: Some(next),
        }
    }

    /// The next page; `None` after the last. A page that failed is asked for again by the next call.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn next(&mut self) -> Result<Option<MemberPage>, Error> {
        let Some(message) = self.next.clone() else {
            return Ok(None);
        };
        let mut answer = self.client.member_page(message.clone()).await?;
        let continue_token = std::mem::take(&mut answer.continue_token);
        let page = read(answer)?;
        self.next = (!continue_token.is_empty()).then_some(v1::MembershipListRequest {
            read: None,
            continue_token,
            ..message
        });
        Ok(Some(page))
    }

    /// All that is left, as one page.
    ///
    /// # Errors
    ///
    /// As [`MemberPages::next`]; also if nothing was left.
    pub async fn all(mut self) -> Result<MemberPage, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            all.items.extend(page.items);
        }
        Ok(all)
    }
}

impl StorageVersionPages {
    pub(super) fn new(client: Client, list: ListStorageVersions) -> Self {
        let next = v1::StorageVersionsListRequest {
            read: list.read.to_wire(),
            include_unreported: list.include_unreported,
            page_size: page_size(list.page_size),
            continue_token: String::new(),
        };
        Self {
            client,
            next: Some(next),
        }
    }

    /// The next page; `None` after the last. A page that failed is asked for again by the next call.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn next(&mut self) -> Result<Option<StorageVersionPage>, Error> {
        let Some(message) = self.next.clone() else {
            return Ok(None);
        };
        let mut answer = self.client.storage_version_page(message.clone()).await?;
        let continue_token = std::mem::take(&mut answer.continue_token);
        let page = read(answer)?;
        self.next = (!continue_token.is_empty()).then_some(v1::StorageVersionsListRequest {
            read: None,
            continue_token,
            ..message
        });
        Ok(Some(page))
    }

    /// All that is left, as one page.
    ///
    /// # Errors
    ///
    /// As [`StorageVersionPages::next`]; also if nothing was left.
    pub async fn all(mut self) -> Result<StorageVersionPage, Error> {
        let mut all = self.next().await?.ok_or_else(Error::at_the_end)?;
        while let Some(page) = self.next().await? {
            all.items.extend(page.items);
        }
        Ok(all)
    }
}

/// A page has at most so many items, whatever is asked for.
fn page_size(asked: Option<u32>) -> Option<u32> {
    asked.map(|size| size.clamp(1, LIST_PAGE_MAX as u32))
}
