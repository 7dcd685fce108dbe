//! Lists all objects that a watch is about, at one revision.

use synod_model::{
    ControllerRevision, ErrorKind, GroupResource, Lease, LeaseCandidate, Object as StoredObject,
    ObjectKind, Revision,
};

use super::{StorageVersionChange, WatchOptions, WatchedObject};
use crate::{
    Client, ClusterId, CollectionItem, CollectionPage, Error, Header, ListCollections,
    ListControllerRevisions, ListMembers, ListMigrations, ListObjects, ListRosters,
    ListStorageVersions, MemberPage, MigrationPage, ObjectPage, ReadOptions, Roster, RosterPage,
    StorageVersion, StorageVersionPage,
};

/// An object as it was listed.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) resource: Option<GroupResource>,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) object: WatchedObject,
}

/// All listed objects, and their cluster and revision.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) cluster: ClusterId,
    pub(super) revision: Revision,
    pub(super) objects: Vec<Listed>,
}

/// The name under which the settings are watched.
const SETTINGS: &str = "settings";

impl Listing {
    /// Lists all objects that the options select: one list after the other, all at the revision of the first.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the lists took so long that their revision left the window.
    pub(super) async fn read(client: &Client, options: &WatchOptions) -> Result<Self, Error> {
        let mut lists = Lists::default();
        if options.wants(ObjectKind::Member) {
            lists.members(client, options).await?;
        }
        let states = options.wants(ObjectKind::StorageState);
        if states || options.wants(ObjectKind::StorageVersion) {
            lists.storage_versions(client, options, states).await?;
        }
        if options.wants(ObjectKind::Migration) {
            lists.migrations(client).await?;
        }
        if options.wants(ObjectKind::Roster) {
            lists.rosters(client).await?;
        }
        if options.wants(ObjectKind::Settings) || lists.header.is_none() {
            lists.settings(client, options).await?;
        }
        let collections = options.wants(ObjectKind::Collection);
        let objects = options.wants(ObjectKind::Object);
        if collections || (objects && options.resources.is_empty()) {
            lists.collections(client, collections).await?;
        }
        if objects {
            lists.objects(client, options).await?;
        }
        if options.wants(ObjectKind::ControllerRevision) {
            lists.controller_revisions(client, options).await?;
        }
        if options.wants(ObjectKind::Lease) {
            lists.leases(client, options).await?;
        }
        if options.wants(ObjectKind::LeaseCandidate) {
            lists.lease_candidates(client, options).await?;
        }
        let header = lists.header.ok_or_else(|| {
            // One of the lists above was read in any case.
            Error::new(ErrorKind::Unavailable, "nothing was listed")
        })?;
        let mut objects = lists.objects;
        objects.retain(|listed| options.wants_name(&listed.name));
        Ok(Self {
            cluster: header.cluster,
            revision: header.revision,
            objects,
        })
    }
}

#[derive(Default)]
struct Lists {
    /// The header of the first list.
    header: Option<Header>,
    objects: Vec<Listed>,
    /// The resources of all collections, if these were listed.
    resources: Vec<GroupResource>,
}

impl Lists {
    /// The first list reads the newest revision, the others read the same one.
    fn read_options(&self) -> ReadOptions {
        match &self.header {
            Some(header) => ReadOptions::at_revision(header.revision),
            None => ReadOptions::linearizable(),
        }
    }

    async fn members(&mut self, client: &Client, options: &WatchOptions) -> Result<(), Error> {
        let list = ListMembers::new()
            .with_labels(options.labels.clone())
            .with_read(self.read_options());
        let mut pages = client.members(list);
        while let Some(MemberPage { header, items, .. }) = pages.next().await? {
            self.header.get_or_insert(header);
            let items = items.into_iter();
            let wanted = items.filter(|item| options.selects(&item.member.labels));
            self.objects.extend(wanted.map(|item| {
                let name = item.member.id.to_string();
                Listed::plain(name, WatchedObject::Member(item.member))
            }));
        }
        Ok(())
    }

    async fn storage_versions(
        &mut self,
        client: &Client,
        options: &WatchOptions,
        states: bool,
    ) -> Result<(), Error> {
        let mut list = ListStorageVersions::new().with_read(self.read_options());
        list.include_unreported = states;
        let versions = options.wants(ObjectKind::StorageVersion);
        let mut pages = client.storage_versions(list);
        while let Some(StorageVersionPage { header, items, .. }) = pages.next().await? {
            self.header.get_or_insert(header);
            for item in items {
                let version = item.storage_version.filter(|_| versions);
                self.objects.extend(version.map(Listed::storage_version));
                let state = item.storage_state.filter(|_| states);
                self.objects.extend(state.map(|state| {
                    Listed::plain(
                        state.name.clone(),
                        WatchedObject::StorageState(Box::new(state)),
                    )
                }));
            }
        }
        Ok(())
    }

    async fn collections(&mut self, client: &Client, wanted: bool) -> Result<(), Error> {
        let list = ListCollections::new().with_read(self.read_options());
        let mut pages = client.collections().list(&list);
        while let Some(CollectionPage { header, items, .. }) = pages.next().await? {
            self.header.get_or_insert(header);
            for CollectionItem { collection, .. } in items {
                self.resources.push(collection.resource.clone());
                if wanted {
                    let name = collection.resource.qualified().to_owned();
                    self.objects
                        .push(Listed::plain(name, WatchedObject::Collection(collection)));
                }
            }
        }
        Ok(())
    }

    async fn objects(&mut self, client: &Client, options: &WatchOptions) -> Result<(), Error> {
        let resources = if options.resources.is_empty() {
            std::mem::take(&mut self.resources)
        } else {
            options.resources.clone()
        };
        for resource in resources {
            let mut list = ListObjects::new(resource)
                .with_labels(options.object_labels())
                .with_fields(options.fields.clone())
                .with_read(self.read_options());
            if let Some(namespace) = options.only_namespace() {
                list = list.with_namespace(namespace.clone());
            }
            let mut pages = client.raw_objects().list(&list);
            loop {
                match pages.next().await {
                    Ok(Some(ObjectPage { items, .. })) => {
                        let wanted = items
                            .into_iter()
                            .map(|item| Listed::stored(item.object))
                            .filter(|listed| options.wants_namespace(&listed.namespace));
                        self.objects.extend(wanted);
                    }
                    Ok(None) => break,
                    // The collection was declared later, or deleted.
                    Err(error) if error.kind() == ErrorKind::NotFound => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    async fn controller_revisions(
        &mut self,
        client: &Client,
        options: &WatchOptions,
    ) -> Result<(), Error> {
        let mut list = ListControllerRevisions::new();
        list.namespace = options.only_namespace().cloned();
        list.labels = options.labels.clone();
        list.read = self.read_options();
        let page = client.controller_revisions(list).await?;
        self.header.get_or_insert(page.header);
        let items = page.items.into_iter();
        let wanted = items.filter(|snapshot| {
            options.selects(&snapshot.labels)
                && options.wants_namespace(snapshot.key.namespace().unwrap_or_default())
        });
        self.objects.extend(wanted.map(Listed::controller_revision));
        Ok(())
    }

    async fn leases(&mut self, client: &Client, options: &WatchOptions) -> Result<(), Error> {
        let namespace = options.only_namespace().map(|namespace| namespace.as_str());
        let page = client.leases(namespace, self.read_options()).await?;
        self.header.get_or_insert(page.header);
        let leases = page.items.into_iter().map(|item| item.lease);
        let wanted = leases.filter(|lease| options.wants_namespace(lease.key.namespace()));
        self.objects.extend(wanted.map(Listed::lease));
        Ok(())
    }

    async fn lease_candidates(
        &mut self,
        client: &Client,
        options: &WatchOptions,
    ) -> Result<(), Error> {
        let page = client.all_lease_candidates(self.read_options()).await?;
        self.header.get_or_insert(page.header);
        let items = page.items.into_iter().map(|item| item.candidate);
        let wanted = items.filter(|candidate| options.wants_namespace(candidate.lease.namespace()));
        self.objects.extend(wanted.map(Listed::lease_candidate));
        Ok(())
    }

    async fn migrations(&mut self, client: &Client) -> Result<(), Error> {
        let list = ListMigrations::new().with_read(self.read_options());
        let mut pages = client.migrations(list);
        while let Some(MigrationPage { header, items, .. }) = pages.next().await? {
            self.header.get_or_insert(header);
            self.objects.extend(items.into_iter().map(|migration| {
                Listed::plain(
                    migration.id.to_string(),
                    WatchedObject::Migration(Box::new(migration)),
                )
            }));
        }
        Ok(())
    }

    async fn rosters(&mut self, client: &Client) -> Result<(), Error> {
        let list = ListRosters::new().with_read(self.read_options());
        let mut pages = client.rosters().list(&list);
        while let Some(RosterPage { header, items, .. }) = pages.next().await? {
            self.header.get_or_insert(header);
            let listed = |roster: Roster| {
                Listed::plain(roster.scope.to_string(), WatchedObject::Roster(roster))
            };
            self.objects.extend(items.into_iter().map(listed));
        }
        Ok(())
    }

    async fn settings(&mut self, client: &Client, options: &WatchOptions) -> Result<(), Error> {
        let view = client.settings(self.read_options()).await?;
        self.header.get_or_insert(view.header);
        if options.wants(ObjectKind::Settings) {
            let settings = WatchedObject::Settings(view.settings);
            self.objects
                .push(Listed::plain(SETTINGS.to_owned(), settings));
        }
        Ok(())
    }
}

impl Listed {
    /// A listed storage version as the change that created it.
    pub(super) fn storage_version(version: StorageVersion) -> Self {
        let change = StorageVersionChange {
            name: version.name,
            metadata: version.metadata,
            resource: version.resource,
            changed_entries: version.entries,
            removed_members: Vec::new(),
            status: version.status,
        };
        Self::plain(change.name.clone(), WatchedObject::StorageVersion(change))
    }

    /// An object without a namespace, and outside of collections.
    fn plain(name: String, object: WatchedObject) -> Self {
        Self {
            resource: None,
            namespace: String::new(),
            name,
            object,
        }
    }

    fn controller_revision(snapshot: ControllerRevision) -> Self {
        Self {
            resource: None,
            namespace: snapshot.key.namespace().unwrap_or_default().to_owned(),
            name: snapshot.key.name().to_owned(),
            object: WatchedObject::ControllerRevision(snapshot),
        }
    }

    fn lease(lease: Lease) -> Self {
        Self {
            resource: None,
            namespace: lease.key.namespace().to_owned(),
            name: lease.key.name().to_owned(),
            object: WatchedObject::Lease(lease),
        }
    }

    fn lease_candidate(candidate: LeaseCandidate) -> Self {
        Self {
            resource: None,
            namespace: candidate.lease.namespace().to_owned(),
            name: candidate.identity.to_string(),
            object: WatchedObject::LeaseCandidate(candidate),
        }
    }

    fn stored(object: StoredObject) -> Self {
        let name = &object.key.name;
        Self {
            resource: Some(object.key.resource.clone()),
            namespace: name.namespace().unwrap_or_default().to_owned(),
            name: name.name().to_owned(),
            object: WatchedObject::Stored(object),
        }
    }
}
