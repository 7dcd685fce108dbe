//! Lists that are too long for one answer.

use synod_proto::v1;

use super::{Client, ListMembers, ListMigrations, ListStorageVersions};
use crate::pages::{Pages, page_size, pager};
use crate::{Error, MemberPage, MigrationPage, StorageVersionPage};

/// The pages of a list of members.
#[derive(Debug)]
pub struct MemberPages(Pages<v1::MembershipListRequest>);

/// The pages of a list of storage versions.
#[derive(Debug)]
pub struct StorageVersionPages(Pages<v1::StorageVersionsListRequest>);

/// The pages of a list of migrations.
#[derive(Debug)]
pub struct MigrationPages(Pages<v1::MigrationsListRequest>);

pager!(MemberPages, MemberPage);

impl MemberPages {
    pub(super) fn new(client: Client, list: ListMembers) -> Self {
        let labels = list.labels.iter();
        let first = v1::MembershipListRequest {
            read: list.read.to_wire(),
            labels: labels
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Self(Pages::new(client, first))
    }
}

pager!(StorageVersionPages, StorageVersionPage);

impl StorageVersionPages {
    pub(super) fn new(client: Client, list: ListStorageVersions) -> Self {
        let first = v1::StorageVersionsListRequest {
            read: list.read.to_wire(),
            include_unreported: list.include_unreported,
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Self(Pages::new(client, first))
    }
}

pager!(MigrationPages, MigrationPage);

impl MigrationPages {
    pub(super) fn new(client: Client, list: ListMigrations) -> Self {
        let first = v1::MigrationsListRequest {
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Self(Pages::new(client, first))
    }
}
