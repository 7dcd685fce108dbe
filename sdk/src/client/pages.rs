//! Makes the options of a list into the request for its first page.

use synod_proto::v1;

use super::{Client, ListMembers, ListMigrations, ListStorageVersions};
use crate::pages::{Pages, page_size};
use crate::{MemberPage, MigrationPage, StorageVersionPage};

impl ListMembers {
    pub(super) fn pages(self, client: Client) -> Pages<MemberPage> {
        let list = self;
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
        Pages::new(client, first)
    }
}

impl ListStorageVersions {
    pub(super) fn pages(self, client: Client) -> Pages<StorageVersionPage> {
        let list = self;
        let first = v1::StorageVersionsListRequest {
            read: list.read.to_wire(),
            include_unreported: list.include_unreported,
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(client, first)
    }
}

impl ListMigrations {
    pub(super) fn pages(self, client: Client) -> Pages<MigrationPage> {
        let list = self;
        let first = v1::MigrationsListRequest {
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(client, first)
    }
}
