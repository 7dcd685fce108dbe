//! A collection as a store: its objects are read by a codec, and written by it in the target's version.
//!
//! The walk goes by key. Each page is read at the present, behind the last object of the page before, so that it needs no
//! history, and its token means the same to every worker, on every replica and after every restart. An object is rewritten
//! at most once: who stores its content as a whole, the worker or another writer, has done what the migration wants of it.
//!
//! Why nothing is left out, though the collection changes behind the worker:
//!
//! - What is created or written behind the worker in another version than the target's is counted by the cluster, which
//!   refuses the end of the migration then; the worker walks again, and passes by all that is right. No write can land
//!   uncounted, however late it is.
//! - What is created or written behind it in the target's version is as an agreement wants it. To rewrite everything wants
//!   more, that it was written with the new key, and of that the cluster knows nothing: it holds for all that is stored after
//!   the migration's start if whoever starts it waits until every server writes with the new key and no write with the old
//!   one can land any more ([`Migration::start_revision`]).
//! - What changes an object without encoding all of its content, as a patch, a finalizer or an owner does, has done nothing
//!   for the migration: the object's [`content_revision`](Object::content_revision) is compared, not its resource version.

use std::fmt;
use std::future::ready;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use synod_model::{
    ApiVersion, Content, ContinueToken, ErrorKind, Fences, Migration, MigrationReason, Object,
    Preconditions, TtlChange, UpdateObject,
};

use super::plan::TRIES;
use super::{Store, StoreError, StorePage};
use crate::objects::{not_decoded, not_encoded};
use crate::{Client, Codec, CodecError, Error, ListObjects, ReadOptions};

/// The objects of collections, to be rewritten by a codec.
///
/// What is in the target's version already is passed by; where everything is to be written anew, only if it was stored after
/// the migration's start. So a migration ends after at most as many rewrites as there are objects and writes beside it.
pub struct CollectionStore {
    client: Client,
    recode: Box<Recode>,
    page_size: Option<u32>,
}

/// What encodes an object's content anew, in another version.
type Recode =
    dyn Fn(Object, ApiVersion) -> BoxFuture<'static, Result<Content, RecodeError>> + Send + Sync;

/// Why an object's content could not be encoded anew.
#[derive(Debug)]
pub enum RecodeError {
    /// What is stored could not be decoded.
    Decode(CodecError),
    /// It has no form in the target's version, or that is not known.
    Encode(CodecError),
}

impl CollectionStore {
    /// The objects that this codec can read and write.
    pub fn new<T: 'static>(client: Client, codec: impl Codec<T>) -> Self {
        Self::recoded_by(client, move |object, target| {
            ready(recoded(&codec, &object, &target)).boxed()
        })
    }

    /// The objects whose contents this encodes anew, in the version that it is given, and in its own time.
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

    /// Rewrites an object as often as it takes to find nobody else writing it.
    ///
    /// Whoever was faster may have encoded its content anew, and then it is done, or have changed only what is said of it.
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
        // Boxed, since a call is large: what waits for it need not be.
        Box::pin(self.client.raw_objects().update(update))
            .await
            .map(drop)
    }
}

impl Store for CollectionStore {
    type Object = Object;

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
            let why = "nobody said which version the target has: a member has to report it";
            return Err(StoreError::Refused(why.to_owned()));
        };
        let rewritten = self.rewritten(migration, object, target).await;
        rewritten.map_err(|error| of_rewrite(object, &error))
    }
}

/// Whether an object is to be rewritten as it stands.
fn wants(migration: &Migration, object: &Object) -> bool {
    migration.rewrites(&object.content.encoding, object.content_revision)
}

/// An object's value, encoded in the target.
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

/// What a cluster says to a list, as a store.
fn of_list(error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        // The token is of the cluster that this one was restored from. What is done is passed by, so beginning anew costs only
        // the reading.
        ErrorKind::Compacted => StoreError::Expired(None),
        ErrorKind::PermissionDenied | ErrorKind::Unauthenticated => StoreError::Forbidden,
        _ if error.retryable() => busy(error),
        _ => StoreError::Refused(error.message().to_owned()),
    }
}

/// What a cluster says to a write, as a store.
fn of_rewrite(object: &Object, error: &Error) -> StoreError {
    match error.kind() {
        ErrorKind::NotFound => StoreError::NotFound,
        // Others change it all the time, and none of them encodes it anew.
        ErrorKind::Conflict => StoreError::Busy { retry_after: None },
        ErrorKind::PermissionDenied | ErrorKind::Unauthenticated => StoreError::Forbidden,
        ErrorKind::NotDecodable => StoreError::Undecodable {
            key: object.key.to_string(),
            why: error.message().to_owned(),
        },
        // It may have been written: the next try loses the comparison then.
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
