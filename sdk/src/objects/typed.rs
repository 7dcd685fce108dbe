//! The objects of one collection, as values.

use std::fmt;
use std::sync::Arc;

use futures::stream::{Stream, StreamExt as _};
use synod_model::{
    ApiVersion, Attributes, Content, Current, DeleteObject, ErrorKind, Fences, GroupResource,
    NamespacedName, Object, ObjectKey, PatchObject, Preconditions, Propagation, Ttl, TtlChange,
    UpdateObject,
};

use super::codec::{Codec, not_decoded, not_encoded};
use super::encoding::{EncodingVersion, Encodings};
use super::pages::ListObjects;
use super::raw::RawObjects;
use super::stored::{ObjectPatch, Patched, Stored, Updated, patched, updated};
use crate::{Client, Error, LeaseToken, MemberEpoch, ObjectWritten, ReadOptions};

/// The objects of one collection, as values of one type. Clones share what they learn of the selected version.
///
/// In a strict collection everything is stored in the selected version. A write in another version is refused; the
/// client then encodes it in the selected version and sends it again, without the program noticing.
pub struct Objects<T> {
    pub(super) raw: RawObjects,
    pub(super) resource: GroupResource,
    pub(super) codec: Arc<dyn Codec<T>>,
    /// The version that the next write is encoded in.
    pub(super) version: EncodingVersion,
}

/// An object that is to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObject<T> {
    /// Its namespace, if the collection has them, and its name.
    pub name: NamespacedName,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its value.
    pub value: T,
    /// Its time to live; `None`: it lives until it is deleted.
    pub ttl: Option<Ttl>,
}

impl Client {
    /// The objects of a collection as values of one type.
    #[must_use]
    pub fn objects<T: 'static>(&self, resource: GroupResource, codec: impl Codec<T>) -> Objects<T> {
        let version = EncodingVersion::new(codec.preferred());
        Objects {
            raw: self.raw_objects(),
            resource,
            codec: Arc::new(codec),
            version,
        }
    }
}

impl<T> NewObject<T> {
    /// A value under a name, without attributes.
    #[must_use]
    pub fn new(name: NamespacedName, value: T) -> Self {
        Self {
            name,
            attributes: Attributes::default(),
            value,
            ttl: None,
        }
    }
}

impl<T: 'static> Objects<T> {
    /// The same objects, with every write made only while this member holds this epoch.
    #[must_use]
    pub fn fenced_by(mut self, member: MemberEpoch) -> Self {
        self.raw = self.raw.fenced_by(member);
        self
    }

    /// The same objects, with every write made only while the lease is held under this token
    /// ([`Lock::proof`](crate::Lock::proof)): a leader that was suspended and replaced is refused with `STALE_EPOCH`.
    #[must_use]
    pub fn under_lease(mut self, lease: LeaseToken) -> Self {
        self.raw = self.raw.under_lease(lease);
        self
    }

    /// The version in which the next write is encoded.
    #[must_use]
    pub fn version(&self) -> ApiVersion {
        self.version.get()
    }

    /// Sets the version to encode in from now on, such as the one that a permit of the gate names.
    pub fn encode_in(&self, version: ApiVersion) {
        self.version.set(version);
    }

    /// The resource of the collection.
    #[must_use]
    pub fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// Reads one object.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `NOT_DECODABLE`: the codec cannot decode it.
    pub async fn get(
        &self,
        name: &NamespacedName,
        options: ReadOptions,
    ) -> Result<Stored<T>, Error> {
        let view = self.raw.get(&self.key(name), options).await?;
        self.decoded(view.object)
    }

    /// Reads objects, one after the other, all at one revision, of this collection: `list.resource` is ignored.
    pub fn list(
        &self,
        list: ListObjects,
    ) -> impl Stream<Item = Result<Stored<T>, Error>> + Send + '_
    where
        T: Send,
    {
        let list = ListObjects {
            resource: self.resource.clone(),
            ..list
        };
        let items = self.raw.list(&list).stream();
        items.map(|item| self.decoded(item?.object))
    }

    /// Stores a new object.
    ///
    /// If the answer was lost, and a retry was answered only after the object had been deleted, its time of creation is
    /// not known, and is zero.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`: there is one of its name. `NO_AGREEMENT`: the collection is strict, and no version is
    /// selected.
    pub async fn create(&self, new: NewObject<T>) -> Result<Stored<T>, Error> {
        let key = self.key(&new.name);
        let mut creator = self
            .raw
            .creator(key.clone(), new.attributes, new.ttl, &self.version);
        let object = loop {
            let content = self.content(&key, &new.value)?;
            if let Some(object) = creator.write(content).await? {
                break object;
            }
        };
        Ok(Stored {
            object,
            value: new.value,
        })
    }

    /// Stores an object that was read and then changed in its value or its attributes.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: another writer has changed it since; [`Objects::current`] has its present state. `NOT_FOUND`: it was
    /// deleted. `NO_AGREEMENT`: the collection is strict, and no version is selected.
    pub async fn update(&self, stored: Stored<T>, ttl: TtlChange) -> Result<Updated<T>, Error> {
        let preconditions = stored.preconditions();
        let key = stored.object.key.clone();
        let (written, content) = self
            .encoded(&key, &stored.value, |content| {
                self.raw.update(UpdateObject {
                    key: key.clone(),
                    attributes: stored.object.attributes.clone(),
                    content,
                    ttl,
                    preconditions,
                    fences: Fences::default(),
                })
            })
            .await?;
        Ok(updated(written, stored, content))
    }

    /// Changes a part of an object where it is stored: its data, which must be a JSON object then, its attributes, or
    /// its time to live. A [`Patch`](crate::Patch) or a [`MetadataPatch`](crate::MetadataPatch) alone is enough.
    ///
    /// If the collection is strict and the object is stored in a version that is no longer selected, this client itself
    /// applies a patch of the data to the stored object, and encodes the result in the selected version.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `INVALID_ARGUMENT`: the patch does not apply. `CONFLICT`: the object is stored in another version
    /// than the patch of its data was made for, or does not meet the preconditions.
    pub async fn patch(
        &self,
        name: &NamespacedName,
        patch: impl Into<ObjectPatch>,
        preconditions: Preconditions,
    ) -> Result<Patched<T>, Error> {
        let patch = patch.into();
        let key = self.key(name);
        let mut encodings = Encodings::new(&self.version);
        loop {
            let ObjectPatch {
                data,
                metadata,
                ttl,
            } = patch.clone();
            let sending = self.raw.patch(PatchObject {
                key: key.clone(),
                data,
                metadata,
                ttl,
                preconditions,
                fences: Fences::default(),
            });
            let refused = match Box::pin(sending).await {
                Ok(written) => return Ok(self.patched(&key, written).await),
                Err(error) if encodings.again(&error) => error,
                Err(error) => return Err(error),
            };
            let object = self.raw.present(&key, &refused).await?;
            if !is_for(&patch, &preconditions, &object) {
                // The patch is not for the present object: the cluster's answer to it has the right error.
                continue;
            }
            match Box::pin(self.patch_here(&patch, object)).await {
                // Another writer was faster, which does not matter to the patch itself: it is applied again.
                Err(error)
                    if error.kind() == ErrorKind::Conflict
                        && preconditions.resource_version.is_none() => {}
                done => return Ok(done?.into()),
            }
        }
    }

    async fn patch_here(
        &self,
        patch: &ObjectPatch,
        mut object: Object,
    ) -> Result<Updated<T>, Error> {
        if let Some(metadata) = &patch.metadata {
            object.attributes = metadata.applied_to(&object).map_err(Error::from)?;
        }
        if let Some(data) = &patch.data {
            let patched = data.applied_to(&object.content.data);
            object.content.data = patched.map_err(Error::from)?;
        }
        self.update(self.decoded(object)?, patch.ttl).await
    }

    async fn patched(&self, key: &ObjectKey, mut written: ObjectWritten) -> Patched<T> {
        let object = match written.object.take() {
            Some(object) => Some(object),
            None => self.raw.found_after(key, &written).await,
        };
        patched(&written.result, object, |object| self.decoded(object).ok())
    }

    /// Deletes an object, or has it deleted once its finalizers are gone.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the object does not meet the preconditions.
    pub async fn delete(
        &self,
        name: &NamespacedName,
        preconditions: Preconditions,
        propagation: Option<Propagation>,
    ) -> Result<ObjectWritten, Error> {
        let delete = DeleteObject {
            key: self.key(name),
            propagation,
            preconditions,
            fences: Fences::default(),
        };
        self.raw.delete(delete).await
    }

    /// The present object after a failed comparison, if the error contains it and it can be decoded.
    #[must_use]
    pub fn current(&self, error: &Error) -> Option<Stored<T>> {
        match error.current()? {
            Current::Object(object) => self.decoded((**object).clone()).ok(),
            _ => None,
        }
    }

    pub(super) fn key(&self, name: &NamespacedName) -> ObjectKey {
        ObjectKey {
            resource: self.resource.clone(),
            name: name.clone(),
        }
    }

    /// Decodes the value of an object that was read without the codec.
    ///
    /// # Errors
    ///
    /// `NOT_DECODABLE`: the codec cannot decode it.
    pub fn decoded(&self, object: Object) -> Result<Stored<T>, Error> {
        match self.codec.decode(&object.key, &object.content) {
            Ok(value) => Ok(Stored { object, value }),
            Err(error) => Err(not_decoded(&object.key, &object.content, &error)),
        }
    }

    pub(super) fn content(&self, key: &ObjectKey, value: &T) -> Result<Content, Error> {
        let version = self.version();
        self.codec
            .encode(key, value, &version)
            .map_err(|error| not_encoded(key, &version, &error))
    }

    /// Sends an encoded value; if another version was selected meanwhile, encodes and sends it again in that version.
    /// Also returns the content that was sent last.
    async fn encoded<F>(
        &self,
        key: &ObjectKey,
        value: &T,
        send: impl Fn(Content) -> F,
    ) -> Result<(ObjectWritten, Content), Error>
    where
        F: Future<Output = Result<ObjectWritten, Error>>,
    {
        let mut encodings = Encodings::new(&self.version);
        loop {
            let content = self.content(key, value)?;
            // Boxed, since the future of a call is large.
            match Box::pin(send(content.clone())).await {
                Err(refused) if encodings.again(&refused) => {}
                answer => return Ok((answer?, content)),
            }
        }
    }
}

/// Whether a patch was made for this object, by the rules of the cluster.
fn is_for(patch: &ObjectPatch, preconditions: &Preconditions, object: &Object) -> bool {
    let Preconditions {
        uid,
        resource_version,
    } = *preconditions;
    let (metadata, content) = (&object.metadata, &object.content);
    uid.is_none_or(|uid| uid == metadata.uid)
        && resource_version.is_none_or(|version| version == metadata.resource_version)
        && patch
            .data
            .as_ref()
            .is_none_or(|patch| content.encoding == patch.encoding && content.media_type.is_json())
}

impl<T> Clone for Objects<T> {
    fn clone(&self) -> Self {
        Self {
            raw: self.raw.clone(),
            resource: self.resource.clone(),
            codec: Arc::clone(&self.codec),
            version: self.version.clone(),
        }
    }
}

impl<T> fmt::Debug for Objects<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
