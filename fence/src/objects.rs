//! [`FencedObjects`]: the objects of a store, as a migration worker rewrites them behind a fence.

use synod_client::{
    ContinueToken, Fence, FencedStore, GroupResource, Migration, StoreError, StorePage,
};

use crate::fence_key::FenceKeys;
use crate::{Condition, KeyStore, Pair};

/// How many objects a worker reads at once.
const PAGE: usize = 100;

/// Where the objects of a program are, and how they are encoded anew.
pub trait Recoder: Send + Sync {
    /// What the keys of a resource's objects begin with, and no other key.
    fn prefix(&self, resource: &GroupResource) -> String;

    /// An object in the encoding that the migration wants; `None` if it needs no rewrite. If everything is rewritten
    /// ([`Migration::reason`]), an object in that encoding needs one, too.
    ///
    /// # Errors
    ///
    /// Why it cannot be decoded or encoded. The worker goes on with the others, and the migration fails in the end.
    fn recode(&self, migration: &Migration, object: &Pair) -> Result<Option<Vec<u8>>, String>;
}

/// The objects of a [`KeyStore`]: `Fenced::new(&client, FencedObjects::new(store, recoder, "/fences/"))` is the store of a
/// [`Migrator`](synod_client::Migrator).
#[derive(Clone, Debug)]
pub struct FencedObjects<S, R> {
    store: S,
    recoder: R,
    keys: FenceKeys,
    page_size: usize,
}

impl<S: KeyStore, R: Recoder> FencedObjects<S, R> {
    /// The objects of a store. `fences` is what the keys of the fences begin with: as the
    /// [`FencedWriter`](crate::FencedWriter)s of the servers have it.
    pub fn new(store: S, recoder: R, fences: &str) -> Self {
        Self {
            store,
            recoder,
            keys: FenceKeys::new(fences),
            page_size: PAGE,
        }
    }

    /// How many objects are read at once, 100 if not set; at least one.
    #[must_use]
    pub fn page_size(mut self, objects: usize) -> Self {
        self.page_size = objects.max(1);
        self
    }
}

impl<S: KeyStore, R: Recoder> FencedStore for FencedObjects<S, R> {
    type Object = Pair;

    async fn read_fence(&self, resource: &GroupResource) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.keys.read(&self.store, resource).await?)
    }

    async fn write_fence(&self, present: Option<&[u8]>, fence: &Fence) -> Result<bool, StoreError> {
        let (resource, text) = (fence.resource(), fence.to_string());
        let unchanged = self.keys.unchanged(resource, present);
        let key = self.keys.of(resource);
        Ok(self
            .store
            .put_if(&[unchanged], &key, text.as_bytes())
            .await?)
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Pair>, StoreError> {
        let prefix = self.recoder.prefix(migration.id.resource());
        let after = token.map(ContinueToken::as_str);
        let page = self.store.list(&prefix, after, self.page_size).await?;
        let last = page.pairs.last().filter(|_| page.more);
        let next = last.map(|pair| ContinueToken::parse(&pair.key)).transpose();
        Ok(StorePage {
            next: next.map_err(|fault| StoreError::Refused(fault.to_string()))?,
            objects: page.pairs,
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        object: &Pair,
        fence: &Fence,
    ) -> Result<(), StoreError> {
        let recoded = self.recoder.recode(migration, object);
        let recoded = recoded.map_err(|why| StoreError::Undecodable {
            key: object.key.clone(),
            why,
        })?;
        let Some(value) = recoded else {
            return Ok(());
        };
        let resource = fence.resource();
        let fence = fence.to_string().into_bytes();
        let unchanged = Condition::WrittenAt {
            key: object.key.clone(),
            revision: object.revision,
        };
        let conditions = [unchanged, self.keys.unchanged(resource, Some(&fence))];
        if self.store.put_if(&conditions, &object.key, &value).await? {
            return Ok(());
        }
        if self.keys.read(&self.store, resource).await?.as_ref() == Some(&fence) {
            return Err(StoreError::Conflict);
        }
        let why = "somebody has raised the fence: this migration is over";
        Err(StoreError::Refused(why.to_owned()))
    }
}
