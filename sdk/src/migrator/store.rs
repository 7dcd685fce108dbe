//! The store of a migration worker: what the worker asks of it.

use std::future::Future;

use synod_model::{ContinueToken, Migration, Walk};

use super::plan::StoreError;

/// A store whose objects a worker rewrites.
pub trait Store: Send + Sync {
    /// An object as it was listed.
    type Object: Send + Sync;

    /// Whether a fence in the store keeps out the late writes of other workers that are fenced. A claim of such a worker need
    /// not wait for those. [`Fenced`](crate::Fenced) is.
    fn is_fenced(&self) -> bool {
        false
    }

    /// The objects that the store lists: those outside of the cluster, unless it says otherwise.
    /// [`CollectionStore`](crate::CollectionStore) lists a collection.
    fn walks(&self) -> Walk {
        Walk::Outside
    }

    /// Lists a page of the objects after `token`; without a token, from the first object.
    ///
    /// Every object on the page is rewritten, so the store leaves out those that it knows to need no rewrite: objects
    /// in the target's encoding, or if everything is rewritten ([`Migration::reason`]), objects that it knows to have
    /// been stored as a whole after the migration's start. A store that cannot tell leaves nothing out.
    ///
    /// A token should be the key of the last object, or contain it: then the list can continue there in any state of
    /// the store. It is saved in the cluster, and comes back in another process, long after a snapshot of the store
    /// that it names is gone. For a token that cannot be continued, the store returns [`Expired`](StoreError::Expired)
    /// with one that can. With none, the list begins anew, and so does the rewriting of all that is not left out, by
    /// a later worker, too: a worker does that a few times in a pass, and then gives up.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> impl Future<Output = Result<StorePage<Self::Object>, StoreError>> + Send;

    /// Waits until an object may be rewritten, as for a rate limit of the store's own. It sends nothing: the worker looks after it
    /// whether it still has its claim.
    fn await_turn(&self, _object: &Self::Object) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Writes an object without changing it, in the target's encoding, only if it was not changed since it was listed.
    /// The condition belongs to the write itself, or a fence does ([`FencedStore`](crate::FencedStore)): a worker that is told
    /// to stop, or has lost its claim, waits for no call, so a write that was sent may land when another worker has the
    /// migration.
    ///
    /// [`Conflict`](StoreError::Conflict) counts as done: a faster writer has encoded the object anew, as every update
    /// through an API server does. If an object can be changed otherwise, the store itself reads it again and retries.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn rewrite(
        &self,
        migration: &Migration,
        object: &Self::Object,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A page of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePage<O> {
    /// The objects.
    pub objects: Vec<O>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ContinueToken>,
    /// How many objects there may be behind this page, if the store knows.
    pub remaining: Option<u64>,
}
