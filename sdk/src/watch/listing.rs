//! All that a watch is about, at one revision.

use synod_model::Revision;

use super::{Object, ObjectKind, StorageVersionChange, WatchOptions};
use crate::{
    Client, ClusterId, Error, Header, ListMembers, ListStorageVersions, MemberPage, ReadOptions,
    StorageVersion, StorageVersionPage,
};

/// An object as it was listed.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) object: Object,
}

/// All objects, and as of when.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) cluster: ClusterId,
    pub(super) revision: Revision,
    pub(super) objects: Vec<Listed>,
}

/// The name that the settings are watched under.
const SETTINGS: &str = "settings";

impl Listing {
    /// Lists all that the options ask for: one list after the other, all at the revision of the first.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: it took so long that the revision left the window.
    pub(super) async fn read(client: &Client, options: &WatchOptions) -> Result<Self, Error> {
        let mut lists = Lists::default();
        if options.wants(ObjectKind::Member) {
            lists.members(client, options).await?;
        }
        let states = options.wants(ObjectKind::StorageState);
        if states || options.wants(ObjectKind::StorageVersion) {
            lists.storage_versions(client, options, states).await?;
        }
        if options.wants(ObjectKind::Settings) || lists.header.is_none() {
            lists.settings(client, options).await?;
        }
        let header = lists.header.ok_or_else(|| {
            // One of the lists above was read in any case.
            Error::new(synod_model::ErrorKind::Unavailable, "nothing was listed")
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
    /// Of the first list.
    header: Option<Header>,
    objects: Vec<Listed>,
}

impl Lists {
    /// The first list says what is newest, the others look at the same revision.
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
        while let Some(MemberPage { header, items }) = pages.next().await? {
            self.header.get_or_insert(header);
            self.objects.extend(items.into_iter().map(|item| Listed {
                name: item.member.id.to_string(),
                object: Object::Member(item.member),
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
                self.objects.extend(state.map(|state| Listed {
                    name: state.name.clone(),
                    object: Object::StorageState(state),
                }));
            }
        }
        Ok(())
    }

    async fn settings(&mut self, client: &Client, options: &WatchOptions) -> Result<(), Error> {
        let view = client.settings(self.read_options()).await?;
        self.header.get_or_insert(view.header);
        if options.wants(ObjectKind::Settings) {
            self.objects.push(Listed {
                name: SETTINGS.to_owned(),
                object: Object::Settings(view.settings),
            });
        }
        Ok(())
    }
}

impl Listed {
    /// A listed storage version as the change that created it.
    pub(super) fn storage_version(version: StorageVersion) -> Self {
        Self {
            name: version.name.clone(),
            object: Object::StorageVersion(StorageVersionChange {
                name: version.name,
                metadata: version.metadata,
                resource: version.resource,
                changed_entries: version.entries,
                removed_members: Vec::new(),
                status: version.status,
            }),
        }
    }
}

impl Object {
    pub(super) fn kind(&self) -> ObjectKind {
        match self {
            Self::Member(_) => ObjectKind::Member,
            Self::StorageVersion(_) => ObjectKind::StorageVersion,
            Self::StorageState(_) => ObjectKind::StorageState,
            Self::Settings(_) => ObjectKind::Settings,
        }
    }
}
