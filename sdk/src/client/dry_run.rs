//! Dry runs: what a change would do, without making it.

use synod_model::{
    AbortMigration, AddEquivalents, DeleteMigration, DismissLooks, ForgetResource, GroupResource,
    MigrationAlias, MigrationId, MigrationReason, RemoveEquivalent, ResetStorageStates,
    RetryMigration, Revision, SettingsPatch, StartMigration, UpdateSettings,
};

use super::Client;
use crate::{Changed, Error, Header, MigrationStarted};

/// Changes that are only tried out: every check runs, and nothing is changed. Answers and errors are those that the
/// change would get if it were made at the next revision. A dry run is a linearizable read, and is repeated as one.
///
/// Collections, objects and histories have a dry run of their own.
#[derive(Clone, Debug)]
pub struct DryRun(Client);

impl Client {
    /// Tries changes out instead of making them.
    #[must_use]
    pub fn dry_run(&self) -> DryRun {
        DryRun(self.clone())
    }
}

impl DryRun {
    /// What [`Client::update_settings`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::update_settings`].
    pub async fn update_settings(
        &self,
        patch: SettingsPatch,
        if_revision: Option<Revision>,
    ) -> Result<Changed, Error> {
        let update = UpdateSettings { patch, if_revision };
        self.0.send_settings(update, true).await
    }

    /// What [`Client::forget_resource`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::forget_resource`].
    pub async fn forget_resource(
        &self,
        resource: &GroupResource,
        if_revision: Option<Revision>,
    ) -> Result<Header, Error> {
        let forget = ForgetResource {
            resource: resource.clone(),
            if_revision,
        };
        self.0.send_forget(forget, true).await
    }

    /// Tries [`Client::add_equivalents`] out. Since 0.1.
    ///
    /// # Errors
    ///
    /// As [`Client::add_equivalents`].
    pub async fn add_equivalents(
        &self,
        resources: impl IntoIterator<Item = GroupResource>,
    ) -> Result<Header, Error> {
        let resources = resources.into_iter().collect();
        self.0
            .send_add_equivalents(AddEquivalents { resources }, true)
            .await
    }

    /// Tries [`Client::remove_equivalent`] out. Since 0.1.
    ///
    /// # Errors
    ///
    /// As [`Client::remove_equivalent`].
    pub async fn remove_equivalent(&self, resource: &GroupResource) -> Result<Header, Error> {
        let resource = resource.clone();
        self.0
            .send_remove_equivalent(RemoveEquivalent { resource }, true)
            .await
    }

    /// What [`Client::start_migration`] would do. The migration's name ends with the next revision, so another
    /// migration may get this name.
    ///
    /// # Errors
    ///
    /// As [`Client::start_migration`].
    pub async fn start_migration(
        &self,
        resource: &GroupResource,
        reason: MigrationReason,
    ) -> Result<MigrationStarted, Error> {
        let start = StartMigration {
            resource: resource.clone(),
            reason,
            alias: None,
        };
        self.0.send_start_migration(start, true).await
    }

    /// What [`Client::start_migration_as`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::start_migration_as`].
    pub async fn start_migration_as(
        &self,
        alias: &MigrationAlias,
        resource: &GroupResource,
        reason: MigrationReason,
    ) -> Result<MigrationStarted, Error> {
        let start = StartMigration {
            resource: resource.clone(),
            reason,
            alias: Some(alias.clone()),
        };
        self.0.send_start_migration(start, true).await
    }

    /// What [`Client::delete_migration`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::delete_migration`].
    pub async fn delete_migration(&self, delete: DeleteMigration) -> Result<Header, Error> {
        self.0.send_delete_migration(delete, true).await
    }

    /// What [`Client::abort_migration`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::abort_migration`].
    pub async fn abort_migration(&self, id: &MigrationId) -> Result<Header, Error> {
        let abort = AbortMigration { id: id.clone() };
        self.0.send_abort_migration(abort, true).await
    }

    /// What [`Client::retry_migration`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::retry_migration`].
    pub async fn retry_migration(&self, id: &MigrationId) -> Result<Header, Error> {
        let retry = RetryMigration { id: id.clone() };
        self.0.send_retry_migration(retry, true).await
    }

    /// Says what [`Client::dismiss_looks`] would do. Since 0.1.
    ///
    /// # Errors
    ///
    /// As [`Client::dismiss_looks`].
    pub async fn dismiss_looks(&self, dismiss: DismissLooks) -> Result<Changed, Error> {
        self.0.send_dismiss(dismiss, true).await
    }

    /// What [`Client::reset_storage_states`] would do.
    ///
    /// # Errors
    ///
    /// As [`Client::reset_storage_states`].
    pub async fn reset_storage_states(
        &self,
        resource: Option<&GroupResource>,
    ) -> Result<Changed, Error> {
        let reset = ResetStorageStates {
            resource: resource.cloned(),
        };
        self.0.send_reset(reset, true).await
    }
}
