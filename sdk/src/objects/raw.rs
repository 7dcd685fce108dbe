//! Objects as bytes: the single calls by which they are read and changed.

use synod_model::{
    CreateObject, DeleteObject, Fences, Object, ObjectKey, PatchObject, Transact, UpdateObject,
};
use synod_proto::{Change, v1};

use super::pages::ListObjects;
use crate::client::stubs;
use crate::pages::Pages;
use crate::transport::Try;
use crate::values::read;
use crate::{
    Client, Error, LeaseToken, MemberEpoch, ObjectPage, ObjectView, ObjectWritten, ReadOptions,
    Transacted,
};

/// The objects of all collections, as bytes. Get it with [`Client::raw_objects`].
///
/// Programs that keep values of one type use [`Client::objects`].
#[derive(Clone, Debug)]
pub struct RawObjects {
    client: Client,
    dry_run: bool,
    without_object: bool,
    member: Option<MemberEpoch>,
    lease: Option<LeaseToken>,
}

impl Client {
    /// The objects of all collections, as bytes.
    #[must_use]
    pub fn raw_objects(&self) -> RawObjects {
        RawObjects {
            client: self.clone(),
            dry_run: false,
            without_object: false,
            member: None,
            lease: None,
        }
    }
}

impl RawObjects {
    /// The same objects, with every change as a dry run: every check runs and nothing is changed.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// The same objects, with answers to creates, updates and patches that leave the object out: less to send and to decode
    /// for callers who need its uid and its revision alone.
    #[must_use]
    pub fn without_objects(mut self) -> Self {
        self.without_object = true;
        self
    }

    /// The same objects, with answers that bring the object along.
    pub(super) fn with_objects(&self) -> Self {
        Self {
            without_object: false,
            ..self.clone()
        }
    }

    /// The same objects, with every change made only while this member holds this epoch: a process that was replaced
    /// cannot write any more.
    #[must_use]
    pub fn fenced_by(mut self, member: MemberEpoch) -> Self {
        self.member = Some(member);
        self
    }

    /// The same objects, with every change made only while the lease is held under this token: a holder that was
    /// suspended, and has lost its lease meanwhile, is refused with `STALE_EPOCH`.
    #[must_use]
    pub fn under_lease(mut self, lease: LeaseToken) -> Self {
        self.lease = Some(lease);
        self
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Stores a new object.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`: there is one of its key. `NOT_FOUND`: there is no such collection. `ENCODING_NOT_SELECTED` and
    /// `NO_AGREEMENT`: only in a strict collection. `NOT_DECODABLE`: not every member can decode it.
    pub async fn create(&self, create: CreateObject) -> Result<ObjectWritten, Error> {
        let change = self.fenced(create, |body| &mut body.fences);
        let (dry_run, without_object) = (self.dry_run, self.without_object);
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::ObjectsCreateRequest {
                dry_run,
                without_object,
                ..message
            };
            let request = attempt.request(message);
            async move { stubs::objects(attempt.channel).create(request).await }
        });
        read::<v1::ObjectsCreateResponse, _>(answer.await?)
    }

    /// Replaces an object.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the object does not meet the preconditions; [`Error::current`] has it unless it is
    /// large. `ENCODING_NOT_SELECTED` and `NO_AGREEMENT`: only in a strict collection. `NOT_DECODABLE`: not every
    /// member can decode it.
    pub async fn update(&self, update: UpdateObject) -> Result<ObjectWritten, Error> {
        let change = self.fenced(update, |body| &mut body.fences);
        let (dry_run, without_object) = (self.dry_run, self.without_object);
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::ObjectsUpdateRequest {
                dry_run,
                without_object,
                ..message
            };
            let request = attempt.request(message);
            async move { stubs::objects(attempt.channel).update(request).await }
        });
        read::<v1::ObjectsUpdateResponse, _>(answer.await?)
    }

    /// Changes a part of an object where it is stored: its data, which must be a JSON object then, its attributes, or
    /// its time to live.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `INVALID_ARGUMENT`: the patch does not apply. `CONFLICT`: the object is stored in another version
    /// than the patch of its data was made for, or does not meet the preconditions. `ENCODING_NOT_SELECTED`: the
    /// collection is strict, and the object is stored in a version that is not selected.
    pub async fn patch(&self, patch: PatchObject) -> Result<ObjectWritten, Error> {
        let change = self.fenced(patch, |body| &mut body.fences);
        let (dry_run, without_object) = (self.dry_run, self.without_object);
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::ObjectsPatchRequest {
                dry_run,
                without_object,
                ..message
            };
            let request = attempt.request(message);
            async move { stubs::objects(attempt.channel).patch(request).await }
        });
        read::<v1::ObjectsPatchResponse, _>(answer.await?)
    }

    /// Deletes an object, or has it deleted once its finalizers are gone.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`. `CONFLICT`: the object does not meet the preconditions.
    pub async fn delete(&self, delete: DeleteObject) -> Result<ObjectWritten, Error> {
        let change = self.fenced(delete, |body| &mut body.fences);
        let dry_run = self.dry_run;
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::ObjectsDeleteRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::objects(attempt.channel).delete(request).await }
        });
        read::<v1::ObjectsDeleteResponse, _>(answer.await?)
    }

    /// Compares, and then either executes all operations at one revision, or reads.
    ///
    /// # Errors
    ///
    /// The refusal of any of the operations; then none was executed.
    pub async fn transact(&self, transact: Transact) -> Result<Transacted, Error> {
        let change = self.fenced(transact, |body| &mut body.fences);
        let dry_run = self.dry_run;
        let answer = self.client.write(dry_run, change, |attempt: Try, message| {
            let message = v1::ObjectsTransactRequest { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::objects(attempt.channel).transact(request).await }
        });
        read::<v1::ObjectsTransactResponse, _>(answer.await?)
    }

    /// Reads one object.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such object, or no such collection.
    pub async fn get(&self, key: &ObjectKey, options: ReadOptions) -> Result<ObjectView, Error> {
        let message = v1::ObjectsGetRequest {
            key: Some(key.into()),
            read: options.to_wire(),
        };
        let answer = self.client.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::objects(attempt.channel).get(request).await }
        });
        read::<v1::ObjectsGetResponse, _>(answer.await?)
    }

    /// Reads the objects of a collection, page by page, all at one revision.
    #[must_use]
    pub fn list(&self, list: &ListObjects) -> Pages<ObjectPage> {
        list.pages(self.client.clone())
    }

    /// The written object as it is now, if it still exists and can be read. This is only needed if the answer was lost
    /// and that of a retry came too late to contain the object: the write was made, whatever this read finds.
    pub(super) async fn found_after(
        &self,
        key: &ObjectKey,
        written: &ObjectWritten,
    ) -> Option<Object> {
        let at_least = ReadOptions::min_revision(written.header.revision);
        let read = Box::pin(self.get(key, at_least)).await;
        let object = read.ok()?.object;
        (object.metadata.uid == written.result.uid).then_some(object)
    }

    /// The change, with the fences of this value.
    fn fenced<T>(&self, mut body: T, fences: impl FnOnce(&mut T) -> &mut Fences) -> Change<T> {
        let fences = fences(&mut body);
        if let Some(member) = &self.member {
            fences.if_member = Some((member.member.clone(), member.epoch));
        }
        if let Some(lease) = &self.lease {
            fences.if_lease = Some((lease.lease.clone(), lease.token));
        }
        Change {
            epoch_cluster: self.member.as_ref().and_then(|member| member.cluster),
            token_cluster: self.lease.as_ref().and_then(|lease| lease.cluster),
            ..Change::new(body)
        }
    }
}
