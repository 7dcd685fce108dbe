//! The resources that a cluster knows, among which a typed name is found.

use std::collections::BTreeSet;

use futures::future::try_join3;
use synod_model::{GroupResource, ResourceScope};

use super::{Client, ListStorageVersions};
use crate::{Error, ListCollections, ListRosters, ReadOptions};

impl Client {
    /// Lists the resources that the cluster knows: those that were ever reported or observed and not forgotten, those of
    /// collections, and those that a roster names alone. [`ResourceSpelling`](crate::ResourceSpelling) finds a typed name among
    /// them.
    ///
    /// # Errors
    ///
    /// Those of any read.
    pub async fn known_resources(
        &self,
        options: ReadOptions,
    ) -> Result<BTreeSet<GroupResource>, Error> {
        let versions = ListStorageVersions::new().with_unreported();
        let versions = self.storage_versions(versions.with_read(options));
        let collections = self.collections();
        let collections = collections.list(&ListCollections::new().with_read(options));
        let rosters = self.rosters();
        let rosters = rosters.list(&ListRosters::new().with_read(options));
        let all = try_join3(versions.all(), collections.all(), rosters.all());
        let (versions, collections, rosters) = all.await?;
        let mut known = BTreeSet::new();
        for item in versions.items {
            known.extend(item.storage_version.map(|version| version.resource));
            if let Some(state) = item.storage_state {
                known.insert(state.resource);
                known.extend(state.equivalents);
            }
        }
        let collections = collections.items.into_iter();
        known.extend(collections.map(|item| item.collection.resource));
        for roster in rosters.items {
            if let ResourceScope::Resource(resource) = roster.scope {
                known.insert(resource);
            }
        }
        Ok(known)
    }
}
