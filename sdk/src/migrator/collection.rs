//! A collection as a [`Store`]: a codec decodes its objects, and encodes them in the target's version.
//!
//! The walk is ordered by key. Each page is read at the newest revision, behind the last object of the previous page,
//! so that it needs no history, and its token means the same to every worker, on every replica and after every restart.
//! An object is rewritten at most once: any writer that stores its whole content has done what the migration requires.
//!
//! Why no object is left out, though the collection changes behind the worker:
//!
//! - Objects created or written behind the worker in another version than the target's are counted by the cluster,
//!   which then refuses to complete the migration; the worker walks again, and skips the objects that are done. No
//!   write can land uncounted, however late it is.
//! - Objects created or written behind it in the target's version are as an agreement requires. To rewrite everything
//!   requires more, the new key, of which the cluster knows nothing: everything stored after the migration's start has
//!   the new key if the migration is started only when every server writes with the new key and no write with the old
//!   one can land any more ([`Migration::start_revision`]). A key topic has no collection, and a store of its own, which
//!   compares what each object is encrypted with.
//! - A change that does not encode all of an object's content, as of a patch, a finalizer or an owner, does nothing for
//!   the migration: the object's [`content_revision`](Object::content_revision) is compared, not its resource version.

use std::fmt;
use std::future::ready;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use synod_model::{
    ApiVersion, Content, ContinueToken, ErrorKind, Fences, Migration, MigrationReason, Object,
    Preconditions, TtlChange, UpdateObject, Walk,
};

use super::plan::TRIES;
use super::{Store, StoreError, StorePage};
use crate::objects::{not_decoded, not_encoded};
use crate::{Client, Codec, CodecError, Error, ListObjects, ReadOptions};

/// The objects of collections, which a codec rewrites.
///
/// An object in the target's version is skipped; if everything is to be rewritten, only an object stored after the
/// migration's start is. So a migration ends after at most as many rewrites as there are objects and concurrent writes.
pub struct CollectionStore {
    client: Client,
    recode: Box<Recode>,
    page_size: Option<u32>,
}

/// Encodes an object's content anew, in another version.
type Recode =
    dyn Fn(Object, ApiVersion) -> BoxFuture<'static, Result<Content, RecodeError>> + Send + Sync;

/// Why an object's content could not be encoded anew.
#[derive(Debug)]
pub enum RecodeError {
    /// The stored content could not be decoded.
    Decode(CodecError),
    /// The object has no form in the target's version, or that version is not known.
    Encode(CodecError),
}

impl CollectionStore {
    /// The objects that this codec can decode and encode.
    pub fn new<T: 'static>(client: Client, codec: impl Codec<T>) -> Self {
        Self::recoded_by(client, move |object, target| {
            ready(recoded(&codec, &object, &target)).boxed()
        })
    }

    /// The objects whose contents this function encodes anew, asynchronously, in the version that it is given.
    pub fn recoded_by(
        client: Client,
        recode: impl Fn(Object, ApiVersion) -> BoxFuture<'static, Result<Content, RecodeError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            client,
            recode: Box::new(recode),
            page_size: None,
        }
    }

    /// How many objects to list at a time; at most 5,000. Without it, 500.
    #[must_use]
    pub fn page_size(mut self, page_size: u32) -> Self {
        self.page_size = Some(page_size);
        self
    }

    /// How many objects are in another version than the target's.
    async fn to_rewrite(&self, migration: &Migration) -> Result<u64, Error> {
        let resource = migration.id.resource();
        let collections = self.client.collections();
        let view = collections
            .get(resource, ReadOptions::linearizable())
            .await?;
        let counts = view.item.counts.iter();
        let others =
            counts.filter(|count| Some(&count.version) != migration.target.version.as_ref());
        Ok(others.map(|count| count.objects).sum())
    }

    /// Rewrites an object, and tries again while other writers change it at the same time.
    ///
    /// A faster writer may have encoded the content anew, which is enough, or have changed only the attributes.
    async fn rewritten(
        &self,
        migration: &Migration,
        object: &Object,
        target: &ApiVersion,
    ) -> Result<(), Error> {
        let objects = self.client.raw_objects();
        let mut newer = None;
        for _ in 1..TRIES {
            let object = newer.as_ref().unwrap_or(object);
            let Err(error) = self.rewritten_once(object, target).await else {
                return Ok(());
            };
            if error.kind() != ErrorKind::Conflict {
                return Err(error);
            }
            let present = Box::pin(objects.present(&object.key, &error)).await?;
            if !wants(migration, &present) {
                return Ok(());
            }
            newer = Some(present);
        }
        self.rewritten_once(newer.as_ref().unwrap_or(object), target)
            .await
    }

    async fn rewritten_once(&self, object: &Object, target: &ApiVersion) -> Result<(), Error> {
        let recoding = (self.recode)(object.clone(), target.clone());
        let content = recoding.await.map_err(|error| match error {
            RecodeError::Decode(error) => not_decoded(&object.key, &object.content, &error),
            RecodeError::Encode(error) => not_encoded(&object.key, target, &error),
        })?;
        let update = UpdateObject {
            key: object.key.clone(),
            attributes: object.attributes.clone(),
            content,
            ttl: TtlChange::Keep,
            preconditions: Preconditions {
                uid: Some(object.metadata.uid),
                resource_version: Some(object.metadata.resource_version),
            },
            fences: Fences::default(),
        };
        let objects = self.client.raw_objects().without_objects();
        // Boxed, since the future of a call is large.
        Box::pin(objects.update(update)).await.map(drop)
    }
}

impl Store for CollectionStore {
    type Object = Object;

    fn walks(&self) -> Walk {
        Walk::Collection
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Object>, StoreError> {
        let mut list = ListObjects::new(migration.id.resource().clone());
        list.page_size = self.page_size;
        let mut pages = self.client.raw_objects().list(&list).at_present();
        if let Some(token) = token {
            pages = pages.resumed(token.as_str());
        }
        let listed = async {
            let left = match migration.reason {
                MigrationReason::RewriteAll => None,
                MigrationReason::Agreement | MigrationReason::Manual => {
                    Some(self.to_rewrite(migration).await?)
                }
            };
            Ok::<_, Error>((pages.next().await?, left))
        };
        let (page, left) = Box::pin(listed).await.map_err(|error| of_list(&error))?;
        let items = page.into_iter().flat_map(|page| page.items);
        let objects: Vec<Object> = items
            .map(|item| item.object)
            .filter(|object| wants(migration, object))
            .collect();
        let next = pages.token().map(ContinueToken::parse).transpose();
        Ok(StorePage {
            remaining: left.map(|left| left.saturating_sub(objects.len() as u64)),
            objects,
            next: next.map_err(|fault| StoreError::Refused(fault.to_string()))?,
        })
    }

    async fn rewrite(&self, migration: &Migration, object: &Object) -> Result<(), StoreError> {
        let Some(target) = &migration.target.version else {
            let why = "the target version is not known: no member has reported it";
            return Err(StoreError::Refused(why.to_owned()));
        };
        let rewritten = self.rewritten(migration, object, target).await;
        rewritten.map_err(|error| of_rewrite(object, &error))
    }
}

/// Whether the migration requires that this object is rewritten.
fn wants(migration: &Migration, object: &Object) -> bool {
    migration.rewrites(&object.content.encoding, object.content_revision)
}

/// Decodes an object's value, and encodes it in the target's version.
fn recoded<T>(
    codec: &impl Codec<T>,
    object: &Object,
    target: &ApiVersion,
) -> Result<Content, RecodeError> {
    let value = codec.decode(&object.key, &object.content);
    let value = value.map_err(RecodeError::Decode)?;
    let content = codec.encode(&object.key, &value, target);
    content.map_err(RecodeError::Encode)
}

/// The cluster's error of a list, as that of a store.
fn of_list(error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        // The token is of the cluster that this one was restored from. Objects that are done are skipped, so beginning
        // anew costs only the reading.
        ErrorKind::Compacted => StoreError::Expired(None),
        ErrorKind::PermissionDenied | ErrorKind::Unauthenticated => StoreError::Forbidden,
        _ if error.retryable() => busy(error),
        _ => StoreError::Refused(error.message().to_owned()),
    }
}

/// The cluster's error of a write, as that of a store.
fn of_rewrite(object: &Object, error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        // Other writers change the object all the time, and none of them encodes it anew.
        ErrorKind::Conflict => StoreError::Busy { retry_after: None },
        ErrorKind::PermissionDenied | ErrorKind::Unauthenticated => StoreError::Forbidden,
        ErrorKind::NotDecodable => StoreError::Undecodable {
            key: object.key.to_string(),
            why: error.message().to_owned(),
        },
        // The object may have been written: then the precondition of the next try fails.
        ErrorKind::UnknownOutcome | ErrorKind::DeadlineExceeded => busy(error),
        _ if error.retryable() => busy(error),
        _ => StoreError::Refused(error.message().to_owned()),
    }
}

fn busy(error: &Error) -> StoreError {
    let retry_after = error.metadata().get("retry_after_ms");
    StoreError::Busy {
        retry_after: retry_after
            .and_then(|text| text.parse().ok())
            .map(std::time::Duration::from_millis),
    }
}

impl fmt::Debug for CollectionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CollectionStore").finish_non_exhaustive()
    }
}
