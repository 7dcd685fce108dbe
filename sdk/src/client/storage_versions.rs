//! Storage versions: reading what members report and what follows from it.

use std::collections::BTreeSet;

use synod_model::{AddEquivalents, ForgetResource, GroupResource, RemoveEquivalent, Revision};
use synod_proto::wire::Wire as _;
use synod_proto::{Change, v1};

use super::{Client, stubs};
use crate::pages::Pages;
use crate::read_options::list_options;
use crate::transport::Try;
use crate::values::read;
use crate::{
    Agreement, AgreementHistory, Error, Header, ReadOptions, StorageVersionPage,
    StorageVersionView, UpgradeStatus,
};

/// Which resources to list, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListStorageVersions {
    /// Also resources that no member reports now, and of which only the state is left.
    pub include_unreported: bool,
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl ListStorageVersions {
    /// All resources that are reported, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also resources that no member reports now.
    #[must_use]
    pub fn with_unreported(mut self) -> Self {
        self.include_unreported = true;
        self
    }
}

list_options!(ListStorageVersions);

/// The resources on which agreement is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgreementQuery {
    /// The resources, at most 1,000; empty: all that is known.
    pub resources: BTreeSet<GroupResource>,
    /// Whether it counts as agreement that nothing at all is known.
    pub allow_none: bool,
}

impl AgreementQuery {
    /// All that is known: each resource that is reported, observed, draining or on a roster, or was reported and has a collection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These resources.
    #[must_use]
    pub fn with_resources(mut self, resources: impl IntoIterator<Item = GroupResource>) -> Self {
        self.resources.extend(resources);
        self
    }

    /// A cluster of which nothing is known counts as agreed.
    #[must_use]
    pub fn with_none_allowed(mut self) -> Self {
        self.allow_none = true;
        self
    }
}

impl Client {
    /// Reads one resource.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the resource was never reported.
    pub async fn storage_version(
        &self,
        resource: &GroupResource,
        options: ReadOptions,
    ) -> Result<StorageVersionView, Error> {
        let message = v1::StorageVersionsGetRequest {
            resource: Some(resource.into()),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::storage_versions(attempt.channel).get(request).await }
        });
        read::<v1::StorageVersionsGetResponse, _>(answer.await?)
    }

    /// Reads resources, page by page, all at one revision.
    #[must_use]
    pub fn storage_versions(&self, list: ListStorageVersions) -> Pages<StorageVersionPage> {
        list.pages(self.clone())
    }

    /// Removes what is kept of a resource that no member reports: the versions that it is known to be stored in, and
    /// its history. A member that reports it again begins anew. With `if_revision`, only if the resource's state was
    /// last changed at that revision.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is nothing to forget. `CONFLICT`: a member reports the resource, or its state was changed
    /// since. `DRAINING`: writes may still land.
    pub async fn forget_resource(
        &self,
        resource: &GroupResource,
        if_revision: Option<Revision>,
    ) -> Result<Header, Error> {
        let forget = ForgetResource {
            resource: resource.clone(),
            if_revision,
        };
        self.send_forget(forget, false).await
    }

    pub(super) async fn send_forget(
        &self,
        forget: ForgetResource,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = self.write(dry_run, Change::new(forget), |attempt: Try, message| {
            let message = v1::StorageVersionsForgetRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .forget(request)
                    .await
            }
        });
        let answer: v1::StorageVersionsForgetResponse = answer.await?;
        read(answer.header)
    }

    /// Says that resources are one store under several names: what is known of them is joined, and their keys follow. Changes
    /// nothing if they are one store already. Since 0.1.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: two of them have a collection, a member reports two of them, or no selected version is decodable by all
    /// members. `INVALID_ARGUMENT`: less than 2 names, or more than 8.
    pub async fn add_equivalents(
        &self,
        resources: impl IntoIterator<Item = GroupResource>,
    ) -> Result<Header, Error> {
        let resources = resources.into_iter().collect();
        self.send_add_equivalents(AddEquivalents { resources }, false)
            .await
    }

    pub(super) async fn send_add_equivalents(
        &self,
        add: AddEquivalents,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = self.write(dry_run, Change::new(add), |attempt: Try, message| {
            let message = v1::StorageVersionsAddEquivalentsRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .add_equivalents(request)
                    .await
            }
        });
        let answer: v1::StorageVersionsAddEquivalentsResponse = answer.await?;
        read(answer.header)
    }

    /// Takes a name out of its set of equivalent resources: what is stored under it and under the others is unknown until
    /// migrations end. Since 0.1.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the resource is equivalent to none. `CONFLICT`: a member reports that it is.
    pub async fn remove_equivalent(&self, resource: &GroupResource) -> Result<Header, Error> {
        let resource = resource.clone();
        self.send_remove_equivalent(RemoveEquivalent { resource }, false)
            .await
    }

    pub(super) async fn send_remove_equivalent(
        &self,
        remove: RemoveEquivalent,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = self.write(dry_run, Change::new(remove), |attempt: Try, message| {
            let message = v1::StorageVersionsRemoveEquivalentRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .remove_equivalent(request)
                    .await
            }
        });
        let answer: v1::StorageVersionsRemoveEquivalentResponse = answer.await?;
        read(answer.header)
    }

    /// Checks whether the members agree, and returns every obstacle and what a positive answer assumes.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: more than 1,000 resources.
    pub async fn check_agreement(
        &self,
        query: &AgreementQuery,
        options: ReadOptions,
    ) -> Result<Agreement, Error> {
        let message = v1::StorageVersionsCheckAgreementRequest {
            resources: query.resources.to_wire(),
            allow_none: query.allow_none,
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::storage_versions(attempt.channel)
                    .check_agreement(request)
                    .await
            }
        });
        read::<v1::StorageVersionsCheckAgreementResponse, _>(answer.await?)
    }

    /// Checks whether an upgrade may go on: no alarm is raised, the members agree on all that is known, all of it is migrated, and no
    /// write in another version may still land. Since 0.1.
    ///
    /// # Errors
    ///
    /// `COMPACTED` or `FUTURE_REVISION`: the revision that the options name cannot be read.
    pub async fn check_upgrade(&self, options: ReadOptions) -> Result<UpgradeStatus, Error> {
        let message = v1::StorageVersionsCheckUpgradeRequest {
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message);
            async move {
                stubs::storage_versions(attempt.channel)
                    .check_upgrade(request)
                    .await
            }
        });
        read::<v1::StorageVersionsCheckUpgradeResponse, _>(answer.await?)
    }

    /// Reads what the members of a resource agreed on, change by change.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the resource was never reported.
    pub async fn agreement_history(
        &self,
        resource: &GroupResource,
        options: ReadOptions,
    ) -> Result<AgreementHistory, Error> {
        let message = v1::StorageVersionsHistoryRequest {
            resource: Some(resource.into()),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::storage_versions(attempt.channel)
                    .history(request)
                    .await
            }
        });
        read::<v1::StorageVersionsHistoryResponse, _>(answer.await?)
    }
}
