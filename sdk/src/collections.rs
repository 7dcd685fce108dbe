//! Collections: which kinds of objects the cluster keeps.

use synod_model::{CreateCollection, DeleteCollection, GroupResource, UpdateCollection};
use synod_proto::{Change, v1};

use crate::client::stubs;
use crate::pages::{Pages, page_size};
use crate::read_options::list_options;
use crate::transport::Try;
use crate::values::read;
use crate::{
    Client, CollectionChanged, CollectionPage, CollectionView, Error, Header, ReadOptions,
};

/// The collections of a cluster. Get it with [`Client::collections`].
#[derive(Clone, Debug)]
pub struct Collections {
    client: Client,
    dry_run: bool,
}

/// Which collections to list, and how: all of them, by default linearizable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListCollections {
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl Client {
    /// The collections: which kinds of objects the cluster keeps.
    #[must_use]
    pub fn collections(&self) -> Collections {
        Collections {
            client: self.clone(),
            dry_run: false,
        }
    }
}

impl Collections {
    /// The same collections, with every change as a dry run: every check runs and nothing is changed.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Declares a collection.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`: there is a collection of its resource or its kind. `NO_AGREEMENT`: the collection is to be
    /// strict, and a member reports the resource with a fixed entry.
    pub async fn create(&self, create: CreateCollection) -> Result<CollectionChanged, Error> {
        let change = Change::new(create);
        let dry_run = self.dry_run;
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::CollectionsCreateRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::collections(attempt.channel).create(request).await }
        });
        read::<v1::CollectionsCreateResponse, _>(answer.await?)
    }

    /// Changes the rules of a collection, or corrects its kind while it holds no object.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the collection does not meet the preconditions, and [`Error::current`] has it; or it is to
    /// have another kind, and it holds objects. `ALREADY_EXISTS`: another collection of the group has that kind.
    /// `NO_AGREEMENT`: it is to become strict, and a member reports the resource with a fixed entry.
    pub async fn update(&self, update: UpdateCollection) -> Result<CollectionChanged, Error> {
        let change = Change::new(update);
        let dry_run = self.dry_run;
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::CollectionsUpdateRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::collections(attempt.channel).update(request).await }
        });
        read::<v1::CollectionsUpdateResponse, _>(answer.await?)
    }

    /// Deletes a collection.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the collection does not meet the preconditions, or it holds objects.
    pub async fn delete(&self, delete: DeleteCollection) -> Result<Header, Error> {
        let change = Change::new(delete);
        let dry_run = self.dry_run;
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::CollectionsDeleteRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::collections(attempt.channel).delete(request).await }
        });
        let answer: v1::CollectionsDeleteResponse = answer.await?;
        read(answer.header)
    }

    /// Reads one collection.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the resource has no collection.
    pub async fn get(
        &self,
        resource: &GroupResource,
        options: ReadOptions,
    ) -> Result<CollectionView, Error> {
        let message = v1::CollectionsGetRequest {
            resource: Some(resource.into()),
            read: options.to_wire(),
        };
        let answer = self.client.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::collections(attempt.channel).get(request).await }
        });
        read::<v1::CollectionsGetResponse, _>(answer.await?)
    }

    /// Reads collections, page by page, all at one revision.
    #[must_use]
    pub fn list(&self, list: &ListCollections) -> Pages<CollectionPage> {
        let first = v1::CollectionsListRequest {
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(self.client.clone(), first)
    }
}

impl ListCollections {
    /// All collections, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

list_options!(ListCollections);
