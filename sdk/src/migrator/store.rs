//! What a worker asks of a store.

use std::future::Future;

use synod_model::{ContinueToken, Migration};

use super::plan::StoreError;

/// A store whose objects a worker rewrites.
pub trait Store: Send + Sync {
    /// An object as it was listed.
    type Object: Send + Sync;

    /// The objects after `token`, a page of them; from the first one without it.
    ///
    /// All that is on the page is rewritten, so the store leaves out what it knows to need no rewrite: what is in the
    /// target's encoding, and where everything is written anew ([`Migration::reason`]), what it knows to have been stored as a
    /// whole after the migration's start. A store that cannot tell leaves nothing out.
    ///
    /// A token is best the key of the last object, or has it: then the list goes on there at whatever state of the store.
    /// It is saved in the cluster, and comes back in another process, long after a snapshot of the store that it names is
    /// gone. To a token that cannot be gone on with, the store answers [`Expired`](StoreError::Expired) with one that can. With
    /// none, the list begins anew, and with it the rewriting of all that is not left out: a worker does that a few times in
    /// a walk, and then gives up.
    ///
    /// # Errors
    ///
    /// What the store said.
    fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> impl Future<Output = Result<StorePage<Self::Object>, StoreError>> + Send;

    /// Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed.
    ///
    /// [`Conflict`](StoreError::Conflict) says that it is done: who was faster has encoded it anew, as every update does that
    /// an API server carries out. Where an object can be changed without that, the store reads it again and tries again
    /// by itself.
    ///
    /// # Errors
    ///
    /// What the store said.
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
    /// How many objects there may be behind this page, if the store says so.
    pub remaining: Option<u64>,
}
