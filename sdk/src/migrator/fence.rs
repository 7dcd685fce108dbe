//! A fence in a store outside Synod, which keeps late writes from undoing a migration.
//!
//! A write that its gate let through, and that lands later than `write_grace` after its membership was over, could put
//! an old version behind a worker that has already passed. A store that can compare and write in one step prevents
//! that: beside the objects of a resource it keeps a key that holds a [`Fence`], which only moves forward. A worker
//! raises the key to the agreement of its migration before it lists ([`Fenced`] does), and every write compares it
//! ([`FenceGuard`] says with what). So a write lands before the list, which sees it, or not at all, unless its writer
//! knew of the agreement; and a writer that knows of an agreement on one version and still encodes another has ended
//! that agreement.

mod guard;

use std::fmt;
use std::future::Future;

use synod_model::{ClusterId, ContinueToken, GroupResource, Migration, Revision};

pub use guard::FenceGuard;

use super::plan::TRIES;
use super::{Store, StoreError, StorePage};
use crate::{Client, Error, ReadOptions};

/// The content of a fence key: the latest agreement for which a migration of the resource's objects was begun.
///
/// Its text is the cluster's id, the resource as `resource.group` and the revision of the agreement, separated by
/// blanks; a store keeps these bytes, and compares nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    cluster: ClusterId,
    resource: GroupResource,
    agreement: Revision,
}

/// Why a fence key keeps out a writer or a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FenceFault {
    /// The key does not hold a fence.
    Unreadable {
        /// What the key holds, as far as it is text.
        found: String,
    },
    /// The fence is of another cluster, which may be the one that this cluster was restored from. Only an operator can
    /// know that nothing writes under that cluster any more, and may then remove the key.
    OtherCluster {
        /// The cluster of the fence.
        found: ClusterId,
    },
    /// The fence is of another resource: the key is the wrong one.
    OtherResource {
        /// The resource of the fence.
        found: GroupResource,
    },
    /// The fence stands for a later agreement.
    Later {
        /// The revision of that agreement.
        found: Revision,
    },
}

impl Fence {
    /// The fence of an agreement on a resource.
    #[must_use]
    pub fn new(cluster: ClusterId, resource: GroupResource, agreement: Revision) -> Self {
        Self {
            cluster,
            resource,
            agreement,
        }
    }

    /// Parses a fence.
    ///
    /// # Errors
    ///
    /// `Unreadable`: the text is not one that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Self, FenceFault> {
        let parts: Vec<&str> = text.split(' ').collect();
        let read = || {
            let [cluster, resource, agreement] = parts[..] else {
                return None;
            };
            let fence = Self {
                cluster: ClusterId::parse(cluster).ok()?,
                resource: GroupResource::parse_qualified(resource).ok()?,
                agreement: Revision::new(agreement.parse().ok()?),
            };
            // Stores compare bytes, so each fence must have exactly one text.
            (fence.to_string() == text).then_some(fence)
        };
        read().ok_or_else(|| FenceFault::Unreadable {
            found: text.to_owned(),
        })
    }

    /// The resource whose objects it fences.
    #[must_use]
    pub fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// The revision of the agreement that it stands for.
    #[must_use]
    pub fn agreement_revision(&self) -> Revision {
        self.agreement
    }

    /// Whether this fence may follow `present`, the content of the fence key; `None` if there is no key. For a worker's
    /// fence, that means that the key may be raised to it. For the fence that a writer knows, it means that the write
    /// may be sent on condition that the key still holds `present`.
    ///
    /// # Errors
    ///
    /// The reason why it may not.
    pub fn follows(&self, present: Option<&[u8]>) -> Result<(), FenceFault> {
        let Some(bytes) = present else {
            return Ok(());
        };
        let text = String::from_utf8_lossy(bytes);
        let present = Self::parse(&text)?;
        if present.cluster != self.cluster {
            let found = present.cluster;
            return Err(FenceFault::OtherCluster { found });
        }
        if present.resource != self.resource {
            let found = present.resource;
            return Err(FenceFault::OtherResource { found });
        }
        if present.agreement > self.agreement {
            let found = present.agreement;
            return Err(FenceFault::Later { found });
        }
        Ok(())
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource.qualified();
        write!(f, "{} {resource} {}", self.cluster, self.agreement)
    }
}

impl fmt::Display for FenceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { found } => {
                write!(f, "the fence key holds {found:?}, which is no fence")
            }
            Self::OtherCluster { found } => write!(
                f,
                "the fence key belongs to cluster {found}; delete the key when no server writes under that cluster \
                 any more"
            ),
            Self::OtherResource { found } => {
                write!(
                    f,
                    "the fence is of {}: the key is the wrong one",
                    found.qualified()
                )
            }
            Self::Later { found } => write!(
                f,
                "the fence stands for the later agreement of revision {found}"
            ),
        }
    }
}

impl std::error::Error for FenceFault {}

/// A store that can write something on condition that a key still holds a given value.
///
/// [`Fenced`] makes it a [`Store`] whose migrations are fenced.
pub trait FencedStore: Send + Sync {
    /// An object as it was listed.
    type Object: Send + Sync;

    /// The content of a resource's fence key; `None` if there is no such key.
    ///
    /// Each name of a store with several names has a key of its own. A worker moves the key of the first name alone, which is
    /// that of its migration; writes under the other names are waited for by drains.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn read_fence(
        &self,
        resource: &GroupResource,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// Writes the fence key of the fence's resource if it holds `present`; for `None`, if there is no such key. Returns
    /// whether it was written.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn write_fence(
        &self,
        present: Option<&[u8]>,
        fence: &Fence,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// As [`Store::list_page`]. It must not be answered from a state of the store that is older than the call.
    ///
    /// # Errors
    ///
    /// The error of the store.
    fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> impl Future<Output = Result<StorePage<Self::Object>, StoreError>> + Send;

    /// As [`Store::rewrite`], but only if the fence key holds this fence: a worker's write may be late, too.
    ///
    /// # Errors
    ///
    /// The error of the store. `Refused` if the key holds another fence.
    fn rewrite(
        &self,
        migration: &Migration,
        object: &Self::Object,
        fence: &Fence,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A store whose fence is raised before it is listed.
#[derive(Debug)]
pub struct Fenced<S> {
    store: S,
    cluster: ClusterId,
}

impl<S> Fenced<S> {
    /// The store, under the fence of this cluster.
    ///
    /// # Errors
    ///
    /// The cluster did not answer with its id.
    pub async fn new(client: &Client, store: S) -> Result<Self, Error> {
        let view = client.settings(ReadOptions::linearizable()).await?;
        Ok(Self {
            store,
            cluster: view.header.cluster,
        })
    }

    fn fence(&self, migration: &Migration) -> Fence {
        let resource = migration.id.resource().clone();
        Fence::new(self.cluster, resource, migration.agreement_revision)
    }
}

impl<S: FencedStore> Store for Fenced<S> {
    type Object = S::Object;

    fn is_fenced(&self) -> bool {
        true
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<S::Object>, StoreError> {
        // Before each page: a worker that continues the work of another has not raised the fence itself.
        raise(&self.store, &self.fence(migration)).await?;
        self.store.list_page(migration, token).await
    }

    async fn rewrite(&self, migration: &Migration, object: &S::Object) -> Result<(), StoreError> {
        let fence = self.fence(migration);
        self.store.rewrite(migration, object, &fence).await
    }
}

/// Raises the fence key to this fence.
async fn raise<S: FencedStore>(store: &S, fence: &Fence) -> Result<(), StoreError> {
    let bytes = fence.to_string().into_bytes();
    for _ in 0..TRIES {
        let present = store.read_fence(fence.resource()).await?;
        if present.as_ref() == Some(&bytes) {
            return Ok(());
        }
        let follows = fence.follows(present.as_deref());
        follows.map_err(|fault| StoreError::Refused(format!("not migrated: {fault}")))?;
        if store.write_fence(present.as_deref(), fence).await? {
            return Ok(());
        }
    }
    // Other workers raise the key all the time, which only other migrations do.
    Err(StoreError::Busy { retry_after: None })
}

#[cfg(test)]
mod tests;
