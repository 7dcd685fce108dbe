//! The calls that more than one kind is read by.

use std::collections::BTreeMap;

use synod_model::Refusal;
use synod_proto::v1;

use crate::leases;
use crate::request::Asked;
use crate::sources::{Calls, Page, Paging, Scope, Start, page, read, revision};

/// A member as it was read.
pub(crate) struct Present {
    pub(crate) member: v1::Member,
    /// How much it has left at least, in milliseconds.
    pub(crate) left: Option<u64>,
}

impl Calls {
    /// A member.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, and as any read.
    pub(crate) async fn member(&self, id: &str, asked: Asked) -> Result<Present, Refusal> {
        let request = v1::MembershipGetRequest {
            id: id.to_owned(),
            read: read(asked),
        };
        let found: v1::MembershipGetResponse =
            self.call("synod.v1.Membership/Get", &request).await?;
        Ok(Present {
            member: found.member.unwrap_or_default(),
            left: found.remaining_ms,
        })
    }

    /// What was agreed on for a resource, change by change.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, and as any read.
    pub(crate) async fn history(
        &self,
        resource: &v1::GroupResource,
        asked: Asked,
    ) -> Result<v1::StorageVersionsHistoryResponse, Refusal> {
        let request = v1::StorageVersionsHistoryRequest {
            resource: Some(resource.clone()),
            read: read(asked),
        };
        self.call("synod.v1.StorageVersions/History", &request)
            .await
    }

    /// A page of leases that are no members.
    pub(crate) async fn leases(
        &self,
        scope: &Scope,
        start: Start,
        size: u32,
    ) -> Result<Page, Refusal> {
        let namespace = scope.namespace.clone().unwrap_or_default();
        let request = page!(LeasesListRequest, Paging::of(start, size), namespace: namespace);
        let found: v1::LeasesListResponse = self.call("synod.v1.Leases/List", &request).await?;
        let now = self.now_ms();
        let of = |item: &v1::LeaseListItem| {
            let lease = item.lease.as_ref()?;
            Some(leases::of(&scope.kind, lease, item.remaining_ms, now))
        };
        Ok(Page {
            items: found.items.iter().filter_map(of).collect(),
            revision: revision(found.header),
            next: found.continue_token,
        })
    }

    /// A page of members, of those with these labels.
    pub(crate) async fn members(
        &self,
        paging: Paging,
        labels: BTreeMap<String, String>,
    ) -> Result<v1::MembershipListResponse, Refusal> {
        let request = page!(MembershipListRequest, paging, labels: labels);
        self.call("synod.v1.Membership/List", &request).await
    }

    /// A page of resources, also of those that nobody reports now.
    pub(crate) async fn resources(
        &self,
        paging: Paging,
        include_unreported: bool,
    ) -> Result<v1::StorageVersionsListResponse, Refusal> {
        let request =
            page!(StorageVersionsListRequest, paging, include_unreported: include_unreported);
        self.call("synod.v1.StorageVersions/List", &request).await
    }
}
